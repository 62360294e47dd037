"""The operations of traces, as data: the values of each, what is left of its operands, and its partial derivatives.

Knows functions of bounds; must not know programs, nor how a trace runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

from cassette_import.contexts.common.number_functions.elementary import ELEMENTARY
from cassette_import.contexts.common.number_functions.row import Row
from cassette_import.contexts.contract import inverses
from cassette_import.contexts.contract.bounds import (
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
from cassette_import.contexts.contract.functions import (
    arb,
    arccosine,
    arcsine,
    at,
    cosine,
    decreasing,
    floats_around,
    increasing,
    integer_power,
    point_function,
    real_power,
    root,
    sine,
    slope_function,
    square,
    square_root,
    tangent,
    working_precision,
)

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


def _on(domain: Bounds, function: Callable[[Bounds], Bounds]) -> Callable[[Bounds], Bounds]:
    """A function of the numbers of its domain."""
    return lambda x: function(meet(x, domain))


def _growing(row: Row) -> Callable[[Bounds], Bounds]:
    """The function of bounds for the columns `growth` and `domain` of a row."""
    growth, domain = row.growth, row.domain
    assert growth is not None
    function = increasing if growth.rises else decreasing
    bounded = function(point_function(row), below=growth.below, above=growth.above)
    return bounded if domain is None else _on((domain.low, domain.high), bounded)


_GROWING: Final = {row.name: row for row in ELEMENTARY if row.growth is not None and row.name not in ("sqrt", "cbrt")}
"""The rows of functions that increase or decrease everywhere. Roots are computed without Arb, which is quicker."""

_FORWARD: Final[dict[str, Callable[[Bounds], Bounds]]] = {
    **{name: _growing(row) for name, row in _GROWING.items()},
    "exp10": increasing(lambda x: arb(10) ** x, below=0.0, above=inf),
    "cosh": lambda x: _cosh(x),
}
"""Functions of bounds by name."""

_exp, _sinh = _FORWARD["exp"], _FORWARD["sinh"]
_upper_cosh: Final = increasing(arb.cosh, below=1.0, above=inf)
_digamma: Final = _on((0.0, inf), increasing(arb.digamma, below=-inf, above=inf))


def _cosh(x: Bounds) -> Bounds:
    return _upper_cosh(absolute(x))


with working_precision():
    _LN2: Final = floats_around(arb(2).log())
    _LN10: Final = floats_around(arb(10).log())
    _BELL: Final = floats_around(2 / arb.pi().sqrt())


def _bell(x: Bounds) -> Bounds:
    """The derivative of the error function."""
    return multiply(_BELL, _exp(negative(square(x))))


def _valley(function: Callable[[Any], Any], bottom: float) -> Callable[[Bounds], Bounds]:
    """A function of numbers above zero that decreases up to 1.4616321449683623… and increases after it."""

    def bounded(x: Bounds) -> Bounds:
        low, high = meet(x, (0.0, inf))
        left = at(function, low) if low > 0.0 else (bottom, inf)
        right = at(function, high) if 0.0 < high < inf else (bottom, inf)
        least = bottom if low < 1.46163214496837 and high > 1.46163214496836 else min(left[0], right[0])
        return least, max(left[1], right[1])

    return bounded


_gamma: Final = _valley(arb.gamma, 0.8856031944108886)
_log_gamma: Final = _valley(arb.lgamma, -0.12148629053584962)


def _unary(name: str, forward: Any, backward: Any, derivative: Callable[[Bounds, Bounds], Bounds]) -> Operation:
    return Operation(name, forward, backward, lambda z, x: (derivative(z, x),))


def _one_to(sign: float, z: Bounds) -> Bounds:
    """1 + z² or 1 - z²."""
    return add(ONE, scale(square(z), sign))


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
    "asinh": lambda z, x: _inverse(square_root(_one_to(1.0, x))),
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
    inverse = None if growth.inverse is None else _FORWARD[growth.inverse]
    backward = None if inverse is None else inverses.one(inverse, (growth.below, growth.above))
    return _unary(row.name, _FORWARD[row.name], backward, _SLOPES.get(row.name) or slope_function(row))


_ALL: Final = (
    Operation("add", add, inverses.of_sum, lambda z, x, y: (ONE, ONE)),
    Operation("sub", subtract, inverses.of_difference, lambda z, x, y: (ONE, (-1.0, -1.0))),
    Operation("mul", multiply, inverses.of_product, lambda z, x, y: (y, x)),
    Operation("div", divide, inverses.of_quotient, lambda z, x, y: (_inverse(y), negative(divide(z, y)))),
    Operation("min", smaller, inverses.of_minimum, _chosen),
    Operation("max", larger, inverses.of_maximum, _chosen_larger),
    Operation("neg", negative, inverses.one(negative), lambda z, x: ((-1.0, -1.0),)),
    Operation("abs", absolute, inverses.of_absolute, _sign),
    _unary("sqrt", square_root, inverses.one(square, (0.0, inf)), lambda z, x: _inverse(scale(z, 2.0))),
    _unary(
        "cbrt", lambda x: root(x, 3), inverses.one(lambda z: integer_power(z, 3)),
        lambda z, x: _inverse(scale(square(z), 3.0)),
    ),
    _unary("sin", sine, inverses.of_sine, lambda z, x: cosine(x)),
    _unary("cos", cosine, inverses.of_cosine, lambda z, x: negative(sine(x))),
    _unary("tan", tangent, inverses.of_tangent, lambda z, x: _one_to(1.0, z)),
    _unary("asin", _on((-1.0, 1.0), arcsine), inverses.of_arcsine, lambda z, x: _inverse(cosine(z))),
    _unary("acos", _on((-1.0, 1.0), arccosine), inverses.of_arccosine, lambda z, x: negative(_inverse(sine(z)))),
    _unary("atan", inverses.arctangent, inverses.of_arctangent, lambda z, x: _inverse(_one_to(1.0, x))),
    _unary("cosh", _cosh, inverses.of_even(_FORWARD["acosh"], 1.0), lambda z, x: _sinh(x)),
    *map(_invertible, _GROWING.values()),
    _unary("gamma", _gamma, None, lambda z, x: multiply(z, _digamma(x))),
    _unary("lgamma", _log_gamma, None, lambda z, x: _digamma(x)),
)  # fmt: skip

OPERATIONS: Final = {operation.name: operation for operation in _ALL}
"""Each operation by its name."""


@functools.lru_cache(maxsize=1024)
def power(n: int) -> Operation:
    """The power with an integer as the exponent."""

    def derivative(z: Bounds, x: Bounds) -> Bounds:
        return multiply((float(n), float(n)), integer_power(x, n - 1)) if abs(n) < 2**53 else ENTIRE

    return _unary(f"power {n}", lambda x: integer_power(x, n), inverses.of_power(n), derivative)


@functools.lru_cache(maxsize=1024)
def raised_to(p: Bounds) -> Operation:
    """The power of numbers from zero on with a number as the exponent that is no integer."""
    less = subtract(p, ONE)

    def derivative(z: Bounds, x: Bounds) -> Bounds:
        return multiply(p, real_power(x, less))

    return _unary(f"power {p}", lambda x: real_power(x, p), inverses.of_real_power(p), derivative)
