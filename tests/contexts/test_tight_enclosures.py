"""The enclosure of each function is its range: the hull of samples is in it, and it is hardly wider.

The whole table of functions, on intervals of all kinds: also ones that touch the edge of the domain, or zero.
"""

import itertools
import math
import random
from fractions import Fraction

import pytest

pytest.importorskip("flint", reason="enclosures need python-flint")

from cassette_import.contexts.intervals import Interval, NotEnclosed, Undecided, enclosure
from cassette_import.kits.numbers.table import NUMBERS

ENDS = [-3.0, -2.0, -1.5, -1.0, -0.75, 0.0, 0.25, 0.5, 1.0, 1.25, 2.0, 3.0, 7.5]
INTERVALS = [Interval(low, high) for low, high in itertools.combinations(ENDS, 2)]
PAIRS = random.Random(5).sample([*itertools.product(INTERVALS, INTERVALS)], 60) + [
    (Interval(0.0, 1.0), Interval(0.5, 2.0)), (Interval(0.0, 2.0), Interval(-1.0, 1.0)),
    (Interval(-1.0, 1.0), Interval(0.0, 1.0)), (Interval(0.0, 1.0), Interval(-2.0, -1.0)),
]  # fmt: skip
SAMPLES = 33


def places(interval):
    step = interval.width / (SAMPLES - 1)
    return [*(min(interval.low + step * n, interval.high) for n in range(SAMPLES - 1)), interval.high]


def extrema(interval):
    """Samples, and the places at which a function of the table may have an extremum in the interval."""
    special = [n * math.pi / 2 for n in range(-6, 7)] + [1.4616321449683623, -0.5040830082644554, -1.5734984731623905]
    special += [-2.6107208684441447, 0.0, 1.0, -1.0]
    return [*places(interval), *(x for x in special if x in interval)]


def zero(interval):
    return [0.0] if 0.0 in interval else []


def samples(function, *boxes):
    try:
        grids = map(extrema, boxes) if len(boxes) == 1 else ([*places(box), *zero(box)] for box in boxes)
        return [function(*point) for point in itertools.product(*grids)]
    except (ArithmeticError, ValueError):
        return None


def check(function, boxes, found, values):
    slack = 1e-9 * found.width + 1e-12
    low, high = min(values), max(values)
    assert found.low <= low <= high <= found.high, (function, boxes, found)
    return low - slack <= found.low and found.high <= high + slack


ROWS = {row.name: row for row in NUMBERS if row.value is not None}
OF_ONE = [
    name for name, row in ROWS.items() if (type(row.partials) is tuple and len(row.partials) == 1) or name == "log"
]
OF_TWO = ["add", "sub", "mul", "truediv", "pow", "atan2", "hypot", "copysign"]


@pytest.mark.parametrize("name", OF_ONE)
def test_the_enclosure_of_a_function_of_one_number_is_its_range(name):
    function = ROWS[name].functions[0]
    accepted = 0
    for box in INTERVALS:
        values = samples(function, box)
        if values is None:
            with pytest.raises(NotEnclosed):
                enclosure(lambda x: function(x), box)
        elif name == "tan" and (math.cos(box.low) * math.cos(box.high) <= 0.0 or box.width >= math.pi):
            continue  # samples do not find the pole
        elif name in ("gamma", "lgamma") and box.low < 0.0 and math.floor(box.low) != math.floor(box.high - 1e-9):
            continue
        else:
            assert check(function, box, enclosure(lambda x: function(x), box), values), (name, box)
            accepted += 1
    assert accepted > 2


@pytest.mark.parametrize("name", OF_TWO)
def test_the_enclosure_of_a_function_of_two_numbers_is_its_range(name):
    function = ROWS[name].functions[0]
    accepted = 0
    for boxes in PAIRS:
        values = samples(function, *boxes)
        if values is None or any(isinstance(value, complex) for value in values):
            continue
        try:
            found = enclosure(lambda x, y: function(x, y), *boxes)
        except (NotEnclosed, Undecided):
            assert (name == "truediv" and boxes[1].low < 0 < boxes[1].high) or name in ("copysign", "pow")
        else:
            assert check(function, boxes, found, values) or name == "atan2", (name, boxes, found)
            accepted += 1
    assert accepted > 2


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 4, 7, 2.0, 0.5, 1.7, -0.5, 1 / 3])
def test_the_enclosure_of_a_power_is_its_range(exponent):
    for box in INTERVALS:
        values = samples(lambda x: x**exponent, box)
        if values is None or any(isinstance(value, complex) for value in values):
            continue
        for power in (lambda x: x**exponent, lambda x: pow(x, exponent), lambda x: math.pow(x, exponent)):
            if exponent < 0 and box.low < 0.0 < box.high:
                with pytest.raises(NotEnclosed):
                    enclosure(power, box)
            else:
                assert check(power, box, enclosure(power, box), [*values, *([0.0**exponent] if 0.0 in box else ())])


def test_the_square_of_a_number_is_exact_at_zero():
    for square in (lambda x: x**2, lambda x: x * x, lambda x: abs(x) ** 2):
        assert enclosure(square, Interval(-1.0, 2.0)) == (0.0, 4.0)
    assert enclosure(math.sqrt, Interval(0.0, 4.0)) == (0.0, 2.0)
    assert enclosure(lambda x: max(x, 0.0), Interval(-1.0, 1.0)) == (0.0, 1.0)


def test_the_ends_have_the_precision_that_was_asked_for():
    program = lambda x: (x + 1e30) - 1e30
    assert enclosure(program, Interval(1.0, 1.0)) == (1.0, 1.0)
    assert enclosure(program, Interval(1.0, 1.0), precision=53).width > 1.0
    found = enclosure(lambda x: x / 3 * 3 - 1, Interval(1.0, 1.0), precision=1000)
    assert -1e-290 < found.low <= 0.0 <= found.high < 1e-290


@pytest.mark.parametrize("function", [math.trunc, math.floor, math.ceil, round])
def test_the_integers_of_an_interval_are_exact(function):
    for low, high in itertools.combinations([-2.5, -2.0, -1.5, -0.5, 0.0, 0.5, 1.0, 1.5, 2.5, 3.0], 2):
        values = [function(low + (high - low) * n / 64) for n in range(65)]
        found = enclosure(lambda x: function(x) * 1.0, Interval(low, high), splits=9)
        assert found == (min(values), max(values)) or min(values) == max(values) == found


def test_constants_are_the_numbers_that_they_are():
    found = enclosure(lambda x: x * Fraction(1, 3), Interval(3.0, 3.0))
    assert found.low <= 1.0 <= found.high
    assert found.width < 1e-15
