"""Elementary functions of bounds: all values of `sin`, `exp`, powers and others between bounds, rounded outwards.

The value at one end is a ball of Arb, which is rounded to two ends.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from math import inf, isinf, nextafter
from typing import Any, Final

from cassette_import.interpreter.installed_packages import needs
from cassette_import.kits.numbers.elementary import ELEMENTARY
from cassette_import.kits.numbers.enclosures.bounds import (
    ENTIRE,
    Bounds,
    Empty,
    absolute,
    divide,
    hull,
    meet,
    negative,
)
from cassette_import.kits.numbers.row import Row

try:
    from flint import arb
    from flint import ctx as _flint
except ImportError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(needs("intervals", "python-flint", "intervals"), name="flint") from error

__all__ = [
    "FLOATS",
    "HALF_PI",
    "PI",
    "Functions",
    "OfBounds",
    "arb",
    "floats_around",
    "near_multiples",
    "point_function",
    "slope_function",
    "working_precision",
    "workprec",
]  # fmt: skip

workprec: Final = _flint.workprec
_BITS: Final = 80
_ENOUGH_BITS: Final = 56
_MORE_BITS: Final = 1200
"""The value may be close to zero, as that of sin(x) where x is close to a multiple of π."""

PointFunction = Callable[[Any], Any]
OfBounds = Callable[[Bounds], Bounds]


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


_FAR: Final = 1e6
_SLACK: Final = 1e-9
"""An extremum that is so close to a bound changes a sine by less than half a unit in the last place. For arguments
below `_FAR`, divisions by the float `math.pi` are wrong by less than this."""

_SPECIAL: Final = 0.0, 1.0, -1.0, inf, -inf


def near_multiples(x: Bounds, shift: float) -> range:
    """All integers n with (n + shift) π between the bounds, and perhaps ones for which it is close to a bound."""
    return range(
        math.ceil(x[0] / math.pi - shift - _SLACK),
        math.floor(x[1] / math.pi - shift + _SLACK) + 1,
    )


GROWING: Final = [row for row in ELEMENTARY if row.growth is not None and row.name not in ("sqrt", "cbrt")]
"""The rows of functions that increase or decrease everywhere, but roots."""


class Functions:
    """The functions of bounds, for one kind of ends. Each is an attribute with the name of a row, and in `by_name`.

    Parameters
    ----------
    at:
        The bounds of the value of a function of balls at one end.
    multiples:
        All integers n with (n + shift) π between bounds, and perhaps some more.
    reciprocal:
        One divided by all numbers between bounds.
    """

    def __init__(self, at: Any, multiples: Any, reciprocal: OfBounds) -> None:
        self.at = at
        self._multiples = multiples
        self._reciprocal = reciprocal
        self._exp_of_size = self.increasing(arb.cosh, below=1.0)
        self.by_name: dict[str, OfBounds] = {
            **{row.name: self._growing(row) for row in GROWING},
            "exp10": self.increasing(lambda x: arb(10) ** x, below=0.0),
            "sqrt": self.sqrt, "cbrt": lambda x: self.root(x, 3),
            "sin": self.sin, "cos": self.cos, "tan": self.tan,
            "asin": _on((-1.0, 1.0), self.increasing(arb.asin, below=-HALF_PI[1], above=HALF_PI[1])),
            "acos": _on((-1.0, 1.0), self.decreasing(arb.acos, below=0.0, above=PI[1])),
            "atan": self.increasing(arb.atan, below=-HALF_PI[1], above=HALF_PI[1]),
            "cosh": lambda x: self._exp_of_size(absolute(x)),
            "gamma": self._valley(arb.gamma, 0.8856031944108886),
            "lgamma": self._valley(arb.lgamma, -0.12148629053584962),
        }  # fmt: skip

    def increasing(self, function: PointFunction, *, below: float = -inf, above: float = inf) -> OfBounds:
        """The function of bounds for one that never decreases, and its limits on either side."""

        def bounded(x: Bounds) -> Bounds:
            if x[0] == x[1]:
                return self.at(function, x[0])  # type: ignore[no-any-return]  # what it gets
            low = below if x[0] == -inf else self.at(function, x[0])[0]
            high = above if x[1] == inf else self.at(function, x[1])[1]
            return max(low, below), min(high, above)

        return bounded

    def decreasing(self, function: PointFunction, *, below: float = -inf, above: float = inf) -> OfBounds:
        """The function of bounds for one that never increases."""
        opposite = self.increasing(lambda x: -function(x), below=-above, above=-below)
        return lambda x: negative(opposite(x))

    def _valley(self, function: PointFunction, bottom: float) -> OfBounds:
        """A function of numbers above zero that decreases up to 1.4616321449683623… and increases after it."""

        def bounded(x: Bounds) -> Bounds:
            low, high = meet(x, (0.0, inf))
            left = self.at(function, low) if low > 0.0 else (bottom, inf)
            right = self.at(function, high) if 0.0 < high < inf else (bottom, inf)
            least = bottom if low < 1.46163214496837 and high > 1.46163214496836 else min(left[0], right[0])
            return least, max(left[1], right[1])

        return bounded

    def _growing(self, row: Row) -> OfBounds:
        """The function of bounds for the columns `growth` and `domain` of a row."""
        growth, domain = row.growth, row.domain
        assert growth is not None
        function = self.increasing if growth.rises else self.decreasing
        bounded = function(point_function(row), below=growth.below, above=growth.above)
        return bounded if domain is None else _on((domain.low, domain.high), bounded)

    def _wave(self, x: Bounds, shift: float, function: PointFunction) -> Bounds:
        """The values of a sine or cosine, whose extrema are (-1)ⁿ at (n + shift) π."""
        low, high = x
        if high - low >= 6.3:
            return -1.0, 1.0
        extrema = self._multiples(x, shift)
        if len(extrema) > _MOST_EXTREMA:  # the precision does not say which
            return -1.0, 1.0
        first = self.at(function, low)
        least, most = first if low == high else hull(first, self.at(function, high))
        for number in extrema:
            if number % 2:
                least = -1.0
            else:
                most = 1.0
        return max(least, -1.0), min(most, 1.0)

    def sin(self, x: Bounds) -> Bounds:
        """All sines."""
        return self._wave(x, 0.5, arb.sin)

    def cos(self, x: Bounds) -> Bounds:
        """All cosines."""
        return self._wave(x, 0.0, arb.cos)

    def tan(self, x: Bounds) -> Bounds:
        """All tangents."""
        low, high = x
        if high - low >= 3.2 or self._multiples(x, 0.5):
            return ENTIRE
        return self.at(arb.tan, low)[0], self.at(arb.tan, high)[1]

    def sqrt(self, x: Bounds) -> Bounds:
        """All roots of the numbers that have one."""
        return self.root(x, 2)

    def square(self, x: Bounds) -> Bounds:
        """All squares."""
        return self.integer_power(x, 2)

    def integer_power(self, x: Bounds, n: int) -> Bounds:
        """All powers with an integer as the exponent; without a bound at zero if that is negative."""
        if n == 0:
            return 1.0, 1.0
        if n < 0:
            return self._reciprocal(self.integer_power(x, -n))
        if n == 1:
            return x
        low, high = x if n % 2 else absolute(x)
        return self._power(low, n)[0], self._power(high, n)[1]

    def _power(self, x: Any, n: int) -> Bounds:
        if x in _SPECIAL:
            whole = x**n
            return whole, whole
        return self.at(lambda x: x**n, x)  # type: ignore[no-any-return]  # what it gets

    def real_power(self, x: Bounds, p: Bounds) -> Bounds:
        """All powers of the numbers above zero with one number as the exponent, which is not zero."""
        if x[1] < 0.0:
            raise Empty
        low, high = max(x[0], 0.0), x[1]
        if p[0] > 0.0:
            return max(self._real_power(low, p)[0], 0.0), self._real_power(high, p)[1]
        return max(self._real_power(high, p)[0], 0.0), self._real_power(low, p)[1]

    def _real_power(self, x: Any, p: Bounds) -> Bounds:
        if x in (0.0, inf):
            limit = 0.0 if (x == 0.0) == (p[0] > 0.0) else inf
            return limit, limit
        exponent = arb(p[0]) if p[0] == p[1] else arb(p[0]).union(arb(p[1]))
        return self.at(lambda x: x**exponent, x)  # type: ignore[no-any-return]  # what it gets

    def root(self, x: Bounds, n: int) -> Bounds:
        """All n-th roots; those of negative numbers if n is odd."""
        low = x[0]
        if n % 2 == 0:
            if x[1] < 0.0:
                raise Empty
            low = max(low, 0.0)
        return self._root(low, n)[0], self._root(x[1], n)[1]

    def _root(self, x: Any, n: int) -> Bounds:
        if x in _SPECIAL:
            return x, x
        return self.at(lambda x: x.root(n), x) if x > 0.0 else negative(self.at(lambda x: x.root(n), -x))


_MOST_EXTREMA: Final = 3
"""In an interval that is not wider than 2π."""


def _on(domain: Bounds, function: OfBounds) -> OfBounds:
    """A function of the numbers of its domain."""
    return lambda x: function(meet(x, domain))


with working_precision():
    PI: Final[Bounds] = floats_around(arb.pi())
    HALF_PI: Final[Bounds] = floats_around(arb.pi() / 2)


class _FloatFunctions(Functions):
    """The functions of bounds that are floats. Squares and roots are computed without Arb, which is quicker."""

    def _wave(self, x: Bounds, shift: float, function: PointFunction) -> Bounds:
        if max(-x[0], x[1]) > _FAR and x[1] - x[0] < 6.3:
            found = floats_around(function(arb(x[0]).union(arb(x[1]))))
            return max(found[0], -1.0), min(found[1], 1.0)
        return super()._wave(x, shift, function)

    def tan(self, x: Bounds) -> Bounds:
        return ENTIRE if max(-x[0], x[1]) > _FAR else super().tan(x)

    def sqrt(self, x: Bounds) -> Bounds:
        if x[1] < 0.0:
            raise Empty
        return (_root_to(x[0], 0.0) if x[0] > 0.0 else 0.0), _root_to(x[1], inf)

    def square(self, x: Bounds) -> Bounds:
        low, high = absolute(x)
        return (nextafter(low * low, 0.0) if low else 0.0), (nextafter(high * high, inf) if high else 0.0)

    def integer_power(self, x: Bounds, n: int) -> Bounds:
        return self.square(x) if n == 2 else super().integer_power(x, n)

    def root(self, x: Bounds, n: int) -> Bounds:
        return self.sqrt(x) if n == 2 else super().root(x, n)


def _root_to(x: float, end: float) -> float:
    found = math.sqrt(x)
    return found if found * found == x and found.is_integer() and found < 1e7 else nextafter(found, end)


FLOATS: Final = _FloatFunctions(at, near_multiples, lambda x: divide((1.0, 1.0), x))
"""The functions of bounds that are floats."""
