"""Statistics of arrays as compositions: quantiles, sums without NaN, masked sums, covariances, histograms.

The argument `do` calls a function and differentiates the call; see `compositions`. Imported only if the program
imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy

from cassette_import.kits.tagging import plain

Do = Callable[..., Any]


def _quantile(
    do: Do, a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, **keywords: Any,
) -> Any:  # fmt: skip
    if method != "linear" or any(value is not None for value in keywords.values()) or numpy.ndim(plain(q)) > 1:
        raise NotImplementedError
    number = numpy.ndim(plain(a))
    axes = tuple(range(number)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(one % number for one in axes)
    rest = [one for one in range(number) if one not in axes]
    shape = numpy.shape(plain(a))
    rows = do(numpy.reshape, do(numpy.transpose, a, (*rest, *axes)), (*(shape[one] for one in rest), -1))
    ordered = do(numpy.sort, rows, -1)
    last = numpy.shape(plain(ordered))[-1] - 1
    position = do(numpy.multiply, q, float(last))
    low = numpy.clip(numpy.floor(plain(position)), 0, max(last - 1, 0)).astype(int)
    first, second = (do(operator.getitem, ordered, (..., numpy.minimum(low + step, last))) for step in (0, 1))
    found = do(
        numpy.add, first, do(numpy.multiply, do(numpy.subtract, position, low), do(numpy.subtract, second, first))
    )
    if numpy.ndim(plain(q)):
        found = do(numpy.moveaxis, found, -1, 0)
        axes = tuple(one + 1 for one in axes)
    return do(numpy.expand_dims, found, axes) if keepdims is True else found


def _percentile(do: Do, a: Any, q: Any, *arguments: Any, **keywords: Any) -> Any:
    return _quantile(do, a, do(numpy.divide, q, 100.0), *arguments, **keywords)


def _without_nan(function: Any, neutral: float) -> Callable[..., Any]:
    def composed(do: Do, a: Any, *arguments: Any, **keywords: Any) -> Any:
        return do(function, do(numpy.where, numpy.isnan(plain(a)), neutral, a), *arguments, **keywords)

    return composed


def _nanmean(do: Do, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    valid = ~numpy.isnan(plain(a))
    total = do(numpy.sum, do(numpy.where, valid, a, 0.0), axis, keepdims=keepdims is True)
    return do(numpy.divide, total, valid.sum(axis, keepdims=keepdims is True))


def _nanvar(
    do: Do, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: Any = False
) -> Any:
    valid = ~numpy.isnan(plain(a))
    rest = do(numpy.where, valid, do(numpy.subtract, a, _nanmean(do, a, axis, keepdims=True)), 0.0)
    total = do(numpy.sum, do(numpy.multiply, rest, rest), axis, keepdims=keepdims is True)
    return do(numpy.divide, total, valid.sum(axis, keepdims=keepdims is True) - ddof)


def _nanstd(do: Do, *arguments: Any, **keywords: Any) -> Any:
    variance = _nanvar(do, *arguments, **keywords)
    is_constant = plain(variance) == 0
    return do(numpy.where, is_constant, 0.0, do(numpy.sqrt, do(numpy.where, is_constant, 1.0, variance)))


def masked_reduction(function: Any, neutral: float, joined: Any) -> Callable[..., Any]:
    """The composition of a reduction with `where` or `initial`: masked elements count as the neutral element."""

    def composed(do: Do, a: Any, *arguments: Any, where: Any = True, initial: Any = None, **keywords: Any) -> Any:
        if where is not True and where is not numpy._NoValue:
            a = do(numpy.where, plain(where), a, neutral)
        found = do(function, a, *arguments, **keywords)
        return found if initial is None or initial is numpy._NoValue else do(joined, found, initial)

    return composed


MASKED: Final[dict[str, Callable[..., Any]]] = {
    "sum": masked_reduction(numpy.sum, 0.0, numpy.add),
    "prod": masked_reduction(numpy.prod, 1.0, numpy.multiply),
    "max": masked_reduction(numpy.max, -numpy.inf, numpy.maximum),
    "amax": masked_reduction(numpy.max, -numpy.inf, numpy.maximum),
    "min": masked_reduction(numpy.min, numpy.inf, numpy.minimum),
    "amin": masked_reduction(numpy.min, numpy.inf, numpy.minimum),
}
"""The compositions of reductions with these names, for calls with `where` or `initial`."""


def _cov(
    do: Do, m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, **keywords: Any
) -> Any:
    if y is not None or any(value is not None for value in keywords.values()):
        raise NotImplementedError
    rows = do(numpy.atleast_2d, m)
    rows = rows if rowvar or numpy.shape(plain(rows))[0] == 1 else do(numpy.transpose, rows)
    count = numpy.shape(plain(rows))[1]
    rest = do(numpy.subtract, rows, do(numpy.mean, rows, 1, keepdims=True))
    divisor = count - (int(not bias) if ddof is None else ddof)
    return do(numpy.squeeze, do(numpy.divide, do(numpy.matmul, rest, do(numpy.transpose, rest)), float(divisor)))


def _corrcoef(do: Do, x: Any, y: Any = None, rowvar: bool = True, **keywords: Any) -> Any:
    if keywords:
        raise NotImplementedError
    found = _cov(do, x, y, rowvar)
    scale = do(numpy.sqrt, do(numpy.diagonal, found))
    return do(numpy.divide, do(numpy.divide, found, scale), do(numpy.reshape, scale, (-1, 1)))


def _correlate(do: Do, a: Any, v: Any, mode: str = "valid") -> Any:
    return do(numpy.convolve, a, do(numpy.flip, v), mode)


def _bincount(do: Do, x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    places = plain(x)
    size = max(int(numpy.max(places, initial=-1)) + 1, minlength)
    chosen = numpy.zeros((size, len(places)))
    chosen[places, numpy.arange(len(places))] = 1.0
    return do(numpy.dot, chosen, weights)


def _ediff1d(do: Do, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    found = do(numpy.diff, do(numpy.ravel, ary))
    parts = [part for part in (to_begin, found, to_end) if part is not None]
    return do(numpy.concatenate, [do(numpy.ravel, part) for part in parts])


def _unwrap(do: Do, p: Any, *arguments: Any, **keywords: Any) -> Any:
    bare = plain(p)
    return do(numpy.add, p, numpy.unwrap(bare, *arguments, **keywords) - bare)


def _unique(do: Do, ar: Any, *arguments: Any, **keywords: Any) -> Any:
    if arguments or keywords:
        raise NotImplementedError
    _, places = numpy.unique(plain(ar), return_index=True)
    return do(operator.getitem, do(numpy.ravel, ar), places)


STATISTICS: Final[dict[Any, Callable[..., Any]]] = {
    numpy.quantile: _quantile, numpy.percentile: _percentile,
    numpy.nansum: _without_nan(numpy.sum, 0.0), numpy.nanprod: _without_nan(numpy.prod, 1.0),
    numpy.nanmax: _without_nan(numpy.max, -numpy.inf), numpy.nanmin: _without_nan(numpy.min, numpy.inf),
    numpy.nancumsum: _without_nan(numpy.cumsum, 0.0), numpy.nancumprod: _without_nan(numpy.cumprod, 1.0),
    numpy.nanmean: _nanmean, numpy.nanvar: _nanvar, numpy.nanstd: _nanstd,
    numpy.cov: _cov, numpy.corrcoef: _corrcoef, numpy.correlate: _correlate, numpy.bincount: _bincount,
    numpy.ediff1d: _ediff1d, numpy.unwrap: _unwrap, numpy.unique: _unique,
}  # fmt: skip
"""For each function, its composition: a function of `do` and the arguments."""
