"""Linear maps between arrays, each a pair of functions: one pushes a derivative forward, one pulls a weight back.

They call functions through `call`, so that contexts further out can differentiate the derivative again. Imported only
if the program imports NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy

from cassette_import.kits.events import ACTIVE
from cassette_import.kits.tagging import Tagged, plain
from cassette_import.rewriting.events import Events

# ---- where the elements of a result come from, found by moving numbered elements
#
# Each element of a reshaped, indexed or concatenated array is an element of an argument, or a constant. So the function
# is called once more, with arrays of distinct numbers, and the numbers in its result are the positions of the elements.
# Both the linear map and its transpose follow from them. Imported only if the program imports NumPy.

CONSTANT: Final = 0
_FIRST: Final = 1 << 40
"""The number of the first element: larger than what a program pads with."""


def gather_elements(positions: Any, source: Any) -> Any:
    """The elements of an array at flat positions; 0 where a position is negative."""
    return numpy.append(numpy.ravel(source), 0.0)[positions]


def scatter_elements(positions: Any, shape: tuple[int, ...], weights: Any) -> Any:
    """The transposed map: an array with the sum of the weights of each position."""
    size = math.prod(shape)
    places = numpy.ravel(positions)
    made = numpy.bincount(numpy.where(places < 0, size, places), numpy.ravel(weights), size + 1)
    return made[:-1].reshape(shape)


class ElementSources:
    """Where the elements of a result come from."""

    def __init__(self, positions: Any, starts: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> None:
        self._positions = positions
        self._starts = starts
        self._shapes = shapes

    def source(self, number: int) -> tuple[Any, tuple[int, ...]]:
        """For one source: the position in it of each element of the result, or -1; and its shape."""
        shape = self._shapes[number]
        positions = self._positions - self._starts[number]
        return numpy.where((positions >= 0) & (positions < math.prod(shape)), positions, -1), shape


def numbered_arrays(shapes: Sequence[tuple[int, ...]]) -> tuple[list[Any], list[int]]:
    """Arrays of distinct numbers, and for each array the number of elements in the arrays before it."""
    arrays, starts, start = [], [], 0
    for shape in shapes:
        size = math.prod(shape)
        arrays.append(numpy.arange(_FIRST + start, _FIRST + start + size).reshape(shape))
        starts.append(start)
        start += size
    return arrays, starts


def element_sources(found: Any, starts: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> ElementSources:
    """The sources of the elements of a result, from the same result for numbered arrays."""
    return ElementSources(numpy.asarray(found).astype(numpy.int64) - _FIRST, starts, shapes)


# ---- linear maps between arrays, each a pair of functions: one pushes a derivative forward, one pulls a weight back


def call(function: Any, *arguments: Any, **keywords: Any) -> Any:
    """Call a function for the contexts further out, as `run` does, with keyword arguments."""
    if Tagged not in map(type, arguments):
        return function(*arguments, **keywords)
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return function(*map(plain, arguments), **keywords)
    return variant.runners[int(Events.CALLS)].event(function, *arguments, **keywords)


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array or number, wrapped or not."""
    shape: tuple[int, ...] = numpy.shape(plain(value))
    return shape


def broadcast(value: Any, shape: tuple[int, ...]) -> Any:
    """A derivative in the full shape of its array."""
    return value if shape_of(value) == shape else call(numpy.broadcast_to, value, shape)


def unbroadcast(weight: Any, shape: tuple[int, ...]) -> Any:
    """A weight summed over the axes along which an argument of that shape was broadcast."""
    found = shape_of(weight)
    if found == shape:
        return weight
    extra = len(found) - len(shape)
    if extra > 0:
        weight = call(numpy.sum, weight, tuple(range(extra)))
        found = found[extra:]
    axes = tuple(axis for axis, length in enumerate(shape[: len(found)]) if length == 1 and found[axis] != 1)
    return broadcast(call(numpy.sum, weight, axes, None, None, True) if axes else weight, shape)


class LinearMap(NamedTuple):
    """The derivative of a result with respect to one argument: a linear map (`push`) and its transpose (`pull`).

    The result of `push` broadcasts to the shape of the result. The result of `pull` has the shape of the argument, if
    the weight has the shape of the result.
    """

    push: Callable[[Any], Any]
    pull: Callable[[Any], Any]
    pull_chosen: Callable[[Any, Any], tuple[Any, Any]] | None = None
    """As `pull`, where the result depends on some elements only: it gets and returns a weight and a mask of these. An
    element that was not chosen contributes nothing, although its derivative is infinite. None: all elements count."""


def _moving(push: Callable[[Any], Any], pull: Callable[[Any], Any]) -> LinearMap:
    """A map that only moves elements, and so moves masks."""
    return LinearMap(push, pull, lambda weight, mask: (pull(weight), pull(1.0 * mask) != 0))


def _product_where(mask: Any, partial: Any, other: Any) -> Any:
    return call(numpy.where, mask, partial * other, 0.0)


# ---- element by element, and sums


