"""The whole table, and how a row is found.

To add a function to all contexts of numbers is to add its row.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import (
    CURVED,
    FIRST,
    FREE,
    FUSED,
    LINEAR,
    PRODUCT,
    QUOTIENT,
    STEP,
    Domain,
    Growth,
    Partial,
    Row,
    Value,
    constant,
    formulas,
)

__all__ = [
    "BITS",
    "BY_ELEMENT",
    "BY_UFUNC",
    "COMPARISONS",
    "ELEMENTARY",
    "FOLDS",
    "IN_PLACE",
    "NUMBERS",
    "OPERATORS",
    "QUESTIONS",
    "ROUNDINGS",
    "ROWS",
    "STEPS",
    "TRUTHS",
    "functions_of",
    "row_of",
]

# ---- the rows of functions whose result changes in steps: comparisons, truth values, roundings, bits


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


# ---- the rows of operators, and of functions that do the same as one


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


_OPERATORS_ONE: Final = constant(1.0)

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
        (_OPERATORS_ONE, lambda on, v, x, y: -on.floor_quotient(x, y)),
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


# ---- the rows of the functions of `math` whose result is a float

_ONE: Final = constant(1.0)
_ZERO: Final = constant(0.0)
_LN2: Final = math.log(2.0)
_LN10: Final = math.log(10.0)
_BELL: Final = 2.0 / math.sqrt(math.pi)

_FROM_ZERO: Final = Domain(0.0)
_ABOVE_ZERO: Final = Domain(0.0, closed=False)
_ONE_AROUND: Final = Domain(-1.0, 1.0)


def _named(name: str, partial: Partial, **columns: Any) -> Row:
    """A function of one argument with a name of its own in every arithmetic."""
    return Row((getattr(math, name),), **{"ufuncs": (name,), "cost": name, **columns}, value=name, partials=(partial,))


def _log(on: Any, x: Any, *base: Any) -> Any:
    return on.log(x) / on.log(base[0]) if base else on.log(x)


def _slope_of_log(on: Any, v: Any, x: Any, base: Any = None) -> Any:
    return 1.0 / x if base is None else 1.0 / (x * on.log(base))


def digamma(on: Any, x: Any) -> Any:
    """The derivative of `lgamma`, by recurrence and its asymptotic series."""
    result: Any = 0.0
    if x <= 0:
        return digamma(on, 1.0 - x) - math.pi / on.tan(math.pi * x)
    while x < 10:
        result = result - 1.0 / x
        x = x + 1.0
    square = 1.0 / (x * x)
    series: Any = 0.0
    for factor in (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12):
        series = square * (factor + series)
    return result + on.log(x) - 0.5 / x + series


def _length(on: Any, *coordinates: Any) -> Any:
    return on.sqrt(sum((x * x for x in coordinates), on.number(0)))


def _slopes_of_length(on: Any, v: Any, *coordinates: Any) -> list[Any]:
    return [0.0 if v == 0 else x / v for x in coordinates]


def _cost_of_length(count: int) -> Mapping[str, int]:
    return {"mul": count, "add": max(count - 1, 0), "sqrt": 1}


def _with_sign(on: Any, x: Any, y: Any) -> Any:
    return -abs(x) if on.is_negative(y) else abs(x)


_POWERS: Final = (
    _named("sqrt", lambda on, v, x: 0.5 / v, domain=_FROM_ZERO, growth=Growth(0.0, inf)),
    _named("cbrt", lambda on, v, x: 1.0 / (3.0 * v * v), growth=Growth(-inf, inf), total=True),
    _named("exp", lambda on, v, x: v, growth=Growth(0.0, inf, "log"), overflows=(1000.0,)),
    _named("exp2", lambda on, v, x: v * _LN2, growth=Growth(0.0, inf, "log2"), overflows=(10000.0,)),
    _named("expm1", lambda on, v, x: v + 1.0, growth=Growth(-1.0, inf, "log1p"), overflows=(1000.0,)),
    Row(
        (math.log,), ("log",), _log,
        (_slope_of_log, lambda on, v, x, base: -v / (base * on.log(base))),
        cost="log", domain=_ABOVE_ZERO, growth=Growth(-inf, inf, "exp"),
    ),
    _named("log2", lambda on, v, x: 1.0 / (x * _LN2), domain=_ABOVE_ZERO, growth=Growth(-inf, inf, "exp2")),
    _named("log10", lambda on, v, x: 1.0 / (x * _LN10), domain=_ABOVE_ZERO, growth=Growth(-inf, inf, "exp10")),
    _named(
        "log1p", lambda on, v, x: 1.0 / (1.0 + x),
        domain=Domain(-1.0, closed=False), growth=Growth(-inf, inf, "expm1"),
    ),
    Row((math.hypot,), ("hypot",), _length, _slopes_of_length, cost=_cost_of_length, total=True),
)  # fmt: skip

_CIRCULAR: Final = (
    _named("sin", lambda on, v, x: on.cos(x), periodic=True, total=True),
    _named("cos", lambda on, v, x: -on.sin(x), periodic=True, total=True),
    _named("tan", lambda on, v, x: 1.0 + v * v, periodic=True, total=True),
    _named("asin", lambda on, v, x: 1.0 / on.sqrt(1.0 - x * x), ufuncs=("arcsin",), domain=_ONE_AROUND),
    _named("acos", lambda on, v, x: -1.0 / on.sqrt(1.0 - x * x), ufuncs=("arccos",), domain=_ONE_AROUND),
    _named("atan", lambda on, v, x: 1.0 / (1.0 + x * x), ufuncs=("arctan",), total=True),
    Row(
        (math.atan2,), ("arctan2",), "atan2",
        (lambda on, v, y, x: x / (x * x + y * y), lambda on, v, y, x: -y / (x * x + y * y)),
        cost="atan2", total=True, sign_of=0,
    ),
    Row(
        (math.degrees,), ("degrees", "rad2deg"), lambda on, x: x * 180 / on.pi, (constant(180.0 / math.pi),),
        LINEAR, "mul", total=True,
    ),
    Row(
        (math.radians,), ("radians", "deg2rad"), lambda on, x: x * on.pi / 180, (constant(math.pi / 180.0),),
        LINEAR, "mul", total=True,
    ),
)  # fmt: skip

_HYPERBOLIC: Final = (
    _named("sinh", lambda on, v, x: on.cosh(x), growth=Growth(-inf, inf, "asinh"), overflows=(1000.0,)),
    _named("cosh", lambda on, v, x: on.sinh(x), overflows=(1000.0,)),
    _named("tanh", lambda on, v, x: 1.0 - v * v, growth=Growth(-1.0, 1.0, "atanh"), total=True),
    _named(
        "asinh", lambda on, v, x: 1.0 / on.sqrt(x * x + 1.0),
        ufuncs=("arcsinh",), growth=Growth(-inf, inf, "sinh"), total=True,
    ),
    _named(
        "acosh", lambda on, v, x: 1.0 / on.sqrt(x * x - 1.0),
        ufuncs=("arccosh",), domain=Domain(1.0), growth=Growth(0.0, inf, "cosh"),
    ),
    _named(
        "atanh", lambda on, v, x: 1.0 / (1.0 - x * x),
        ufuncs=("arctanh",), domain=Domain(-1.0, 1.0, closed=False), growth=Growth(-inf, inf, "tanh"),
    ),
)  # fmt: skip

_SPECIAL: Final = (
    _named("erf", lambda on, v, x: _BELL * on.exp(-x * x), ufuncs=(), growth=Growth(-1.0, 1.0), total=True),
    _named(
        "erfc", lambda on, v, x: -_BELL * on.exp(-x * x), ufuncs=(), growth=Growth(0.0, 2.0, rises=False), total=True,
    ),
    _named("gamma", lambda on, v, x: v * digamma(on, x), ufuncs=(), overflows=(1e308,)),
    _named("lgamma", lambda on, v, x: digamma(on, x), ufuncs=(), overflows=(1e308,)),
)  # fmt: skip

_OF_FLOATS: Final = (
    Row(
        (math.fmod,), ("fmod",), lambda on, x, y: x - y * on.trunc(x / y),
        (_ONE, lambda on, v, x, y: -on.trunc(x / y)),
        LINEAR, "fmod", exact=True,
    ),
    Row(
        (math.remainder,), (), lambda on, x, y: x - y * on.nearest(x / y),
        (_ONE, lambda on, v, x, y: (v - x) / y),
        LINEAR, "remainder", exact=True,
    ),
    Row(
        (math.copysign,), ("copysign",), _with_sign, (lambda on, v, x, y: on.sign(x) * on.unit(y), _ZERO),
        LINEAR, FREE, exact=True, total=True, sign_of=1,
    ),
    Row(
        (math.ldexp,), ("ldexp",), lambda on, x, y: x * on.exp2(y), (lambda on, v, x, y: on.scale(y), _ZERO),
        FIRST, FREE, exact=True, overflows=(1.0, 10000),
    ),
    Row((math.nextafter,), ("nextafter",), None, (_ONE, _ZERO), FIRST, FREE, exact=True, total=True),
)  # fmt: skip


def _fused(on: Any, x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _added_later() -> tuple[Row, ...]:
    """The functions of later versions of Python."""
    if not hasattr(math, "fma"):  # 3.13
        return ()
    value: Value = _fused
    partials = (lambda on, v, x, y, z: y, lambda on, v, x, y, z: x, _ONE)
    return (Row((math.fma,), (), value, partials, FUSED, "fma", overflows=(1e200, 1e200, 0.0)),)


ELEMENTARY: Final = (*_POWERS, *_CIRCULAR, *_HYPERBOLIC, *_SPECIAL, *_OF_FLOATS, *_added_later())
"""The functions of `math` of one or more numbers, whose result is a float."""


# ---- the rows of NumPy's functions by element which Python's functions of numbers do not have
#
# They are given by name, so that NumPy is not imported.


def _smaller(on: Any, x: Any, y: Any) -> Any:
    return y if y < x else x


def _larger(on: Any, x: Any, y: Any) -> Any:
    return y if y > x else x


BY_ELEMENT: Final = (
    Row((), ("square",), lambda on, x: x * x, (lambda on, v, x: 2.0 * x,), CURVED, "mul"),
    Row((), ("reciprocal",), lambda on, x: 1 / x, (lambda on, v, x: -v * v,), CURVED, "truediv"),
    Row(
        (), ("logaddexp",), lambda on, x, y: on.log(on.exp(x) + on.exp(y)),
        (lambda on, v, x, y: on.exp(x - v), lambda on, v, x, y: on.exp(y - v)),
        CURVED, "logaddexp",
    ),
    Row(
        (), ("logaddexp2",), lambda on, x, y: on.log2(on.exp2(x) + on.exp2(y)),
        (lambda on, v, x, y: on.exp2(x - v), lambda on, v, x, y: on.exp2(y - v)),
        CURVED, "logaddexp2",
    ),
    Row((), ("conjugate", "conj"), lambda on, x: x, (constant(1.0),), LINEAR, FREE, exact=True),
    Row((), ("maximum",), _larger, None, LINEAR, FREE, exact=True),
    Row((), ("minimum",), _smaller, None, LINEAR, FREE, exact=True),
    Row((), ("fmax",), None, None, LINEAR, FREE, exact=True),
    Row((), ("fmin",), None, None, LINEAR, FREE, exact=True),
    Row((), ("sign",), None, None, STEP, FREE, exact=True),
    Row((), ("signbit",), None, None, STEP, FREE, exact=True),
    Row((), ("heaviside",), None, None, STEP, FREE, exact=True),
)  # fmt: skip
"""NumPy's functions by element. In a tie, the derivative of a maximum is shared, which only a rule of arrays can say;
`fmax` and `fmin` choose by what is NaN, which exact numbers do not have."""


# ---- the whole table, and how a row is found

NUMBERS: Final = (*OPERATORS, *ELEMENTARY)
"""Functions of numbers whose result is a number."""

ROWS: Final = (*NUMBERS, *STEPS, *BY_ELEMENT)
"""The rows of all functions."""

_BY_FUNCTION: Final = {function: row for row in ROWS for function in row.functions}

BY_UFUNC: Final = {name: row for row in ROWS for name in row.ufuncs}
"""The row of each of NumPy's functions by element, by its name."""

IN_PLACE: Final = frozenset(
    getattr(operator, f"i{row.name.strip('_')}")
    for row in ROWS
    if row.functions and hasattr(operator, f"i{row.name.strip('_')}")
)
"""The operators of augmented assignments."""

FOLDS: Final[dict[Any, Any]] = {
    sum: operator.add,
    math.fsum: operator.add,
    math.prod: operator.mul,
    min: min,
    max: max,
}
"""Functions of the items of an iterable, and the function of two numbers that takes one more item."""


def row_of(function: Any) -> Row | None:
    """The row of a function of Python; None if it has none.

    >>> import operator
    >>> row_of(operator.iadd).name, row_of(print)
    ('add', None)
    """
    return _BY_FUNCTION.get(function)


def functions_of(rows: Iterable[Row]) -> list[Any]:
    """All functions of Python that some rows are for."""
    return [function for row in rows for function in row.functions]
