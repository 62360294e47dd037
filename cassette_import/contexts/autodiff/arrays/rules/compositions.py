"""Functions of NumPy whose derivative follows from a composition of other functions, as data.

The argument `do` calls a function and differentiates the call; results of other calls count as constant. Only the
derivative comes from the composition: the value comes from the function of NumPy. Imported only if the program imports
NumPy.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import polynomial

from cassette_import.kits.tagging import items_outside, plain

Do = Callable[..., Any]


# ---- statistics: quantiles, sums without NaN, masked sums, covariances, histograms


def _rows(do: Do, a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """An array whose last axis has the elements along some axes of another one; and these axes."""
    shape = numpy.shape(plain(a))
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(number % len(shape) for number in axes)
    rest = [number for number in range(len(shape)) if number not in axes]
    rows = do(numpy.reshape, do(numpy.transpose, a, (*rest, *axes)), (*(shape[number] for number in rest), -1))
    return rows, axes


def _quantile(
    do: Do, a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, **keywords: Any,
) -> Any:  # fmt: skip
    if method != "linear" or any(value is not None for value in keywords.values()) or numpy.ndim(plain(q)) > 1:
        raise NotImplementedError
    rows, axes = _rows(do, a, axis)
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


# ---- polynomials, whose coefficients are arrays; spaced numbers; windows of arrays


def _horner(do: Do, coefficients: Any, x: Any, order: range) -> Any:
    found: Any = do(numpy.multiply, x, 0.0)
    for number in order:
        found = do(numpy.add, do(numpy.multiply, found, x), do(operator.getitem, coefficients, number))
    return found


def _polyval(do: Do, p: Any, x: Any) -> Any:
    if isinstance(plain(x), numpy.poly1d) or numpy.ndim(plain(p)) != 1:
        raise NotImplementedError
    return _horner(do, p, x, range(len(plain(p))))


def _ascending_polyval(do: Do, x: Any, c: Any, tensor: bool = True) -> Any:
    if numpy.ndim(plain(c)) != 1:
        raise NotImplementedError
    return _horner(do, c, x, range(len(plain(c)) - 1, -1, -1))


def _polyder(do: Do, p: Any, m: int = 1) -> Any:
    for _ in range(m):
        size = len(plain(p))
        p = do(numpy.multiply, do(operator.getitem, p, slice(None, -1)), numpy.arange(size - 1, 0, -1))
    return p


def _polymul(do: Do, a1: Any, a2: Any) -> Any:
    return do(numpy.convolve, a1, a2)


def _vander(do: Do, x: Any, N: Any = None, increasing: bool = False) -> Any:
    powers = numpy.arange(float(len(plain(x)) if N is None else N))
    return do(numpy.power, do(numpy.reshape, x, (-1, 1)), powers if increasing else powers[::-1])


def _geomspace(do: Do, start: Any, stop: Any, num: int = 50, endpoint: bool = True, **keywords: Any) -> Any:
    if numpy.any(plain(start) <= 0) or numpy.any(plain(stop) <= 0):
        raise NotImplementedError
    return do(numpy.exp, do(numpy.linspace, do(numpy.log, start), do(numpy.log, stop), num, endpoint))


def _logspace(
    do: Do, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, **keywords: Any
) -> Any:
    return do(numpy.power, base, do(numpy.linspace, start, stop, num, endpoint))


def _windows(do: Do, x: Any, *arguments: Any, **keywords: Any) -> Any:
    bare = plain(x)
    places = sliding_window_view(numpy.arange(bare.size).reshape(bare.shape), *arguments, **keywords)
    return do(operator.getitem, do(numpy.ravel, x), places)


def _matrix_vector(do: Do, a: Any, b: Any) -> Any:
    return do(numpy.einsum, "...ij,...j->...i", a, b)


def _vector_matrix(do: Do, a: Any, b: Any) -> Any:
    return do(numpy.einsum, "...i,...ij->...j", a, b)


def _vecdot(do: Do, a: Any, b: Any, axis: int = -1) -> Any:
    return do(numpy.sum, do(numpy.multiply, a, b), axis)


def _vector_norm(do: Do, x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    if ord != 2:
        raise NotImplementedError
    return do(numpy.sqrt, do(numpy.sum, do(numpy.multiply, x, x), axis, keepdims=keepdims))


def _pinv(do: Do, a: Any, *arguments: Any, **keywords: Any) -> Any:
    """Of a matrix with full rank."""
    turned = do(numpy.swapaxes, a, -1, -2)
    rows, columns = numpy.shape(plain(a))[-2:]
    if rows >= columns:
        return do(numpy.matmul, do(numpy.linalg.inv, do(numpy.matmul, turned, a)), turned)
    return do(numpy.matmul, turned, do(numpy.linalg.inv, do(numpy.matmul, a, turned)))


# ---- reductions, products, differences, interpolation; and the table of all compositions


def _ndim(value: Any) -> int:
    return numpy.ndim(plain(value))


def _outer(do: Do, a: Any, b: Any, out: Any = None) -> Any:
    return do(numpy.multiply, do(numpy.reshape, a, (-1, 1)), do(numpy.reshape, b, (1, -1)))


def _vdot(do: Do, a: Any, b: Any) -> Any:
    return do(numpy.dot, do(numpy.ravel, a), do(numpy.ravel, b))


def _trace(do: Do, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return do(numpy.sum, do(numpy.diagonal, a, offset, axis1, axis2), -1)


def _last_trace(do: Do, x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return do(numpy.sum, do(numpy.diagonal, x, offset, -2, -1), -1)


def _clip(do: Do, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **keywords: Any) -> Any:
    low = keywords.get("min", a_min)
    high = keywords.get("max", a_max)
    if low is not None and low is not numpy._NoValue:
        a = do(numpy.maximum, a, low)
    return a if high is None or high is numpy._NoValue else do(numpy.minimum, a, high)


def _sort(do: Do, a: Any, axis: Any = -1, *arguments: Any, **keywords: Any) -> Any:
    if axis is None:
        a, axis = do(numpy.ravel, a), -1
    return do(numpy.take_along_axis, a, numpy.argsort(plain(a), axis=axis), axis)


def _partition(do: Do, a: Any, kth: Any, axis: Any = -1, *arguments: Any, **keywords: Any) -> Any:
    if axis is None:
        a, axis = do(numpy.ravel, a), -1
    return do(numpy.take_along_axis, a, numpy.argpartition(plain(a), kth, axis=axis), axis)


def _median(
    do: Do, a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    rows, axes = _rows(do, a, axis)
    ordered = _sort(do, rows)
    count = numpy.shape(plain(ordered))[-1]
    middle = do(operator.getitem, ordered, (..., slice((count - 1) // 2, count // 2 + 1)))
    found = do(numpy.mean, middle, -1)
    return do(numpy.expand_dims, found, axes) if keepdims is True else found


def _diff(do: Do, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    axis = axis % _ndim(a)
    parts = [_edge(do, prepend, a, axis), a, _edge(do, append, a, axis)]
    a = do(numpy.concatenate, [part for part in parts if part is not None], axis)
    before = (*[slice(None)] * axis, slice(None, -1))
    after = (*[slice(None)] * axis, slice(1, None))
    for _ in range(n):
        a = do(numpy.subtract, do(operator.getitem, a, after), do(operator.getitem, a, before))
    return a


def _edge(do: Do, edge: Any, a: Any, axis: int) -> Any:
    """What `diff` puts before or after an array along an axis."""
    if edge is None or edge is numpy._NoValue or _ndim(edge):
        return None if edge is numpy._NoValue else edge
    shape = list(numpy.shape(plain(a)))
    shape[axis] = 1
    return do(numpy.broadcast_to, edge, tuple(shape))


def _ptp(do: Do, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    kept = keepdims is True
    return do(numpy.subtract, do(numpy.max, a, axis, keepdims=kept), do(numpy.min, a, axis, keepdims=kept))


def _average(
    do: Do, a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    kept = keepdims is True
    if weights is None:
        return do(numpy.mean, a, axis, keepdims=kept)
    if _ndim(weights) != _ndim(a):
        shape = [1] * _ndim(a)
        shape[axis] = -1
        weights = do(numpy.reshape, weights, shape)
    shape = numpy.shape(plain(a))
    weights = do(numpy.broadcast_to, weights, shape)
    total = do(numpy.sum, weights, axis, keepdims=kept)
    return do(numpy.divide, do(numpy.sum, do(numpy.multiply, a, weights), axis, keepdims=kept), total)


def _linspace(do: Do, start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, *args: Any,
              axis: int = 0, **keywords: Any) -> Any:  # fmt: skip
    steps = numpy.arange(num) / max(num - 1 if endpoint else num, 1)
    steps = steps.reshape(-1, *[1] * max(_ndim(start), _ndim(stop)))
    found = do(numpy.add, do(numpy.multiply, 1.0 - steps, start), do(numpy.multiply, steps, stop))
    return do(numpy.moveaxis, found, 0, axis)


def _cross(do: Do, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = do(numpy.moveaxis, a, axisa, -1), do(numpy.moveaxis, b, axisb, -1)
    if {numpy.shape(plain(a))[-1], numpy.shape(plain(b))[-1]} != {3}:
        raise NotImplementedError
    signs = numpy.zeros((3, 3, 3))
    for one, two, three in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        signs[one, two, three], signs[two, one, three] = 1.0, -1.0
    found = do(numpy.einsum, "...i,...j,ijk->...k", a, b, signs)
    return do(numpy.moveaxis, found, -1, axisc)


def _convolve(do: Do, a: Any, v: Any, mode: str = "full") -> Any:
    a, v = do(numpy.atleast_1d, a), do(numpy.atleast_1d, v)
    sizes = numpy.size(plain(a)), numpy.size(plain(v))
    places = numpy.arange(sizes[0])[:, None] + numpy.arange(sizes[1])
    size = sum(sizes) - 1
    full = numpy.zeros((size, *places.shape))
    full[places, numpy.arange(sizes[0])[:, None], numpy.arange(sizes[1])] = 1.0
    found = do(numpy.einsum, "kij,i,j->k", full, a, v)
    if mode == "full":
        return found
    kept = max(sizes) if mode == "same" else max(sizes) - min(sizes) + 1
    start = (size - kept) // 2
    return do(operator.getitem, found, slice(start, start + kept))


def _kron(do: Do, a: Any, b: Any) -> Any:
    number = max(_ndim(a), _ndim(b))
    shapes = [(1,) * (number - _ndim(one)) + numpy.shape(plain(one)) for one in (a, b)]
    left = do(numpy.reshape, a, [length for one in shapes[0] for length in (one, 1)])
    right = do(numpy.reshape, b, [length for one in shapes[1] for length in (1, one)])
    return do(numpy.reshape, do(numpy.multiply, left, right), [x * y for x, y in zip(*shapes, strict=True)])


def _matrix_power(do: Do, a: Any, n: int) -> Any:
    if n < 0:
        a, n = do(numpy.linalg.inv, a), -n
    found = a
    for _ in range(n - 1):
        found = do(numpy.matmul, found, a)
    return found if n else do(numpy.add, do(numpy.multiply, a, 0.0), numpy.eye(numpy.shape(plain(a))[-1]))


def _multi_dot(do: Do, arrays: Any, *, out: Any = None) -> Any:
    return functools.reduce(functools.partial(do, numpy.dot), items_outside(arrays))


def joined(do: Do, joiner: Any, key: Any) -> Any:
    """The subscript of `r_` and `c_`: numbers and arrays, one after the other."""
    if isinstance(plain(joiner), _GRIDS):
        raise NotImplementedError
    parts = []
    for part in items_outside(key) if isinstance(plain(key), tuple) else (key,):
        if isinstance(plain(part), (slice, str)):
            parts.append(plain(joiner)[part])
        else:
            parts.append(do(numpy.atleast_1d, part))
    if isinstance(plain(joiner), type(numpy.c_)):
        return do(numpy.column_stack, parts)
    return do(numpy.concatenate, parts)


_GRIDS: Final = tuple(map(type, (numpy.mgrid, numpy.ogrid)))


def _cumprod(do: Do, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None:
        a, axis = do(numpy.ravel, a), 0
    axis = axis % _ndim(a)
    size = numpy.shape(plain(a))[axis]
    rows = do(numpy.expand_dims, do(numpy.moveaxis, a, axis, -1), -2)
    found = do(numpy.prod, do(numpy.where, numpy.tril(numpy.ones((size, size), bool)), rows, 1.0), -1)
    return do(numpy.moveaxis, found, -1, axis)


def _trapezoid(do: Do, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    axis = axis % _ndim(y)
    steps = dx if x is None else _diff(do, x, axis=axis if _ndim(x) > 1 else -1)
    if x is not None and _ndim(x) == 1:
        steps = do(numpy.reshape, steps, [-1 if one == axis else 1 for one in range(_ndim(y))])
    before, after = (*[slice(None)] * axis, slice(None, -1)), (*[slice(None)] * axis, slice(1, None))
    both = do(numpy.add, do(operator.getitem, y, before), do(operator.getitem, y, after))
    return do(numpy.sum, do(numpy.divide, do(numpy.multiply, steps, both), 2.0), axis)


def _interp(do: Do, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None:
        raise NotImplementedError
    x, xp, fp = do(numpy.asarray, x), do(numpy.asarray, xp), do(numpy.asarray, fp)
    known = plain(xp)
    number = numpy.clip(numpy.searchsorted(known, plain(x)) - 1, 0, len(known) - 2)
    low, high = do(operator.getitem, xp, number), do(operator.getitem, xp, number + 1)
    first, last = do(operator.getitem, fp, number), do(operator.getitem, fp, number + 1)
    slope = do(numpy.divide, do(numpy.subtract, last, first), do(numpy.subtract, high, low))
    found = do(numpy.add, first, do(numpy.multiply, slope, do(numpy.subtract, x, low)))
    found = do(numpy.where, plain(x) < known[0], do(operator.getitem, fp, 0) if left is None else left, found)
    return do(numpy.where, plain(x) > known[-1], do(operator.getitem, fp, -1) if right is None else right, found)


def _nan_to_num(do: Do, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not copy:
        raise NotImplementedError
    bare = plain(x)
    found = do(numpy.where, numpy.isfinite(bare), x, numpy.nan_to_num(bare))
    found = do(numpy.where, numpy.isnan(bare), nan, found)
    for infinite, replacement in ((numpy.isposinf, posinf), (numpy.isneginf, neginf)):
        if replacement is not None:
            found = do(numpy.where, infinite(bare), replacement, found)
    return found


def _gradient(do: Do, f: Any, *spacings: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`gradient` along one axis, with equal spacing."""
    if axis is None and _ndim(f) == 1:
        axis = 0
    if len(spacings) > 1 or any(map(_ndim, spacings)) or not isinstance(axis, int):
        raise NotImplementedError
    a = do(numpy.moveaxis, f, axis, 0)

    def part(start: Any, stop: Any) -> Any:
        return do(operator.getitem, a, slice(start, stop))

    def edge(first: Any, second: Any, third: Any) -> Any:
        if edge_order == 1:
            return do(numpy.subtract, second, first)
        terms = do(numpy.multiply, -1.5, first), do(numpy.multiply, 2.0, second), do(numpy.multiply, -0.5, third)
        return do(numpy.add, do(numpy.add, terms[0], terms[1]), terms[2])

    last = numpy.shape(plain(a))[0]
    middle = do(numpy.divide, do(numpy.subtract, part(2, None), part(None, -2)), 2.0)
    before = edge(part(0, 1), part(1, 2), part(2, 3))
    after = do(numpy.negative, edge(part(last - 1, None), part(last - 2, last - 1), part(last - 3, last - 2)))
    found = do(numpy.moveaxis, do(numpy.concatenate, (before, middle, after)), 0, axis)
    return do(numpy.divide, found, spacings[0]) if spacings else found


