"""The partial derivatives of NumPy's elementwise functions, as data.

The rules call functions through `run`, so that contexts further out can differentiate the derivative again. Knows
mathematics; must not know contexts. Imported only if the program imports NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

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


def constant(value: float) -> Partial:
    """A partial derivative that does not depend on the arguments."""
    return lambda *_: value


def _power_base(v: Any, x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):  # a wrapped one too
        return 2.0 * x if plain(y) == 2 else 0.0 if plain(y) == 0 else y * run(numpy.power, x, y - 1)
    return where(plain(y) == 0, 0.0, y * run(numpy.power, x, where(plain(y) == 0, 1.0, y - 1)))


def _power_exponent(v: Any, x: Any, y: Any) -> Any:
    return v * log(where(plain(x) == 0, 1.0, x))


def _share_of_tie(chosen: Any, other: Any) -> Any:
    """The share of the derivative that the larger (or smaller) value gets: all of it, or half of it in a tie."""
    chosen, other = plain(chosen), plain(other)
    return numpy.where(chosen == other, 0.5, 1.0)


def _larger(v: Any, x: Any, y: Any) -> Any:
    return numpy.where(plain(x) == plain(v), _share_of_tie(x, y), 0.0)


def _smoothed(v: Any, x: Any, y: Any) -> Any:
    return exp(x - v)


def _reciprocal_root(x: Any) -> Any:
    return 1.0 / sqrt(x)


_ONE: Final = constant(1.0)
_LN2: Final = math.log(2.0)
_LN10: Final = math.log(10.0)
_DIVIDE: Final = (lambda v, x, y: 1.0 / y, lambda v, x, y: -v / y)
_REMAINDER: Final = (_ONE, lambda v, x, y: -floor_divide(x, y))
_EXTREME: Final = (_larger, lambda v, x, y: _larger(v, y, x))


PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    numpy.add: (_ONE, _ONE),
    numpy.subtract: (_ONE, constant(-1.0)),
    numpy.multiply: (lambda v, x, y: y, lambda v, x, y: x),
    numpy.divide: _DIVIDE,
    numpy.power: (_power_base, _power_exponent),
    numpy.float_power: (_power_base, _power_exponent),
    numpy.remainder: _REMAINDER,
    numpy.fmod: (_ONE, lambda v, x, y: -truncate(x / y)),
    numpy.negative: (constant(-1.0),),
    numpy.positive: (_ONE,),
    numpy.conjugate: (_ONE,), numpy.ndarray.conj: (_ONE,), numpy.ndarray.conjugate: (_ONE,),  # of real numbers
    numpy.absolute: (lambda v, x: sign(x),),
    numpy.fabs: (lambda v, x: sign(x),),
    numpy.copysign: (lambda v, x, y: sign(x) * numpy.where(numpy.signbit(plain(y)), -1.0, 1.0), constant(0.0)),
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
    numpy.degrees: (constant(180.0 / math.pi),), numpy.rad2deg: (constant(180.0 / math.pi),),
    numpy.radians: (constant(math.pi / 180.0),), numpy.deg2rad: (constant(math.pi / 180.0),),
    numpy.maximum: _EXTREME, numpy.fmax: _EXTREME,
    numpy.minimum: _EXTREME, numpy.fmin: _EXTREME,
    numpy.logaddexp: (_smoothed, lambda v, x, y: exp(y - v)),
    numpy.logaddexp2: (lambda v, x, y: run(numpy.exp2, x - v), lambda v, x, y: run(numpy.exp2, y - v)),
    numpy.heaviside: (constant(0.0), lambda v, x, y: numpy.where(plain(x) == 0, 1.0, 0.0)),
    numpy.sinc: (lambda v, x: where(plain(x) == 0, 0.0, (cos(math.pi * x) - v) / where(plain(x) == 0, 1.0, x)),),
}  # fmt: skip
"""The partial derivatives of each function: a function of the result and the arguments, for each argument."""

NUMPY_FUNCTION: Final[dict[Any, Any]] = {
    operator.add: numpy.add, operator.sub: numpy.subtract, operator.mul: numpy.multiply,
    operator.truediv: numpy.divide, operator.mod: numpy.remainder, operator.pow: numpy.power, pow: numpy.power,
    operator.neg: numpy.negative, operator.pos: numpy.positive, operator.abs: numpy.absolute, abs: numpy.absolute,
    operator.iadd: numpy.add, operator.isub: numpy.subtract, operator.imul: numpy.multiply,
    operator.itruediv: numpy.divide, operator.imod: numpy.remainder, operator.ipow: numpy.power,
    operator.matmul: numpy.matmul, operator.imatmul: numpy.matmul,
}  # fmt: skip
"""For each operator, the function of NumPy that does the same with arrays."""

PIECEWISE_CONSTANT: Final = frozenset({
    numpy.floor, numpy.ceil, numpy.rint, numpy.trunc, numpy.sign, numpy.floor_divide, numpy.round,
    numpy.around, numpy.fix, numpy.spacing, numpy.zeros_like, numpy.ones_like, numpy.empty_like, numpy.ndarray.round,
    operator.floordiv, operator.ifloordiv, round, numpy.shape, numpy.size, numpy.ndim,
    numpy.result_type, numpy.can_cast, numpy.iscomplexobj, numpy.isrealobj, numpy.finfo,
    numpy.min_scalar_type,
})  # fmt: skip
"""Functions that are constant between jumps, or do not depend on the values: their derivative is zero."""
