"""The statistics of profiles of several processes, added up for one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from cassette_import.contexts.common.function_names import Label
from cassette_import.contexts.profile.statistics import CallSite, CallStatistics, Statistics

__all__ = ["SummedStatistics"]

_Key = TypeVar("_Key")


class SummedStatistics:
    """What the table of a profile shows, of one process or of several; it can be pickled.

    Attributes
    ----------
    overhead, specialised, specialising:
        See `Statistics`.
    """

    def __init__(self, statistics: Statistics | None = None) -> None:
        self.overhead = statistics.overhead if statistics else 0.0
        self.specialised = statistics.specialised if statistics else 0
        self.specialising = statistics.specialising if statistics else 0.0
        self._totals = statistics.totals() if statistics else {}
        self._roots = statistics.roots() if statistics else set()
        self._call_sites = statistics.call_sites() if statistics else {}

    def add(self, other: SummedStatistics) -> None:
        """Add the statistics of another process. No call of one process is inside a call of another one."""
        self.overhead += other.overhead
        self.specialised += other.specialised
        self.specialising += other.specialising
        self._roots |= other._roots
        _add(self._totals, other._totals)
        _add(self._call_sites, other._call_sites)

    def totals(self) -> dict[Label, CallStatistics]:
        """See `Statistics.totals`."""
        return self._totals

    def roots(self) -> set[Label]:
        """See `Statistics.roots`."""
        return self._roots

    def call_sites(self) -> dict[CallSite, CallStatistics]:
        """See `Statistics.call_sites`."""
        return self._call_sites


def _add(sums: dict[_Key, CallStatistics], others: Mapping[_Key, CallStatistics]) -> None:
    for key, other in others.items():
        found = sums.setdefault(key, CallStatistics())
        found.calls += other.calls
        found.primitive += other.primitive
        found.self_time += other.self_time
        found.cumulative += other.cumulative
