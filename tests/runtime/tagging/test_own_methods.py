"""Classes with their own operators, copies and counts: their methods decide, not the rules for numbers."""

import copy
import math
import operator
from collections import deque
from enum import IntEnum
from fractions import Fraction

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative
from tests.helpers.counted_results import share_of_results


class Tenfold(float):
    def __add__(self, other):
        return 10 * other


class TenfoldReflected(float):
    def __radd__(self, other):
        return 10 * other


class Sevenfold(int):
    def __mul__(self, other):
        return 7 * other


class Fivefold(Fraction):
    def __mul__(self, other):
        return 5 * other


class Converted:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value * 6


class Quiet(float):
    def __repr__(self):
        return "?"


OPERATIONS = {
    "left": lambda x: Tenfold(1) + x,
    "right": lambda x: x + TenfoldReflected(1),
    "integer": lambda x: Sevenfold(2) * x,
    "fraction": lambda x: Fivefold(1) * x,
    "in sum": lambda x: sum([x], Tenfold(1)),
    "in prod": lambda x: math.prod([Sevenfold(1), x]),
    "converted": lambda x: math.fsum([Converted(x), x]),
    "other operator": lambda x: Tenfold(2) * x,
    "no operator": lambda x: Quiet(2) * x + math.sin(Quiet(0)),
}


class Size(IntEnum):
    TWO = 2


class Whole(int):
    pass


class Index:
    def __index__(self):
        return 3


def repeated_in_place(x):
    items = [x]
    items *= Index()
    return sum(items)


REPETITIONS = {
    "enum": lambda x: sum([x] * Size.TWO),
    "subclass": lambda x: sum(Whole(2) * [x]),
    "index": lambda x: sum([x, 1.0] * Index()),
    "function": lambda x: sum(operator.mul((x,), Index())),
    "deque": lambda x: sum(deque([x]) * Size.TWO),
    "in place": repeated_in_place,
    "reflected": lambda x: sum(Index() * [x]),
    "empty": lambda x: sum([] * Index()) + x,
}


class OwnCopy:
    def __init__(self, value):
        self.value = value

    def __copy__(self):
        return type(self)(self.value * 2)

    def __deepcopy__(self, memo):
        return type(self)(self.value * 2)


class Reduced:
    def __init__(self, value):
        self.value = value

    def __reduce__(self):
        return type(self), (self.value * 2,)


class OwnState(Converted):
    def __getstate__(self):
        return {"value": self.value * 2}


class SetState(Converted):
    def __setstate__(self, state):
        self.value = state["value"] * 2


class OwnList(list):
    def __copy__(self):
        return OwnList([item * 2 for item in self])


COPIES = {
    "copy": lambda x: copy.copy(OwnCopy(x)).value,
    "deepcopy": lambda x: copy.deepcopy(OwnCopy(x)).value,
    "reduce": lambda x: copy.copy(Reduced(x)).value,
    "getstate": lambda x: copy.copy(OwnState(x)).value,
    "setstate": lambda x: copy.copy(SetState(x)).value,
    "list": lambda x: copy.copy(OwnList([x]))[0],
    "nested": lambda x: copy.deepcopy([OwnCopy(x)])[0].value,
    "plain": lambda x: copy.deepcopy({"a": [Converted(x)]})["a"][0].value,
}
PROGRAMS = {**OPERATIONS, **REPETITIONS, **COPIES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_derivative_is_right_or_an_error(name):
    program = PROGRAMS[name]
    expected = (program(3.0 + 1e-6) - program(3.0 - 1e-6)) / 2e-6
    try:
        found = derivative(program, 3.0)
    except NotOverdubbable:
        return
    assert found == pytest.approx(expected)


def test_most_programs_have_a_derivative():
    assert share_of_results(lambda program: derivative(program, 3.0), PROGRAMS.values()) >= 0.55


@pytest.mark.parametrize(
    "name", ["left", "right", "integer", "fraction", "other operator", "no operator", *REPETITIONS, "plain"]
)
def test_a_method_of_the_program_has_a_derivative(name):
    derivative(PROGRAMS[name], 3.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_enclosure_contains_all_values_or_is_an_error(name):
    pytest.importorskip("flint")
    from cassette_import.contexts.intervals import Interval, enclosure

    program = PROGRAMS[name]
    try:
        found = enclosure(program, Interval(3.0, 3.5))
    except NotOverdubbable:
        return
    assert all(found.low <= program(x) <= found.high for x in (3.0, 3.2, 3.5))


def test_most_programs_have_an_enclosure():
    pytest.importorskip("flint")
    from cassette_import.contexts.intervals import Interval, enclosure

    assert share_of_results(lambda program: enclosure(program, Interval(3.0, 3.5)), PROGRAMS.values()) >= 0.6
