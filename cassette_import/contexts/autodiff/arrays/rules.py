"""The derivatives of NumPy's functions, as data: partial derivatives of what goes element by element, the weights of
reductions, and the subscripts of products.

What they compute goes through `run`, so that contexts further out can differentiate it again. Knows mathematics; must
not know contexts. It is imported only where the program has imported NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy

from cassette_import.runtime.tagging.wrappers import plain, run

Partial = Callable[..., Any]


def _through_run(function: Any) -> Callable[..., Any]:
    return lambda *arguments: run(function, *arguments)


exp, log, sqrt, sin, cos, sinh, cosh, sign, where = map(
    _through_run,
    (
        numpy.exp, numpy.log, numpy.sqrt, numpy.sin, numpy.cos, numpy.sinh, numpy.cosh, numpy.sign, numpy.where,
    ),
)  # fmt: skip
floor_divide, truncate, broadcast_to = map(_through_run, (numpy.floor_divide, numpy.trunc, numpy.broadcast_to))


def _constant(value: float) -> Partial:
    return lambda *_: value


def _power_base(v: Any, x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):  # a wrapped one too
        return 2.0 * x if plain(y) == 2 else 0.0 if plain(y) == 0 else y * run(numpy.power, x, y - 1)
    return where(plain(y) == 0, 0.0, y * run(numpy.power, x, where(plain(y) == 0, 1.0, y - 1)))


def _power_exponent(v: Any, x: Any, y: Any) -> Any:
    return v * log(where(plain(x) == 0, 1.0, x))


def _share(chosen: Any, other: Any) -> Any:
    """What the larger, or the smaller, of two has of the derivative: all of it, or half where both are equal."""
    chosen, other = plain(chosen), plain(other)
    return numpy.where(chosen == other, 0.5, 1.0)


def _larger(v: Any, x: Any, y: Any) -> Any:
    return numpy.where(plain(x) == plain(v), _share(x, y), 0.0)


def _smoothed(v: Any, x: Any, y: Any) -> Any:
    return exp(x - v)


def _reciprocal_root(x: Any) -> Any:
    return 1.0 / sqrt(x)


_ONE: Final = _constant(1.0)
_LN2: Final = math.log(2.0)
_LN10: Final = math.log(10.0)
_DIVIDE: Final = (lambda v, x, y: 1.0 / y, lambda v, x, y: -v / y)
_REMAINDER: Final = (_ONE, lambda v, x, y: -floor_divide(x, y))
_EXTREME: Final = (_larger, lambda v, x, y: _larger(v, y, x))


PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    numpy.add: (_ONE, _ONE),
    numpy.subtract: (_ONE, _constant(-1.0)),
    numpy.multiply: (lambda v, x, y: y, lambda v, x, y: x),
    numpy.divide: _DIVIDE,
    numpy.power: (_power_base, _power_exponent),
    numpy.float_power: (_power_base, _power_exponent),
    numpy.remainder: _REMAINDER,
    numpy.fmod: (_ONE, lambda v, x, y: -truncate(x / y)),
    numpy.negative: (_constant(-1.0),),
    numpy.positive: (_ONE,),
    numpy.conjugate: (_ONE,), numpy.ndarray.conj: (_ONE,), numpy.ndarray.conjugate: (_ONE,),  # of real numbers
    numpy.absolute: (lambda v, x: sign(x),),
    numpy.fabs: (lambda v, x: sign(x),),
    numpy.copysign: (lambda v, x, y: sign(x) * sign(y), _constant(0.0)),
    numpy.exp: (lambda v, x: v,),
    numpy.exp2: (lambda v, x: v * _LN2,),
    numpy.expm1: (lambda v, x: v + 1.0,),
    numpy.log: (lambda v, x: 1.0 / x,),
    numpy.log2: (lambda v, x: 1.0 / (x * _LN2),),
    numpy.log10: (lambda v, x: 1.0 / (x * _LN10),),
    numpy.log1p: (lambda v, x: 1.0 / (x + 1.0),),
    numpy.sqrt: (lambda v, x: 0.5 / v,),
    numpy.cbrt: (lambda v, x: 1.0 / (3.0 * v * v),),
    numpy.square: (lambda v, x: 2.0 * x,),
    numpy.reciprocal: (lambda v, x: -v * v,),
    numpy.sin: (lambda v, x: cos(x),),
    numpy.cos: (lambda v, x: -sin(x),),
    numpy.tan: (lambda v, x: 1.0 + v * v,),
    numpy.arcsin: (lambda v, x: _reciprocal_root(1.0 - x * x),),
    numpy.arccos: (lambda v, x: -_reciprocal_root(1.0 - x * x),),
    numpy.arctan: (lambda v, x: 1.0 / (1.0 + x * x),),
    numpy.arctan2: (lambda v, y, x: x / (x * x + y * y), lambda v, y, x: -y / (x * x + y * y)),
    numpy.hypot: (lambda v, x, y: x / v, lambda v, x, y: y / v),
    numpy.sinh: (lambda v, x: cosh(x),),
    numpy.cosh: (lambda v, x: sinh(x),),
    numpy.tanh: (lambda v, x: 1.0 - v * v,),
    numpy.arcsinh: (lambda v, x: _reciprocal_root(x * x + 1.0),),
    numpy.arccosh: (lambda v, x: _reciprocal_root(x * x - 1.0),),
    numpy.arctanh: (lambda v, x: 1.0 / (1.0 - x * x),),
    numpy.degrees: (_constant(180.0 / math.pi),), numpy.rad2deg: (_constant(180.0 / math.pi),),
    numpy.radians: (_constant(math.pi / 180.0),), numpy.deg2rad: (_constant(math.pi / 180.0),),
    numpy.maximum: _EXTREME, numpy.fmax: _EXTREME,
    numpy.minimum: _EXTREME, numpy.fmin: _EXTREME,
    numpy.logaddexp: (_smoothed, lambda v, x, y: exp(y - v)),
    numpy.logaddexp2: (lambda v, x, y: run(numpy.exp2, x - v), lambda v, x, y: run(numpy.exp2, y - v)),
    numpy.sinc: (lambda v, x: where(plain(x) == 0, 0.0, (cos(math.pi * x) - v) / where(plain(x) == 0, 1.0, x)),),
}  # fmt: skip
"""One function for each argument; it gets the result and the arguments, and works element by element."""

SAME: Final[dict[Any, Any]] = {
    operator.add: numpy.add, operator.sub: numpy.subtract, operator.mul: numpy.multiply,
    operator.truediv: numpy.divide, operator.mod: numpy.remainder, operator.pow: numpy.power, pow: numpy.power,
    operator.neg: numpy.negative, operator.pos: numpy.positive, operator.abs: numpy.absolute, abs: numpy.absolute,
    operator.iadd: numpy.add, operator.isub: numpy.subtract, operator.imul: numpy.multiply,
    operator.itruediv: numpy.divide, operator.imod: numpy.remainder, operator.ipow: numpy.power,
    operator.matmul: numpy.matmul, operator.imatmul: numpy.matmul,
}  # fmt: skip
"""Operators that do what a function does."""

STEPS: Final = frozenset({
    numpy.floor, numpy.ceil, numpy.rint, numpy.trunc, numpy.sign, numpy.floor_divide, numpy.heaviside, numpy.round,
    numpy.around, numpy.fix, numpy.spacing, numpy.zeros_like, numpy.ones_like, numpy.empty_like, numpy.ndarray.round,
    operator.floordiv, operator.ifloordiv, round, numpy.shape, numpy.size, numpy.ndim,
    numpy.result_type, numpy.can_cast, numpy.iscomplexobj, numpy.isrealobj, numpy.finfo, numpy.array_repr,
    numpy.array_str, numpy.array2string, numpy.savetxt, numpy.save, numpy.savez, numpy.min_scalar_type,
})  # fmt: skip
"""What is constant between jumps, or does not look at the values: its derivative is zero."""


# ---- reductions


def axes_of(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The axes that a reduction goes over, counted from the start."""
    if axis is None:
        return tuple(range(len(shape)))
    return tuple(number % len(shape) for number in (axis if isinstance(axis, tuple) else (axis,))) if shape else ()