def einsum_of_diagonals(do: Do, subscripts: Any, *operands: Any, **keywords: Any) -> Any:
    """`einsum` for operands with a letter twice, which means their diagonal."""
    if not isinstance(subscripts, str) or "..." in subscripts:
        raise NotImplementedError
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if not arrow:
        letters = inputs.replace(",", "")
        output = "".join(sorted(letter for letter in {*letters} if letters.count(letter) == 1))
    words, parts = inputs.split(","), list(operands)
    for number, word in enumerate(words):
        while twice := [letter for letter in word if word.count(letter) > 1]:
            first = word.index(twice[0])
            second = word.index(twice[0], first + 1)
            parts[number] = do(numpy.diagonal, parts[number], 0, first, second)
            word = word[:first] + word[first + 1 : second] + word[second + 1 :] + twice[0]
        words[number] = word
    return do(numpy.einsum, f"{','.join(words)}->{output}", *parts)


COMPOSITIONS: Final[dict[Any, Callable[..., Any]]] = {
    numpy.outer: _outer, numpy.vdot: _vdot, numpy.kron: _kron, numpy.cross: _cross, numpy.convolve: _convolve,
    numpy.trace: _trace, numpy.ndarray.trace: _trace,
    numpy.clip: _clip, numpy.ndarray.clip: _clip,
    numpy.sort: _sort, numpy.partition: _partition, numpy.median: _median,
    numpy.diff: _diff, numpy.ptp: _ptp, numpy.average: _average, numpy.linspace: _linspace, numpy.interp: _interp,
    numpy.cumprod: _cumprod, numpy.ndarray.cumprod: _cumprod,
    numpy.polyval: _polyval, polynomial.polyval: _ascending_polyval, numpy.polyder: _polyder, numpy.polymul: _polymul,
    numpy.vander: _vander, numpy.geomspace: _geomspace, numpy.logspace: _logspace,
    sliding_window_view: _windows, numpy.linalg.pinv: _pinv,
    numpy.quantile: _quantile, numpy.percentile: _percentile,
    numpy.nansum: _without_nan(numpy.sum, 0.0), numpy.nanprod: _without_nan(numpy.prod, 1.0),
    numpy.nanmax: _without_nan(numpy.max, -numpy.inf), numpy.nanmin: _without_nan(numpy.min, numpy.inf),
    numpy.nancumsum: _without_nan(numpy.cumsum, 0.0), numpy.nancumprod: _without_nan(numpy.cumprod, 1.0),
    numpy.nanmean: _nanmean, numpy.nanvar: _nanvar, numpy.nanstd: _nanstd,
    numpy.cov: _cov, numpy.corrcoef: _corrcoef, numpy.correlate: _correlate, numpy.bincount: _bincount,
    numpy.ediff1d: _ediff1d, numpy.unwrap: _unwrap, numpy.unique: _unique,
    numpy.linalg.matrix_power: _matrix_power, numpy.linalg.multi_dot: _multi_dot,
    numpy.nan_to_num: _nan_to_num, numpy.gradient: _gradient,
}  # fmt: skip
"""For each function, its composition: a function of `do` and the arguments."""

