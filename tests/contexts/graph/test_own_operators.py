"""Operators of the program's classes, with an unknown number on the other side: their methods are followed."""

import pytest

from cassette_import.contexts.graph import inline, residual, unknown


class Angle:
    def __init__(self, *values):
        self.set(*values)

    def set(self, value):
        self.degrees = value.degrees if isinstance(value, Angle) else value

    def __add__(self, other):
        return Angle(self.degrees + (other.degrees if isinstance(other, Angle) else other))

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self + (-other)

    def __isub__(self, other):
        self.degrees -= other
        return self

    def __and__(self, other):
        return Angle(min(self.degrees, other))

    def __lt__(self, other):
        return self.degrees < other

    def __matmul__(self, other):
        return 7.0

    def __neg__(self):
        return Angle(-self.degrees)


KNOWN = Angle(3.0)


def right(x):
    return (Angle(x) + x - 2.0).degrees


def left(x):
    return (x + Angle(3.0)).degrees


def known_object(x):
    return (KNOWN - x).degrees


def in_place(x):
    angle = Angle(1.0)
    angle -= x
    return angle.degrees


def bitwise(x):
    return (Angle(2.0) & x).degrees


def decision(x):
    return 1 if Angle(2.0) < x else -1


def constant(x):
    return Angle(x) @ x


@pytest.mark.parametrize("f", [right, left, known_object, in_place, bitwise, decision, constant])
def test_a_method_behind_an_operator_is_part_of_the_program(f):
    program = inline(f, 1.5)
    for x in (1.5, -7.25, 100.0):
        assert repr(program(x)) == repr(f(x))
    assert "Angle" not in "".join(line for line in program.source.splitlines() if "#" not in line)


def minus(angle, x):
    return (angle - x).degrees


def test_a_known_object_is_folded_away():
    program = residual(minus, KNOWN, unknown("x", 1.0))
    assert (program(2.0), KNOWN.degrees) == (1.0, 3.0)
