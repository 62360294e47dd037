"""Functions of immutable values, for all active lanes: by NumPy where a rule is known, else lane by lane.

Lanes for which the function raises are dropped, so that the run goes on without them; if it raises for all of them,
the exception is raised, with the arguments that each lane would have.
"""

from __future__ import annotations

import cmath
import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import Mixed, is_immutable, joined, kind_of, listed, packed, same
from cassette_import.contexts.lanes.containers import ATOMS, apart, contains_lane, lane_in
from cassette_import.contexts.lanes.errors import EffectError, name_of, place
from cassette_import.contexts.lanes.known_functions import PARTS
from cassette_import.contexts.lanes.lane import PORT, Lane
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet
from cassette_import.contexts.lanes.nested_levels import computed_in_levels
from cassette_import.kits.numbers.elementary import ELEMENTARY
from cassette_import.kits.numbers.row import Row

__all__ = ["RULES", "compute", "lane_of"]

# ---- NumPy's functions for Python's: each rule computes a column, and says which lanes only Python can compute
#
# A rule returns the column and a boolean array of *odd* lanes, or None for no odd lanes. Odd are lanes for which Python
# raises an exception, has a result of another type, or does not promise what NumPy computes. These are computed one by
# one by the function itself. A rule that returns None does not apply.

_EXACT_INTEGERS: Final = 2**53
_BIG: Final = 2.0**63

_NUMBER_RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {}
"""By function, and by the kinds of the operands."""


def _register(function: Any, kinds: str, rule: Callable[..., Any]) -> None:
    for one in kinds.split():
        _NUMBER_RULES.setdefault(function, {})[one] = rule


def _integer(column: Any) -> Any:
    return column.astype(np.int64) if type(column) is np.ndarray and column.dtype.kind == "b" else _plain_int(column)


def _plain_int(value: Any) -> Any:
    return int(value) if type(value) is bool else value


def _small(column: Any, bound: int = _EXACT_INTEGERS) -> bool:
    """Whether integers are exact as floats. Floats are not tested."""
    if type(column) is np.ndarray:
        return column.dtype.kind != "i" or (column.size == 0 or (column.min() > -bound and column.max() < bound))
    return type(column) is not int or -bound < column < bound


_FLOATS: Final = "ff fi if fb bf"
_INTEGERS: Final = "ii ib bi bb"


