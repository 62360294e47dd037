"""What is left of the operands of an operation when its result is known: the inverses of functions of bounds.

Each function gets bounds of the result and of the operands, and returns narrower ones of the operands, or raises
`Empty`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf
from typing import Final

from cassette_import.contexts.common.enclosures.bounds import (
    Bounds,
    Empty,
    add,
    divide,
    factor_within,
    hull,
    meet,
    multiply,
    negative,
    subtract,
)
from cassette_import.contexts.common.enclosures.functions import FLOATS, HALF_PI, PI

__all__ = [
    "of_absolute", "of_arccosine", "of_arcsine", "of_arctangent", "of_cosine", "of_difference", "of_even",
    "of_maximum", "of_minimum", "of_power", "of_product", "of_quotient", "of_real_power", "of_sine", "of_sum",
    "of_tangent", "one",
]  # fmt: skip

Narrowed = tuple[Bounds, ...]


def one(inverse: Callable[[Bounds], Bounds], domain: Bounds = (-inf, inf)) -> Callable[[Bounds, Bounds], Narrowed]:
    """The narrowing of the operand of an invertible function, whose values are in `domain`."""
    return lambda z, x: (meet(x, inverse(meet(z, domain))),)


def of_sum(z: Bounds, x: Bounds, y: Bounds) -> Narrowed:
    """z = x + y."""
    x = meet(x, subtract(z, y))
    return x, meet(y, subtract(z, x))


def of_difference(z: Bounds, x: Bounds, y: Bounds) -> Narrowed:
    """z = x - y."""
    x = meet(x, add(z, y))
    return x, meet(y, subtract(x, z))


def of_product(z: Bounds, x: Bounds, y: Bounds) -> Narrowed:
    """z = x y."""
    x = factor_within(z, y, x)
    return x, factor_within(z, x, y)


def of_quotient(z: Bounds, x: Bounds, y: Bounds) -> Narrowed:
    """z = x / y."""
    x = meet(x, multiply(z, y))
    return x, factor_within(x, z, y)


def of_minimum(z: Bounds, x: Bounds, y: Bounds) -> Narrowed:
    """z = min(x, y)."""
    narrow = meet(x, (z[0], inf)), meet(y, (z[0], inf))
    if y[0] > z[1]:
        return meet(x, z), narrow[1]
    if x[0] > z[1]:
        return narrow[0], meet(y, z)
    return narrow


def of_maximum(z: Bounds, x: Bounds, y: Bounds) -> Narrowed:
    """z = max(x, y)."""
    first, second = of_minimum(negative(z), negative(x), negative(y))
    return negative(first), negative(second)


def _either_sign(size: Bounds, x: Bounds) -> Bounds:
    """The numbers of x whose absolute value is between the bounds of `size`."""
    found: Bounds | None = None
    for half in (negative(size), size):
        try:
            part = meet(x, half)
        except Empty:
            continue
        found = part if found is None else hull(found, part)
    if found is None:
        raise Empty
    return found


def of_even(inverse: Callable[[Bounds], Bounds], least: float) -> Callable[[Bounds, Bounds], Narrowed]:
    """z = f(x) for an even function that increases from `least` on both sides of zero."""
    return lambda z, x: (_either_sign(inverse(meet(z, (least, inf))), x),)


of_absolute: Final = of_even(lambda z: z, 0.0)


def _of_one(z: Bounds, x: Bounds) -> Narrowed:
    meet(z, (1.0, 1.0))
    return (x,)


def of_power(n: int) -> Callable[[Bounds, Bounds], Narrowed]:
    """z = xⁿ for an integer n."""
    if n == 0:
        return _of_one
    if n < 0:
        positive = of_power(-n)
        return lambda z, x: positive(factor_within((1.0, 1.0), z, (-inf, inf)), x)
    if n % 2 == 0:
        return of_even(lambda z: FLOATS.root(z, n), 0.0)
    return one(lambda z: FLOATS.root(z, n))


def of_real_power(p: Bounds) -> Callable[[Bounds, Bounds], Narrowed]:
    """z = xᵖ for x from zero on and a number p other than zero."""
    inverse = divide((1.0, 1.0), p)
    return one(lambda z: FLOATS.real_power(z, inverse), (0.0, inf))


_FAR: Final = 1e6
_TRIES: Final = 4
"""So many neighbouring branches of a periodic function, begun at a bound, have a solution if any has."""


def _branches(x: Bounds, shifted: Callable[[Bounds], Bounds], numbers: range) -> Bounds:
    """The hull of the parts of x on the branches: from below up to the first one, and from above."""
    ends = []
    for order in (numbers, numbers[::-1]):
        for number in order[:_TRIES]:
            try:
                ends.append(meet(x, _branch(number, shifted)))
                break
            except Empty:
                continue
        else:
            if len(numbers) > _TRIES:
                return x
            raise Empty
    return ends[0][0], ends[1][1]


def _branch(number: int, shifted: Callable[[Bounds], Bounds]) -> Bounds:
    return add(multiply(PI, (float(number), float(number))), shifted((number, number)))


def _numbers(x: Bounds) -> range:
    return range(math.floor(x[0] / math.pi + 0.5) - 1, math.floor(x[1] / math.pi + 0.5) + 2)


def _inverse_sine(z: Bounds, x: Bounds) -> Bounds:
    principal = FLOATS.by_name["asin"](z)
    if max(-x[0], x[1]) > _FAR:
        return x
    mirrored = negative(principal)
    return _branches(x, lambda number: mirrored if number[0] % 2 else principal, _numbers(x))


def of_sine(z: Bounds, x: Bounds) -> Narrowed:
    """z = sin x."""
    return (_inverse_sine(z, x),)


def of_cosine(z: Bounds, x: Bounds) -> Narrowed:
    """z = cos x, the sine of x + π/2."""
    return (meet(x, subtract(_inverse_sine(z, add(x, HALF_PI)), HALF_PI)),)


def of_tangent(z: Bounds, x: Bounds) -> Narrowed:
    """z = tan x."""
    if max(-x[0], x[1]) > _FAR:
        return (x,)
    principal = FLOATS.by_name["atan"](z)
    return (_branches(x, lambda number: principal, _numbers(x)),)


def of_arctangent(z: Bounds, x: Bounds) -> Narrowed:
    """z = atan x."""
    low, high = meet(z, (-HALF_PI[1], HALF_PI[1]))
    return (meet(x, (_tangent_below(low), -_tangent_below(-high))),)


def _tangent_below(z: float) -> float:
    """A lower bound of the tangents of numbers from `z` on."""
    if abs(z) <= HALF_PI[0]:
        return FLOATS.tan((z, z))[0]
    return -inf if z < 0.0 else FLOATS.tan((HALF_PI[0], HALF_PI[0]))[0]


of_arcsine: Final = one(FLOATS.sin, (-HALF_PI[1], HALF_PI[1]))
of_arccosine: Final = one(FLOATS.cos, (0.0, PI[1]))
