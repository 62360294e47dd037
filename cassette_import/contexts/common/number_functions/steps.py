"""The rows of functions whose result changes in steps: comparisons, truth values, roundings, bits."""

from __future__ import annotations

import math
import operator
from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import FREE, STEP, Row

__all__ = ["BITS", "COMPARISONS", "QUESTIONS", "ROUNDINGS", "STEPS", "TRUTHS"]


def _step(*functions: Any, ufuncs: str = "", total: bool = True) -> Row:
    return Row(functions, tuple(ufuncs.split()), dependence=STEP, cost=FREE, exact=True, total=total)


COMPARISONS: Final = (
    _step(operator.lt, ufuncs="less"),
    _step(operator.le, ufuncs="less_equal"),
    _step(operator.eq, ufuncs="equal"),
    _step(operator.ne, ufuncs="not_equal"),
    _step(operator.gt, ufuncs="greater"),
    _step(operator.ge, ufuncs="greater_equal"),
)
"""The comparisons, which programs also apply to other values than numbers."""

TRUTHS: Final = (
    _step(operator.truth, bool),
    _step(operator.not_, ufuncs="logical_not"),
    _step(float.is_integer),
)
"""Truth values of numbers."""

QUESTIONS: Final = (
    _step(math.isnan, ufuncs="isnan"),
    _step(math.isinf, ufuncs="isinf"),
    _step(math.isfinite, ufuncs="isfinite"),
    _step(math.isclose, total=False),
)
"""The functions of `math` whose result is a truth value."""

ROUNDINGS: Final = (
    _step(math.floor, ufuncs="floor", total=False),
    _step(math.ceil, ufuncs="ceil", total=False),
    _step(math.trunc, int, ufuncs="trunc", total=False),
    _step(round, ufuncs="rint", total=False),
    _step(math.ulp, ufuncs="spacing"),
)
"""Functions whose result is an integer, or a number of few digits."""

BITS: Final = (
    _step(operator.and_, operator.iand, ufuncs="bitwise_and"),
    _step(operator.or_, operator.ior, ufuncs="bitwise_or"),
    _step(operator.xor, operator.ixor, ufuncs="bitwise_xor"),
    _step(operator.invert, ufuncs="invert"),
    _step(operator.lshift, operator.ilshift, ufuncs="left_shift", total=False),
    _step(operator.rshift, operator.irshift, ufuncs="right_shift", total=False),
)
"""Operators of integers."""

STEPS: Final = (*COMPARISONS, *TRUTHS, *QUESTIONS, *ROUNDINGS, *BITS)
"""Functions whose derivative is zero where there is one."""