def _float_arithmetic(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        return function(_floats(x), _floats(y)), None

    return rule


def _floats(column: Any) -> Any:
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
    size = np.abs(np.multiply(_floats(x), _floats(y)))
    return (np.multiply(x, y), None) if (size < 2.0**62).all() else None


def _true_divide(x: Any, y: Any) -> Any:
    if kind_is_integer(x) and kind_is_integer(y) and not (_small(x) and _small(y)):
        return None
    x, y = _floats(x), _floats(y)
    return np.divide(x, y), _marked(y == 0, x)


def kind_is_integer(column: Any) -> bool:
    """Whether a column or number is one of integers or truth values."""
    return column.dtype.kind in "ib" if type(column) is np.ndarray else type(column) in (int, bool)


def _marked(odd: Any, like: Any) -> Any:
    """Odd lanes as an array: the operands may be single numbers."""
    return odd if type(odd) is np.ndarray else np.full(np.shape(like), bool(odd))


def _float_division(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        x, y = _floats(x), _floats(y)
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


def _power_of_numbers(x: Any, y: Any) -> Any:
    x, y = _floats(x), _floats(y)
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


def _comparison_of_numbers(function: Any) -> Callable[..., Any]:
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
_register(operator.pow, _FLOATS, _power_of_numbers)
_register(operator.pow, "ii", _integer_power)
for _name, _ufunc in [
    ("lt", np.less),
    ("le", np.less_equal),
    ("eq", np.equal),
    ("ne", np.not_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
]:
    _register(getattr(operator, _name), f"{_FLOATS} {_INTEGERS}", _comparison_of_numbers(_ufunc))
for _name, _ufunc in [("and_", np.bitwise_and), ("or_", np.bitwise_or), ("xor", np.bitwise_xor)]:
    _register(getattr(operator, _name), "bb", _bits(_ufunc))
    _register(getattr(operator, _name), "ii ib bi", _integer_bits(_ufunc))
_register(operator.lshift, _INTEGERS, _shift_left)
_register(operator.rshift, _INTEGERS, _shift_right)


def _unary(function: Any, odd: Callable[[Any, Any], Any] | None = None) -> Callable[..., Any]:
    """A rule for one operand; `odd` gets the operand and the result."""

    def rule(x: Any) -> Any:
        x = _floats(x)
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
        x, y = _floats(x), _floats(y)
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


_NUMBER_RULES[pow] = _NUMBER_RULES[operator.pow]
_NUMBER_RULES[divmod] = {
    kinds: _both(rule, _NUMBER_RULES[operator.mod][kinds]) for kinds, rule in _NUMBER_RULES[operator.floordiv].items()
}


# ---- NumPy's arithmetic for complex numbers, and for the functions of `cmath` that it computes as closely as
# Python does
#
# Products and quotients are computed from the parts, in the order of Python: NumPy's own have other roundings. Results
# that are not finite are left to Python, and so are the other functions of `cmath`.

_MIXED_IS_OWN: Final = sys.version_info >= (3, 14)
"""Whether arithmetic of a float and a complex number keeps the signs of zeros."""
_MOST_POWER: Final = 8
_NEAR_ONE: Final = 0.71, 1.73
"""Where the logarithm of the absolute value is computed without it, as in Python."""
_UNDERFLOW: Final = 1e-300
"""Angles of this size may be an error in Python."""
_MIXED: Final = "cf fc ci ic"


def _is_complex(column: Any) -> bool:
    return column.dtype.kind == "c" if type(column) is np.ndarray else type(column) is complex


def _complex_parts(column: Any) -> tuple[Any, Any]:
    return (column.real, column.imag) if _is_complex(column) else (_floats(column), 0.0)


def _made(real: Any, imaginary: Any) -> Any:
    column: Any = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imaginary)), np.complex128)
    column.real, column.imag = real, imaginary
    return column


def _finite(*columns: Any) -> Any:
    """Where complex numbers, their operands and results, are finite."""
    found: Any = True
    for column in columns:
        found = found & np.isfinite(column)
    return found


