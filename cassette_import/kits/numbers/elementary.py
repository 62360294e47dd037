"""The rows of the functions of `math` whose result is a float."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import inf
from typing import Any, Final

from cassette_import.kits.numbers.row import (
    FIRST,
    FREE,
    FUSED,
    LINEAR,
    Domain,
    Growth,
    Partial,
    Row,
    Value,
    constant,
)

__all__ = ["ELEMENTARY"]

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
