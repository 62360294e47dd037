"""NumPy's functions for `round` to digits and for the functions of `math` that are no arithmetic.

The rules are those of `number_rules`: a column, and which lanes only Python can compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.number_rules import floats, marked

__all__ = ["MATH_RULES"]

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
    x, base = floats(x), floats(base)
    z = np.log(x) / np.log(base)
    return z, marked((x <= 0) | (base <= 0) | (base == 1), z)


def _isclose(x: Any, y: Any) -> Any:
    x, y = floats(x), floats(y)
    difference = np.abs(x - y)
    near = (difference <= np.abs(1e-9 * x)) | (difference <= np.abs(1e-9 * y))
    return np.where(np.isinf(x) | np.isinf(y), False, near) | (x == y), None


def _frexp(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return (mantissa, exponent.astype(np.int64)), ~np.isfinite(x)


def _ldexp(x: Any, exponent: Any) -> Any:
    x, exponent = np.broadcast_arrays(floats(x), exponent)
    z = np.ldexp(x, np.clip(exponent, -3000, 3000).astype(np.int32))
    return z, (np.abs(exponent) > 3000) | ~np.isfinite(z)


def _hypot_in_space(x: Any, y: Any, z: Any) -> Any:
    size = np.maximum(np.maximum(np.abs(x), np.abs(y)), np.abs(z))
    return np.sqrt(x * x + y * y + z * z), marked(~((size < _LARGE) & (size > _SMALL)), size)


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
        x = floats(x)
        y = function(x)
        return y, ~(np.isfinite(x) & np.isfinite(y))

    return rule


MATH_RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {
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
