"""The reductions of NumPy, as data: for each, the weights of its derivative as a sum over the elements.

The rules call functions through `run`, so that contexts further out can differentiate the derivative again. Imported
only if the program imports NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy

from cassette_import.contexts.autodiff.arrays.rules.elementwise import sign, where
from cassette_import.contexts.common.partials import constant
from cassette_import.runtime.tagging.wrappers import plain, run


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
