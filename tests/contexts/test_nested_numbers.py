"""Contexts of numbers within one another: each pair of the table in `docs/tagging.md` is right, or is an error."""

import math
import re
from pathlib import Path

import pytest

pytest.importorskip("flint", reason="enclosures need python-flint")
pytest.importorskip("mpmath", reason="shadows need mpmath")
pytest.importorskip("scipy", reason="patterns are arrays of SciPy")

import mpmath
import numpy as np
from helpers.slopes import Slopes

from cassette_import import overdub
from cassette_import.contexts import Flops, NoNaN
from cassette_import.contexts.algebra import Number, evaluate
from cassette_import.contexts.autodiff import derivative, gradient
from cassette_import.contexts.contract import contract
from cassette_import.contexts.intervals import Interval, enclosure
from cassette_import.contexts.lanes import vectorize
from cassette_import.contexts.precision import shadow, significant
from cassette_import.contexts.sparsity import hessian, jacobian
from cassette_import.errors import CassetteError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tagging.md"
POINT, NEXT = 1.25, 1.375


def f(x):
    y = x * math.sin(x)
    if y > 100.0:
        return y
    return y + x**3 - (x + 1.0) / x


def exact(x):
    """The function in mpmath's arithmetic, written once more."""
    x = mpmath.mpf(x)
    return x * mpmath.sin(x) + x**3 - (x + 1) / x


def exact_slope(x, order=1):
    """A derivative of the function, by hand."""
    x = mpmath.mpf(x)
    if order == 1:
        return mpmath.sin(x) + x * mpmath.cos(x) + 3 * x**2 + 1 / x**2
    return 2 * mpmath.cos(x) - x * mpmath.sin(x) + 6 * x - 2 / x**3


INNER = {
    "derivative": lambda x: derivative(f, x),
    "gradient": lambda x: gradient(f, x)[0],
    "Flops": lambda x: overdub(Flops(), f, x),
    "NoNaN": lambda x: overdub(NoNaN(), f, x),
    "enclosure": lambda x: enclosure(f, Interval(x, x)).low,
    "shadow": lambda x: shadow(f, x).value,
    "significant": lambda x: significant(f, x),
    "contract": lambda x: contract(f, ((x, x + 1.0),), (-100.0, f(x)))[0][0],
    "evaluate": lambda x: evaluate(Slopes(), f, Number(x, 1.0)).meaning,
    "vectorize": lambda x: vectorize(f)(np.array([x, 2.0]))[0],
    "jacobian": lambda x: jacobian(lambda v: [f(v[0])], np.array([x])).nnz * x,
}
"""Functions of `x` that run `f` in a context."""

CAPTURED = {
    "enclosure": lambda x: enclosure(lambda z: z * x, Interval(2.0, 2.0)).low,
    "shadow": lambda x: float(shadow(lambda z: z * x, 2.0).value),
    "significant": lambda x: significant(lambda z: z * x, 2.0),
    "contract": lambda x: contract(lambda z: z * x, ((1.0, 3.0),), (2.0, 2.0))[0][0],
    "evaluate": lambda x: evaluate(Slopes(), lambda z: math.sin(z * x), Number(2.0, 1.0)).meaning,
    "vectorize": lambda x: vectorize(lambda z: z * x)(np.array([2.0, 3.0]))[0],
}
"""The same, where the function in the context reads `x` from outside."""

CORRECT = {
    **dict.fromkeys(("derivative", "gradient"), (exact_slope, lambda x: exact_slope(x, 2))),
    **dict.fromkeys(("Flops", "NoNaN", "enclosure"), (exact, exact_slope)),
}
"""For the functions of `INNER` that may be nested: the exact value, and its exact derivative."""


def differentiates(g, value, slope):
    assert derivative(g, POINT) == pytest.approx(float(slope(POINT)), rel=1e-13)
    assert gradient(g, POINT)[0] == pytest.approx(float(slope(POINT)), rel=1e-13)


