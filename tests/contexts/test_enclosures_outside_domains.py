"""Enclosures where some numbers in the intervals have no result: an error, never a guess, and never a loop."""

import math
import operator

import pytest

pytest.importorskip("flint")

from cassette_import.contexts.intervals import Interval, NotEnclosed, Undecided, enclosure

AROUND_ZERO = Interval(-0.3, 0.4)

DIVISIONS = {
    "fmod": lambda x: math.fmod(7.3, x),
    "%": lambda x: 7.3 % x,
    "%=": lambda x: operator.imod(7.3, x),
    "__rmod__": lambda x: x.__rmod__(7.3),
    "remainder": lambda x: math.remainder(7.3, x),
    "divmod": lambda x: divmod(7.3, x),
    "//": lambda x: 7.3 // x,
    "/": lambda x: 1 / x,
    "**-1": lambda x: x**-1,
    "constant zero": lambda x: x % 0.0,
    "floor of a quotient": lambda x: math.floor(1 / (x * x)),
    "infinity": lambda x: x % math.inf,
    "log": lambda x: math.log(x),
    "sqrt": lambda x: math.sqrt(x),
    "tan": lambda x: math.tan(x * 10),
}


@pytest.mark.parametrize("splits", [0, 20])
@pytest.mark.parametrize("function", DIVISIONS.values(), ids=DIVISIONS)
def test_a_function_that_some_numbers_have_no_result_of_is_an_error(function, splits):
    with pytest.raises(NotEnclosed, match=r"leave the domain|raise .*Error"):
        enclosure(function, AROUND_ZERO, splits=splits)


OVERFLOWS = {
    "exp": lambda x: math.exp(x * 300),
    "expm1": lambda x: math.expm1(x * 300),
    "exp2": lambda x: math.pow(2.0, x * 400),
    "cosh": lambda x: math.cosh(x * 300),
    "sinh": lambda x: math.sinh(x * 300),
    "gamma": lambda x: math.gamma(x * 100),
    "ldexp": lambda x: math.ldexp(x, 1023),
    "power": lambda x: (1 + x) ** 700,
    "pow": lambda x: pow(1 + x, 700),
    "math.pow": lambda x: math.pow(1 + x, 700),
    "fsum": lambda x: math.fsum([x * 1e308, x * 1e308]),
}


@pytest.mark.parametrize("interval", [Interval(0.25, 2.75), Interval(2.5, 2.75)], ids=["some overflow", "all overflow"])
@pytest.mark.parametrize("function", OVERFLOWS.values(), ids=OVERFLOWS)
def test_numbers_that_raise_overflow_errors_are_an_error(function, interval):
    with pytest.raises(NotEnclosed, match="some numbers in the intervals raise OverflowError"):
        enclosure(function, interval)


@pytest.mark.parametrize("function", OVERFLOWS.values(), ids=OVERFLOWS)
def test_the_same_functions_have_enclosures_where_no_number_overflows(function):
    found = enclosure(function, Interval(0.25, 0.5))
    assert function(0.25) in found
    assert function(0.5) in found


def test_integers_do_not_overflow():
    assert enclosure(lambda n: (n * 0 + 10) ** 400 > 1, Interval(1, 1))


def test_arithmetic_beyond_floats_has_an_infinite_bound():
    assert enclosure(lambda x: x * 1e308 * 10, Interval(0.25, 2.75)).high == math.inf


@pytest.mark.parametrize("function", [int, round, math.floor, math.ceil, math.trunc])
def test_a_rounding_with_very_many_results_is_undecided(function):
    with pytest.raises(Undecided):
        enclosure(lambda x: function(x * 1e300), AROUND_ZERO, splits=20)
