"""Sorting by `min` and `max` alone, of which each context knows the result without deciding which number is smaller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cassette_import.runtime.tagging.wrappers import run

__all__ = ["ordered"]


def ordered(items: Sequence[Any]) -> list[Any]:
    """The numbers in ascending order.

    >>> ordered([3, 1, 2])
    [1, 2, 3]
    """
    found = list(items)
    for one, other in _comparisons(len(found)):
        found[one], found[other] = run(min, found[one], found[other]), run(max, found[one], found[other])
    return found


def _comparisons(count: int) -> Iterator[tuple[int, int]]:
    """The pairs of places that are compared, one after the other."""
    block = 1
    while block < count:
        step = block
        while step >= 1:
            for start in range(step % block, count - step, 2 * step):
                for place in range(start, min(start + step, count - step)):
                    if place // (2 * block) == (place + step) // (2 * block):
                        yield place, place + step
            step //= 2
        block *= 2
