"""The operations of traces, as data: the values of each, what is left of its operands, and its partial derivatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

from cassette_import.kits.numbers.enclosures.bounds import (
    ENTIRE,
    Bounds,
    Empty,
    absolute,
    add,
    divide,
    factor_within,
    hull,
    larger,
    meet,
    multiply,
    negative,
    scale,
    smaller,
    subtract,
)
from cassette_import.kits.numbers.enclosures.functions import (
    FLOATS,
    GROWING,
    HALF_PI,
    PI,
    arb,
    floats_around,
    slope_function,
    working_precision,
)
from cassette_import.kits.numbers.row import Row

__all__ = ["OPERATIONS", "Operation", "power", "raised_to"]

# ---- what is left of the operands of an operation when its result is known: the inverses of functions of bounds
#
# Each function gets bounds of the result and of the operands, and returns narrower ones of the operands, or raises
# `Empty`.

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


# ---- the operations of traces, as data

ONE: Final[Bounds] = (1.0, 1.0)


class Operation(NamedTuple):
    """One kind of node of a trace."""

    name: str
    forward: Callable[..., Bounds]
    """Bounds of the result for bounds of the operands."""
    backward: Callable[..., tuple[Bounds, ...]] | None
    """Narrower bounds of the operands, for those of the result and the operands; None if nothing is known."""
    partials: Callable[..., tuple[Bounds, ...]]
    """Bounds of the partial derivatives, for the same bounds."""


def _inverse(x: Bounds) -> Bounds:
    return divide(ONE, x)


def _sign(z: Bounds, x: Bounds) -> tuple[Bounds, ...]:
    return ((1.0 if x[0] > 0.0 else -1.0, -1.0 if x[1] < 0.0 else 1.0),)


def _chosen(z: Bounds, x: Bounds, y: Bounds) -> tuple[Bounds, ...]:
    """The derivatives of a minimum: all convex combinations of those of its operands, where either may be it."""
    if x[1] < y[0]:
        return ONE, (0.0, 0.0)
    if y[1] < x[0]:
        return (0.0, 0.0), ONE
    return (0.0, 1.0), (0.0, 1.0)


def _chosen_larger(z: Bounds, x: Bounds, y: Bounds) -> tuple[Bounds, ...]:
    return _chosen(z, negative(x), negative(y))


_exp, _sinh, _cosh, _sin, _cos = map(FLOATS.by_name.__getitem__, ("exp", "sinh", "cosh", "sin", "cos"))
_square, _sqrt = FLOATS.square, FLOATS.sqrt
_growing_digamma: Final = FLOATS.increasing(arb.digamma)


def _digamma(x: Bounds) -> Bounds:
    return _growing_digamma(meet(x, (0.0, inf)))


with working_precision():
    _LN2: Final = floats_around(arb(2).log())
    _LN10: Final = floats_around(arb(10).log())
    _BELL: Final = floats_around(2 / arb.pi().sqrt())


def _bell(x: Bounds) -> Bounds:
    """The derivative of the error function."""
    return multiply(_BELL, _exp(negative(_square(x))))


def _unary(name: str, forward: Any, backward: Any, derivative: Callable[[Bounds, Bounds], Bounds]) -> Operation:
    return Operation(name, forward, backward, lambda z, x: (derivative(z, x),))


def _one_to(sign: float, z: Bounds) -> Bounds:
    """1 + z² or 1 - z²."""
    return add(ONE, scale(_square(z), sign))


_SLOPES: Final[dict[str, Callable[[Bounds, Bounds], Bounds]]] = {
    "exp": lambda z, x: z,
    "expm1": lambda z, x: _exp(x),
    "exp2": lambda z, x: multiply(z, _LN2),
    "log": lambda z, x: _inverse(x),
    "log1p": lambda z, x: _inverse(add(ONE, x)),
    "log2": lambda z, x: _inverse(multiply(x, _LN2)),
    "log10": lambda z, x: _inverse(multiply(x, _LN10)),
    "sinh": lambda z, x: _cosh(x),
    "tanh": lambda z, x: _one_to(-1.0, z),
    "asinh": lambda z, x: _inverse(_sqrt(_one_to(1.0, x))),
    "acosh": lambda z, x: _inverse(_sinh(z)),
    "atanh": lambda z, x: _inverse(_one_to(-1.0, x)),
    "erf": lambda z, x: _bell(x),
    "erfc": lambda z, x: negative(_bell(x)),
}
"""The derivatives of functions that grow, in the form whose bounds are the narrowest. Others have that of the table."""


def _invertible(row: Row) -> Operation:
    """The operation of a function that increases or decreases everywhere."""
    growth = row.growth
    assert growth is not None
    inverse = None if growth.inverse is None else FLOATS.by_name[growth.inverse]
    backward = None if inverse is None else one(inverse, (growth.below, growth.above))
    return _unary(row.name, FLOATS.by_name[row.name], backward, _SLOPES.get(row.name) or slope_function(row))


_ALL: Final = (
    Operation("add", add, of_sum, lambda z, x, y: (ONE, ONE)),
    Operation("sub", subtract, of_difference, lambda z, x, y: (ONE, (-1.0, -1.0))),
    Operation("mul", multiply, of_product, lambda z, x, y: (y, x)),
    Operation("div", divide, of_quotient, lambda z, x, y: (_inverse(y), negative(divide(z, y)))),
    Operation("min", smaller, of_minimum, _chosen),
    Operation("max", larger, of_maximum, _chosen_larger),
    Operation("neg", negative, one(negative), lambda z, x: ((-1.0, -1.0),)),
    Operation("abs", absolute, of_absolute, _sign),
    _unary("sqrt", _sqrt, one(_square, (0.0, inf)), lambda z, x: _inverse(scale(z, 2.0))),
    _unary(
        "cbrt", FLOATS.by_name["cbrt"], one(lambda z: FLOATS.integer_power(z, 3)),
        lambda z, x: _inverse(scale(_square(z), 3.0)),
    ),
    _unary("sin", _sin, of_sine, lambda z, x: _cos(x)),
    _unary("cos", _cos, of_cosine, lambda z, x: negative(_sin(x))),
    _unary("tan", FLOATS.tan, of_tangent, lambda z, x: _one_to(1.0, z)),
    _unary("asin", FLOATS.by_name["asin"], of_arcsine, lambda z, x: _inverse(_cos(z))),
    _unary("acos", FLOATS.by_name["acos"], of_arccosine, lambda z, x: negative(_inverse(_sin(z)))),
    _unary("atan", FLOATS.by_name["atan"], of_arctangent, lambda z, x: _inverse(_one_to(1.0, x))),
    _unary("cosh", _cosh, of_even(FLOATS.by_name["acosh"], 1.0), lambda z, x: _sinh(x)),
    *map(_invertible, GROWING),
    _unary("gamma", FLOATS.by_name["gamma"], None, lambda z, x: multiply(z, _digamma(x))),
    _unary("lgamma", FLOATS.by_name["lgamma"], None, lambda z, x: _digamma(x)),
)  # fmt: skip

OPERATIONS: Final = {operation.name: operation for operation in _ALL}
"""Each operation by its name."""


@functools.lru_cache(maxsize=1024)
def power(n: int) -> Operation:
    """The power with an integer as the exponent."""

    def derivative(z: Bounds, x: Bounds) -> Bounds:
        return multiply((float(n), float(n)), FLOATS.integer_power(x, n - 1)) if abs(n) < 2**53 else ENTIRE

    return _unary(f"power {n}", lambda x: FLOATS.integer_power(x, n), of_power(n), derivative)


@functools.lru_cache(maxsize=1024)
def raised_to(p: Bounds) -> Operation:
    """The power of numbers from zero on with a number as the exponent that is no integer."""
    less = subtract(p, ONE)

    def derivative(z: Bounds, x: Bounds) -> Bounds:
        return multiply(p, FLOATS.real_power(x, less))

    return _unary(f"power {p}", lambda x: FLOATS.real_power(x, p), of_real_power(p), derivative)
