"""The products of NumPy, as data: the subscripts that `einsum` needs for each of them.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
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
from cassette_import.kits.tagging import Tagged, plain

# ---- functions of linear algebra, as data: the linear map from each argument to the result


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
    """`det`: the determinant `v` of a matrix. Its derivative is the matrix of cofactors, also if it is singular."""
    return (_traced(_cofactors(v, x), shape_of(x)),)


def _cofactors(v: Any, x: Any) -> Any:
    try:
        back = call(numpy.linalg.inv, x)
    except numpy.linalg.LinAlgError:
        return _cofactors_of_singular(x)
    lengths = [numpy.linalg.norm(plain(matrix), axis=(-2, -1)) for matrix in (x, back)]
    if numpy.all(lengths[0] * lengths[1] < _NEARLY_SINGULAR):
        return call(numpy.expand_dims, v, (-1, -2)) * _turned(back)
    return _cofactors_of_singular(x)


_NEARLY_SINGULAR: Final = 1e8
"""From this condition number on, the inverse has lost half of the digits."""


def _cofactors_of_singular(x: Any) -> Any:
    shape = shape_of(x)
    if type(x) is not Tagged:
        u, sizes, v = numpy.linalg.svd(x)
        others = numpy.where(numpy.eye(shape[-1], dtype=bool), 1.0, sizes[..., None, :]).prod(-1)
        return (numpy.linalg.det(u) * numpy.linalg.det(v))[..., None, None] * (u * others[..., None, :]) @ v
    found: Any = 0.0
    for place in numpy.ndindex(shape[-2:]):  # a context further out differentiates the minors again
        kept: Any = numpy.ix_(*(numpy.delete(numpy.arange(shape[-1]), number) for number in place))
        minor = call(numpy.linalg.det, call(operator.getitem, x, (..., *kept)))
        here = numpy.zeros(shape[-2:])
        here[place] = (-1.0) ** sum(place)
        found = found + call(numpy.expand_dims, minor, (-1, -2)) * here
    return found


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


# ---- the products of NumPy, as data: the subscripts that `einsum` needs for each of them

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
"""For each product, a function from the numbers of axes of both arrays to the subscripts for `einsum`."""


def explicit_subscripts(subscripts: Any, counts: list[int]) -> str | None:
    """Subscripts of `einsum` with `...` and the result written out, for operands with these numbers of axes.

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
