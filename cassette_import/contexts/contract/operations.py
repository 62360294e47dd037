"""The operations of traces, as data: the values of each, what is left of its operands, and its partial derivatives.

Knows functions of bounds; must not know programs, nor how a trace runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import inf
from typing import Any, Final, NamedTuple

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
    real_power,
    root,
    sine,
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


_exp: Final = increasing(arb.exp, below=0.0, above=inf)
_expm1: Final = increasing(arb.expm1, below=-1.0, above=inf)
_exp2: Final = increasing(lambda x: arb(2) ** x, below=0.0, above=inf)
_exp10: Final = increasing(lambda x: arb(10) ** x, below=0.0, above=inf)
_log: Final = _on((0.0, inf), increasing(arb.log, below=-inf, above=inf))
_log1p: Final = _on((-1.0, inf), increasing(arb.log1p, below=-inf, above=inf))
_log2: Final = _on((0.0, inf), increasing(lambda x: x.log() / arb(2).log(), below=-inf, above=inf))
_log10: Final = _on((0.0, inf), increasing(lambda x: x.log() / arb(10).log(), below=-inf, above=inf))
_sinh: Final = increasing(arb.sinh, below=-inf, above=inf)
_asinh: Final = increasing(arb.asinh, below=-inf, above=inf)
_acosh: Final = _on((1.0, inf), increasing(arb.acosh, below=0.0, above=inf))
_tanh: Final = increasing(arb.tanh, below=-1.0, above=1.0)
_atanh: Final = _on((-1.0, 1.0), increasing(arb.atanh, below=-inf, above=inf))
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
    _unary("exp", _exp, inverses.one(_log, (0.0, inf)), lambda z, x: z),
    _unary("expm1", _expm1, inverses.one(_log1p, (-1.0, inf)), lambda z, x: _exp(x)),
    _unary("exp2", _exp2, inverses.one(_log2, (0.0, inf)), lambda z, x: multiply(z, _LN2)),
    _unary("log", _log, inverses.one(_exp), lambda z, x: _inverse(x)),
    _unary("log1p", _log1p, inverses.one(_expm1), lambda z, x: _inverse(add(ONE, x))),
    _unary("log2", _log2, inverses.one(_exp2), lambda z, x: _inverse(multiply(x, _LN2))),
    _unary("log10", _log10, inverses.one(_exp10), lambda z, x: _inverse(multiply(x, _LN10))),
    _unary("sin", sine, inverses.of_sine, lambda z, x: cosine(x)),
    _unary("cos", cosine, inverses.of_cosine, lambda z, x: negative(sine(x))),
    _unary("tan", tangent, inverses.of_tangent, lambda z, x: _one_to(1.0, z)),
    _unary("asin", _on((-1.0, 1.0), arcsine), inverses.of_arcsine, lambda z, x: _inverse(cosine(z))),
    _unary("acos", _on((-1.0, 1.0), arccosine), inverses.of_arccosine, lambda z, x: negative(_inverse(sine(z)))),
    _unary("atan", inverses.arctangent, inverses.of_arctangent, lambda z, x: _inverse(_one_to(1.0, x))),
    _unary("sinh", _sinh, inverses.one(_asinh), lambda z, x: _cosh(x)),
    _unary("cosh", _cosh, inverses.of_even(_acosh, 1.0), lambda z, x: _sinh(x)),
    _unary("tanh", _tanh, inverses.one(_atanh, (-1.0, 1.0)), lambda z, x: _one_to(-1.0, z)),
    _unary("asinh", _asinh, inverses.one(_sinh), lambda z, x: _inverse(square_root(_one_to(1.0, x)))),
    _unary("acosh", _acosh, inverses.one(_cosh, (0.0, inf)), lambda z, x: _inverse(_sinh(z))),
    _unary("atanh", _atanh, inverses.one(_tanh), lambda z, x: _inverse(_one_to(-1.0, x))),
    _unary("erf", increasing(arb.erf, below=-1.0, above=1.0), None, lambda z, x: _bell(x)),
    _unary("erfc", decreasing(arb.erfc, below=0.0, above=2.0), None, lambda z, x: negative(_bell(x))),
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
