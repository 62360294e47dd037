"""`Span`: all numbers between two ends of any precision, and the functions of spans.

Ends are exact numbers of Arb, rounded outwards to the working precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cassette_import.kits.numbers.enclosures.bounds import Bounds
from cassette_import.kits.numbers.enclosures.functions import Functions, arb, floats_around

__all__ = ["SPANS", "OutsideDomain", "Span", "as_span", "spanned", "whole_above", "whole_below"]


class OutsideDomain(ArithmeticError):
    """Some numbers in the operands have no result: a division by an interval that contains zero."""


def whole_below(end: Any) -> int:
    """The floor of an end."""
    return int(end.floor().unique_fmpz())


def whole_above(end: Any) -> int:
    """The ceiling of an end."""
    return -whole_below(-end)


def _arithmetic(compute: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The methods of an operator and of the reflected one."""
    return lambda self, other: compute(self, as_span(other)), lambda self, other: compute(as_span(other), self)


def spanned(balls: Iterable[Any]) -> Span:
    """The span of some balls."""
    balls = list(balls)
    if not all(ball.is_finite() for ball in balls):
        raise OutsideDomain
    lows, highs = [ball.lower() for ball in balls], [ball.upper() for ball in balls]
    return Span(min(lows), max(highs))


def _sum(x: Any, y: Any) -> Any:
    return Span((x.low + y.low).lower(), (x.high + y.high).upper())


def _difference(x: Any, y: Any) -> Any:
    return Span((x.low - y.high).lower(), (x.high - y.low).upper())


def _product(x: Any, y: Any) -> Any:
    if x is y:  # the same quantity
        return Span(*SPANS.square(x.ends))
    return spanned(one * other for one in x.distinct_ends() for other in y.distinct_ends())


def _quotient(x: Any, y: Any) -> Any:
    if y.contains(0):
        raise OutsideDomain
    return spanned(one / other for one in (x.low, x.high) for other in (y.low, y.high))


_SLACK: Final = 2.0**-31


class Span:
    """All numbers from `low` to `high`. Operators and comparisons are those of intervals.

    A comparison is true if it holds for all numbers.
    """

    __slots__ = ("high", "low")

    def __init__(self, low: Any, high: Any) -> None:
        self.low = arb(low)
        self.high = arb(high)

    @property
    def ends(self) -> tuple[Any, Any]:
        """Both ends."""
        return self.low, self.high

    def distinct_ends(self) -> tuple[Any, ...]:
        """The number, or both ends."""
        return (self.low,) if self.is_exact() else (self.low, self.high)

    def is_exact(self) -> bool:
        """Whether it is one number."""
        return bool(self.low == self.high)

    def is_zero(self) -> bool:
        """Whether it is zero alone."""
        return bool(self.low == 0 == self.high)

    def is_finite(self) -> bool:
        """Whether both ends are finite."""
        return bool(self.low.is_finite() and self.high.is_finite())

    def contains(self, number: Any) -> bool:
        """Whether a number is between the ends."""
        return bool(self.low <= number <= self.high)

    def bounds(self) -> tuple[float, float]:
        """Two floats with the span between them. An end that is no float is moved outwards by a part of the width.

        A program computes with rounded numbers, and so its values are between the bounds too.
        """
        slack = (self.high - self.low) * _SLACK
        low, high = (floats_around(end) for end in self.ends)
        if low[0] != low[1]:
            low = floats_around((self.low - slack).lower())
        if high[0] != high[1]:
            high = floats_around((self.high + slack).upper())
        return low[0], high[1]

    def union(self, other: Span) -> Span:
        """The span of the numbers in either."""
        return Span(min(self.low, other.low), max(self.high, other.high))

    def __repr__(self) -> str:
        return "Span({}, {})".format(*self.bounds())

    __add__, __radd__ = _arithmetic(_sum)
    __sub__, __rsub__ = _arithmetic(_difference)
    __mul__, __rmul__ = _arithmetic(_product)
    __truediv__, __rtruediv__ = _arithmetic(_quotient)

    def __neg__(self) -> Span:
        return Span(-self.high, -self.low)

    def __pos__(self) -> Span:
        return self

    def __abs__(self) -> Span:
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Span(0, max(-self.low, self.high))

    def __lt__(self, other: Any) -> bool:
        return bool(self.high < as_span(other).low)

    def __le__(self, other: Any) -> bool:
        return bool(self.high <= as_span(other).low)

    def __gt__(self, other: Any) -> bool:
        return bool(self.low > as_span(other).high)

    def __ge__(self, other: Any) -> bool:
        return bool(self.low >= as_span(other).high)


def as_span(number: Any) -> Span:
    """The span of a number, as narrow as the working precision allows."""
    if isinstance(number, Span):
        return number
    if isinstance(number, Fraction):
        return spanned([arb(number.numerator) / arb(number.denominator)])
    return spanned([arb(str(number))]) if isinstance(number, Decimal) else Span(number, number)


def _at(function: Callable[[Any], Any], x: Any) -> Bounds:
    ball = function(arb(x))
    if not ball.is_finite():
        raise OutsideDomain
    return ball.lower(), ball.upper()


def _multiples(x: Bounds, shift: float) -> range:
    low, high = ((arb(end) / arb.pi() - shift) for end in x)
    if not (low.is_finite() and high.is_finite()):
        raise OutsideDomain
    return range(whole_above(low.lower()), whole_below(high.upper()) + 1)


class _Spans(Functions):
    """The functions of bounds that are numbers of Arb, with gamma functions of negative numbers."""

    def _valley(self, function: Callable[[Any], Any], bottom: float) -> Callable[[Bounds], Bounds]:
        of_positive = super()._valley(function, bottom)

        def bounded(x: Bounds) -> Bounds:
            if x[0] > 0:
                return of_positive(x)
            if whole_above(x[0]) <= min(whole_below(x[1]), 0) or x[1] >= 0:
                raise OutsideDomain  # a pole
            low, high = _between_poles(x)
            if function is arb.lgamma:
                return self.at(arb.log, low)[0], self.at(arb.log, high)[1]
            return (low, high) if whole_below(x[0]) % 2 == 0 else (-high, -low)

        return bounded


def _between_poles(x: Bounds) -> Bounds:
    """The absolute values of gamma, which have their minimum where digamma, which increases, is zero."""
    low, high = map(arb, x)
    sizes = [abs(low.gamma()), abs(high.gamma())]
    if low.digamma() < 0 < high.digamma():
        for _ in range(_HALVINGS):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if middle.digamma() < 0 else (low, middle)
        sizes.append(abs(low.union(high).gamma()))
    ends: Bounds = spanned(sizes).ends
    return ends


_HALVINGS: Final = 40


def _reciprocal(x: Bounds) -> Bounds:
    ends: Bounds = _quotient(as_span(1), Span(*x)).ends
    return ends


SPANS: Final = _Spans(_at, _multiples, _reciprocal)
"""The functions of bounds that are numbers of Arb."""
