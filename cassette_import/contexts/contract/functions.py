"""Elementary functions of bounds: all values of `sin`, `exp`, powers and others between bounds, rounded outwards.

The value at one float is a ball of Arb, from which the two nearest floats follow. Knows where functions increase and
where they have their extrema; must not know derivatives, inverses or programs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from math import inf, isinf, nextafter
from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import Row
from cassette_import.contexts.contract.bounds import ENTIRE, Bounds, Empty, absolute, divide, hull, negative
from cassette_import.interpreter.installed_packages import needs

try:
    from flint import arb
    from flint import ctx as _flint
except ImportError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(needs("contract", "python-flint", "contract"), name="flint") from error

__all__ = [
    "HALF_PI", "PI", "arb", "arccosine", "arcsine", "at", "cosine", "decreasing", "floats_around",
    "increasing", "integer_power", "near_multiples", "point_function", "real_power", "root", "sine", "slope_function",
    "square", "square_root", "tangent", "working_precision",
]  # fmt: skip

_BITS: Final = 80
_ENOUGH_BITS: Final = 56
_MORE_BITS: Final = 1200
"""The value may be close to zero, as that of sin(x) where x is close to a multiple of π."""

PointFunction = Callable[[Any], Any]


def working_precision() -> Any:
    """A block in which Arb computes with enough bits for floats."""
    return _flint.workprec(_BITS)


def floats_around(ball: Any) -> Bounds:
    """The closest floats with a ball between them."""
    if not ball.is_finite():
        return ENTIRE
    near = float(ball)
    if isinf(near):
        return (nextafter(inf, 0.0), inf) if near > 0 else (-inf, nextafter(-inf, 0.0))
    if ball.is_exact() and ball == near:
        return near, near
    low, high = nextafter(near, -inf), nextafter(near, inf)
    if not low <= ball <= high:
        low, high = nextafter(float(ball.lower()), -inf), nextafter(float(ball.upper()), inf)
    if ball > near:
        low = near
    elif ball < near:
        high = near
    return low, high


def at(function: PointFunction, x: float) -> Bounds:
    """Bounds of the value of a function of balls at one float."""
    ball = function(arb(x))
    if ball.rel_accuracy_bits() < _ENOUGH_BITS and ball.is_finite() and not ball.is_exact():
        with _flint.workprec(_MORE_BITS):
            ball = function(arb(x))
    return floats_around(ball)


class _Balls:
    """The arithmetic of balls, in which the table of functions is computed. Other functions are those of Arb."""

    number = arb
    exp2 = staticmethod(lambda x: arb(2) ** x)
    log2 = staticmethod(lambda x: x.log() / arb(2).log())
    log10 = staticmethod(lambda x: x.log() / arb(10).log())

    def __getattr__(self, name: str) -> Any:
        return getattr(arb, name)


_BALLS: Final = _Balls()


def point_function(row: Row) -> PointFunction:
    """The function of a ball for the column `value` of a row."""
    value = row.value
    if isinstance(value, str):
        function: PointFunction = getattr(_BALLS, value)
        return function
    assert value is not None
    return functools.partial(value, _BALLS)


def slope_function(row: Row) -> Callable[[Bounds, Bounds], Bounds]:
    """The derivative as a function of bounds, of the column `partials` of a row with one argument."""
    assert isinstance(row.partials, tuple)
    (partial,) = row.partials

    def bounded(z: Bounds, x: Bounds) -> Bounds:
        if isinf(z[0]) or isinf(z[1]) or isinf(x[0]) or isinf(x[1]):
            return ENTIRE
        found = partial(_BALLS, *(arb(low).union(arb(high)) for low, high in (z, x)))
        return floats_around(arb(found))

    return bounded


def increasing(function: PointFunction, *, below: float, above: float) -> Callable[[Bounds], Bounds]:
    """The function of bounds for one that never decreases, and its limits on either side."""

    def bounded(x: Bounds) -> Bounds:
        if x[0] == x[1]:
            return at(function, x[0])
        low = below if x[0] == -inf else at(function, x[0])[0]
        high = above if x[1] == inf else at(function, x[1])[1]
        return max(low, below), min(high, above)

    return bounded


def decreasing(function: PointFunction, *, below: float, above: float) -> Callable[[Bounds], Bounds]:
    """The function of bounds for one that never increases."""
    opposite = increasing(lambda x: -function(x), below=-above, above=-below)
    return lambda x: negative(opposite(x))


with working_precision():
    PI: Final[Bounds] = floats_around(arb.pi())
    HALF_PI: Final[Bounds] = floats_around(arb.pi() / 2)

_FAR: Final = 1e6
_SLACK: Final = 1e-9
"""An extremum that is so close to a bound changes a sine by less than half a unit in the last place. For arguments
below `_FAR`, divisions by the float `math.pi` are wrong by less than this."""


def near_multiples(x: Bounds, shift: float) -> range:
    """All integers n with (n + shift) π between the bounds, and perhaps ones for which it is close to a bound."""
    return range(
        math.ceil(x[0] / math.pi - shift - _SLACK),
        math.floor(x[1] / math.pi - shift + _SLACK) + 1,
    )


def _wave(x: Bounds, shift: float, function: PointFunction) -> Bounds:
    """The values of a sine or cosine, whose extrema are (-1)ⁿ at (n + shift) π."""
    low, high = x
    if high - low >= 6.3:
        return -1.0, 1.0
    if max(-low, high) > _FAR:
        ball = arb(low).union(arb(high))
        found = floats_around(function(ball))
        return max(found[0], -1.0), min(found[1], 1.0)
    first = at(function, low)
    least, most = first if low == high else hull(first, at(function, high))
    for number in near_multiples(x, shift):
        if number % 2:
            least = -1.0
        else:
            most = 1.0
    return max(least, -1.0), min(most, 1.0)


def sine(x: Bounds) -> Bounds:
    """All sines."""
    return _wave(x, 0.5, arb.sin)


def cosine(x: Bounds) -> Bounds:
    """All cosines."""
    return _wave(x, 0.0, arb.cos)


def tangent(x: Bounds) -> Bounds:
    """All tangents."""
    low, high = x
    if high - low >= 3.2 or max(-low, high) > _FAR or len(near_multiples(x, 0.5)):
        return ENTIRE
    return at(arb.tan, low)[0], at(arb.tan, high)[1]


arcsine: Final = increasing(arb.asin, below=-HALF_PI[1], above=HALF_PI[1])
arccosine: Final = decreasing(arb.acos, below=0.0, above=PI[1])


def square_root(x: Bounds) -> Bounds:
    """All roots of the numbers that have one."""
    if x[1] < 0.0:
        raise Empty
    return (_root_down(x[0]) if x[0] > 0.0 else 0.0), _root_up(x[1])


def _root_down(x: float) -> float:
    found = math.sqrt(x)
    return found if found * found == x and found.is_integer() and found < 1e7 else nextafter(found, 0.0)


def _root_up(x: float) -> float:
    found = math.sqrt(x)
    return found if found * found == x and found.is_integer() and found < 1e7 else nextafter(found, inf)


def square(x: Bounds) -> Bounds:
    """All squares."""
    low, high = absolute(x)
    return (nextafter(low * low, 0.0) if low else 0.0), (nextafter(high * high, inf) if high else 0.0)


def integer_power(x: Bounds, n: int) -> Bounds:
    """All powers with an integer as the exponent; without a bound at zero if that is negative."""
    if n == 2:
        return square(x)
    if n == 0:
        return 1.0, 1.0
    if n < 0:
        return divide((1.0, 1.0), integer_power(x, -n))
    if n == 1:
        return x
    if n % 2 == 0:
        low, high = absolute(x)
        return max(_power(low, n)[0], 0.0), _power(high, n)[1]
    return _power(x[0], n)[0], _power(x[1], n)[1]


def _power(x: float, n: int) -> Bounds:
    if isinf(x) or x in (0.0, 1.0, -1.0):
        whole = x**n
        return whole, whole
    return floats_around(arb(x) ** n)


def real_power(x: Bounds, p: Bounds) -> Bounds:
    """All powers of the numbers above zero with one number as the exponent, which is not zero."""
    if x[1] < 0.0:
        raise Empty
    low, high = max(x[0], 0.0), x[1]
    if p[0] > 0.0:
        return max(_real_power(low, p)[0], 0.0), _real_power(high, p)[1]
    return max(_real_power(high, p)[0], 0.0), _real_power(low, p)[1]


def _real_power(x: float, p: Bounds) -> Bounds:
    if x in (0.0, inf):
        limit = 0.0 if (x == 0.0) == (p[0] > 0.0) else inf
        return limit, limit
    return floats_around(arb(x) ** (arb(p[0]) if p[0] == p[1] else arb(p[0]).union(arb(p[1]))))


def root(x: Bounds, n: int) -> Bounds:
    """All n-th roots; those of negative numbers if n is odd."""
    if n % 2 == 0:
        if x[1] < 0.0:
            raise Empty
        return square_root(x) if n == 2 else (_root(max(x[0], 0.0), n)[0], _root(x[1], n)[1])
    return _root(x[0], n)[0], _root(x[1], n)[1]


def _root(x: float, n: int) -> Bounds:
    if isinf(x) or x in (0.0, 1.0, -1.0):
        return x, x
    return floats_around(arb(x).root(n)) if x > 0.0 else negative(floats_around(arb(-x).root(n)))
