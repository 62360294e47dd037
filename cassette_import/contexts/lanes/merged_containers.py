"""Lists and dicts that stand for others, of which each lane had one: a run is right while nothing tells them apart.

Two equal objects are told apart by a change of one that the other does not show, or by `is`. The lanes are then run
again without such containers.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Any, Final

from cassette_import.errors import CassetteError

__all__ = ["MergedContainers", "ToldApart"]

_FEW: Final = 16


class ToldApart(CassetteError):
    """The program tells a container from one that it stands for. The lanes have to be run again."""


class MergedContainers:
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
        found: dict[int, int] = {}  # no `Counter`, whose methods are in Python, and converted
        for record in self._records:
            for key in map(id, record):
                found[key] = found.get(key, 0) + 1
        return found

    def _is_used(self, record: list[Any], place: int, known: dict[int, int], noted: Any = ()) -> bool:
        """Whether something else refers to an object."""
        key = id(record[place])
        return sys.getrefcount(record[place]) > 1 + known[key] + sum(key in table for table in noted)
