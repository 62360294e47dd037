"""`shadow`, `significant` and `Precision`: which expressions lose the bits of floats, and how many are left."""

import fractions
import math
import operator
import statistics
import sys

import mpmath
import numpy
import pytest
from helpers.command_line import cassette

from cassette_import import NotOverdubbable, escapes, overdub
from cassette_import.contexts import Precision
from cassette_import.contexts.precision import shadow, significant

# The bodies are those of chapter 3 of R. W. Hamming, "Numerical Methods for Scientists and Engineers", in the suite
# FPBench: a name, a function, arguments at which it cancels, the expression to blame, and a form without cancellation.
EPS = 1e-9
BENCHMARKS = {
    "2sqrt": (
        lambda x: math.sqrt(x + 1) - math.sqrt(x), (1e12,), "math.sqrt(x + 1) - math.sqrt(x)",
        lambda x: 1 / (math.sqrt(x + 1) + math.sqrt(x)),
    ),
    "2sin": (
        lambda x: math.sin(x + EPS) - math.sin(x), (1.0,), "math.sin(x + EPS) - math.sin(x)",
        lambda x: 2 * math.cos(x + EPS / 2) * math.sin(EPS / 2),
    ),
    "2cos": (
        lambda x: math.cos(x + EPS) - math.cos(x), (1.0,), "math.cos(x + EPS) - math.cos(x)",
        lambda x: -2 * math.sin(x + EPS / 2) * math.sin(EPS / 2),
    ),
    "2tan": (
        lambda x: math.tan(x + EPS) - math.tan(x), (1.0,), "math.tan(x + EPS) - math.tan(x)",
        lambda x: math.sin(EPS) / (math.cos(x) * math.cos(x + EPS)),
    ),
    "2frac": (lambda x: 1 / (x + 1) - 1 / x, (1e9,), "1 / (x + 1) - 1 / x", lambda x: -1 / (x * (x + 1))),
    "2isqrt": (
        lambda x: 1 / math.sqrt(x) - 1 / math.sqrt(x + 1), (1e12,), "1 / math.sqrt(x) - 1 / math.sqrt(x + 1)",
        lambda x: 1 / (math.sqrt(x) * math.sqrt(x + 1) * (math.sqrt(x) + math.sqrt(x + 1))),
    ),
    "2cbrt": (
        lambda x: math.cbrt(x + 1) - math.cbrt(x), (1e12,), "math.cbrt(x + 1) - math.cbrt(x)",
        lambda x: 1 / (math.cbrt(x + 1) ** 2 + math.cbrt(x + 1) * math.cbrt(x) + math.cbrt(x) ** 2),
    ),
    "2atan": (
        lambda x: math.atan(x + 1) - math.atan(x), (1e8,), "math.atan(x + 1) - math.atan(x)",
        lambda x: math.atan2(1, 1 + x * (x + 1)),
    ),
    "2log": (
        lambda x: math.log(x + 1) - math.log(x), (1e9,), "math.log(x + 1) - math.log(x)",
        lambda x: math.log1p(1 / x),
    ),
    "2nthrt": (
        lambda x: (x + 1) ** (1 / 5) - x ** (1 / 5), (1e12,), "(x + 1) ** (1 / 5) - x ** (1 / 5)",
        lambda x: x ** (1 / 5) * math.expm1(math.log1p(1 / x) / 5),
    ),
    "3frac": (
        lambda x: 1 / (x + 1) - 2 / x + 1 / (x - 1), (1e6,), "1 / (x + 1) - 2 / x + 1 / (x - 1)",
        lambda x: 2 / (x * (x + 1) * (x - 1)),
    ),
    "logs": (
        lambda x: ((x + 1) * math.log(x + 1) - x * math.log(x)) - 1, (1e12,),
        "(x + 1) * math.log(x + 1) - x * math.log(x)",
        lambda x: math.log(x),
    ),
    "cos2": (
        lambda x: (1 - math.cos(x)) / (x * x), (1e-5,), "1 - math.cos(x)",
        lambda x: 2 * (math.sin(x / 2) / x) ** 2,
    ),
    "tanhf": (lambda x: (1 - math.cos(x)) / math.sin(x), (1e-5,), "1 - math.cos(x)", lambda x: math.tan(x / 2)),
    "expm1": (lambda x: math.exp(x) - 1, (1e-9,), "math.exp(x) - 1", lambda x: math.expm1(x)),
    "exp2": (
        lambda x: math.exp(x) - 2 + math.exp(-x), (1e-5,), "math.exp(x) - 2 + math.exp(-x)",
        lambda x: 4 * math.sinh(x / 2) ** 2,
    ),
    "expq2": (lambda x: math.exp(x) / (math.exp(x) - 1), (1e-9,), "math.exp(x) - 1", lambda x: 1 / -math.expm1(-x)),
    "expax": (lambda a, x: math.exp(a * x) - 1, (0.5, 1e-9), "math.exp(a * x) - 1", lambda a, x: math.expm1(a * x)),
    "qlog": (
        lambda x: math.log(1 - x) / math.log(1 + x), (1e-9,), "math.log(1 - x)",
        lambda x: math.log1p(-x) / math.log1p(x),
    ),
    "sintan": (
        lambda x: (x - math.sin(x)) / (x - math.tan(x)), (1e-4,), "x - math.sin(x)",
        lambda x: -0.5 + 9 * x * x / 40,
    ),
    "invcot": (lambda x: 1 / x - 1 / math.tan(x), (1e-3,), "1 / x - 1 / math.tan(x)", lambda x: x / 3 + x**3 / 45),
    "quadp": (
        lambda a, b, c: (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a), (1.0, 1e8, 1.0),
        "-b + math.sqrt(b * b - 4 * a * c)",
        lambda a, b, c: 2 * c / (-b - math.sqrt(b * b - 4 * a * c)),
    ),
    "quadm": (
        lambda a, b, c: (-b - math.sqrt(b * b - 4 * a * c)) / (2 * a), (1.0, -1e8, 1.0),
        "-b - math.sqrt(b * b - 4 * a * c)",
        lambda a, b, c: 2 * c / (-b + math.sqrt(b * b - 4 * a * c)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_expression_that_cancels_is_the_first_culprit(name):
    function, arguments, blamed, _ = BENCHMARKS[name]
    found = shadow(function, *arguments)
    assert found.culprits[0].text in (blamed, "x - math.tan(x)", "math.log(1 + x)")
    assert found.culprits[0].file == __file__
    assert found.relative_error > 1e-12


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_form_without_cancellation_has_no_culprit(name):
    _, arguments, _, form = BENCHMARKS[name]
    assert shadow(form, *arguments).culprits == []


@pytest.mark.parametrize("name", BENCHMARKS)
def test_random_rounding_agrees_with_the_exact_error(name):
    function, arguments, _, form = BENCHMARKS[name]
    lost = -math.log10(max(shadow(function, *arguments).relative_error, 1e-16))
    assert significant(function, *arguments) <= lost + 3
    assert significant(form, *arguments) > 13


def quadratic(a, b, c):
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


def test_the_exact_value_has_the_digits_of_the_arithmetic():
    found = shadow(quadratic, 1.0, 1e8, 1.0, digits=60)
    with mpmath.workdps(60):
        expected = (-(mpmath.mpf(10) ** 8) + mpmath.sqrt(mpmath.mpf(10) ** 16 - 4)) / 2
        assert abs(found.exact - expected) < mpmath.mpf(10) ** -45
    assert found.value == quadratic(1.0, 1e8, 1.0)


def structured(x):
    return {"sum": [x + 1e16 - 1e16, x], "name": "a", "pair": (x * 2, 1)}


def test_a_structure_has_the_exact_values_in_its_places():
    found = shadow(structured, 1.5)
    assert found.value == {"sum": [2.0, 1.5], "name": "a", "pair": (3.0, 1)}
    assert found.exact == {"sum": [1.5, 1.5], "name": "a", "pair": (3.0, 1)}
    assert found.relative_error == pytest.approx(1 / 3)


def test_an_error_that_does_not_reach_the_result_has_no_culprit():
    assert shadow(lambda x: x + ((x + 1e16) - 1e16 - x) * 1e-30, 0.3).culprits == []


def branching(x):
    return 1.0 if (x + 1e16) - 1e16 == x else 2.0 * x


def test_a_comparison_that_exact_numbers_would_decide_otherwise_is_listed():
    found = shadow(branching, 0.3)
    assert [(site.source, count) for site, count in found.decisions.items()] == [("(x + 1e16) - 1e16 == x", 1)]


def total(xs):
    result = 0.0
    for x in xs:
        result += x
    return result


@pytest.mark.parametrize(
    ("function", "culprits"),
    [(total, ["result += x"]), (lambda xs: sum(xs[:2]) + xs[2], ["sum(xs[:2]) + xs[2]"]), (math.fsum, [])],
)
def test_sums_lose_bits_where_they_are_rounded(function, culprits):
    assert [culprit.text for culprit in shadow(function, [1e16, 1.0, -1e16]).culprits] == culprits


@pytest.mark.parametrize("function", [statistics.mean, statistics.pstdev, math.dist, lambda xs, *ys: max(xs) - min(xs)])
def test_functions_of_the_standard_library_have_exact_values(function):
    arguments = ([0.1, 0.2, 0.4],) if function is not math.dist else ((0.1, 0.2), (0.4, 0.7))
    found = shadow(lambda *given: function(*given), *arguments)
    assert found.relative_error < 1e-15
    assert found.culprits == []


class Length(float):
    """A float of the program's own type."""


@pytest.mark.parametrize(
    "function",
    [
        lambda x: float(f"{x:.17g}"),
        lambda x: numpy.dot([x, 1.0], [1e16, -1.0]),
        lambda x: float(numpy.array([x]).view()[0]),
        lambda x: x.as_integer_ratio()[0] * 1.0,
        lambda x: abs(1j * x),
        lambda x: Length(x) + 1.0,
    ],
)
def test_a_function_without_a_rule_is_an_error(function):
    with pytest.raises(NotOverdubbable, match="no rule is known for it"):
        shadow(function, 0.3)


def test_a_result_without_floats_is_an_error():
    with pytest.raises(ValueError, match="the function returned 'text', which contains no float"):
        shadow(lambda x: "text", 1.0)


def test_infinities_are_no_obstacle():
    assert shadow(lambda xs: min(math.inf, *xs) if xs[0] < math.inf else 0.0, [2.5, 1.5]).value == 1.5


def test_the_page_shows_the_source_with_the_bits():
    page = shadow(quadratic, 1.0, 1e8, 1.0).html()
    assert "-b + math.sqrt(b * b - 4 * a * c): 50.5 bits" in page
    assert "<pre>def quadratic(a, b, c):</pre>" in page


def test_the_text_names_the_result_and_the_culprits():
    lines = str(shadow(quadratic, 1.0, 1e8, 1.0)).splitlines()
    assert lines[0] == "-7.450580596923828e-09, relative error 0.25"
    assert lines[1].endswith("in quadratic: -b + math.sqrt(b * b - 4 * a * c)")


def test_the_context_lists_the_expressions_of_a_program():
    precision = Precision()
    overdub(precision, quadratic, 1.0, 1e8, 1.0)
    assert [culprit.text for culprit in precision.culprits] == ["-b + math.sqrt(b * b - 4 * a * c)"]


def test_the_command_line_prints_and_writes_the_expressions(tmp_path):
    (tmp_path / "program.py").write_text("import math\nx = 1e-9\nprint(math.exp(x) - 1, hash('a') * 0)\n")
    result = cassette("run", "-c", "precision", "program.py", folder=tmp_path)
    assert result.stdout.startswith("1.000000082740371e-09")
    assert "program.py:3 in <module>: math.exp(x) - 1" in result.stderr
    cassette("run", "-c", "precision", "-o", "lost.html", "program.py", folder=tmp_path)
    assert "math.exp(x) - 1" in (tmp_path / "lost.html").read_text()


@pytest.mark.parametrize("options", [{"digits": 5}, {"limit": "all"}])
def test_an_option_that_makes_no_sense_is_refused(options):
    with pytest.raises(ValueError, match="is a number"):
        Precision(**options)


@pytest.mark.parametrize(
    "function",
    [
        lambda xs: sum(xs) / len(xs),
        lambda xs: sum(xs[i] for i in range(len(xs))) / 3,
        lambda xs: sum(x for i, x in enumerate(xs) if i < 5 and xs) / xs.__len__(),
        lambda xs: sum(xs) / (xs.index(0.25) + 2),
        lambda xs: sum(xs) / (tuple(xs).count(0.25) + 2),
        lambda xs: sum(xs) / len(f"{xs[0]:.1f}"),
        lambda xs: sum(xs) / len(repr(sorted(xs))[:3]),
        lambda xs: sum(xs) / (3 if hash(xs[0]) == hash(0.5) and isinstance(xs[0], float) else 1),
        lambda xs: sum(xs) / len(set(xs)),
        lambda xs: sum(xs) / (operator.countOf(xs, 0.25) + operator.indexOf(xs, 0.25) + 1),
        lambda xs: sum(xs) / (3 if sys.getsizeof(xs) > 0 and id(xs) else 1),
    ],
)
def test_sizes_positions_and_counts_are_exact(function):
    found = shadow(function, [0.5, 0.25, 0.125])
    assert found.value == 0.875 / 3
    assert abs(found.exact * 3 - 0.875) < 1e-40
    assert not found.culprits


def test_a_number_that_is_made_of_the_parts_of_a_float_is_refused():
    for function in (lambda x: x.as_integer_ratio()[0] / 2, lambda x: float(str(x))):
        with pytest.raises(NotOverdubbable, match="there is no exact value"):
            shadow(function, 0.1)


@pytest.mark.parametrize("x", [1e-20, -1e-300, 1e300])
def test_no_expression_loses_more_bits_than_a_float_has(x):
    culprits = shadow(lambda y: ((1 + y) - 1) + (y + 1e16 * y - 1e16 * y), x).culprits
    assert all(5 < culprit.bits <= 53 for culprit in culprits)
    assert x != 1e-20 or round(culprits[0].bits) == 53


def test_samples_are_at_least_two():
    with pytest.raises(ValueError, match="samples is a number from 2 on, not 1"):
        significant(quadratic, 1.0, 2.0, 1.0, samples=1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (numpy.float64(1.0) + x) - 1.0,
        lambda x: (x + numpy.float64(1.0)) - 1.0,
        lambda x: math.fsum([sum([numpy.float64(1.0), x]), -1.0]),
        lambda x: float(numpy.float64(1.0) + x) - 1.0,
    ],
)
def test_floats_of_numpy_have_shadows(f):
    assert shadow(f, 1e-20).exact == mpmath.mpf(1e-20)
    assert shadow(f, numpy.float64(1e-20)).relative_error == 1.0


def test_floats_of_numpy_are_rounded_at_random():
    def cancelled(x, step):
        return (x + step) - x

    plain = significant(cancelled, 1e10, 0.1)
    assert plain < 6
    assert significant(cancelled, numpy.float64(1e10), 0.1) == plain
    assert significant(cancelled, 1e10, numpy.float64(0.1)) == plain


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float((numpy.array([x]) + 0.1)[0]),
        lambda x: float(numpy.sum([x, 0.1])),
        lambda x: float(numpy.array([x, 0.1]).sum()),
        lambda x: float(numpy.array([x]) @ numpy.array([0.1])),
        lambda x: float(numpy.sin(x)),
        lambda x: float(numpy.float32(x) * numpy.float32(0.1)),
    ],
)
def test_the_arithmetic_of_numpy_which_is_not_rounded_at_random_is_an_error(f):
    with pytest.raises(NotOverdubbable, match=r"the rounding errors of .* are not seen, at .*numpy\."):
        significant(f, 1e10)


