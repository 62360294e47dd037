"""At the edge of a domain, rules divide by zero where the program does not: the program never gets their errors.

Each function of the tables is called at such points, in each mode and nested, in a program that catches all errors.
"""

import cmath
import itertools
import math
import operator
import statistics
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp
from cassette_import.contexts.autodiff.modes import ALL_PARTIALS
from cassette_import.kits.numbers.partials import JOINT_PARTIALS
from cassette_import.kits.numbers.table import NUMBERS

POINTS = [0.0, 0.5, -0.0, -math.inf, 1.0, 2.0, -1.0, 5e-324, math.inf, 1e308, math.nan, 1, 0, -1, 10**400]
CATCHABLE = (ArithmeticError, ValueError, TypeError, RuntimeWarning, AttributeError)
INF, NAN = math.inf, math.nan


def same(one, other):
    return repr(one) == repr(other)


def outcome(f, *arguments):
    """What a program computes that takes another path after an error; None if it does."""
    try:
        return f(*arguments)
    except CATCHABLE as error:
        return f"another path after {type(error).__name__}"


MODES = {
    "jvp": lambda program, arguments: jvp(program, arguments, [1.0] * len(arguments))[0],
    "vjp": lambda program, arguments: vjp(program, arguments)[0],
    "nested": lambda program, arguments: jvp(lambda *inner: vjp(program, inner)[0], arguments, [1.0] * len(arguments))[
        0
    ],
    "nested forward": lambda program, arguments: jvp(
        lambda *inner: [jvp(program, inner, [1.0] * len(inner))][0][0], arguments, [1.0] * len(arguments)
    )[0],
}


def check_the_path(function, arguments):
    """In each mode, the program has its own value and its own path, or there is an error outside of it."""
    paths = []

    def program(*arguments):
        value = outcome(function, *arguments)
        paths.append(value if isinstance(value, str) else "")
        return 1.0 if isinstance(value, str) else value

    expected = program(*arguments)
    (path,) = paths
    for name, mode in MODES.items():
        paths.clear()
        try:
            value = mode(program, arguments)
        except NotOverdubbable:
            continue
        assert same(value, expected), (name, arguments)
        assert paths == [path], (name, arguments)


def arities(f):
    row = next((row for row in NUMBERS if f in row.functions), None)
    if row is not None and type(row.partials) is tuple:
        return sorted({len(row.partials), 1} if f is math.log else {len(row.partials)})
    return [2] if f in JOINT_PARTIALS or f is complex else [1]


