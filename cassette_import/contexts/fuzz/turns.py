"""Whose turn it is, the fast tier's or the tagged one's.

A search that ends after a number of executions counts, so that it can be repeated; one that ends by the clock shares
its time.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Turns"]

_FAST_AT_FIRST: Final = 200
_COST_OF_RUN: Final = 20
_VALUES_OF_COST: Final = 4
"""A tagged run is followed by so many fast ones, and one more for each so many values that it has tagged."""
_SHARE_OF_NEW: Final = 0.5
_SHARE_OF_RANDOM: Final = 0.2
"""The shares of the time for the tagged tier: as long as there are inputs that it has not seen, and without any."""


class Turns:
    """Counts what both tiers have done.

    Parameters
    ----------
    by_clock:
        Whether the tiers share the time; otherwise, each tagged run has a cost in fast ones.

    Attributes
    ----------
    cost:
        How many fast runs the last tagged one is worth.
    debt:
        How many fast runs are still to follow before the next tagged one.
    """

    def __init__(self, by_clock: bool) -> None:
        self.cost = 0
        self.debt = _FAST_AT_FIRST
        self._by_clock = by_clock
        self._rounds = 0
        self._spent = {True: 0.0, False: 0.0}

    def is_tagged_due(self, has_new: bool) -> bool:
        """Whether the next round is a tagged one, given that there are kept inputs which were not observed yet."""
        if not self._by_clock:
            return self.debt <= 0
        share = _SHARE_OF_NEW if has_new else _SHARE_OF_RANDOM
        return self._rounds >= _FAST_AT_FIRST and self._spent[True] <= share * sum(self._spent.values())

    def note_round(self, is_tagged: bool, seconds: float) -> None:
        """A round is over."""
        self._rounds += 1
        self._spent[is_tagged] += seconds

    def note_tagged_run(self, values: int) -> None:
        """A tagged run has tagged so many values."""
        self.cost = _COST_OF_RUN + values // _VALUES_OF_COST
        self.debt += self.cost
