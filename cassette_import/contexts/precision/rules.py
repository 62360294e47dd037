"""The rules of functions of numbers, as data: the exact result for exact arguments, in mpmath's arithmetic.

Each rule gets mpmath's context, which has the working precision, and the arguments as its numbers. Knows mpmath; must
not know contexts of cassette_import.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

try:
    from mpmath.ctx_mp import MPContext
except ModuleNotFoundError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(
        "precision needs mpmath: install it, or this package with the extra `precision`", name="mpmath"
    ) from error

__all__ = ["DECISIONS", "FOLDS", "RULES", "MPContext", "exact"]

Rule = Callable[..., Any]


def exact(mp: Any, number: Any) -> Any:
    """A number of the program as a number of mpmath; floats and integers are not rounded."""
    if isinstance(number, Fraction):
        return mp.mpf(number.numerator) / number.denominator
    return mp.mpf(str(number)) if isinstance(number, Decimal) else mp.convert(number)


def _floor_quotient(mp: Any, x: Any, y: Any) -> Any:
    return mp.floor(x / y)


def _modulo(mp: Any, x: Any, y: Any) -> Any:
    return x - y * mp.floor(x / y)


def _fmod(mp: Any, x: Any, y: Any) -> Any:
    quotient = x / y
    return x - y * (mp.floor(quotient) if quotient >= 0 else mp.ceil(quotient))


def _power(mp: Any, x: Any, y: Any) -> Any:
    return x ** int(y) if mp.isint(y) and abs(y) < 10**6 else x**y


def _log(mp: Any, x: Any, *base: Any) -> Any:
    return mp.log(x) / mp.log(base[0]) if base else mp.log(x)


def _hypot(mp: Any, *coordinates: Any) -> Any:
    return mp.sqrt(mp.fsum(x * x for x in coordinates))


def _cube_root(mp: Any, x: Any) -> Any:
    return -mp.cbrt(-x) if x < 0 else mp.cbrt(x)


def _copysign(mp: Any, x: Any, y: Any) -> Any:
    return -abs(x) if y < 0 else abs(x)


def _round(mp: Any, x: Any, digits: Any = None) -> Any:
    scale = mp.mpf(10) ** (digits or 0)
    return mp.nint(x * scale) / scale


def _by(function: Callable[..., Any]) -> Rule:
    return lambda mp, *arguments: function(*arguments)


def _of(name: str) -> Rule:
    return lambda mp, *arguments: getattr(mp, name)(*arguments)


_SAME_NAMES: Final = (
    *("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "expm1", "log1p", "erf", "erfc", "gamma", "degrees", "radians"),
)
_OPERATORS: Final[dict[str, Rule]] = {
    **{name: _by(getattr(operator, name)) for name in ("add", "sub", "mul", "truediv")},
    "floordiv": _floor_quotient,
    "mod": _modulo,
    "pow": _power,
}

RULES: Final[dict[Any, Rule]] = {
    **{getattr(operator, name): rule for name, rule in _OPERATORS.items()},
    **{getattr(operator, f"i{name}"): rule for name, rule in _OPERATORS.items()},
    **{getattr(operator, name): _by(getattr(operator, name)) for name in ("neg", "pos", "abs")},
    **{getattr(math, name): _of(name) for name in _SAME_NAMES},
    abs: _by(abs),
    pow: _power,
    round: _round,
    math.fabs: _by(abs),
    math.pow: _power,
    math.log: _log,
    math.log2: lambda mp, x: mp.log(x, 2),
    math.log10: lambda mp, x: mp.log10(x),
    math.exp2: lambda mp, x: mp.mpf(2) ** x,
    math.cbrt: _cube_root,
    math.hypot: _hypot,
    math.lgamma: lambda mp, x: mp.log(abs(mp.gamma(x))),
    math.fmod: _fmod,
    math.remainder: lambda mp, x, y: x - y * mp.nint(x / y),
    math.copysign: _copysign,
    math.ldexp: lambda mp, x, y: mp.ldexp(x, int(y)),
    **({math.fma: lambda mp, x, y, z: x * y + z} if hasattr(math, "fma") else {}),
}
"""Functions whose result is a float, for at least some arguments."""

DECISIONS: Final[dict[Any, Rule]] = {
    **{getattr(operator, name): _by(getattr(operator, name)) for name in ("lt", "le", "eq", "ne", "ge", "gt")},
    math.floor: lambda mp, x: int(mp.floor(x)),
    math.ceil: lambda mp, x: int(mp.ceil(x)),
    math.trunc: lambda mp, x: int(x),
    int: lambda mp, x: int(x),
    float.is_integer: lambda mp, x: mp.isint(x),
    operator.truth: lambda mp, x: x != 0,
    bool: lambda mp, x: x != 0,
    operator.not_: lambda mp, x: x == 0,
}
"""Functions whose result is a truth value or an integer: floats may decide otherwise than exact numbers."""


def _extreme(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Sequence[Any]], Any]:
    return lambda mp, items: functools.reduce(lambda x, y: y if compare(y, x) else x, items)


def _product(mp: Any, items: Sequence[Any]) -> Any:
    return functools.reduce(operator.mul, items, mp.mpf(1))


FOLDS: Final[dict[Any, Callable[[Any, Sequence[Any]], Any]]] = {
    sum: lambda mp, items: mp.fsum(items),
    math.fsum: lambda mp, items: mp.fsum(items),
    math.prod: _product,
    min: _extreme(operator.lt),
    max: _extreme(operator.gt),
}
"""Functions of the items of an iterable."""