OF_SEQUENCES: Final[set[Any]] = {numpy.linalg.multi_dot}
"""Functions of sequences of arrays, which may have several shapes."""

for _owner, _name, _function in (
    (numpy, "trapezoid", _trapezoid),  # 2.0
    (numpy, "trapz", _trapezoid),  # until then
    (numpy, "matvec", _matrix_vector),  # 2.2, as the next one
    (numpy, "vecmat", _vector_matrix),
    (numpy.linalg, "outer", _outer),  # 2.0, as the next ones
    (numpy.linalg, "trace", _last_trace),
    (numpy.linalg, "cross", lambda do, a, b, /, *, axis=-1: _cross(do, a, b, axis=axis)),
    (numpy, "vecdot", _vecdot),
    (numpy.linalg, "vecdot", _vecdot),
    (numpy.linalg, "vector_norm", _vector_norm),
    (numpy.linalg, "diagonal", lambda do, x, /, *, offset=0: do(numpy.diagonal, x, offset, -2, -1)),
    (numpy.linalg, "matrix_transpose", lambda do, x, /: do(numpy.swapaxes, x, -1, -2)),
    (numpy.linalg, "matmul", lambda do, a, b, /: do(numpy.matmul, a, b)),
    (numpy.linalg, "tensordot", lambda do, a, b, /, *, axes=2: do(numpy.tensordot, a, b, axes)),
):
    if _name in vars(_owner):
        COMPOSITIONS[vars(_owner)[_name]] = _function
