"""A number system for tests: the meaning of a number is its derivative."""

from cassette_import.contexts.algebra import Algebra, has_slopes, slope


class Slopes(Algebra):
    """The meaning of a number is its derivative."""

    follows_values = True

    def knows(self, f):
        return has_slopes(f)

    def lift(self, value):
        return 0.0

    def meaning(self, f, value, values, operands):
        return sum(slope(f, number, value, values) * operand for number, operand in enumerate(operands) if operand)
