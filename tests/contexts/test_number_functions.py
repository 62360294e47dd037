"""The table of functions of numbers: each column says what is true, and each context reads each row."""

import math
import re
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

import pytest

pytest.importorskip("mpmath", reason="exact results need mpmath")
pytest.importorskip("flint", reason="enclosures need python-flint")
pytest.importorskip("numpy", reason="rows name functions of NumPy")
pytest.importorskip("scipy", reason="patterns are arrays of SciPy")

import numpy as np

from cassette_import.contexts.algebra.context import EVERY_ALGEBRA
from cassette_import.contexts.autodiff.arrays.rules.reductions import PARTIALS as ARRAY_PARTIALS
from cassette_import.contexts.backends.operations import _OPERATIONS as COMPILED
from cassette_import.contexts.contract.paths import FOLDS as CONTRACTED_FOLDS
from cassette_import.contexts.contract.paths import RULES as CONTRACTED
from cassette_import.contexts.flops.context import OPERATIONS as COUNTED
from cassette_import.contexts.flops.context import ArrayRules
from cassette_import.contexts.graph.known_functions import is_pure
from cassette_import.contexts.intervals.rules import CHOICES
from cassette_import.contexts.intervals.rules import FOLDS as ENCLOSED_FOLDS
from cassette_import.contexts.intervals.rules import RULES as ENCLOSED
from cassette_import.contexts.lanes.call_rules import RULES as LANES
from cassette_import.contexts.lanes.known_functions import ELEMENTWISE
from cassette_import.contexts.nonan.context import _ARITHMETIC
from cassette_import.contexts.precision.context import DECISIONS, MPContext
from cassette_import.contexts.precision.context import FOLDS as SHADOWED_FOLDS
from cassette_import.contexts.precision.context import RULES as SHADOWED
from cassette_import.contexts.precision.rounding import _EXACT, _FOLDS, _ROUNDED
from cassette_import.contexts.sparsity.number import KINDS, UFUNC_KINDS
from cassette_import.kits.numbers.partials import JOINT_PARTIALS, LOCALLY_CONSTANT, PARTIALS, TRUTH_VALUES
from cassette_import.kits.numbers.row import LINEAR, STEP
from cassette_import.kits.numbers.table import BY_UFUNC, FOLDS, IN_PLACE, NUMBERS, ROWS, STEPS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contexts-algebra.md"
FUNCTIONS = [(function, row) for row in ROWS for function in row.functions if function not in IN_PLACE]
UNARY = [row for row in NUMBERS if row.functions and (row.domain or row.growth or row.periodic)]
FLOATS = [0.0, -0.0, 5e-324, 1e-9, 0.3, 0.5, 1.0, 1.5, 2.0, 7.25, 170.0, 1e9, 1.7e308]
FLOATS = [*FLOATS, *(-x for x in FLOATS), math.nan]

COVERED = {
    "derivatives": {*PARTIALS, *JOINT_PARTIALS, *LOCALLY_CONSTANT, *TRUTH_VALUES},
    "enclosure": {*ENCLOSED, *CHOICES},
    "shadow": {*SHADOWED, *DECISIONS},
    "significant": {*_ROUNDED, *_EXACT, *(function for function, row in FUNCTIONS if row.exact)},
    "contract": set(CONTRACTED),
    "jacobian": set(KINDS),
    "Flops": set(COUNTED),
    "evaluate": set(EVERY_ALGEBRA),
    "vectorize": {*LANES, *ELEMENTWISE},
    "jit": set(COMPILED),
    "NoNaN": set(_ARITHMETIC),
    "graph": {function for function, _ in FUNCTIONS if is_pure(function)},
}


OF_FRACTIONS = {
    "abs": abs,
    "copysign": lambda x, y: -abs(x) if y < 0 else abs(x),
    "fmod": lambda x, y: x - y * math.trunc(x / y),
    "ldexp": lambda x, y: x * Fraction(2) ** y,
    "remainder": lambda x, y: x - y * round(x / y),
}
"""Functions of floats, written for fractions."""


def documented():
    """The rows without a rule, by context, as the documents say."""
    section = PAGE.read_text(encoding="utf-8").split("| context | rows without a rule | reason |")[1].split("\n\n")[0]
    found = {}
    for line in section.splitlines()[2:]:
        context, names, reason = [cell.strip() for cell in line.split("|")[1:-1]]
        assert reason
        found.setdefault(context.strip("`"), set()).update(re.findall(r"`(\w+)`", names))
    return found