def scaling(partial: Any, shape: tuple[int, ...], *, selects: bool = False) -> LinearMap:
    """Multiplication by a partial derivative, for an argument of this shape that may be broadcast.

    `selects`: where the partial derivative is zero, the function has chosen another argument.
    """

    def push(tangent: Any) -> Any:
        return _product_where(plain(partial) != 0, partial, tangent) if selects else partial * tangent

    def pull_chosen(weight: Any, mask: Any) -> tuple[Any, Any]:
        mask = mask & (plain(partial) != 0) if selects else mask
        return unbroadcast(_product_where(mask, partial, weight), shape), unbroadcast(1.0 * mask, shape) != 0

    if type(partial) is float and partial == 1.0:
        return LinearMap(lambda tangent: tangent, lambda weight: unbroadcast(weight, shape), pull_chosen)
    return LinearMap(push, lambda weight: unbroadcast(partial * weight, shape), pull_chosen)


def weighted_sum(
    weights: Any, shape: tuple[int, ...], axes: tuple[int, ...], outcome: tuple[int, ...], *, selects: bool = False
) -> LinearMap:
    """The weighted sum over axes of an array of this shape; the result has the shape `outcome`."""
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))

    def push(tangent: Any) -> Any:
        terms = _product_where(plain(weights) != 0, weights, tangent) if selects else weights * tangent
        return call(numpy.reshape, call(numpy.sum, broadcast(terms, shape), axes), outcome)

    def pull_chosen(weight: Any, mask: Any) -> tuple[Any, Any]:
        mask = broadcast(call(numpy.reshape, mask, kept), shape) & (not selects or plain(weights) != 0)
        return _product_where(mask, weights, call(numpy.reshape, weight, kept)), mask

    return LinearMap(push, lambda weight: broadcast(weights * call(numpy.reshape, weight, kept), shape), pull_chosen)


def cumulative_sum(shape: tuple[int, ...], axis: Any) -> LinearMap:
    """The cumulative sum of an array of this shape along an axis."""
    along = 0 if axis is None else axis

    def pull(weight: Any) -> Any:
        turned = call(numpy.flip, call(numpy.cumsum, call(numpy.flip, weight, along), along), along)
        return call(numpy.reshape, turned, shape)

    return LinearMap(lambda tangent: call(numpy.cumsum, broadcast(tangent, shape), axis), pull)


# ---- movements


def gathering(positions: Any, shape: tuple[int, ...]) -> LinearMap:
    """The elements at flat positions of an array of this shape; 0 where a position is negative."""
    return _moving(
        lambda tangent: call(gather_elements, positions, broadcast(tangent, shape)),
        lambda weight: call(scatter_elements, positions, shape, weight),
    )


def viewing(
    read: Callable[[Any], Any], write: Callable[[Any, Any], None], shape: tuple[int, ...], positions: Any
) -> LinearMap:
    """A part of an array that contains no element twice: `read` returns it, and `write` replaces it.

    If a context further out differentiates the map, `positions` is called for the positions of the elements instead.
    """

    def push(tangent: Any) -> Any:
        tangent = broadcast(tangent, shape)
        return call(gather_elements, positions(), tangent) if type(tangent) is Tagged else read(tangent)

    def pull(weight: Any) -> Any:
        if type(weight) is Tagged:
            return call(scatter_elements, positions(), shape, weight)
        made = numpy.zeros(shape, numpy.result_type(numpy.asarray(weight).dtype, numpy.float32))
        write(made, weight)
        return made

    return _moving(push, pull)


def scattering(positions: Any, shape: tuple[int, ...], outcome: tuple[int, ...]) -> LinearMap:
    """The transpose of `gathering`: sums of weights at positions."""
    return _moving(
        lambda tangent: call(scatter_elements, positions, outcome, broadcast(tangent, shape)),
        lambda weight: call(gather_elements, positions, weight),
    )


# ---- products


def product_factor(subscripts: str, values: list[Any], number: int) -> LinearMap:
    """The map from one factor of a product to the product; `subscripts` are those of `einsum`, without `...`."""
    inputs, output = subscripts.split("->")
    words = inputs.split(",")
    mine, shape = words[number], shape_of(values[number])
    rest = [(word, value) for place, (word, value) in enumerate(zip(words, values, strict=True)) if place != number]
    there = {*output}.union(*(word for word, _ in rest))
    lengths: dict[str, int] = {}
    for word, value in zip(words, values, strict=True):
        for letter, length in zip(word, shape_of(value), strict=True):
            lengths[letter] = length if lengths.get(letter, 1) == 1 else lengths[letter]
    # The factor is broadcast along the other axes.
    kept = "".join(c for c, length in zip(mine, shape, strict=True) if c in there and length == lengths[c])
    opened = tuple(length if c in kept else 1 for c, length in zip(mine, shape, strict=True))
    backward = f"{','.join([output, *(word for word, _ in rest)])}->{kept}"

    def push(tangent: Any) -> Any:
        given = [broadcast(tangent, shape) if place == number else value for place, value in enumerate(values)]
        return _multiplied(subscripts, given)

    def pull(weight: Any) -> Any:
        found = _multiplied(backward, [weight, *(value for _, value in rest)])
        return broadcast(call(numpy.reshape, found, opened), shape)

    return LinearMap(push, pull)


_LARGE: Final = 2000
"""From this number of elements on, it pays to optimise the order of multiplications."""


def _multiplied(subscripts: str, factors: list[Any]) -> Any:
    if len(factors) > 1 and sum(numpy.size(plain(value)) for value in factors) > _LARGE:
        return call(numpy.einsum, subscripts, *factors, optimize=True)
    return call(numpy.einsum, subscripts, *factors)
