"""The rules of functions of numbers: how the dependence of the result follows from those of the arguments.

Which kind a function is of is a column of the table of functions: where the derivative is zero for all arguments, the
result changes in steps; where the second derivative is, the function is linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import (
    CURVED,
    FIRST,
    FUSED,
    LINEAR,
    PRODUCT,
    QUOTIENT,
    STEP,
)
from cassette_import.contexts.common.number_functions.table import BY_UFUNC, ROWS, functions_of
from cassette_import.contexts.sparsity.run import Run, joined

__all__ = ["FOLDS", "KINDS", "TOTAL", "UFUNC_KINDS", "Kind"]

Kind = Callable[[Run, Sequence[int]], int]
"""The dependence of a result on those of the arguments."""


def linear(run: Run, given: Sequence[int]) -> int:
    """Sums, multiples, and what is linear in pieces: `abs`, `min`."""
    return joined(given)


def product(run: Run, given: Sequence[int]) -> int:
    """A product: linear in each factor."""
    found = 0
    for one in given:
        found |= one | run.cross(found, one)
    return found


def quotient(run: Run, given: Sequence[int]) -> int:
    """`x / y`."""
    return given[0] | run.curved(given[1]) | run.cross(given[0], given[1])


def curved(run: Run, given: Sequence[int]) -> int:
    """Every other function: all second derivatives may be different from zero."""
    return run.curved(joined(given))


def step(run: Run, given: Sequence[int]) -> int:
    """Comparisons and roundings: the derivative is zero."""
    return run.step(joined(given))


def first(run: Run, given: Sequence[int]) -> int:
    """Linear in the first argument, in steps in the others."""
    return given[0] | step(run, given[1:])


def fused(run: Run, given: Sequence[int]) -> int:
    """`x * y + z`."""
    return product(run, given[:2]) | given[2]


_KINDS: Final[dict[str, Kind]] = {
    LINEAR: linear,
    PRODUCT: product,
    QUOTIENT: quotient,
    CURVED: curved,
    STEP: step,
    FIRST: first,
    FUSED: fused,
}
"""What the column `dependence` of the table of functions says."""

KINDS: Final[dict[Any, Kind]] = {function: _KINDS[row.dependence] for row in ROWS for function in row.functions}
"""The kind of each function of numbers."""

TOTAL: Final = frozenset(functions_of(row for row in ROWS if row.total))
"""Functions that raise no exception for any float that is not infinite."""

FOLDS: Final[dict[Any, Kind]] = {math.fsum: linear, math.prod: product, math.dist: curved}
if hasattr(math, "sumprod"):  # 3.12
    FOLDS[math.sumprod] = curved
"""Functions of all numbers in the iterables that they get."""

UFUNC_KINDS: Final[dict[str, Kind]] = {name: _KINDS[row.dependence] for name, row in BY_UFUNC.items()}
"""The kinds of NumPy's functions by element. One that is not here has all second derivatives, or, if its result is no
float, changes in steps."""