def arguments(row, function):
    """Some tuples of floats for a function, by its number of arguments."""
    count = {"hypot": 2, "copysign": 2, "fma": 3, "nextafter": 2}.get(row.name)
    count = count or (len(row.partials) if type(row.partials) is tuple else 1)
    count = 1 if row.name == "log" else 2 if row.name == "floordiv" else count
    numbers = [0.3, -0.7, 1.25, 2.0, -3.5, 8.0]
    for place in range(len(numbers)):
        given = [numbers[(place + 2 * step) % len(numbers)] for step in range(count)]
        yield [given[0], int(given[1])] if row.name == "ldexp" else given


def test_no_function_has_two_rows():
    assert len({function for function, _ in FUNCTIONS}) == len(FUNCTIONS)
    assert len(BY_UFUNC) == sum(len(row.ufuncs) for row in ROWS)


@pytest.mark.parametrize("context", COVERED)
def test_a_context_has_a_rule_for_each_row_or_the_documents_say_why_not(context):
    missing = {row.name for row in ROWS if row.functions and row.functions[0] not in COVERED[context]}
    assert missing == documented().get(context, set()) - ({"fma"} if not hasattr(math, "fma") else set())


@pytest.mark.parametrize("context", COVERED)
def test_a_context_has_a_rule_for_all_functions_of_a_row(context):
    for row in ROWS:
        others = [one for one in row.functions if one not in IN_PLACE and not isinstance(one, type)]
        assert len({function in COVERED[context] for function in others}) <= 1


@pytest.mark.parametrize("folds", [ENCLOSED_FOLDS, SHADOWED_FOLDS, CONTRACTED_FOLDS])
def test_a_context_has_a_rule_for_each_fold(folds):
    assert folds.keys() == FOLDS.keys()
    assert _FOLDS.keys() == FOLDS.keys() - {min, max}


@pytest.mark.parametrize("name", [name for name in BY_UFUNC if hasattr(np, name)])
def test_a_function_by_element_has_a_rule_in_all_contexts_of_arrays(name):
    row, ufunc = BY_UFUNC[name], getattr(np, name)
    assert isinstance(ufunc, np.ufunc)
    assert name in UFUNC_KINDS
    assert ArrayRules(np).rule(ufunc) is not None
    if row.partials is not None:
        assert ufunc in ARRAY_PARTIALS


@pytest.mark.parametrize(("function", "row"), FUNCTIONS)
def test_the_exact_value_rounds_to_that_of_the_function(function, row):
    if row.value is None:
        return
    mp = MPContext()
    mp.dps = 50
    for given in arguments(row, function):
        try:
            value = function(*given)
        except (ValueError, ZeroDivisionError):
            continue
        if isinstance(value, float) and math.isfinite(value):
            exact = SHADOWED[function](mp, *map(mp.mpf, given))
            assert float(exact) == pytest.approx(value, rel=1e-14, abs=1e-300), given


@pytest.mark.parametrize("row", UNARY, ids=lambda row: row.name)
def test_the_domain_and_the_overflows_are_those_of_the_function(row):
    function = row.functions[0]
    for x in FLOATS:
        domain = row.domain
        inside = domain is None or domain.low < x < domain.high or (domain.closed and x in (domain.low, domain.high))
        if math.isnan(x) or inside:
            try:
                function(x)
            except OverflowError:
                assert row.overflows
        else:
            with pytest.raises(ValueError, match=r"."):
                function(x)
    if row.periodic:
        with pytest.raises(ValueError, match=r"."):
            function(math.inf)


@pytest.mark.parametrize("row", [row for row in NUMBERS if row.overflows], ids=lambda row: row.name)
def test_the_example_of_an_overflow_overflows(row):
    with pytest.raises(OverflowError):
        row.functions[0](*row.overflows)


@pytest.mark.parametrize("row", [row for row in NUMBERS if row.growth], ids=lambda row: row.name)
def test_a_function_that_grows_stays_between_its_limits(row):
    growth, values = row.growth, []
    for x in sorted(x for x in FLOATS if not math.isnan(x)):
        try:
            values.append(row.functions[0](x))
        except (ValueError, OverflowError):
            continue
    assert values == sorted(values, reverse=not growth.rises)
    assert all(growth.below <= value <= growth.above for value in values)


