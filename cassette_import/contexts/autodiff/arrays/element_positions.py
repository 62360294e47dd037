"""Where the elements of a result come from, found by moving numbered elements.

Each element of a reshaped, indexed or concatenated array is an element of an argument, or a constant. So the function
is called once more, with arrays of distinct numbers, and the numbers in its result are the positions of the elements.
Both the linear map and its transpose follow from them. Imported only if the program imports NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy

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
