"""The reductions of NumPy, as data: for each, the weights of its derivative as a sum over the elements.

The rules call functions through `run`, so that contexts further out can differentiate the derivative again. Imported
only if the program imports NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy

from cassette_import.kits.numbers.partials import constant, partials_of
from cassette_import.kits.numbers.table import BY_UFUNC, OPERATORS
from cassette_import.kits.tagging import plain, run

# ---- the partial derivatives of NumPy's elementwise functions, as data
#
# The rules call functions through `run`, so that contexts further out can differentiate the derivative again. Imported
# only if the program imports NumPy.

Partial = Callable[..., Any]


def _through_run(function: Any) -> Callable[..., Any]:
    return lambda *arguments: run(function, *arguments)


exp, sign, cos, where = map(_through_run, (numpy.exp, numpy.sign, numpy.cos, numpy.where))
log, floor_divide, broadcast_to = map(_through_run, (numpy.log, numpy.floor_divide, numpy.broadcast_to))

ARRAYS: Final = SimpleNamespace(
    **{
        name: _through_run(getattr(numpy, name))
        for name in ("sqrt", "exp", "exp2", "log", "sin", "cos", "sinh", "cosh", "sign", "trunc")
    },
    scale=lambda exponent: run(numpy.ldexp, 1.0, exponent),
    floor_quotient=floor_divide,
)
"""The arithmetic of arrays, in which the partial derivatives of the table of functions are computed."""


def _power_base(v: Any, x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):  # a wrapped one too
        return 2.0 * x if plain(y) == 2 else 0.0 if plain(y) == 0 else y * run(numpy.power, x, y - 1)
    return where(plain(y) == 0, 0.0, y * run(numpy.power, x, where(plain(y) == 0, 1.0, y - 1)))


def _power_exponent(v: Any, x: Any, y: Any) -> Any:
    return v * log(where(plain(x) == 0, 1.0, x))


def _or_one(v: Any) -> Any:
    return where(plain(v) == 0, 1.0, v)


def _share_of_tie(chosen: Any, other: Any) -> Any:
    """The share of the derivative that the larger (or smaller) value gets: all of it, or half of it in a tie."""
    chosen, other = plain(chosen), plain(other)
    return numpy.where(chosen == other, 0.5, 1.0)


def _larger(v: Any, x: Any, y: Any) -> Any:
    return numpy.where(plain(x) == plain(v), _share_of_tie(x, y), 0.0)


SELECTING: Final = frozenset({numpy.maximum, numpy.fmax, numpy.minimum, numpy.fmin, numpy.heaviside})
"""The functions that choose one of their arguments for each element: the partial derivative of the others is zero."""

_EXTREME: Final = (_larger, lambda v, x, y: _larger(v, y, x))

_BY_CASES: Final[dict[Any, tuple[Partial, ...]]] = {
    **dict.fromkeys((numpy.power, numpy.float_power), (_power_base, _power_exponent)),
    **dict.fromkeys((numpy.absolute, numpy.fabs), (lambda v, x: sign(x),)),
    numpy.copysign: (lambda v, x, y: sign(x) * numpy.where(numpy.signbit(plain(y)), -1.0, 1.0), constant(0.0)),
    numpy.hypot: (lambda v, x, y: x / _or_one(v), lambda v, x, y: y / _or_one(v)),
    **dict.fromkeys((numpy.maximum, numpy.fmax, numpy.minimum, numpy.fmin), _EXTREME),
    numpy.heaviside: (constant(0.0), lambda v, x, y: numpy.where(plain(x) == 0, 1.0, 0.0)),
    numpy.sinc: (lambda v, x: where(plain(x) == 0, 0.0, (cos(math.pi * x) - v) / where(plain(x) == 0, 1.0, x)),),
    numpy.ndarray.conj: (constant(1.0),), numpy.ndarray.conjugate: (constant(1.0),),  # of real numbers
}  # fmt: skip
"""The derivatives that differ between the elements of an array, where that of a number is a decision."""

PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    **{
        getattr(numpy, name): partials_of(row, ARRAYS)
        for name, row in BY_UFUNC.items()
        if type(row.partials) is tuple and hasattr(numpy, name)
    },
    **_BY_CASES,
}
"""The partial derivatives of each function: a function of the result and the arguments, for each argument."""

NUMPY_FUNCTION: Final[dict[Any, Any]] = {
    **{
        function: getattr(numpy, row.ufuncs[0])
        for row in OPERATORS
        if type(row.partials) is tuple
        for function in row.functions
        if function.__module__ != "math"
    },
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


# ---- the reductions of NumPy, as data: for each, the weights of its derivative as a sum over the elements


def axes_of(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The axes of a reduction, as numbers from 0 on."""
    if axis is None:
        return tuple(range(len(shape)))
    return tuple(number % len(shape) for number in (axis if isinstance(axis, tuple) else (axis,))) if shape else ()


class Reduced(NamedTuple):
    """A reduction: its result `v`, which keeps the reduced axes with length 1, its argument `x`, axes and options."""

    v: Any
    x: Any
    axes: tuple[int, ...]
    options: dict[str, Any]

    @property
    def number(self) -> int:
        """The number of elements in each sum."""
        return math.prod(numpy.shape(plain(self.x))[axis] for axis in self.axes)

    @property
    def centred(self) -> Any:
        """The argument minus its mean."""
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
    "sum": (_SUM, constant(1.0)),
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
"""For each reduction, the names of the parameters after the first, and the derivative with respect to each element."""

EXTREMES: Final = frozenset(function for function, (_, weigh) in REDUCTIONS.items() if weigh is _extreme_weights)
"""The reductions that choose some of the elements."""

UFUNC_REDUCTIONS: Final = {
    numpy.add: numpy.sum, numpy.multiply: numpy.prod, numpy.maximum: numpy.max, numpy.minimum: numpy.min,
}  # fmt: skip
"""For each `ufunc`, the function that does the same as its method `reduce`."""
