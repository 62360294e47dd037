"""Lanes: every function of `math` and `cmath`, and `round` to digits, gives each lane what the scalar call gives it."""

from __future__ import annotations

import cmath
import math

import pytest

from cassette_import.contexts.lanes import vectorize

np = pytest.importorskip("numpy")

FLOATS = np.array([0.3, 0.5, -0.7, 2.5, 3.0, 0.0, -0.0, -2.5, 1e300, 5e-324, math.inf, -math.inf, math.nan])
INTEGERS = np.array([0, 1, 5, 10, 12, -3, 20, 7, 21, 2**40])
SMALL = INTEGERS[:-1]  # for factorials
COMPLEX = np.array([complex(one, other) for one in FLOATS for other in FLOATS])
TABLE = [
    (module, name) for module in (math, cmath) for name in sorted(vars(module)) if callable(vars(module)[name])
    if not name.startswith("__")
]  # fmt: skip
PROGRAMS = {1: lambda f: lambda x: f(x), 2: lambda f: lambda x, y: f(x, y), 3: lambda f: lambda x, y, z: f(x, y, z)}


def near(one, other):
    """Equal, signs of zeros included, or within 4 units in the last place."""
    if isinstance(other, tuple):
        return all(map(near, one, other))
    if isinstance(other, complex):
        return near(complex(one).real, other.real) and near(complex(one).imag, other.imag)
    if one != one or other != other:
        return one != one and other != other
    if one == other:
        return math.copysign(1.0, one) == math.copysign(1.0, other)
    return math.isfinite(one) and math.isfinite(other) and abs(one - other) <= 4 * math.ulp(other)


def outcome(f, values):
    try:
        return f(*values), None
    except Exception as error:
        return None, error


def check(f, *columns):
    """Compare each lane of a vectorized call with the scalar call."""
    found, failures = vectorize(f, errors="return", max_paths=None)(*columns)
    for number, values in enumerate(zip(*[column.tolist() for column in columns], strict=True)):
        expected, error = outcome(f, values)
        failure = failures.get(number)
        assert type(failure) is type(error), values
        if error is not None:
            assert failure.args == error.args, values
            continue
        parts = found if isinstance(found, tuple) else (found,)
        parts = tuple(part[number : number + 1].tolist()[0] if type(part) is np.ndarray else part for part in parts)
        assert near(parts if isinstance(found, tuple) else parts[0], expected), (values, parts, expected)


@pytest.mark.parametrize(("module", "name"), TABLE, ids=[f"{module.__name__}.{name}" for module, name in TABLE])
def test_a_function_gives_each_lane_the_scalar_result_or_exception(module, name):
    f = getattr(module, name)
    integers = SMALL if name in ("factorial", "comb", "perm") else INTEGERS
    given = [[FLOATS], [FLOATS, np.roll(FLOATS, 1)], [FLOATS, np.roll(FLOATS, 1), np.roll(FLOATS, 2)]]
    given += [[integers], [integers, np.roll(integers, 1)]]
    if module is cmath:
        given += [[COMPLEX]]
    for columns in given:
        check(PROGRAMS[len(columns)](f), *columns)


@pytest.mark.parametrize("digits", [-22, -3, -1, 0, 1, 2, 5, 15, 22, 30])
def test_rounding_to_digits_is_bit_for_bit_that_of_python(digits):
    source = np.random.default_rng(4)
    ties = [np.arange(-200, 200) * step for step in (0.5, 0.125, 0.005, 50.0)]
    wide = source.normal(size=300) * 10.0 ** source.uniform(-30, 30, 300)
    lanes = np.concatenate([*ties, wide, FLOATS[:-3]])
    found = vectorize(lambda x: round(x, digits))(lanes)
    for one, value in zip(found.tolist(), lanes.tolist(), strict=True):
        expected = round(value, digits)
        assert one == expected, value
        assert math.copysign(1.0, one) == math.copysign(1.0, expected), value


def test_digits_may_differ_between_lanes():
    found = vectorize(lambda x, n: round(x, n))(np.full(6, 1234.5678), np.arange(-2, 4))
    assert found.tolist() == [round(1234.5678, n) for n in range(-2, 4)]


def test_products_quotients_and_powers_of_complex_numbers_have_pythons_roundings():
    source = np.random.default_rng(5)
    z, w = (source.normal(size=500) + 1j * source.normal(size=500) for _ in range(2))
    found = vectorize(lambda a, b: (a * b, a / b, a**3, a - 2, 1.5 / b))(z, w)
    for number, (a, b) in enumerate(zip(z.tolist(), w.tolist(), strict=True)):
        assert [part[number] for part in found] == [a * b, a / b, a**3, a - 2, 1.5 / b]


def test_parts_of_complex_numbers_and_branches_on_them():
    def root(x):
        z = cmath.sqrt(x)
        if z.imag:
            return complex(0.0, z.imag).conjugate()
        return z

    lanes = np.array([-4.0, 9.0, 0.0, -2.25, 2.0])
    assert vectorize(root)(lanes).tolist() == [root(x) for x in lanes.tolist()]


def test_the_logarithm_near_the_unit_circle_is_that_of_python():
    angles = np.random.default_rng(6).uniform(0.1, 6.0, 400)
    check(lambda a, r: cmath.log(complex(r * math.cos(a), r * math.sin(a))), angles, np.linspace(0.5, 2.0, 400))


def test_products_of_sequences_are_computed_factor_by_factor():
    check(lambda x, y: math.prod([x, 0.1, y], start=3), FLOATS, np.roll(FLOATS, 1))
    assert vectorize(lambda n: math.prod([n, n, n]))(np.array([2**40, 3])).tolist() == [2**120, 27]
