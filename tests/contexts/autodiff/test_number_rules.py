"""The rules of all functions that compute numbers from numbers: their derivatives at random points."""

import cmath
import dataclasses
import decimal
import math
import operator
import random
import statistics
from decimal import Decimal
from fractions import Fraction

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative, gradient
from cassette_import.contexts.autodiff.modes import COMPLEX_PARTIALS
from cassette_import.kits.numbers.compositions import COMPOSITIONS, METHODS, ordered

STEP = 1e-6
DATA = [0.4, 2.5, 1.7, 3.1, 0.9]


def central(f, x):
    return (f(x + STEP) - f(x - STEP)) / (2 * STEP)


def check(f, x, slope=None):
    expected = central(f, x) if slope is None else slope
    assert derivative(f, x) == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert gradient(f, x)[0] == pytest.approx(expected, rel=1e-5, abs=1e-7)


points = random.Random(7)
POINTS = [points.uniform(0.3, 3.3) for _ in range(4)]

OF_NUMBERS = {
    "mean": lambda x: statistics.mean([x, *DATA]),
    "fmean": lambda x: statistics.fmean((v for v in [x, *DATA]), weights=[x, *DATA]),
    "median": lambda x: statistics.median([x, *DATA]),
    "median of an odd number": lambda x: statistics.median([x, x * x, *DATA]),
    "quantiles": lambda x: sum(statistics.quantiles([x, *DATA], n=5)) + statistics.quantiles([x, *DATA])[1],
    "inclusive quantiles": lambda x: statistics.quantiles([x, *DATA], n=7, method="inclusive")[3],
    "variance": lambda x: statistics.variance([x, *DATA]) + statistics.pvariance([x, *DATA]),
    "variance around a center": lambda x: statistics.variance(DATA, x) + statistics.pvariance(DATA, mu=x),
    "stdev": lambda x: statistics.stdev([x, *DATA]) * statistics.pstdev([x, *DATA]),
    "harmonic_mean": lambda x: statistics.harmonic_mean([x, *DATA], weights=[*DATA, x]),
    "geometric_mean": lambda x: statistics.geometric_mean([x, *DATA, x]),
    "covariance": lambda x: statistics.covariance(DATA, [x, 1.0, x * x, 2.0, 5.0]),
    "correlation": lambda x: statistics.correlation(DATA, [x, 1.0, x * x, 2.0, 5.0]),
    "linear_regression": lambda x: sum(statistics.linear_regression(DATA, [x, 1.0, x * x, 2.0, 5.0])),
    "linear_regression of x": lambda x: statistics.linear_regression([x, *DATA], [*DATA, x]).intercept,
    "proportional regression": lambda x: statistics.linear_regression([x, *DATA], [*DATA, x], proportional=True).slope,
    "NormalDist": lambda x: sum(
        [
            statistics.NormalDist(1.0, 2.0).pdf(x),
            statistics.NormalDist(1.0, 2.0).cdf(x),
            statistics.NormalDist(1.0, 2.0).zscore(x),
        ]
    ),
    "dist": lambda x: math.dist((x, x * x, 1.0), iter([2.0, 5.0, 3.0])),
    "modf": lambda x: math.modf(x)[0] * x + math.modf(x)[1] * x,
    "frexp": lambda x: math.frexp(x)[0] * x + math.frexp(x)[1] * x,
    "divmod": lambda x: divmod(x, 0.7)[1] * x + divmod(x, 0.7)[0] * x,
    "divmod by": lambda x: divmod(7.3, x)[1],
    "pow": lambda x: pow(base=x, exp=2) + pow(2.0, x, None),
    "nextafter": lambda x: math.nextafter(x * x, 9.0),
    "conjugate": lambda x: x.conjugate() * x.real + x.imag,
    "complex": lambda x: abs(complex(x, x * x) * complex(2.0, x) / complex(x, -1.0)),
    "complex parts": lambda x: (complex(x, 1.0) ** 3).real + (2.0 ** complex(x, x)).imag,
    "complex conjugate": lambda x: (complex(x, 2.0).conjugate() * complex(1.0, x)).imag,
    "phase": lambda x: cmath.phase(complex(x, x * x)) + sum(cmath.polar(complex(x, 2.0))),
    "rect": lambda x: cmath.rect(x, x).real + cmath.rect(x, 2.0).imag,
    "Fraction": lambda x: float(Fraction(x) * Fraction(Fraction(x), 2) / 3 + Fraction(1, 3) ** 2),
    "Decimal": lambda x: float(Decimal(x) * Decimal(x) / 3 - Decimal("0.1")),
    "Decimal functions": lambda x: float(Decimal(x).sqrt() + Decimal(x).exp() + Decimal(x).ln() + Decimal(x).log10()),
    "special methods": lambda x: x.__add__(x).__mul__(x).__sub__(1.0).__truediv__(x).__pow__(2).__rsub__(1.0),
    "reflected methods": lambda x: x.__rtruediv__(1.0).__rpow__(2.0).__radd__(x).__rmod__(7.0).__neg__().__abs__(),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
@pytest.mark.parametrize("number", range(len(POINTS)))
def test_the_derivative_of_a_function_agrees_with_differences(name, number):
    check(OF_NUMBERS[name], POINTS[number])


@pytest.mark.skipif(not hasattr(math, "sumprod"), reason="3.12")
def test_the_derivative_of_sumprod():
    check(lambda x: math.sumprod([x, 2.0, x], [x * x, x, 3.0]), 1.7)


@pytest.mark.parametrize("function", [f for f in COMPLEX_PARTIALS if f not in (complex, cmath.phase)])
def test_the_derivative_of_a_complex_function_agrees_with_differences(function):
    for x in (0.3, 0.8, 1.4):
        call = lambda x: (lambda z: z.real * 2.0 + z.imag)(function(complex(x, 0.4 - x)))
        check(call, x)


def test_the_derivative_of_a_real_function_of_complex_numbers():
    point = 1.5 - 0.5j
    assert gradient(lambda z: abs(z) ** 2, point)[0] == pytest.approx(2 * point.conjugate())
    assert derivative(lambda z: z * z, point) == pytest.approx(2 * point)


def test_complex_derivatives_nest():
    def f(x):
        return abs(cmath.exp(1j * x) + x) ** 2

    assert derivative(lambda x: derivative(f, x), 0.7) == pytest.approx(central(lambda x: central(f, x), 0.7), rel=1e-2)
    assert gradient(lambda x: derivative(f, x), 0.7)[0] == pytest.approx(derivative(lambda x: derivative(f, x), 0.7))


@pytest.mark.parametrize("name", ["mean", "stdev", "median", "dist", "complex", "special methods"])
def test_derivatives_of_compositions_nest(name):
    f = OF_NUMBERS[name]
    expected = derivative(lambda x: derivative(f, x), 1.1)
    assert expected == pytest.approx(
        (derivative(f, 1.1 + STEP) - derivative(f, 1.1 - STEP)) / (2 * STEP), rel=1e-4, abs=1e-6
    )
    assert gradient(lambda x: gradient(f, x)[0], 1.1)[0] == pytest.approx(expected)


def test_the_value_of_a_composition_is_that_of_the_function():
    from cassette_import.contexts.autodiff import jvp

    for name, f in OF_NUMBERS.items():
        assert jvp(f, (1.1,), (1.0,))[0] == f(1.1), name


@pytest.mark.parametrize("kind", [int, float])
@pytest.mark.parametrize("name", METHODS)
def test_each_method_of_numbers_is_composed(name, kind):
    assert name not in vars(kind) or vars(kind)[name] in COMPOSITIONS


@pytest.mark.parametrize(
    "program",
    [
        lambda x: statistics.correlation(DATA, [x, 1.0, 2.0, 3.0, 4.0], method="ranked"),
        lambda x: statistics.NormalDist().inv_cdf(x / 10),
        lambda x: statistics.NormalDist(x, 1.0).cdf(0.5),
        lambda x: decimal.Context().exp(Decimal(x)),
    ],
    ids=["ranked", "inverse", "parameters", "context"],
)
def test_what_has_no_rule_is_an_error(program):
    with pytest.raises((NotOverdubbable, TypeError)):
        derivative(program, 1.5)


def test_functions_of_plain_numbers_are_what_they_are():
    def program(x):
        return [statistics.mean(iter([1, 2])), divmod(7, 2), float.__add__(1.0, 2), (1.0).__add__("a"), Fraction("1/3")]

    assert (
        derivative(lambda x: str(program(x) == [1.5, (3, 1), 3.0, NotImplemented, Fraction(1, 3)]) == "True", 1.0)
        == 0.0
    )
    assert derivative(lambda x: program(x) and x, 1.0) == 1.0


def test_sorting_networks_sort():
    chance = random.Random(3)
    for count in range(20):
        items = [chance.randrange(10) for _ in range(count)]
        assert ordered(items) == sorted(items)


def test_an_operator_on_a_wrapper_outside_of_overdubbed_code_keeps_metadata():
    assert derivative(lambda x: operator.add(*divmod(x, 2.0)) + abs(x) + round(x, 1), 2.25) == 2.0


STEPS = [math.floor, math.ceil, math.trunc, round, int, bool, operator.truth, operator.not_, float.__floor__, math.ulp]


@pytest.mark.parametrize("f", STEPS, ids=str)
def test_the_derivative_of_a_step_function_is_zero_also_where_the_function_itself_is_given(f):
    assert derivative(f, 1.5) == derivative(lambda x: f(x), 1.5) == 0.0
    assert gradient(f, 1.5) == (0.0,)


@pytest.mark.parametrize("f", [operator.lt, operator.ge, operator.eq, operator.floordiv], ids=str)
def test_the_gradient_of_a_comparison_is_zero_also_where_the_function_itself_is_given(f):
    assert gradient(f, 1.5, 2.0) == (0.0, 0.0)


def test_a_function_with_a_composition_may_be_given_itself():
    assert derivative(math.modf, 1.5) == (1.0, 0.0)


@dataclasses.dataclass
class Vector:
    x: float
    y: float

    def __iter__(self):
        yield self.x
        yield self.y

    def __divmod__(self, other):
        return Vector(self.x // other, self.y // other), Vector(self.x % other, self.y % other)

    def __rdivmod__(self, other):
        return other // self.x, other % self.x


def test_divmod_calls_the_method_of_an_object_that_has_items():
    def rest(x):
        (_, part), (_, other) = divmod(Vector(x, 1.0), 0.7), divmod(3.0, Vector(x, 1.0))
        return part.x * other

    assert derivative(rest, 1.3) == pytest.approx((3.0 % 1.3) - 2 * (1.3 % 0.7))
