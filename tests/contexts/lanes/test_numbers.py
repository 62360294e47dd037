"""Lanes: arithmetic is that of Python, for every kind of number and all special values."""

from __future__ import annotations

import itertools
import math
import operator

import pytest
from helpers.random_lane_programs import alike

from cassette_import.contexts.lanes import vectorize
from cassette_import.contexts.lanes.elementwise import RULES

np = pytest.importorskip("numpy")

FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    2.5,
    -3.5,
    1e16,
    -1e308,
    1.7e308,
    5e-324,
    -2.2e-308,
    math.inf,
    -math.inf,
    math.nan,
    2.0,
]
INTEGERS = [0, 1, -1, 2, 3, -7, 10, 62, 2**31, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63), 5, 7]
TRUTHS = [True, False]
COMPLEX = [complex(one, other) for one in FLOATS[::2] for other in FLOATS[::3]]
KINDS = {"f": FLOATS, "i": INTEGERS, "b": TRUTHS, "c": COMPLEX}
OF_LIBRARY = {operator.pow, pow}


def scalar(f, values):
    try:
        return f(*values)
    except (ArithmeticError, ValueError, TypeError) as error:
        return type(error), error.args


def close(one, other, exact):
    """Equal, or within 4 units in the last place if the function is one of the mathematical library."""
    if type(one) is complex and type(other) is float:  # the column has complex numbers in other lanes
        return close(one.real, other, exact) and one.imag == 0
    if type(one) is type(other) is tuple:
        return len(one) == len(other) and all(close(a, b, exact) for a, b in zip(one, other, strict=True))
    if type(one) is type(other) is complex:
        return close(one.real, other.real, exact) and close(one.imag, other.imag, exact)
    if exact or not (type(one) is type(other) is float) or not (math.isfinite(one) and math.isfinite(other)):
        return alike(one, other)
    return abs(one - other) <= 4 * math.ulp(other)


CASES = [(f, kinds) for f, rules in RULES.items() for kinds in rules]
PROGRAMS = {1: lambda f: lambda x: f(x), 2: lambda f: lambda x, y: f(x, y), 3: lambda f: lambda x, y, z: f(x, y, z)}


def name_of(f):
    return f"{f.__module__}.{f.__name__}" if hasattr(f, "__name__") else repr(f).replace("operator.", "")


@pytest.mark.parametrize(("f", "kinds"), CASES, ids=[f"{name_of(f)}-{kinds}" for f, kinds in CASES])
def test_every_rule_computes_what_python_computes(f, kinds):
    columns = [KINDS[kind] for kind in kinds]
    if f in (pow, operator.pow, operator.lshift, math.factorial, round):
        columns[-1] = [value for value in columns[-1] if not 70 < abs(value) < math.inf] or columns[-1]
    grid = list(itertools.product(*columns))
    arrays = [np.array(column) for column in zip(*grid, strict=True)]
    result, failures = vectorize(PROGRAMS[len(kinds)](f), errors="return", max_paths=None)(*arrays)
    exact = f not in OF_LIBRARY and getattr(f, "__module__", "") not in ("math", "cmath")
    for number, values in enumerate(grid):
        expected = scalar(f, values)
        if number in failures:
            found = type(failures[number]), failures[number].args
        else:
            parts = result if type(result) is tuple else (result,)
            found = tuple(part[number : number + 1].tolist()[0] for part in parts)
            found = found if type(result) is tuple else found[0]
        assert close(found, expected, exact), values


@pytest.mark.parametrize(
    "f", [math.sin, math.cos, math.tan, math.exp, math.log, math.asinh, math.erf, math.gamma, math.atan]
)
def test_elementary_functions_are_within_four_units_in_the_last_place(f):
    source = np.random.default_rng(1)
    lanes = np.abs(np.concatenate([source.normal(size=2000), 10.0 ** source.uniform(-300, 2, 2000)]))
    result = vectorize(lambda x: f(x))(lanes)
    for found, value in zip(result.tolist(), lanes.tolist(), strict=True):
        expected = f(value)
        assert found == expected or abs(found - expected) <= 4 * math.ulp(expected), value


def test_integers_do_not_overflow():
    lanes = np.array([1, 2**62, -(2**63), 2**63 - 1])
    result = vectorize(lambda n: (n + n, n * n, -n, abs(n), n - 1))(lanes)
    for number, n in enumerate(lanes.tolist()):
        assert [part[number] for part in result] == [n + n, n * n, -n, abs(n), n - 1]


def test_unsigned_and_small_types_are_pythons_numbers():
    assert vectorize(lambda n: n - 1)(np.array([0, 255], np.uint8)).tolist() == [-1, 254]
    assert vectorize(lambda n: n + 1)(np.array([2**64 - 1, 1], np.uint64)).tolist() == [2**64, 2]
    assert vectorize(lambda x: x + 0.1)(np.array([0.5], np.float32)).tolist() == [0.6]


def test_sums_of_floats_are_those_of_python():
    lanes = np.array([0.1, 1e16, -1e16, 3.0])
    found = vectorize(lambda x: sum([x, 1.0, -x, 0.1, 0.2]))(lanes)
    assert found.tolist() == [sum([x, 1.0, -x, 0.1, 0.2]) for x in lanes.tolist()]


def test_divmod_of_mixed_numbers_fails_for_some_lanes_only():
    def parts(x, y):
        return divmod(x if x > 1 else 3, y)

    _, failures = vectorize(parts, errors="return")(np.array([0.0, 2.5, 0.5, 7.0]), np.array([0, 0, 2, 2]))
    assert list(failures) == [0, 1]
