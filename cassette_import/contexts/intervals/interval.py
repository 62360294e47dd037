"""Intervals, and the errors of code for which no enclosure is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cassette_import.contexts.intervals.rules import bounds
from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.runtime.dispatch.call_sites import CallSite
from cassette_import.runtime.tagging.lost_metadata import leaf_name

__all__ = ["Interval", "NotEnclosed", "Undecided"]


class Interval(NamedTuple):
    """All numbers from `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return bool(self.low <= value <= self.high)  # type: ignore[operator]  # numbers alone

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.high - self.low


class Undecided(CassetteError):
    """A comparison or a rounding whose result the enclosures of its operands do not decide. `site` is its call site."""

    def __init__(self, function: Any, operands: Sequence[Any], site: CallSite) -> None:
        self.site = site
        shown = " and ".join(f"[{low:.17g}, {high:.17g}]" for low, high in map(bounds, operands))
        super().__init__(
            f"{function.__name__} of {shown} is undecided, at {site}: {site.source}\n"
            "Give narrower intervals, or let both branches run: enclosure(f, ..., splits=10)"
        )


class NotEnclosed(NotOverdubbable):
    """A function without a rule computed a number from enclosed ones. `site` is its call site."""

    def __init__(self, function: Any, site: CallSite, reason: str) -> None:
        self.site = site
        super().__init__(
            f"{reason} {leaf_name(function)}, at {site}: {site.source}\n"
            "Compute the same with functions that have one, or, if it is Python, install its package"
        )