class Reduced(NamedTuple):
    """What a reduction is about: its result, with the axes that it lost as axes of length 1, and its argument."""

    v: Any
    x: Any
    axes: tuple[int, ...]
    options: dict[str, Any]

    @property
    def number(self) -> int:
        """How many elements there are in each sum."""
        return math.prod(numpy.shape(plain(self.x))[axis] for axis in self.axes)

    @property
    def centred(self) -> Any:
        """The argument, less its mean."""
        return self.x - run(numpy.sum, self.x, self.axes, None, None, True) / self.number


def _extreme_weights(of: Reduced) -> Any:
    chosen = numpy.equal(plain(of.x), plain(of.v))
    return chosen / chosen.sum(axis=of.axes, keepdims=True)


def _product_weights(of: Reduced) -> Any:
    if numpy.all(plain(of.x) != 0):
        return of.v / of.x
    shape = numpy.shape(plain(of.x))
    kept = tuple(axis for axis in range(len(shape)) if axis not in of.axes)
    order = kept + of.axes
    lengths = tuple(shape[axis] for axis in kept)
    rows = run(numpy.reshape, run(numpy.transpose, of.x, order), (*lengths, 1, of.number))
    others = run(numpy.prod, where(numpy.eye(of.number, dtype=bool), 1.0, rows), -1)
    turned = run(numpy.reshape, others, tuple(shape[axis] for axis in order))
    return run(numpy.transpose, turned, tuple(map(int, numpy.argsort(order))))