def test_functions_of_numpy_that_compute_no_floats_may_be_called():
    def cancelled(x):
        return 0.0 if numpy.isnan(x) else (numpy.array([x])[0] + 0.1) - x

    assert significant(cancelled, 1e10) < 6


def test_a_decision_of_isclose_is_listed():
    assert shadow(lambda x: 1.0 if math.isclose((x + 1e16) - 1e16, 1.0) else 0.0, 1.0).decisions
    assert not shadow(lambda x: 1.0 if math.isclose(x * 3 - 0.3, 0.6) else 0.0, 0.1 + 0.2).decisions


@pytest.mark.parametrize("f", [math.degrees, math.radians, lambda x: math.dist([x], [0.3]), lambda x: x % -1000.0])
def test_functions_that_round_are_rounded_at_random(f):
    value = f(1.1)
    assert significant(lambda x: f(x) - value + 1e-16, 1.1) < 2


def test_what_loses_exact_values_is_reported_and_changes_nothing():
    ctx = Precision()
    assert overdub(ctx, lambda x: eval("x / 10"), ctx.input(1.0)) == 0.1
    assert [loss.function for loss in escapes(ctx)] == ["eval"]


@pytest.mark.parametrize("run", [shadow, significant])
def test_start_of_a_product_is_a_number_like_its_items(run):
    def products(x):
        return math.prod([x, 3.0], start=x) + sum([x, 2.0], start=x)

    run(products, 0.7)
    found = shadow(products, 0.7)
    exact = fractions.Fraction(0.7)
    error = abs(fractions.Fraction(products(0.7)) / (exact * exact * 3 + exact * 2 + 2) - 1)
    assert found.value == products(0.7)
    assert found.relative_error == pytest.approx(float(error), rel=1e-9)