@pytest.mark.parametrize("f", [*ALL_PARTIALS, *JOINT_PARTIALS], ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_a_program_at_the_edge_of_a_domain_takes_its_own_path(f):
    for count in arities(f):
        points = POINTS if count == 1 else POINTS[::2] if count == 2 else POINTS[:4]
        for arguments in itertools.product(points, repeat=count):
            if f in (pow, operator.pow, operator.ipow) and 10**400 in map(abs, arguments):
                continue  # the program itself takes for ever
            if f is math.ldexp:
                arguments = (arguments[0], 5000 if arguments[1] else 0)
            check_the_path(f, arguments)
    if f.__module__ == "cmath":
        for x in (0j, 1 + 0j, -1 + 0j, 1j, complex(INF, 0.0), complex(NAN, 0.0)):
            check_the_path(f, (x,))


STATISTICS = [
    statistics.mean, statistics.fmean, statistics.median, statistics.variance, statistics.pvariance, statistics.stdev,
    statistics.pstdev, statistics.harmonic_mean, statistics.geometric_mean, statistics.median_low, statistics.quantiles,
    math.fsum, math.prod, sum, max, min,
]  # fmt: skip


@pytest.mark.parametrize("f", STATISTICS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("data", [[2.0] * 3, [0.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [INF, 1.0], [INF, -INF], [1e308] * 3])
def test_a_statistic_at_the_edge_of_its_domain_takes_its_own_path(f, data):
    check_the_path(lambda *data: f([*data]), data)


OTHERS = {
    "dist": (lambda x, y: math.dist([x, y], [x, y]), [(1.0, 2.0), (INF, 1.0)]),
    "correlation": (lambda x, y: statistics.correlation([x, y], [y, x]), [(1.0, 1.0), (1.0, 2.0)]),
    "covariance": (lambda x, y: statistics.covariance([x, y], [y, x]), [(1.0, 1.0)]),
    "linear_regression": (lambda x, y: statistics.linear_regression([x, y], [y, x]).slope, [(1.0, 1.0), (1.0, 2.0)]),
    "modf": (lambda x: sum(math.modf(x)), [(INF,), (-0.0,), (NAN,)]),
    "frexp": (lambda x: math.frexp(x)[0], [(1.7e308,), (0.0,), (INF,), (5e-324,)]),
    "divmod": (lambda x, y: sum(divmod(x, y)), [(1.0, 0.0), (INF, 1.0), (1e308, 1e-308), (1.0, INF)]),
    "abs of complex": (lambda x: abs(complex(x, x)), [(0.0,), (INF,)]),
    "phase": (lambda x: cmath.phase(complex(x, x)), [(0.0,)]),
    "polar": (lambda x: sum(cmath.polar(complex(x, x))), [(0.0,)]),
    "decimal": (lambda x: float(Decimal(x).sqrt()), [(0.0,), (INF,)]),
    "fraction": (lambda x: float(Fraction(x) ** 2), [(0.0,), (1.0,)]),
    "power of a fraction": (lambda x: math.sqrt(Fraction(x)), [(0.0,)]),
    "method": (lambda x: x.__pow__(0.5), [(0.0,)]),
    "reflected method": (lambda x: x.__rpow__(0.0), [(0.0,), (1.0,)]),
    "constant base": (lambda x: (-2.0) ** (0.0 * x + 4.0), [(1.0,)]),
    "large integers": (lambda x: x**400 % 1000, [(10,)]),
    "a quotient of large integers": (lambda x: x**400 / x**399, [(10,)]),
}
if hasattr(math, "sumprod"):
    OTHERS["sumprod"] = (lambda x, y: math.sumprod([x, y], [y, x]), [(INF, 0.0), (1e308, 1e308)])


@pytest.mark.parametrize("name", OTHERS)
def test_another_leaf_at_the_edge_of_its_domain_takes_its_own_path(name):
    f, points = OTHERS[name]
    for arguments in points:
        check_the_path(f, arguments)


UFUNCS = [f for f in vars(numpy).values() if isinstance(f, numpy.ufunc) and f.nout == 1 and f.nin < 3]


@pytest.mark.parametrize("f", {id(f): f for f in UFUNCS}.values(), ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", [numpy.float64, lambda x: numpy.array([x, 0.5])], ids=["numbers", "arrays"])
def test_a_ufunc_at_the_edge_of_its_domain_warns_as_often_as_in_plain_python(f, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in map(kind, [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]):
            check_the_path(f, (x,) * f.nin)


SLOPES = {
    "math.sqrt": (math.sqrt, 0.0, INF), "numpy.sqrt": (numpy.sqrt, 0.0, INF),
    "asin": (math.asin, 1.0, INF), "acos": (math.acos, 1.0, -INF), "numpy.arcsin": (numpy.arcsin, 1.0, INF),
    "acosh": (math.acosh, 1.0, INF), "cbrt": (math.cbrt, 0.0, INF), "numpy.cbrt": (numpy.cbrt, 0.0, INF),
    "x ** 0.5": (lambda x: x**0.5, 0.0, INF), "numpy.power": (lambda x: numpy.power(x, 0.5), 0.0, INF),
    "x ** 1.5": (lambda x: x**1.5, 0.0, 0.0), "0.0 ** x": (lambda x: 0.0**x, 2.0, 0.0),
    "abs": (abs, 0.0, 0.0), "abs of -0.0": (abs, -0.0, 0.0), "numpy.abs": (numpy.abs, 0.0, 0.0),
    "math.fabs": (math.fabs, 0.0, 0.0), "copysign": (lambda x: math.copysign(x, -1.0), 0.0, -0.0),
    "hypot": (lambda x: math.hypot(x, x), 0.0, 0.0), "numpy.hypot": (lambda x: numpy.hypot(x, x), 0.0, 0.0),
    "atan2": (lambda x: math.atan2(x, 0.0 * x), 0.0, NAN), "numpy.std": (lambda x: numpy.std([x, x]), 2.0, 0.0),
    "pstdev": (lambda x: statistics.pstdev([x, x]), 2.0, NAN), "modf": (lambda x: math.modf(x)[0], INF, 1.0),
    "the root of a square": (lambda x: math.sqrt(x) ** 2, 0.0, NAN),
    "the root of a square of NumPy": (lambda x: numpy.sqrt(x) ** 2, 0.0, NAN),
    "an integer larger than all floats": (lambda x: x**400 * 1.0e-300 if x < 2 else x**400, 10, INF),
    "numpy.max": (lambda x: numpy.max([x - 1.0, x + 0.0 * x]), 0.0, 1.0),
    "a negative base": (lambda x: (-2.0) ** x, 2.0, NAN),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
def test_the_derivative_at_an_edge_is_infinite_or_that_which_the_docs_name(name):
    f, x, slope = SLOPES[name]
    for found in (derivative(f, x), gradient(f, x)[0]):
        assert found == slope or (math.isnan(found) and math.isnan(slope))


def test_a_derivative_at_an_edge_is_a_number_of_python():
    assert type(derivative(math.sqrt, 0.0)) is type(gradient(math.sqrt, 0.0)[0]) is float
    assert type(derivative(lambda x: derivative(math.sqrt, x), 0.0)) is float
    assert type(derivative(cmath.sqrt, 0j)) is complex


def test_the_second_derivative_at_an_edge_is_infinite():
    assert derivative(lambda x: derivative(math.sqrt, x), 0.0) == -INF
    assert derivative(lambda x: gradient(math.sqrt, x)[0], 0.0) == -INF
    assert gradient(lambda x: derivative(abs, x), 0.0)[0] == 0.0


def test_a_zero_cotangent_contributes_nothing():
    assert vjp(lambda x: [math.sqrt(x), x], (0.0,), [0.0, 1.0]) == ([0.0, 0.0], (1.0,))
