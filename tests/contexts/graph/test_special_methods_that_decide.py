"""Results of special methods that decide in the interpreter, or in code that is not traced, are guards."""

import contextlib
import functools
import itertools
import operator

import pytest

from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import GuardFailed, graph, inline


class Positive:
    """Its truth is a decision; the method has another name."""

    def __init__(self, value):
        self.value = value

    def is_positive(self):
        return self.value > 0.3

    __bool__ = is_positive


class Derived(Positive):
    """Its truth is that of a function without a name."""

    __bool__ = lambda self: self.value > 0.6


class Sequence:
    """Its length depends on a number."""

    def __init__(self, number):
        self.number = number

    def __len__(self):
        return int(self.number * 2) + 1

    def __getitem__(self, index):
        if index >= 9:
            raise IndexError
        return index * 1.5


class Index:
    """An index that depends on a number."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return int(self.number)


class Manager:
    """Whether it takes an exception depends on a number."""

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return self.value > 0.5


class ByValue(type):
    """Which objects are instances depends on a number."""

    def __instancecheck__(cls, instance):
        return instance.value > 0.5


class Large(metaclass=ByValue):
    """The objects with a large value."""


@functools.total_ordering
class Measured:
    """An object with an order and a truth."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return self.value < other.value

    def __bool__(self):
        return self.value != 0.7


def taken(value):
    try:
        with Manager(value):
            raise ValueError
    except ValueError:
        return 2.0
    return value


def suppressed(a, b):
    with contextlib.ExitStack() as stack:
        stack.push(lambda *exception: a > 0.5)
        raise KeyError
    return b


def caught(a, b):
    try:
        return suppressed(a, b) or a
    except KeyError:
        return 2.0


def halved(a, b):
    while Positive(a):
        a = a / 2
    return a + b


def asserted(a, b):
    try:
        assert Positive(a)
    except AssertionError:
        return b
    return a


def matched(a, b):
    match a:
        case found if Derived(found):
            return 1.0
    return b


PROGRAMS = {
    "if": lambda a, b: 2.0 if Positive(a) else b,
    "and": lambda a, b: (Positive(a) and 3.0) or b,
    "not": lambda a, b: 1.0 if not Positive(a) else b,
    "while": halved,
    "assert": asserted,
    "case": matched,
    "if of a comprehension": lambda a, b: [one for one in (1.0, b) if Positive(a)],
    "lambda": lambda a, b: a if Derived(a) else b,
    "if of a length": lambda a, b: 1.0 if Sequence(a - 0.9) else b,
    "any": lambda a, b: any([Positive(a), Positive(b)]) * 2.0,
    "all": lambda a, b: 1.0 if all(Positive(one) for one in (a, b)) else 2.0,
    "filter": lambda a, b: [one.value for one in filter(None, [Positive(a), Derived(b)])],
    "filter by a class": lambda a, b: list(filter(Positive, [a, b])),
    "compress": lambda a, b: list(itertools.compress([a, b], [Positive(b), Derived(a)])),
    "takewhile": lambda a, b: list(itertools.takewhile(lambda one: Derived(one), [a, b])),
    "sorted": lambda a, b: [one.value for one in sorted([Positive(a), Positive(b)], key=bool)],
    "max": lambda a, b: max(Measured(a), Measured(b), key=lambda one: (bool(one), one)).value,
    "total_ordering": lambda a, b: 1.0 if Measured(a) > Measured(b) else 2.0,
    "max of tuples": lambda a, b: max((0, Measured(a)), (0, Measured(b)))[1].value,
    "len": lambda a, b: (1.0 if len(Sequence(a)) > 2 else 3.0) * b,
    "range of a length": lambda a, b: sum(Sequence(a)[index] for index in range(len(Sequence(a)))) + b,
    "reversed": lambda a, b: sum(reversed(Sequence(a))) + b,
    "subscript": lambda a, b: [a, 2.0, b, 1.0][Index(a)],
    "slice": lambda a, b: sum([a, 2.0, b, 1.0][: Index(a)]),
    "repetition": lambda a, b: sum([b] * Index(a)),
    "with": lambda a, b: taken(a) + b,
    "ExitStack": caught,
    "isinstance": lambda a, b: a if isinstance(Manager(a), Large) else b,
    "operator.truth": lambda a, b: [a, b][operator.truth(Positive(a))],
}
POINTS = [(a, b) for a in (0.1, 0.4, 0.7, 0.9, 1.3, 2.2) for b in (0.05, 0.35, 0.7, 2.0)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_decisions_of_code_that_is_not_traced_are_guards(name):
    program = PROGRAMS[name]
    recorded, inlined, compiled = graph(program, 1.0, 0.9), inline(program, 1.0, 0.9), None
    if "filter" not in name and "compre" not in name and name != "takewhile":
        compiled = jit(program, 1.0, 0.9, backend="python")
    for point in POINTS:
        expected = program(*point)
        assert inlined(*point) == expected
        assert compiled is None or compiled(*point) == expected
        try:
            found = recorded.run(*point)
        except GuardFailed:
            continue
        assert found == expected


class Base:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value > 0.3

    def scaled(self, factor):
        return self.value * factor


class Child(Base):
    def __init__(self, value):
        self.twice = value * 2
        super().__init__(value)

    def __bool__(self):
        return not super().__bool__()

    def scaled(self, factor):
        return super().scaled(factor) + self.twice


def test_methods_of_base_classes_are_called_by_super_of_objects_with_unknown_values():
    def program(a, b):
        return Child(a).scaled(b) if Child(b) else a

    inlined = inline(program, 1.0, 0.9)
    assert [inlined(*point) for point in POINTS] == [program(*point) for point in POINTS]
