"""Arithmetic of pairs of floats that bound a real number: each result contains every exact result.

Bounds may be infinite. An empty set is the exception `Empty`. Sums are rounded outwards only where they are inexact,
products and quotients by one unit in the last place.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, isinf, nextafter
from typing import Any, Final

__all__ = [
    "ENTIRE", "ZERO", "Bounds", "Empty", "absolute", "add", "contains", "divide", "exactly", "factor_within", "hull",
    "inside", "larger", "meet", "middle", "multiply", "negative", "scale", "smaller", "subtract", "sum_down", "sum_up",
]  # fmt: skip

Bounds = tuple[float, float]

ENTIRE: Final[Bounds] = (-inf, inf)

ZERO: Final[Bounds] = (0.0, 0.0)


class Empty(ArithmeticError):
    """No number satisfies all constraints."""


def exactly(number: Any) -> Bounds:
    """The closest bounds of a number of the program."""
    if isinstance(number, float):
        return number, number
    exact = Fraction(number) if isinstance(number, (int, Fraction, Decimal)) else Fraction(float(number))
    try:
        near = float(exact)
    except OverflowError:
        return (_LARGEST, inf) if exact > 0 else (-inf, -_LARGEST)
    nearby = Fraction(near)
    return (near if nearby <= exact else nextafter(near, -inf)), (near if nearby >= exact else nextafter(near, inf))


_LARGEST: Final = 1.7976931348623157e308


def meet(x: Bounds, y: Bounds) -> Bounds:
    """The numbers in both."""
    low = x[0] if x[0] >= y[0] else y[0]
    high = x[1] if x[1] <= y[1] else y[1]
    if low > high:
        raise Empty
    return low, high


def hull(x: Bounds, y: Bounds) -> Bounds:
    """The smallest bounds of the numbers in either."""
    return min(x[0], y[0]), max(x[1], y[1])


def contains(x: Bounds, number: float) -> bool:
    """Whether a number is between the bounds."""
    return x[0] <= number <= x[1]


def inside(x: Bounds, y: Bounds) -> bool:
    """Whether all numbers of `x` are in `y`."""
    return y[0] <= x[0] and x[1] <= y[1]


def middle(x: Bounds) -> float:
    """A float between the bounds, close to the middle; a large one if a bound is infinite."""
    low, high = x
    if isinf(low) or isinf(high):
        if low < 0.0 < high:
            return 0.0
        finite = low if isinf(high) else high
        return min(max(finite * 2.0 + (1.0 if finite >= 0.0 else -1.0), max(low, -_LARGEST)), min(high, _LARGEST))
    return min(max(low * 0.5 + high * 0.5, low), high)


def sum_down(x: float, y: float) -> float:
    """The largest float that is not above the sum; minus infinity where there is none."""
    total = x + y
    if isinf(total):
        return _LARGEST if total > 0 and not (isinf(x) or isinf(y)) else total
    part = total - x
    error = (x - (total - part)) + (y - part)
    return nextafter(total, -inf) if error < 0.0 or error != error else total


def sum_up(x: float, y: float) -> float:
    """The smallest float that is not below the sum."""
    return 0.0 - sum_down(-x, -y)


def add(x: Bounds, y: Bounds) -> Bounds:
    """All sums."""
    return sum_down(x[0], y[0]), sum_up(x[1], y[1])


def subtract(x: Bounds, y: Bounds) -> Bounds:
    """All differences."""
    return sum_down(x[0], -y[1]), sum_up(x[1], -y[0])


def negative(x: Bounds) -> Bounds:
    """All numbers with the other sign."""
    return 0.0 - x[1], 0.0 - x[0]


def _product(x: float, y: float) -> float:
    """A product of two bounds: an infinite bound stands for large numbers, and zero times any of them is zero."""
    return x * y if x and y else 0.0


def multiply(x: Bounds, y: Bounds) -> Bounds:
    """All products."""
    (a, b), (c, d) = x, y
    if a == b and a in _UNITS:
        return (c, d) if a == 1.0 else (-d, -c) if a else ZERO
    if c == d and c in _UNITS:
        return (a, b) if c == 1.0 else (-b, -a) if c else ZERO
    if a >= 0.0:
        low = _product(a if c >= 0.0 else b, c)
        high = _product(b if d >= 0.0 else a, d)
    elif b <= 0.0:
        low = _product(a if d >= 0.0 else b, d)
        high = _product(b if c >= 0.0 else a, c)
    elif c >= 0.0:
        low, high = _product(a, d), _product(b, d)
    elif d <= 0.0:
        low, high = _product(b, c), _product(a, c)
    else:
        low = min(_product(a, d), _product(b, c))
        high = max(_product(a, c), _product(b, d))
    # A product of bounds other than zero may underflow to zero, so only factors say that zero is exact.
    low = 0.0 if low == 0.0 and a >= 0.0 and c >= 0.0 else nextafter(low, -inf)
    high = 0.0 if high == 0.0 and ((a >= 0.0 and d <= 0.0) or (b <= 0.0 and c >= 0.0)) else nextafter(high, inf)
    if low < 0.0 and ((a >= 0.0 and c >= 0.0) or (b <= 0.0 and d <= 0.0)):
        low = 0.0
    return low, high


_UNITS: Final = frozenset({0.0, 1.0, -1.0})


def divide(x: Bounds, y: Bounds) -> Bounds:
    """All quotients; without a bound on the side of a divisor zero."""
    c, d = y
    if c > 0.0 or d < 0.0:
        return _divide(x, y)
    if c == 0.0 == d:
        raise Empty
    return ENTIRE if c < 0.0 < d else _half(x, c, d)


def factor_within(product: Bounds, other: Bounds, factor: Bounds) -> Bounds:
    """The numbers of `factor` whose product with a number of `other` is in `product`."""
    c, d = other
    if c <= 0.0 <= d and product[0] <= 0.0 <= product[1]:
        return factor
    if not c < 0.0 < d:
        return meet(divide(product, other), factor)
    found: Bounds | None = None
    for low, high in ((c, 0.0), (0.0, d)):  # numbers with small absolute values are in neither half
        try:
            half = meet(_half(product, low, high), factor)
        except Empty:
            continue
        found = half if found is None else hull(found, half)
    if found is None:
        raise Empty
    return found


def _half(x: Bounds, c: float, d: float) -> Bounds:
    """Quotients by numbers of one sign, without zero."""
    if d <= 0.0:
        return _half(negative(x), -d, -c)
    a, b = x  # the divisors are between zero and d
    low = -inf if a < 0.0 else _quotient_down(a, d)
    high = inf if b > 0.0 else -_quotient_down(-b, d)
    return low, high


def _quotient_down(a: float, d: float) -> float:
    """A lower bound of a / d, for a from zero on and d above zero."""
    if a == 0.0 or isinf(d):
        return 0.0
    if isinf(a):
        return _LARGEST
    return max(0.0, nextafter(a / d, -inf))


def _divide(x: Bounds, y: Bounds) -> Bounds:
    if y[1] < 0.0:
        return _divide(negative(x), negative(y))
    (a, b), (c, d) = x, y
    if c == d == 1.0:
        return x
    low = _quotient_down(a, d) if a >= 0.0 else -_quotient_up(-a, c)
    high = _quotient_up(b, c) if b > 0.0 else -_quotient_down(-b, d)
    return low, high


def _quotient_up(a: float, c: float) -> float:
    """An upper bound of a / c, for both above zero."""
    return inf if isinf(a) else nextafter(a / c, inf) if not isinf(c) else nextafter(0.0, inf)


def scale(x: Bounds, factor: float) -> Bounds:
    """All products with a factor."""
    return multiply(x, (factor, factor))


def absolute(x: Bounds) -> Bounds:
    """All absolute values."""
    if x[0] >= 0.0:
        return x
    if x[1] <= 0.0:
        return -x[1], -x[0]
    return 0.0, max(-x[0], x[1])


def smaller(x: Bounds, y: Bounds) -> Bounds:
    """All minima."""
    return min(x[0], y[0]), min(x[1], y[1])


def larger(x: Bounds, y: Bounds) -> Bounds:
    """All maxima."""
    return max(x[0], y[0]), max(x[1], y[1])
