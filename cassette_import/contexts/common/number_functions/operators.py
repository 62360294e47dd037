"""The rows of operators, and of functions that do the same as one."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import (
    CURVED,
    FREE,
    LINEAR,
    PRODUCT,
    QUOTIENT,
    STEP,
    Row,
    Value,
    constant,
    formulas,
)

__all__ = ["OPERATORS"]


def _by(function: Callable[..., Any]) -> Value:
    """The value is what the operator of the numbers of an arithmetic computes."""
    return lambda on, *arguments: function(*arguments)


def _direction(on: Any, v: Any, x: Any) -> Any:
    """The derivative of the absolute value."""
    return on.conjugate_of(x) / v if isinstance(x, complex) else on.sign(x)


def _power_base(on: Any, v: Any, x: Any, y: Any) -> Any:
    return 0.0 if y == 0 else y * on.power(x, y - 1)


def _power_exponent(on: Any, v: Any, x: Any, y: Any) -> Any:
    return 0.0 if x == 0 and y >= 0 else v * on.log_of_base(x, v)


_ONE: Final = constant(1.0)

OPERATORS: Final = (
    Row(
        (operator.add, operator.iadd), ("add",), _by(operator.add), formulas("1.0", "1.0"),
        LINEAR, "add", total=True,
    ),
    Row(
        (operator.sub, operator.isub), ("subtract",), _by(operator.sub), formulas("1.0", "-1.0"),
        LINEAR, "sub", total=True,
    ),
    Row(
        (operator.mul, operator.imul), ("multiply",), _by(operator.mul),
        formulas("y", "x"), PRODUCT, "mul", total=True,
    ),
    Row(
        (operator.truediv, operator.itruediv), ("divide", "true_divide"), _by(operator.truediv),
        formulas("1.0 / y", "-v / y"), QUOTIENT, "truediv",
    ),
    Row(
        (operator.floordiv, operator.ifloordiv), ("floor_divide",), lambda on, x, y: on.number(on.floor(x / y)),
        dependence=STEP, cost="floordiv", exact=True,
    ),
    Row(
        (operator.mod, operator.imod), ("remainder", "mod"), lambda on, x, y: x - y * on.floor(x / y),
        (_ONE, lambda on, v, x, y: -on.floor_quotient(x, y)),
        LINEAR, "mod",
    ),
    Row(
        (operator.pow, operator.ipow, pow, math.pow), ("power", "float_power"), "power",
        (_power_base, _power_exponent),
        CURVED, "pow", overflows=(10.0, 1000.0),
    ),
    Row(
        (operator.neg,), ("negative",), _by(operator.neg), formulas("-1.0"), LINEAR, "neg", exact=True, total=True,
    ),
    Row(
        (operator.pos,), ("positive",), _by(operator.pos), formulas("1.0"), LINEAR, FREE, exact=True, total=True,
    ),
    Row(
        (abs, operator.abs, math.fabs), ("absolute", "fabs"), _by(abs), (_direction,),
        LINEAR, "abs", exact=True, total=True,
    ),
)  # fmt: skip
"""Operators of numbers whose result is a number."""
