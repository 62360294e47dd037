"""The operations of traces, as data: the values of each, what is left of its operands, and its partial derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

from cassette_import.contexts.common.enclosures.bounds import (
    ENTIRE,
    Bounds,
    absolute,
    add,
    divide,
    larger,
    meet,
    multiply,
    negative,
    scale,
    smaller,
    subtract,
)
from cassette_import.contexts.common.enclosures.functions import (
    FLOATS,
    GROWING,
    arb,
    floats_around,
    slope_function,
    working_precision,
)
from cassette_import.contexts.common.number_functions.row import Row
from cassette_import.contexts.contract import inverses

__all__ = ["OPERATIONS", "Operation", "power", "raised_to"]

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
    backward = None if inverse is None else inverses.one(inverse, (growth.below, growth.above))
    return _unary(row.name, FLOATS.by_name[row.name], backward, _SLOPES.get(row.name) or slope_function(row))


_ALL: Final = (
    Operation("add", add, inverses.of_sum, lambda z, x, y: (ONE, ONE)),
    Operation("sub", subtract, inverses.of_difference, lambda z, x, y: (ONE, (-1.0, -1.0))),
    Operation("mul", multiply, inverses.of_product, lambda z, x, y: (y, x)),
    Operation("div", divide, inverses.of_quotient, lambda z, x, y: (_inverse(y), negative(divide(z, y)))),
    Operation("min", smaller, inverses.of_minimum, _chosen),
    Operation("max", larger, inverses.of_maximum, _chosen_larger),
    Operation("neg", negative, inverses.one(negative), lambda z, x: ((-1.0, -1.0),)),
    Operation("abs", absolute, inverses.of_absolute, _sign),
    _unary("sqrt", _sqrt, inverses.one(_square, (0.0, inf)), lambda z, x: _inverse(scale(z, 2.0))),
    _unary(
        "cbrt", FLOATS.by_name["cbrt"], inverses.one(lambda z: FLOATS.integer_power(z, 3)),
        lambda z, x: _inverse(scale(_square(z), 3.0)),
    ),
    _unary("sin", _sin, inverses.of_sine, lambda z, x: _cos(x)),
    _unary("cos", _cos, inverses.of_cosine, lambda z, x: negative(_sin(x))),
    _unary("tan", FLOATS.tan, inverses.of_tangent, lambda z, x: _one_to(1.0, z)),
    _unary("asin", FLOATS.by_name["asin"], inverses.of_arcsine, lambda z, x: _inverse(_cos(z))),
    _unary("acos", FLOATS.by_name["acos"], inverses.of_arccosine, lambda z, x: negative(_inverse(_sin(z)))),
    _unary("atan", FLOATS.by_name["atan"], inverses.of_arctangent, lambda z, x: _inverse(_one_to(1.0, x))),
    _unary("cosh", _cosh, inverses.of_even(FLOATS.by_name["acosh"], 1.0), lambda z, x: _sinh(x)),
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

    return _unary(f"power {n}", lambda x: FLOATS.integer_power(x, n), inverses.of_power(n), derivative)


@functools.lru_cache(maxsize=1024)
def raised_to(p: Bounds) -> Operation:
    """The power of numbers from zero on with a number as the exponent that is no integer."""
    less = subtract(p, ONE)

    def derivative(z: Bounds, x: Bounds) -> Bounds:
        return multiply(p, FLOATS.real_power(x, less))

    return _unary(f"power {p}", lambda x: FLOATS.real_power(x, p), inverses.of_real_power(p), derivative)
