"""Functions of polynomials, whose coefficients are arrays, as compositions; spaced numbers; windows of arrays.

The argument `do` calls a function and differentiates the call; see `compositions`. Imported only if the program
imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import polynomial

from cassette_import.kits.tagging import plain

Do = Callable[..., Any]


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


POLYNOMIALS: Final[dict[Any, Callable[..., Any]]] = {
    numpy.polyval: _polyval, polynomial.polyval: _ascending_polyval, numpy.polyder: _polyder, numpy.polymul: _polymul,
    numpy.vander: _vander, numpy.geomspace: _geomspace, numpy.logspace: _logspace,
    sliding_window_view: _windows, numpy.linalg.pinv: _pinv,
}  # fmt: skip
"""For each function, its composition: a function of `do` and the arguments."""

for _owner, _name, _function in (
    (numpy, "matvec", _matrix_vector),  # 2.2, as the next one
    (numpy, "vecmat", _vector_matrix),
    (numpy, "vecdot", _vecdot),  # 2.0, as the next ones
    (numpy.linalg, "vecdot", _vecdot),
    (numpy.linalg, "vector_norm", _vector_norm),
    (numpy.linalg, "diagonal", lambda do, x, /, *, offset=0: do(numpy.diagonal, x, offset, -2, -1)),
    (numpy.linalg, "matrix_transpose", lambda do, x, /: do(numpy.swapaxes, x, -1, -2)),
    (numpy.linalg, "matmul", lambda do, a, b, /: do(numpy.matmul, a, b)),
    (numpy.linalg, "tensordot", lambda do, a, b, /, *, axes=2: do(numpy.tensordot, a, b, axes)),
):
    if _name in vars(_owner):
        POLYNOMIALS[vars(_owner)[_name]] = _function