def _deviation_weights(of: Reduced) -> Any:
    divisor = of.number - (of.options.get("ddof") or 0)
    return where(plain(of.v) == 0, 0.0, of.centred / (divisor * where(plain(of.v) == 0, 1.0, of.v)))


def _norm_weights(of: Reduced) -> Any:
    order, v, x = of.options.get("ord"), of.v, of.x
    safe = where(plain(v) == 0, 1.0, v)
    if order is None or order == "fro" or (order == 2 and len(of.axes) == 1):
        return x / safe
    if len(of.axes) == 1 and isinstance(order, (int, float)) and order != 0:
        if math.isinf(order):
            return sign(x) * _extreme_weights(of._replace(x=numpy.abs(plain(x))))
        return sign(x) * run(numpy.power, run(numpy.absolute, x) / safe, order - 1)
    raise NotImplementedError(f"norm with ord={order!r}")


_SUM: Final = ("axis", "dtype", "out", "keepdims", "initial", "where")
_EXTREMES: Final = ("axis", "out", "keepdims", "initial", "where")
_DEVIATIONS: Final = ("axis", "dtype", "out", "ddof", "keepdims")

_WEIGHTS: Final[dict[str, tuple[tuple[str, ...], Callable[[Reduced], Any]]]] = {
    "sum": (_SUM, _constant(1.0)),
    "mean": (("axis", "dtype", "out", "keepdims"), lambda of: 1.0 / of.number),
    "prod": (_SUM, _product_weights),
    "max": (_EXTREMES, _extreme_weights),
    "min": (_EXTREMES, _extreme_weights),
    "var": (_DEVIATIONS, lambda of: 2.0 * of.centred / (of.number - (of.options.get("ddof") or 0))),
    "std": (_DEVIATIONS, _deviation_weights),
}
REDUCTIONS: Final[dict[Any, tuple[tuple[str, ...], Callable[[Reduced], Any]]]] = {
    **{getattr(numpy, name): rule for name, rule in _WEIGHTS.items()},
    **{getattr(numpy.ndarray, name): rule for name, rule in _WEIGHTS.items()},
    numpy.amax: _WEIGHTS["max"], numpy.amin: _WEIGHTS["min"],
    numpy.linalg.norm: (("ord", "axis", "keepdims"), _norm_weights),
}  # fmt: skip
"""The names of the parameters after the first, and the partial derivatives of a sum with respect to its elements."""

