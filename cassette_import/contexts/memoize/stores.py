"""Where `memoize` keeps results: in memory, or in a folder, by diskcache.

Knows keys and results as bytes or objects; must not know how they are made.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any, ClassVar, Protocol

from cassette_import import reflect
from cassette_import.contexts.common.targets import target_name
from cassette_import.contexts.memoize.argument_keys import Remembered

__all__ = ["Folder", "Memory", "Store"]


class Store(Protocol):
    """Keeps results by function and arguments."""

    lasts: ClassVar[bool]
    """Whether what is kept is there in the next run, so that keys must mean the same then."""

    def identity(self, function: Any) -> Hashable:
        """What stands for a function in this store."""

    def get(self, function: Hashable, key: Any) -> Remembered | None:
        """What is kept, if anything is."""

    def put(self, function: Hashable, key: Any, result: Remembered) -> None:
        """Keep a result."""

    def clear(self) -> None:
        """Forget everything."""


class Memory:
    """Results in memory; with a limit, what was not asked for longest is forgotten first."""

    lasts: ClassVar[bool] = False

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._known: OrderedDict[Any, Remembered] = OrderedDict()
        self._lock = Lock()

    def identity(self, function: Any) -> Hashable:
        """Its identity; the context keeps it alive."""
        return id(function)

    def get(self, function: Hashable, key: Any) -> Remembered | None:
        """See `Store.get`."""
        found = self._known.get((function, key))
        if found is not None and self._limit is not None:
            with self._lock:
                if (function, key) in self._known:
                    self._known.move_to_end((function, key))
        return found

    def put(self, function: Hashable, key: Any, result: Remembered) -> None:
        """See `Store.put`."""
        with self._lock:
            self._known[function, key] = result
            if self._limit is not None and len(self._known) > self._limit:
                self._known.popitem(last=False)

    def clear(self) -> None:
        """See `Store.clear`."""
        with self._lock:
            self._known.clear()


class Folder:
    """Results in a folder, from run to run, for several processes at once. What cannot be read is not there."""

    lasts: ClassVar[bool] = True

    def __init__(self, path: str) -> None:
        try:
            import diskcache
        except ModuleNotFoundError:
            raise ValueError("folder= needs diskcache: install cassette_import[memoize]") from None
        try:
            self._cache: Any = diskcache.Cache(path, eviction_policy="none")
        except Exception as error:  # of the file system, or of SQLite
            raise ValueError(f"the folder {path} cannot be used: {' '.join(str(error).split())}") from None

    def identity(self, function: Any) -> Hashable:
        """Its name and source, and Python's version: what is kept is of no use to another function."""
        reflection = reflect(function)
        source = reflection.source if reflection is not None else ""
        text = f"{target_name(function)}\n{sys.version_info[:2]}\n{source}"
        return hashlib.sha256(text.encode()).digest()

    def get(self, function: Hashable, key: Any) -> Remembered | None:
        """See `Store.get`."""
        try:
            found = self._cache.get(_digest(function, key))
            return None if found is None else _checked(found)
        except Exception:  # a damaged file, a class that is no longer there
            return None

    def put(self, function: Hashable, key: Any, result: Remembered) -> None:
        """See `Store.put`."""
        try:
            self._cache.set(_digest(function, key), result.pickled())
        except Exception:  # a full disk, a lock that somebody else holds: it is made again next time
            return

    def clear(self) -> None:
        """See `Store.clear`."""
        self._cache.clear()


def _checked(pickled: bytes) -> Remembered:
    pickle.loads(pickled)
    return Remembered(pickled, is_pickled=True)


def _digest(function: Any, key: bytes) -> bytes:
    return hashlib.sha256(function + key).digest()
