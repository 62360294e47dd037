"""Functions of linear algebra, as data: the linear map from each argument to the result.

Knows mathematics and linear maps; must not know contexts. Imported only if the program imports NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.linear_maps import (
    LinearMap,
    broadcast,
    call,
    shape_of,
    unbroadcast,
    weighted_sum,
)


def _turned(matrix: Any) -> Any:
    return call(numpy.swapaxes, matrix, -1, -2)


def _product(*matrices: Any) -> Any:
    found = matrices[0]
    for matrix in matrices[1:]:
        found = call(numpy.matmul, found, matrix)
    return found


def inverse(v: Any, x: Any) -> tuple[LinearMap, ...]:
    """`inv`: the inverse `v` of a matrix."""
    back = _turned(v)
    shape = shape_of(x)
    return (LinearMap(lambda t: -_product(v, broadcast(t, shape), v), lambda w: -_product(back, w, back)),)


def solution(v: Any, a: Any, b: Any) -> tuple[LinearMap, ...]:
    """`solve`: the solution `v` of linear equations."""
    shapes = shape_of(a), shape_of(b)
    vector = len(shape_of(v)) < len(shapes[0])

    def columns(value: Any) -> Any:
        return call(numpy.expand_dims, value, -1) if vector else value

    def solved(matrix: Any, side: Any) -> Any:
        found = call(numpy.linalg.solve, matrix, columns(side))
        return call(numpy.squeeze, found, -1) if vector else found

    def of_matrix(tangent: Any) -> Any:
        side = _product(broadcast(tangent, shapes[0]), columns(v))
        return -solved(a, call(numpy.squeeze, side, -1) if vector else side)

    def to_matrix(weight: Any) -> Any:
        return unbroadcast(-_product(columns(solved(_turned(a), weight)), _turned(columns(v))), shapes[0])

    return (
        LinearMap(of_matrix, to_matrix),
        LinearMap(
            lambda tangent: solved(a, broadcast(tangent, shape_of(v))),
            lambda weight: unbroadcast(solved(_turned(a), weight), shapes[1]),
        ),
    )


def determinant(v: Any, x: Any) -> tuple[LinearMap, ...]:
    """`det`: the determinant `v` of a matrix, which must not be singular."""
    return (_traced(call(numpy.expand_dims, v, (-1, -2)) * _turned(call(numpy.linalg.inv, x)), shape_of(x)),)


def log_determinant(v: Any, x: Any) -> tuple[LinearMap, ...]:
    """`slogdet`: the logarithm `v` of the absolute value of a determinant."""
    return (_traced(_turned(call(numpy.linalg.inv, x)), shape_of(x)),)


def _traced(weights: Any, shape: tuple[int, ...]) -> LinearMap:
    return weighted_sum(weights, shape, (len(shape) - 2, len(shape) - 1), shape[:-2])


def triangle(v: Any, x: Any) -> tuple[LinearMap, ...]:
    """`cholesky`: the lower triangle `v` of a symmetric matrix, of which only the lower half is used."""
    shape = shape_of(x)
    halved = numpy.tril(numpy.ones(shape[-2:])) - 0.5 * numpy.eye(shape[-1])
    lower = numpy.tril(numpy.ones(shape[-2:]))
    below = lower - numpy.eye(shape[-1])
    back = call(numpy.linalg.inv, v)

    def push(tangent: Any) -> Any:
        tangent = broadcast(tangent, shape)
        tangent = lower * tangent + _turned(below * tangent)
        return _product(v, halved * _product(back, tangent, _turned(back)))

    def pull(weight: Any) -> Any:
        inner = halved * _product(_turned(v), weight)
        found = _product(_turned(back), inner, back)
        return lower * found + below * _turned(found)

    return (LinearMap(push, pull),)


LINEAR_ALGEBRA: Final[dict[Any, Callable[..., tuple[LinearMap, ...]]]] = {
    numpy.linalg.inv: inverse,
    numpy.linalg.solve: solution,
    numpy.linalg.det: determinant,
    numpy.linalg.cholesky: triangle,
}
"""For each function, a function of the result and the arguments: the linear map from each argument to the result."""