@pytest.mark.parametrize("row", [row for row in NUMBERS if row.growth and row.growth.inverse], ids=lambda row: row.name)
def test_the_inverse_function_is_the_inverse(row):
    name = row.growth.inverse
    inverse = getattr(math, name, lambda x: 10.0**x)
    for x in (1.25, 2.0, 3.5) if row.name != "atanh" else (-0.5, 0.25):
        assert inverse(row.functions[0](x)) == pytest.approx(x, rel=1e-12)


@pytest.mark.parametrize("row", [row for row in ROWS if row.total and row.functions], ids=lambda row: row.name)
def test_a_total_function_raises_nothing(row):
    function = row.functions[0]
    integers = row.name in {"and_", "or_", "xor", "invert"}
    computed = 0
    for x in FLOATS:
        for y in FLOATS:
            given = [5, -3] if integers else [x, y]
            for count in (1, 2):
                try:
                    function(*given[:count])
                except TypeError:
                    continue  # another number of arguments
                computed += 1
    assert computed >= len(FLOATS) ** 2


@pytest.mark.parametrize("row", [row for row in NUMBERS if row.dependence == LINEAR], ids=lambda row: row.name)
def test_the_derivatives_of_a_linear_function_are_constant_in_pieces(row):
    function = row.functions[0]
    for number, _ in enumerate(row.partials if row.name not in {"mod", "fmod", "remainder"} else row.partials[:1]):
        for given in arguments(row, function):
            near = list(given)
            near[number] = given[number] * (1 + 1e-9)
            slopes = [PARTIALS[function][number](function(*one), *one) for one in (given, near)]
            assert slopes[0] == slopes[1]


@pytest.mark.parametrize("row", [row for row in ROWS if row.dependence == STEP and row.functions], ids=lambda r: r.name)
def test_a_function_in_steps_has_no_derivative(row):
    assert not set(row.functions) & PARTIALS.keys()
    assert row in STEPS or row.name == "floordiv"


def test_an_exact_function_is_not_rounded():
    for function, row in FUNCTIONS:
        if row.exact and row.value is not None and row.name != "floordiv":
            for given in arguments(row, function):
                parts = [one if type(one) is int else Fraction(one) for one in given]
                assert Fraction(function(*given)) == OF_FRACTIONS.get(row.name, function)(*parts)


def test_a_function_is_added_to_all_contexts_by_one_row(tmp_path):
    """A row is added in a process of its own, before the contexts make their rules of the table."""
    program = """
        import math

        from cassette_import.kits.numbers import elementary
        from cassette_import.kits.numbers.row import Growth, Row

        def softplus(x):
            return math.log1p(math.exp(x))

        elementary.ELEMENTARY = (
            *elementary.ELEMENTARY,
            Row(
                (softplus,), (), lambda on, x: on.log1p(on.exp(x)),
                (lambda on, v, x: on.exp(x) / (1.0 + on.exp(x)),),
                cost="softplus", growth=Growth(0.0, math.inf),
            ),
        )

        from cassette_import import overdub
        from cassette_import.contexts import Flops
        from cassette_import.contexts.algebra import has_slopes, slope
        from cassette_import.contexts.autodiff import derivative
        from cassette_import.contexts.contract import solve
        from cassette_import.contexts.intervals import Interval, enclosure
        from cassette_import.contexts.precision import shadow
        from cassette_import.contexts.precision.rounding import _ROUNDED
        from cassette_import.contexts.sparsity.number import KINDS, curved

        def f(x):
            return 2.0 * softplus(x)

        exact = 2.0 * math.log1p(math.exp(0.5))
        rate = 2.0 / (1.0 + math.exp(-0.5))
        assert math.isclose(derivative(f, 0.5), rate)
        found = enclosure(f, Interval(0.5, 0.75))
        assert found.low <= exact <= found.high < exact + 0.5
        assert abs(shadow(f, 0.5).exact - exact) < 1e-15 and shadow(f, 0.5).value == exact
        assert softplus in _ROUNDED
        (root,) = solve(f, ((-9, 9),), exact, width=1e-9)
        assert root.unique and root.box[0][0] <= 0.5 <= root.box[0][1]
        assert KINDS[softplus] is curved
        counter = Flops()
        overdub(counter, f, 0.5)
        assert counter.counts["softplus"] == counter.counts["mul"] == 1, counter.counts
        assert has_slopes(softplus) and math.isclose(2.0 * slope(softplus, 0, exact / 2, (0.5,)), rate)
        print("right")
        """
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout == "right\n", done.stderr