def encloses(g, value, slope):
    found = enclosure(g, Interval(POINT, NEXT))
    values = [value(POINT + (NEXT - POINT) * number / 16) for number in range(17)]
    assert found.low <= min(values)
    assert max(values) <= found.high
    assert found.high - found.low < 10 * (max(values) - min(values))


def shadows(g, value, slope):
    with mpmath.workdps(50):
        assert abs(shadow(g, POINT).exact - value(POINT)) < mpmath.mpf(10) ** -45


def contracts(g, value, slope):
    ((low, high),) = contract(g, ((POINT, 2.0),), (float(value(POINT)) - 1e-9, float(value(NEXT))))
    assert low == POINT
    assert NEXT <= high < NEXT + 0.1


def evaluates(g, value, slope):
    found = evaluate(Slopes(), g, Number(POINT, 1.0))
    assert found.value == pytest.approx(float(value(POINT)), rel=1e-13)
    assert found.meaning == pytest.approx(float(slope(POINT)), rel=1e-13)


def counts_digits(g, value, slope):
    assert significant(g, POINT) == significant(f, POINT)


def vectorizes(g, value, slope):
    assert vectorize(g)(np.array([POINT, NEXT])) == pytest.approx([float(value(POINT)), float(value(NEXT))])


def finds_patterns(g, value, slope):
    def of_array(v):
        return [g(v[0]), v[1]]

    assert jacobian(of_array, np.array([POINT, 2.0])).toarray().tolist() == [[True, False], [False, True]]
    assert hessian(lambda v: g(v[0]) + v[1], np.array([POINT, 2.0])).toarray().tolist() == [[True, False], [False] * 2]


OUTER = {
    "derivative": differentiates,
    "enclosure": encloses,
    "shadow": shadows,
    "significant": counts_digits,
    "contract": contracts,
    "evaluate": evaluates,
    "vectorize": vectorizes,
    "jacobian": finds_patterns,
}


def table():
    """The pairs of the documented table, with their cells: the outer context, the inner ones, and what holds."""
    section = PAGE.read_text(encoding="utf-8").split("## Contexts of numbers within one another")[1]
    head, _, *rows = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("|")]
    columns = [re.findall(r"`(\w+)`", cell) for cell in head.split("|")[2:-1]]
    for row in rows:
        outer, *cells = [cell.strip() for cell in row.split("|")[1:-1]]
        for names, cell in zip(columns, cells, strict=True):
            for inner in names:
                yield outer.strip("`"), inner, cell


PAIRS = list(table())


def test_the_table_has_every_pair():
    assert {(outer, inner) for outer, inner, _ in PAIRS} == {(outer, inner) for outer in OUTER for inner in INNER}
    assert {cell for _, _, cell in PAIRS} == {"right", "error"}


@pytest.mark.parametrize(("outer", "inner"), [pair[:2] for pair in PAIRS if pair[2] == "right"])
def test_a_nested_context_computes_what_mathematics_says(outer, inner):
    OUTER[outer](INNER[inner], *CORRECT[inner])


@pytest.mark.parametrize(("outer", "inner"), [pair[:2] for pair in PAIRS if pair[2] == "error"])
def test_every_other_pair_is_an_error(outer, inner):
    for functions in (INNER, CAPTURED):
        if inner in functions:
            with pytest.raises((CassetteError, TypeError)):
                OUTER[outer](functions[inner], exact, exact_slope)


@pytest.mark.parametrize("inner", ["derivative", "gradient", "enclosure"])
def test_flops_counts_the_operations_of_the_function_and_names_the_context_within(inner):
    alone, around = Flops(), Flops()
    overdub(alone, f, POINT)
    overdub(around, INNER[inner], POINT)
    assert around.counts == alone.counts != {}
    assert any(name.endswith(f".{inner}") for name in around.uncounted)