REDUCING: Final = {
    numpy.add: numpy.sum, numpy.multiply: numpy.prod, numpy.maximum: numpy.max, numpy.minimum: numpy.min,
}  # fmt: skip
"""What the method `reduce` of an operation does."""


# ---- products


_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _matmul(x: int, y: int) -> str:
    batch = _LETTERS[: max(x - 2, y - 2, 0)]
    left = (batch[len(batch) - (x - 2) :] if x > 2 else "") + ("XZ" if x > 1 else "Z")
    right = (batch[len(batch) - (y - 2) :] if y > 2 else "") + ("ZY" if y > 1 else "Z")
    return f"{left},{right}->{batch}{'X' if x > 1 else ''}{'Y' if y > 1 else ''}"


def _dot(x: int, y: int) -> str:
    if not (x and y):
        return f"{_LETTERS[:x]},{_LETTERS[:y]}->{_LETTERS[: x or y]}"
    left, right = _LETTERS[: x - 1], _LETTERS[x - 1 : x + y - 2]
    return f"{left}Z,{right[:-1]}Z{right[-1:]}->{left}{right}"


def _inner(x: int, y: int) -> str:
    if not (x and y):
        return _dot(x, y)
    left, right = _LETTERS[: x - 1], _LETTERS[x - 1 : x + y - 2]
    return f"{left}Z,{right}Z->{left}{right}"


def _tensordot(x: int, y: int, axes: Any = 2) -> str:
    if isinstance(axes, (int, numpy.integer)):
        axes = list(range(-int(axes), 0)), list(range(int(axes)))
    over = [[part] if isinstance(part, (int, numpy.integer)) else list(part) for part in axes]
    left, right = list(_LETTERS[:x]), list(_LETTERS[x : x + y])
    for one, other in zip(*over, strict=True):
        right[other] = left[one]
    return f"{''.join(left)},{''.join(right)}->{''.join(c for c in left + right if (c in left) != (c in right))}"


PRODUCTS: Final[dict[Any, Callable[..., str]]] = {
    numpy.matmul: _matmul,
    numpy.dot: _dot, numpy.ndarray.dot: _dot,
    numpy.inner: _inner,
    numpy.tensordot: _tensordot,
}  # fmt: skip
"""The subscripts, as `einsum` has them, of products of arrays with so many axes."""


def explicit(subscripts: Any, counts: list[int]) -> str | None:
    """Subscripts of `einsum` with all letters and the result written out, for operands with so many axes.

    None if an operand has a letter twice, or the subscripts are no text.
    """
    if not isinstance(subscripts, str):
        return None
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    words = inputs.split(",")
    if len(words) != len(counts):
        return None
    free = [letter for letter in _LETTERS if letter not in subscripts]
    more = [
        count - len(word.replace("...", "")) if "..." in word else 0 for word, count in zip(words, counts, strict=True)
    ]
    rest = "".join(free[: max(more, default=0)])
    words = [word.replace("...", rest[len(rest) - count :]) for word, count in zip(words, more, strict=True)]
    if any(len({*word}) != len(word) for word in words):
        return None
    if not arrow:
        seen = "".join(words)
        output = rest + "".join(sorted(letter for letter in {*seen} if seen.count(letter) == 1 and letter not in rest))
    return f"{','.join(words)}->{output.replace('...', rest)}"
