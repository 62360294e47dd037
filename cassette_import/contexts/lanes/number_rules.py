"""NumPy's functions for Python's: each rule computes a column, and says which lanes only Python can compute.

A rule returns the column and a boolean array of *odd* lanes, or None for no odd lanes. Odd are lanes for which Python
raises an exception, has a result of another type, or does not promise what NumPy computes. These are computed one by
one by the function itself. A rule that returns None does not apply.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from cassette_import.kits.numbers.elementary import ELEMENTARY
from cassette_import.kits.numbers.row import Row

__all__ = ["NUMBER_RULES", "floats", "marked"]

_EXACT: Final = 2**53
_BIG: Final = 2.0**63

NUMBER_RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {}
"""By function, and by the kinds of the operands."""


def _register(function: Any, kinds: str, rule: Callable[..., Any]) -> None:
    for one in kinds.split():
        NUMBER_RULES.setdefault(function, {})[one] = rule


def _integer(column: Any) -> Any:
    return column.astype(np.int64) if type(column) is np.ndarray and column.dtype.kind == "b" else _plain_int(column)


def _plain_int(value: Any) -> Any:
    return int(value) if type(value) is bool else value


def _small(column: Any, bound: int = _EXACT) -> bool:
    """Whether integers are exact as floats. Floats are not tested."""
    if type(column) is np.ndarray:
        return column.dtype.kind != "i" or (column.size == 0 or (column.min() > -bound and column.max() < bound))
    return type(column) is not int or -bound < column < bound


_FLOATS: Final = "ff fi if fb bf"
_INTEGERS: Final = "ii ib bi bb"


def _float_arithmetic(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        return function(floats(x), floats(y)), None

    return rule


def floats(column: Any) -> Any:
    """A column or number as floats."""
    if type(column) is np.ndarray:
        return column if column.dtype.kind == "f" else column.astype(np.float64)
    return float(column)


def _add(x: Any, y: Any) -> Any:
    x, y = _integer(x), _integer(y)
    z = np.add(x, y)
    return None if (((x ^ z) & (y ^ z)) < 0).any() else (z, None)


def _subtract(x: Any, y: Any) -> Any:
    x, y = _integer(x), _integer(y)
    z = np.subtract(x, y)
    return None if (((x ^ y) & (x ^ z)) < 0).any() else (z, None)


def _multiply(x: Any, y: Any) -> Any:
    x, y = _integer(x), _integer(y)
    size = np.abs(np.multiply(floats(x), floats(y)))
    return (np.multiply(x, y), None) if (size < 2.0**62).all() else None


def _true_divide(x: Any, y: Any) -> Any:
    if kind_is_integer(x) and kind_is_integer(y) and not (_small(x) and _small(y)):
        return None
    x, y = floats(x), floats(y)
    return np.divide(x, y), marked(y == 0, x)


def kind_is_integer(column: Any) -> bool:
    """Whether a column or number is one of integers or truth values."""
    return column.dtype.kind in "ib" if type(column) is np.ndarray else type(column) in (int, bool)


def marked(odd: Any, like: Any) -> Any:
    """Odd lanes as an array: the operands may be single numbers."""
    return odd if type(odd) is np.ndarray else np.full(np.shape(like), bool(odd))


def _float_division(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        x, y = floats(x), floats(y)
        return function(x, y), ~(np.isfinite(x) & np.isfinite(y)) | (y == 0)

    return rule


def _integer_division(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        x, y = np.broadcast_arrays(_integer(x), _integer(y))
        odd = (y == 0) | (y == -1)
        return function(x, np.where(odd, 1, y)), odd

    return rule


_PRODUCTS: Final[dict[float, Callable[[Any], Any]]] = {
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    4.0: lambda x: (x * x) * (x * x),
}
"""Powers for which products are as exact as the power function of the library, and quicker."""


def _power(x: Any, y: Any) -> Any:
    x, y = floats(x), floats(y)
    z = _PRODUCTS[y](x) if type(y) is float and y in _PRODUCTS else np.power(x, y)
    # The power of a negative number is complex in Python, and NaN here. Infinities have finite powers below one.
    good = np.isfinite(z)
    if type(y) is float and 0.0 < y < math.inf:  # numbers that are not finite have none that are
        return z, None if good.all() else ~good
    for one in (x, y):
        if type(one) is np.ndarray:
            good &= np.isfinite(one)
        elif not math.isfinite(one):
            good = np.zeros_like(good)
    return z, np.logical_not(good, out=good)


def _integer_power(x: Any, y: Any) -> Any:
    if type(y) is not int or not 0 <= y <= 4:
        return None
    result: Any = (np.ones(len(x), np.int64), None)
    for _ in range(y):
        result = _multiply(result[0], x)
        if result is None:
            return None
    return result


def _comparison(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        if kind_is_integer(x) != kind_is_integer(y) and not (_small(x) and _small(y)):
            return None
        return function(x, y), None

    return rule


def _bits(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        return function(x, y), None

    return rule


def _integer_bits(function: Any) -> Callable[..., Any]:
    return lambda x, y: (function(_integer(x), _integer(y)), None)


def _shift_left(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(_integer(x), _integer(y))
    odd = (y < 0) | (y > 30) | (x >= 2**31) | (x <= -(2**31))
    return np.left_shift(x, np.where(odd, 0, y)), odd


def _shift_right(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(_integer(x), _integer(y))
    odd = (y < 0) | (y > 62)
    return np.right_shift(x, np.where(odd, 0, y)), odd


for _name, _ufunc in [("add", np.add), ("sub", np.subtract), ("mul", np.multiply)]:
    _register(getattr(operator, _name), _FLOATS, _float_arithmetic(_ufunc))
_register(operator.add, _INTEGERS, _add)
_register(operator.sub, _INTEGERS, _subtract)
_register(operator.mul, _INTEGERS, _multiply)
_register(operator.truediv, f"{_FLOATS} {_INTEGERS}", _true_divide)
_register(operator.floordiv, _FLOATS, _float_division(np.floor_divide))
_register(operator.mod, _FLOATS, _float_division(np.remainder))
_register(operator.floordiv, _INTEGERS, _integer_division(np.floor_divide))
_register(operator.mod, _INTEGERS, _integer_division(np.remainder))
_register(operator.pow, _FLOATS, _power)
_register(operator.pow, "ii", _integer_power)
for _name, _ufunc in [
    ("lt", np.less),
    ("le", np.less_equal),
    ("eq", np.equal),
    ("ne", np.not_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
]:
    _register(getattr(operator, _name), f"{_FLOATS} {_INTEGERS}", _comparison(_ufunc))
for _name, _ufunc in [("and_", np.bitwise_and), ("or_", np.bitwise_or), ("xor", np.bitwise_xor)]:
    _register(getattr(operator, _name), "bb", _bits(_ufunc))
    _register(getattr(operator, _name), "ii ib bi", _integer_bits(_ufunc))
_register(operator.lshift, _INTEGERS, _shift_left)
_register(operator.rshift, _INTEGERS, _shift_right)


def _unary(function: Any, odd: Callable[[Any, Any], Any] | None = None) -> Callable[..., Any]:
    """A rule for one operand; `odd` gets the operand and the result."""

    def rule(x: Any) -> Any:
        x = floats(x)
        y = function(x)
        return y, None if odd is None else odd(x, y)

    return rule


def _to_integer(function: Any) -> Callable[..., Any]:
    def rule(x: Any) -> Any:
        y = function(x)
        odd = ~(np.abs(y) < _BIG)
        return np.where(odd, 0.0, y).astype(np.int64), odd

    return rule


def _unless_least(function: Any) -> Callable[..., Any]:
    def rule(x: Any) -> Any:
        x = _integer(x)
        return function(x), x == np.iinfo(np.int64).min

    return rule


def _overflow(x: Any, y: Any) -> Any:
    return np.isinf(y) & np.isfinite(x)


_register(operator.neg, "f", _unary(np.negative))
_register(operator.neg, "i b", _unless_least(np.negative))
_register(operator.pos, "f", _unary(np.positive))
_register(operator.pos, "i b", lambda x: (_integer(x), None))
_register(operator.invert, "i", lambda x: (np.invert(x), None))
_register(abs, "f", _unary(np.abs))
_register(abs, "i b", _unless_least(np.abs))
_register(operator.not_, "f i b", lambda x: (x == 0, None))
_register(bool, "f i b", lambda x: (x != 0, None))
_register(float, "f i b", _unary(np.positive))
_register(int, "f", _to_integer(np.trunc))
_register(int, "i b", lambda x: (_integer(x), None))
_register(round, "f", _to_integer(np.rint))
_register(round, "i b", lambda x: (_integer(x), None))
for _function, _ufunc in [(math.floor, np.floor), (math.ceil, np.ceil), (math.trunc, np.trunc)]:
    _register(_function, "f", _to_integer(_ufunc))
    _register(_function, "i b", lambda x: (_integer(x), None))


def _outside(row: Row) -> Callable[[Any, Any], Any] | None:
    """For which operands and results the function of `math` raises an exception, where NumPy has a NaN or infinity."""
    domain = row.domain
    if domain is None:
        return (lambda x, y: np.isinf(x)) if row.periodic else _overflow if row.overflows else None
    below, above = (operator.lt, operator.gt) if domain.closed else (operator.le, operator.ge)
    if domain.high == math.inf:
        return lambda x, y: below(x, domain.low)
    return lambda x, y: below(x, domain.low) | above(x, domain.high)


_WITH_OWN_RULE: Final = (math.cbrt, math.exp2, math.degrees, math.radians)
"""Functions for which Python and NumPy differ otherwise: those with a rule here, and those of `math` above."""

_ELEMENTARY: Final[dict[Any, tuple[Any, Callable[[Any, Any], Any] | None]]] = {
    **{
        row.functions[0]: (getattr(np, row.ufuncs[0]), _outside(row))
        for row in ELEMENTARY
        if row.ufuncs and getattr(np, row.ufuncs[0]).nin == 1 and row.functions[0] not in _WITH_OWN_RULE
    },
    math.fabs: (np.abs, None),
    math.degrees: (lambda x: x * (180.0 / math.pi), None),
    math.radians: (lambda x: x * (math.pi / 180.0), None),
    math.isnan: (np.isnan, None),
    math.isinf: (np.isinf, None),
    math.isfinite: (np.isfinite, None),
}
for _function, (_ufunc, _odd) in _ELEMENTARY.items():
    _register(_function, "f i b", _unary(_ufunc, _odd))


def _binary(function: Any, odd: Callable[[Any, Any, Any], Any] | None = None) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        x, y = floats(x), floats(y)
        z = function(x, y)
        return z, None if odd is None else odd(x, y, z)

    return rule


def _not_finite(x: Any, y: Any, z: Any) -> Any:
    return ~(np.isfinite(x) & np.isfinite(y) & np.isfinite(z))


def _remainder(x: Any, y: Any) -> Any:
    """The algorithm of CPython for `math.remainder`, whose steps are exact."""
    size, divisor = np.abs(x), np.abs(y)
    least = np.fmod(size, divisor)
    other = divisor - least
    even = least - 2.0 * np.fmod(0.5 * (size - least), divisor)
    return np.copysign(1.0, x) * np.where(least < other, least, np.where(least > other, -other, even))


for _function, _ufunc, _binary_odd in [
    (math.atan2, np.arctan2, None),
    (math.copysign, np.copysign, None),
    (math.fmod, np.fmod, _not_finite),
    (math.remainder, _remainder, _not_finite),
    (math.hypot, np.hypot, _not_finite),
    (math.pow, np.power, _not_finite),
]:
    _register(_function, f"{_FLOATS} {_INTEGERS}", _binary(_ufunc, _binary_odd))


def _both(quotient: Callable[..., Any], remainder: Callable[..., Any]) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        (first, odd), (second, _) = quotient(x, y), remainder(x, y)
        return (first, second), odd

    return rule


NUMBER_RULES[pow] = NUMBER_RULES[operator.pow]
NUMBER_RULES[divmod] = {
    kinds: _both(rule, NUMBER_RULES[operator.mod][kinds]) for kinds, rule in NUMBER_RULES[operator.floordiv].items()
}
