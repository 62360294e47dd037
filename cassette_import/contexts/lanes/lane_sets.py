"""Sets of lanes, and the run that they belong to: which lanes are active, which have been dropped.

A run calls the function once for a group of lanes. All lanes that are active take the same path. Where they cannot,
some are dropped: the run goes on without them, and they are run again by themselves, from the start. No decision is
ever remembered, so none can be used for the wrong lane.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.errors import place
from cassette_import.errors import CassetteError

__all__ = ["LaneSet", "Lanes", "NotInSet", "ToldApart"]

# ---- lists and dicts that stand for others, of which each lane had one
#
# Two equal objects are told apart by a change of one that the other does not show, or by `is`. The lanes are then run
# again without such containers.

_FEW: Final = 16


class ToldApart(CassetteError):
    """The program tells a container from one that it stands for. The lanes have to be run again."""


class _MergedContainers:
    """The containers of a run that stand for others.

    Parameters
    ----------
    is_allowed:
        Whether there may be any.
    """

    def __init__(self, is_allowed: bool) -> None:
        self.is_allowed = is_allowed
        self._records: list[list[Any]] = []
        """Each container, followed by those that it stands for."""
        self._ids: set[int] = set()
        self._most = _FEW

    def note(self, made: Any, sources: list[Any]) -> None:
        """Note that a container stands for others."""
        self._records.append([made, *sources])
        self._ids.update(map(id, self._records[-1]))
        if len(self._records) > self._most:
            known = self._known()
            self._keep([record for record in self._records if self._is_used(record, 0, known)])
            self._most = max(_FEW, 2 * len(self._records))

    def is_told_apart(self, container: Any, noted: list[Container[int]]) -> bool:
        """Whether a change of a container shows that it is not the one that stands for it, or that it stands for.

        Parameters
        ----------
        container:
            What is about to change.
        noted:
            Other tables that refer to objects, by identity.
        """
        if id(container) not in self._ids:
            return False
        known, left = self._known(), []
        for record in self._records:
            places = range(1, len(record)) if record[0] is container else (0,)
            if any(one is container for one in record):
                if any(self._is_used(record, place, known, noted) for place in places):
                    return True
            else:
                left.append(record)
        self._keep(left)
        return False

    def forget(self) -> None:
        """Release all containers."""
        self._keep([])

    def stands(self, value: Any) -> bool:
        """Whether an object stands for others, or another one stands for it."""
        return id(value) in self._ids

    def _keep(self, records: list[list[Any]]) -> None:
        self._records = records
        self._ids = {id(one) for record in records for one in record}

    def _known(self) -> dict[int, int]:
        counts: dict[int, int] = {}  # no `Counter`, whose methods are in Python, and converted
        for record in self._records:
            for key in map(id, record):
                counts[key] = counts.get(key, 0) + 1
        return counts

    def _is_used(self, record: list[Any], place: int, known: dict[int, int], noted: Any = ()) -> bool:
        """Whether something else refers to an object."""
        key = id(record[place])
        return sys.getrefcount(record[place]) > 1 + known[key] + sum(key in table for table in noted)


# ---- sets of lanes, and the run that they belong to: which lanes are active, which have been dropped


class NotInSet(Exception):
    """Some lanes of a set are not in another one. The argument is the array of their numbers."""


class LaneSet:
    """Lanes of a run, by number, in ascending order.

    Parameters
    ----------
    ids:
        The numbers; None if they are to be taken from the parent, or if these are all lanes.
    version:
        How many times lanes had been dropped when this set was right.
    parent, index:
        A set that has all these lanes, and where they are in it, if that is known.
    everything:
        How many lanes the run has, if these are all.
    """

    __slots__ = ("_ids", "_index", "_parent", "_positions", "is_everything", "later", "size", "version")

    def __init__(
        self, ids: Any, version: int, parent: LaneSet | None = None, index: Any = None, everything: int | None = None
    ) -> None:
        self._ids = ids
        self.is_everything = everything is not None
        """Whether these are all lanes of the run, so that positions in this set are numbers."""
        self.size = everything if everything is not None else len(index if ids is None else ids)
        self.version = version
        self.later: LaneSet | None = None
        """This set without the lanes that have been dropped since."""
        self._parent = parent
        self._index = index
        self._positions: dict[int, tuple[LaneSet, Any]] = {}

    @property
    def ids(self) -> Any:
        """The numbers of the lanes. They are made when they are needed first."""
        if self._ids is None:
            parent = self._parent
            self._ids = np.arange(self.size) if parent is None else parent.ids[self._index]
        return self._ids

    def positions_in(self, other: LaneSet) -> Any:
        """Where the lanes of this set are in another one.

        Raises
        ------
        NotInSet
            If some are not there.
        """
        if other is self._parent:
            return self._index
        if other.is_everything:
            return self.ids
        known = self._positions.get(id(other))
        if known is not None:
            return known[1]
        positions = self._found_in(other)
        self._positions[id(other)] = other, positions
        return positions

    def _found_in(self, other: LaneSet) -> Any:
        if self._parent is not None:
            try:
                return self._parent.positions_in(other)[self._index]
            except NotInSet:  # lanes of the parent that this set does not have
                pass
        if not other.size:
            raise NotInSet(self.ids)
        positions = np.minimum(np.searchsorted(other.ids, self.ids), other.size - 1)
        inside = other.ids[positions] == self.ids
        if not inside.all():
            raise NotInSet(self.ids[~inside])
        return positions

    def part(self, which: Any) -> LaneSet:
        """The lanes for which a boolean array is true."""
        index = which.nonzero()[0]
        return LaneSet(index if self.is_everything else None, self.version, self, index)


class Lanes:
    """The lanes of one run."""

    def __init__(self, size: int, merges_containers: bool = True) -> None:
        self.version = 0
        self.log: Any = None
        """What the run has changed: `effects.Changes`."""
        self.containers = _MergedContainers(merges_containers)
        self.splits: dict[str, int] = {}
        """How often lanes have been dropped, by the place and the reason."""
        self.whole = self.active = LaneSet(None, 0, everything=size)
        """The lanes that execute the present code. They agree on everything that has been decided on the way."""
        self.alive = size
        """How many lanes have not been dropped."""
        self.dropped: Any = np.zeros(size, bool)
        self.groups: list[Any] = []
        """The groups of lanes that were dropped, as arrays of numbers."""
        self.failure: Exception | None = None
        """Why the run cannot go on. It is raised again if the program catches it."""

    def refuse(self, error: Exception) -> Exception:
        """Note that the run cannot go on; return the error, to be raised."""
        if self.failure is None:
            self.failure = error
        return error

    @property
    def masked(self) -> bool:
        """Whether some lanes of the run do not execute the present code, because it is one side of a branch."""
        return self.active.size < self.alive

    def current(self, lanes: LaneSet) -> LaneSet:
        """A set without the lanes that have been dropped since it was made."""
        while lanes.version != self.version:
            if lanes.later is not None:
                lanes = lanes.later
                continue
            gone = self.dropped[lanes.ids]
            if gone.any():
                lanes.later = lanes.part(~gone)
                lanes.later.version = self.version
                lanes = lanes.later
            else:
                lanes.version = self.version
        return lanes

    def drop(self, ids: Any, why: str = "they take different paths") -> None:
        """Go on without some lanes, which will be run by themselves."""
        ids = ids[~self.dropped[ids]]
        if not len(ids):
            return
        where = f"{place()}: {why}"
        self.splits[where] = self.splits.get(where, 0) + 1
        self.dropped[ids] = True
        self.alive -= len(ids)
        self.version += 1
        self.groups.append(ids)
        self.active = self.current(self.active)
        self.whole = self.current(self.whole)

    def commit(self) -> None:
        """Go on with the active lanes alone: whatever happens now, happens to all lanes of the run."""
        if self.masked:
            self.drop(self.whole.ids[~self.inside(self.whole, self.active)])

    def keep_only(self, lanes: LaneSet) -> None:
        """Drop the lanes of a set that are not active."""
        here = self.current(lanes)
        self.drop(here.ids[~self.inside(here, self.active)])

    def inside(self, lanes: LaneSet, other: LaneSet) -> Any:
        """For each lane of a set, whether it is in another one."""
        marks: Any = np.zeros(len(self.dropped), bool)
        marks[other.ids] = True
        return marks[lanes.ids]

    def union(self, sets: list[LaneSet], among: LaneSet) -> LaneSet:
        """The union of disjoint sets; the set `among` itself if they are all of it."""
        among = self.current(among)
        sets = [one for one in map(self.current, sets) if one.size]
        if sum(one.size for one in sets) == among.size:
            return among
        if len(sets) == 1:
            return sets[0]
        if not sets:
            return LaneSet(np.arange(0), self.version)
        which: Any = np.zeros(among.size, bool)
        for one in sets:
            which[one.positions_in(among)] = True
        return among.part(which)