def _arithmetic(function: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    """A rule for two operands, from a function of their parts."""

    def rule(x: Any, y: Any) -> Any:
        z = _made(*function(*_complex_parts(x), *_complex_parts(y)))
        odd = ~_finite(x, y, z)
        if _MIXED_IS_OWN and not (_is_complex(x) and _is_complex(y)):
            odd = odd | (z.real == 0) | (z.imag == 0)
        return z, _marked(odd, z)

    return rule


def _product(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    return a * c - b * d, a * d + b * c


def _quotient(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Smith's algorithm, as in Python. A divisor of zero has a result that is not finite."""
    first = np.abs(c) >= np.abs(d)
    ratio = np.where(first, np.divide(d, c), np.divide(c, d))
    divisor = np.where(first, c + d * ratio, c * ratio + d)
    real = np.where(first, a + b * ratio, a * ratio + b) / divisor
    return real, np.where(first, b - a * ratio, b * ratio - a) / divisor


def _power(x: Any, y: Any) -> Any:
    if type(y) is not int or not 1 <= y <= _MOST_POWER:
        return None
    power: tuple[Any, Any] = _complex_parts(x)
    result: Any = None
    while True:
        if y & 1:
            result = power if result is None else _product(result[0], result[1], *power)
        y >>= 1
        if not y:
            break
        power = _product(*power, *power)
    z = _made(*result)
    return z, ~_finite(x, z) | (z.real == 0) | (z.imag == 0)


def _comparison(function: Any) -> Callable[..., Any]:
    def rule(x: Any, y: Any) -> Any:
        return function(x, y), None

    return rule


def _of_one_complex(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """A rule for a function of one complex number; other results than finite ones are left to Python."""

    def rule(z: Any) -> Any:
        z = _made(*_complex_parts(z))
        found = function(z)
        return found, ~_finite(z, found)

    return rule


def _logarithm(z: Any) -> Any:
    """The algorithm of Python, where nothing underflows."""
    larger = np.maximum(np.abs(z.real), np.abs(z.imag))
    smaller = np.minimum(np.abs(z.real), np.abs(z.imag))
    size = np.hypot(larger, smaller)
    low, high = _NEAR_ONE
    near = (low <= size) & (size <= high)
    close = np.log1p(np.where(near, (larger - 1.0) * (larger + 1.0) + smaller * smaller, 0.0)) / 2.0
    real = np.where(near, close, np.log(size))
    real = np.where((larger < 1e-300) | (larger > 1e300), np.nan, real)
    return _made(real, np.arctan2(z.imag, z.real))


def _logarithm_to_ten(z: Any) -> Any:
    found = _logarithm(z)
    return _made(found.real / math.log(10.0), found.imag / math.log(10.0))


def _phase(z: Any) -> Any:
    angle = np.arctan2(z.imag, z.real)
    return np.where((np.abs(angle) < _UNDERFLOW) & (z.imag != 0), np.nan, angle)


def _polar(z: Any) -> Any:
    z = _made(*_complex_parts(z))
    size = np.hypot(z.real, z.imag)
    return (size, np.arctan2(z.imag, z.real)), ~_finite(z, size)


def _rect(size: Any, angle: Any) -> Any:
    size, angle = _floats(size), _floats(angle)
    z = _made(size * np.cos(angle), size * np.sin(angle))
    return z, _marked(~_finite(size, angle, z) | (angle == 0), z)


def _constructed(x: Any, y: Any) -> Any:
    return _made(_floats(x), _floats(y)), None


def _for(kinds: str, rule: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return dict.fromkeys(kinds.split(), rule)


_REALS: Final = "ff fi if fb bf ii ib bi bb"

_COMPLEX_RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {
    operator.add: _for(f"cc {_MIXED}", _arithmetic(lambda a, b, c, d: (a + c, b + d))),
    operator.sub: _for(f"cc {_MIXED}", _arithmetic(lambda a, b, c, d: (a - c, b - d))),
    operator.mul: _for(f"cc {_MIXED}", _arithmetic(_product)),
    operator.truediv: _for("cc" if _MIXED_IS_OWN else f"cc {_MIXED}", _arithmetic(_quotient)),
    operator.pow: {"ci": _power},
    pow: {"ci": _power},
    operator.eq: _for("cc cf fc", _comparison(np.equal)),
    operator.ne: _for("cc cf fc", _comparison(np.not_equal)),
    operator.neg: {"c": lambda z: (np.negative(z), None)},
    operator.pos: {"c": lambda z: (z, None)},
    abs: {"c": _of_one_complex(lambda z: np.hypot(z.real, z.imag))},
    bool: {"c": lambda z: (z != 0, None)},
    complex: {**_for(_REALS, _constructed), **_for("f i b", lambda x: (_made(_floats(x), 0.0), None))},
    PARTS["real"]: {"c": lambda z: (z.real.copy(), None)},
    PARTS["imag"]: {"c": lambda z: (z.imag.copy(), None)},
    PARTS["conjugate"]: {"c": lambda z: (np.conjugate(z), None)},
    cmath.phase: _for("c f i b", _of_one_complex(_phase)),
    cmath.polar: _for("c f i b", _polar),
    cmath.rect: _for(_REALS, _rect),
    cmath.log: _for("c f i b", _of_one_complex(_logarithm)),
    cmath.log10: _for("c f i b", _of_one_complex(_logarithm_to_ten)),
    **{
        function: _for("c f i b", _of_one_complex(ufunc))
        for function, ufunc in [
            (cmath.sqrt, np.sqrt),
            (cmath.exp, np.exp),
            (cmath.sin, np.sin),
            (cmath.cos, np.cos),
            (cmath.sinh, np.sinh),
            (cmath.cosh, np.cosh),
        ]
    },
    **{
        function: {"c": test}
        for function, test in [
            (cmath.isnan, lambda z: (np.isnan(z), None)),
            (cmath.isinf, lambda z: (np.isinf(z), None)),
            (cmath.isfinite, lambda z: (np.isfinite(z), None)),
        ]
    },
}
"""By function, and by the kinds of the operands."""


# ---- NumPy's functions for `round` to digits and for the functions of `math` that are no arithmetic
#
# The rules are like those of `_NUMBER_RULES`: a column, and which lanes only Python can compute.

_MOST_DIGITS: Final = 22
"""Powers of ten up to this one are exact as floats."""
_EXACT: Final = 2.0**52
_FACTORIALS: Final[Any] = np.array([math.factorial(n) for n in range(21)])
_LARGE, _SMALL = 1e150, 1e-140

_PAIRS: Final = "ff fi if fb bf ii ib bi bb"


def _rounded(x: Any, digits: Any) -> Any:
    """`round(x, digits)`. The scaled number has one rounding error: lanes near a tie are odd."""
    if type(digits) is not int or abs(digits) > _MOST_DIGITS or type(x) is not np.ndarray:
        return None
    scale = 10.0 ** abs(digits)
    scaled = x * scale if digits >= 0 else x / scale
    whole = np.rint(scaled)
    distance = np.abs(np.abs(scaled - whole) - 0.5)
    odd = ~(np.abs(scaled) < _EXACT) | (distance <= 2.0 * np.spacing(np.abs(scaled)))
    return (whole / scale if digits >= 0 else whole * scale), odd


def _rounded_integer(x: Any, digits: Any) -> Any:
    return (x, None) if type(digits) is int and digits >= 0 else None


def _log_to_base(x: Any, base: Any) -> Any:
    x, base = _floats(x), _floats(base)
    z = np.log(x) / np.log(base)
    return z, _marked((x <= 0) | (base <= 0) | (base == 1), z)


def _isclose(x: Any, y: Any) -> Any:
    x, y = _floats(x), _floats(y)
    difference = np.abs(x - y)
    near = (difference <= np.abs(1e-9 * x)) | (difference <= np.abs(1e-9 * y))
    return np.where(np.isinf(x) | np.isinf(y), False, near) | (x == y), None


def _frexp(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return (mantissa, exponent.astype(np.int64)), ~np.isfinite(x)


def _ldexp(x: Any, exponent: Any) -> Any:
    x, exponent = np.broadcast_arrays(_floats(x), exponent)
    z = np.ldexp(x, np.clip(exponent, -3000, 3000).astype(np.int32))
    return z, (np.abs(exponent) > 3000) | ~np.isfinite(z)


def _hypot_in_space(x: Any, y: Any, z: Any) -> Any:
    size = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(z))
    return np.sqrt(x * x + y * y + z * z), _marked(~((size < _LARGE) & (size > _SMALL)), size)


def _gcd(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    least = np.iinfo(np.int64).min
    return np.gcd(x, y), (x == least) | (y == least)


def _lcm(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    odd = ~((x > -(2**31)) & (x < 2**31) & (y > -(2**31)) & (y < 2**31))
    return np.lcm(np.where(odd, 1, x), np.where(odd, 1, y)), odd


def _isqrt(n: Any) -> Any:
    odd = (n < 0) | (n >= 2**52)
    return np.sqrt(np.where(odd, 0, n).astype(np.float64)).astype(np.int64), odd


def _factorial(n: Any) -> Any:
    odd = (n < 0) | (n >= len(_FACTORIALS))
    return _FACTORIALS[np.where(odd, 0, n)], odd


def _of_one(function: Any) -> Callable[[Any], Any]:
    """A rule for a function of one float that does not fail, except by an overflow."""

    def rule(x: Any) -> Any:
        x = _floats(x)
        y = function(x)
        return y, ~(np.isfinite(x) & np.isfinite(y))

    return rule


_MATH_RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {
    round: {"fi": _rounded, "ii": _rounded_integer},
    math.log: dict.fromkeys(_PAIRS.split(), _log_to_base),
    math.isclose: dict.fromkeys(_PAIRS.split(), _isclose),
    math.modf: {"f": lambda x: (np.modf(x), ~np.isfinite(x))},
    math.frexp: {"f": _frexp},
    math.ldexp: {"fi": _ldexp},
    math.nextafter: {"ff": lambda x, y: (np.nextafter(x, y), None)},
    math.ulp: {"f": _of_one(lambda x: np.spacing(np.abs(x)))},
    math.hypot: {"fff": _hypot_in_space},
    math.gcd: {"ii": _gcd},
    math.lcm: {"ii": _lcm},
    math.isqrt: {"i": _isqrt},
    math.factorial: {"i": _factorial},
    math.cbrt: dict.fromkeys("fib", _of_one(np.cbrt)),
    math.exp2: dict.fromkeys("fib", _of_one(np.exp2)),
}
"""By function, and by the kinds of the operands."""


# ---- all rules by function and kinds of operands: those of real numbers, of `math`, and of complex numbers

_TABLES: Final = (_NUMBER_RULES, _MATH_RULES, _COMPLEX_RULES)

RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {
    function: {kinds: rule for table in _TABLES for kinds, rule in table.get(function, {}).items()}
    for function in {one: None for table in _TABLES for one in table}
}
"""By function, and by the kinds of the operands."""


# ---- functions of immutable values, for all active lanes: by NumPy where a rule is known, else lane by lane

_NUMBERS: Final = {float, int, bool}


def compute(function: Any, *operands: Any) -> Any:
    """The results of a function of immutable values: a `Lane`, or a plain value that all lanes share."""
    found: Lanes | None = None
    for one in operands:
        if type(one) is Lane:
            if one.annotation is not None:
                return computed_in_levels(function, operands)
            found = one.lanes
        elif type(one) not in ATOMS and contains_lane(one):
            return _compute_apart(function, operands)
    assert found is not None
    lanes = found
    while True:
        active = lanes.active
        data = [one.at(active) if type(one) is Lane else one for one in operands]
        if lanes.active is active:
            break
    log, lanes.log = lanes.log, lanes.log.begun()
    try:
        with np.errstate(all="ignore"):
            result, failed = _columns(function, data, active.size)
        where = lanes.log.outliving([result])
    finally:
        log, lanes.log = lanes.log, log
    if where is not None:
        log.undo()
        what = f"{name_of(function)} runs for each lane, and calls what changes an object that all lanes share"
        raise lanes.refuse(EffectError(f"{what}, at {where}: take the call out of the vectorized function"))
    if failed is not None and failed.any():
        if failed.all():
            _raise(lanes, function, data, active)
        lanes.drop(active.ids[failed])
        result = tuple(part[~failed] for part in result) if type(result) is tuple else result[~failed]
    if type(result) is tuple:
        return tuple(lane_of(lanes, lanes.active, part) for part in result)
    return lane_of(lanes, lanes.active, result)


PORT.compute = compute


def _compute_apart(function: Any, operands: Sequence[Any]) -> Any:
    """The results of a function of containers, of which each lane has its own."""
    found = apart(function, operands)
    if found is not None:
        return compute(found[0], *found[1])
    lane = lane_in(operands)
    assert lane is not None
    raise lane.lanes.refuse(
        EffectError(
            f"{name_of(function)} gets an object that keeps values which differ between lanes, and there is no rule "
            f"for it, at {place()}: give it the numbers, or take the call out of the vectorized function"
        )
    )


def lane_of(lanes: Lanes, members: LaneSet, column: Any) -> Any:
    """A column as a value of the program: plain if it has one lane, or one object in all lanes."""
    if len(column) == 1:
        return column.tolist()[0]
    if type(column) is np.ndarray and column.dtype.kind == "O":
        values = column.tolist()
        if all(same(values[0], value) for value in values):
            return values[0]
    return Lane(lanes, members, column)


def _columns(function: Any, data: Sequence[Any], size: int) -> tuple[Any, Any]:
    """The result as a column, or a tuple of columns; and a boolean array of the lanes that raise an exception."""
    kinds = "".join([kind_of(column) for column in data])
    if "M" in kinds:
        return _by_kinds(function, data, size)
    rules = RULES.get(function) if function.__hash__ is not None else None
    rule = rules.get(kinds) if rules is not None else None
    found = rule(*data) if rule is not None else None
    if found is None:
        return _by_lane(function, data, size)
    column, odd = found
    if odd is None or not odd.any():
        return column, None
    which, rest = np.flatnonzero(odd), np.flatnonzero(~odd)
    given, failed = _by_lane(function, _parts(data, which), len(which))
    if type(column) is tuple:
        if type(given) is not tuple:  # all odd lanes have failed
            given = tuple(given for _ in column)
        pairs = zip(column, given, strict=True)
        column = tuple(joined(size, [(rest, part[rest]), (which, other)]) for part, other in pairs)
    else:
        column = joined(size, [(rest, column[rest]), (which, given)])
    all_failed: Any = np.zeros(size, bool)
    all_failed[which] = failed
    return column, all_failed


def _parts(data: Sequence[Any], which: Any) -> list[Any]:
    return [column[which] if type(column) in (np.ndarray, Mixed) else column for column in data]


def _by_kinds(function: Any, data: Sequence[Any], size: int) -> tuple[Any, Any]:
    """Compute for the lanes with each combination of kinds by themselves."""
    codes: Any = np.zeros(size, np.int64)
    for column in data:
        if type(column) is Mixed:
            codes = codes * len(column.arrays) + column.codes
    results = []
    failed: Any = np.zeros(size, bool)
    for code in np.unique(codes).tolist():
        which = np.flatnonzero(codes == code)
        result, bad = _columns(function, _parts(data, which), len(which))
        results.append((which, result))
        if bad is not None:
            failed[which] = bad
    lengths = [len(result) for _, result in results if type(result) is tuple]
    if lengths:
        results = [
            (which, (result,) * lengths[0] if type(result) is not tuple and failed[which].all() else result)
            for which, result in results
        ]
        if not all(type(result) is tuple and len(result) == len(results[0][1]) for _, result in results):
            raise EffectError(f"{name_of(function)} returns tuples for some lanes only, at {place()}")
        columns = zip(*[result for _, result in results], strict=True)
        places = [which for which, _ in results]
        return tuple(joined(size, list(zip(places, parts, strict=True))) for parts in columns), failed
    return joined(size, results), failed


def _by_lane(function: Any, data: Sequence[Any], size: int) -> tuple[Any, Any]:
    columns = [listed(column, size) for column in data]
    try:
        values = list(map(function, *columns))
    except Exception:
        return _by_failing_lane(function, columns, size)
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        return packed(values), None
    if kinds == {tuple} and len(set(map(len, values))) == 1:
        return tuple(map(packed, map(list, zip(*values, strict=True)))), None
    return _by_failing_lane(function, columns, size)


def _by_failing_lane(function: Any, columns: Sequence[Any], size: int) -> tuple[Any, Any]:
    values: list[Any] = []
    failed: Any = np.zeros(size, bool)
    for number, arguments in enumerate(zip(*columns, strict=True)):
        try:
            values.append(function(*arguments))
        except Exception:
            failed[number] = True
            values.append(None)
    good = [value for value, bad in zip(values, failed.tolist(), strict=True) if not bad]
    lengths = {len(value) if type(value) is tuple else -1 for value in good}
    if len(lengths) == 1 and -1 not in lengths:
        blank = (None,) * lengths.pop()
        rows = [blank if bad else value for value, bad in zip(values, failed.tolist(), strict=True)]
        return tuple(map(packed, map(list, zip(*rows, strict=True)))), failed
    if not all(map(is_immutable, good)):
        raise EffectError(f"the results of {name_of(function)} differ between lanes, and are no numbers, at {place()}")
    if failed.any() and good:
        values = [good[0] if bad else value for value, bad in zip(values, failed.tolist(), strict=True)]
    return packed(values), failed


def _raise(lanes: Lanes, function: Any, data: Sequence[Any], active: LaneSet) -> None:
    """Raise the exception that the function raises in all active lanes; lanes with another type are dropped."""
    errors: list[Exception] = []
    for arguments in zip(*[listed(column, active.size) for column in data], strict=True):
        try:
            function(*arguments)
        except Exception as error:
            errors.append(error.with_traceback(None))
    first = errors[0]
    alike = [type(one) is type(first) and len(one.args) == len(first.args) for one in errors]
    keep = np.array(alike)
    lanes.drop(active.ids[~keep])
    lanes.commit()
    rows = [error.args for error, kept in zip(errors, alike, strict=True) if kept]
    columns = [list(column) for column in zip(*rows, strict=True)]
    first.args = tuple(
        lane_of(lanes, lanes.active, packed(column)) if all(map(is_immutable, column)) else column[0]
        for column in columns
    )
    raise first
