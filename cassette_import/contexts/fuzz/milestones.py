"""Which comparisons were reached and which were true so far: how a search comes closer to a branch before it
is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from cassette_import.contexts.fuzz.observer import Comparison

__all__ = ["Milestones"]

_MOST_FOR_A_PLACE: Final = 64
"""The most comparisons of one place that are distinguished."""
_MOST_REPETITIONS: Final = 8
_SHORT: Final = 80


class Milestones:
    """The comparisons that were reached, and those that were true."""

    def __init__(self) -> None:
        self._known: set[Any] = set()
        self._for_place: dict[Any, int] = {}

    def note(self, comparisons: Sequence[Comparison]) -> bool:
        """Remember the comparisons of a run; whether one was reached or true that had not been before."""
        before = len(self._known)
        for one, milestone in zip(comparisons, _milestones(comparisons), strict=True):
            self._remember(_reached(one))
            if one.holds:
                self._remember(milestone)
        return len(self._known) > before

    def not_yet_true(self, comparisons: Sequence[Comparison]) -> list[bool]:
        """For each comparison of a run, whether it would be new that it is true."""
        return [milestone not in self._known for milestone in _milestones(comparisons)]

    def _remember(self, milestone: Any) -> None:
        place = milestone[:2]
        if milestone not in self._known and self._for_place.get(place, 0) < _MOST_FOR_A_PLACE:
            self._known.add(milestone)
            self._for_place[place] = self._for_place.get(place, 0) + 1


def _milestones(comparisons: Sequence[Comparison]) -> Iterator[Any]:
    """For each comparison what is remembered if it is true, with how often an equal one was true before it."""
    counts: Counter[Any] = Counter()
    for one in comparisons:
        key = _true(one)
        yield *key, min(counts[key], _MOST_REPETITIONS)
        counts[key] += one.holds


def _true(comparison: Comparison) -> Any:
    """What is remembered of a comparison that was true: its place, and what was compared with the input."""
    others = [
        argument
        for argument, origin in zip(comparison.arguments, comparison.origins, strict=True)
        if not origin and type(argument) in (str, bytes, int, float)
    ]
    return comparison.site, comparison.function, tuple((type(one), _told_apart(one)) for one in others)


def _told_apart(value: Any) -> Any:
    """What tells a value from others: the start of a text, the text of a float (`nan` is not equal to itself)."""
    return value if type(value) is int else str(value) if type(value) is float else value[:_SHORT]


def _reached(comparison: Comparison) -> Any:
    """What is remembered of a comparison that was reached: its place, and the types of the operands."""
    types = tuple(map(type, comparison.arguments))
    return (
        comparison.site,
        comparison.function,
        types,
        comparison.paths.count(None),
        tuple(map(bool, comparison.origins)),
    )
