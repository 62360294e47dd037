"""NumPy's arithmetic for complex numbers, and for the functions of `cmath` that it computes as closely as Python does.

Products and quotients are computed from the parts, in the order of Python: NumPy's own have other roundings. Results
that are not finite are left to Python, and so are the other functions of `cmath`.
"""

from __future__ import annotations

import cmath
import math
import operator
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.known_functions import PARTS
from cassette_import.contexts.lanes.number_rules import floats, marked

__all__ = ["COMPLEX_RULES"]

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


def _parts(column: Any) -> tuple[Any, Any]:
    return (column.real, column.imag) if _is_complex(column) else (floats(column), 0.0)


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
        z = _made(*function(*_parts(x), *_parts(y)))
        odd = ~_finite(x, y, z)
        if _MIXED_IS_OWN and not (_is_complex(x) and _is_complex(y)):
            odd = odd | (z.real == 0) | (z.imag == 0)
        return z, marked(odd, z)

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
    power: tuple[Any, Any] = _parts(x)
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


def _of_one(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """A rule for a function of one complex number; other results than finite ones are left to Python."""

    def rule(z: Any) -> Any:
        z = _made(*_parts(z))
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
    z = _made(*_parts(z))
    size = np.hypot(z.real, z.imag)
    return (size, np.arctan2(z.imag, z.real)), ~_finite(z, size)


def _rect(size: Any, angle: Any) -> Any:
    size, angle = floats(size), floats(angle)
    z = _made(size * np.cos(angle), size * np.sin(angle))
    return z, marked(~_finite(size, angle, z) | (angle == 0), z)


def _constructed(x: Any, y: Any) -> Any:
    return _made(floats(x), floats(y)), None


def _for(kinds: str, rule: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return dict.fromkeys(kinds.split(), rule)


_REALS: Final = "ff fi if fb bf ii ib bi bb"

COMPLEX_RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {
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
    abs: {"c": _of_one(lambda z: np.hypot(z.real, z.imag))},
    bool: {"c": lambda z: (z != 0, None)},
    complex: {**_for(_REALS, _constructed), **_for("f i b", lambda x: (_made(floats(x), 0.0), None))},
    PARTS["real"]: {"c": lambda z: (z.real.copy(), None)},
    PARTS["imag"]: {"c": lambda z: (z.imag.copy(), None)},
    PARTS["conjugate"]: {"c": lambda z: (np.conjugate(z), None)},
    cmath.phase: _for("c f i b", _of_one(_phase)),
    cmath.polar: _for("c f i b", _polar),
    cmath.rect: _for(_REALS, _rect),
    cmath.log: _for("c f i b", _of_one(_logarithm)),
    cmath.log10: _for("c f i b", _of_one(_logarithm_to_ten)),
    **{
        function: _for("c f i b", _of_one(ufunc))
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
