"""The stores of `memoize`: results are cached in memory, or with diskcache in a folder.

Knows keys and results, as objects or bytes; must not know how they are made.
"""

from __future__ import annotations

import hashlib
import pickle
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, ClassVar, Protocol

from cassette_import.contexts.memoize.cached_results import CachedResult
from cassette_import.contexts.memoize.function_digests import digest_of

__all__ = ["Folder", "Memory", "Store"]


class Store(Protocol):
    """Stores results by function and arguments."""

    @property
    def digest(self) -> Callable[[Any], object] | None:
        """What identifies functions in the next run, if results are still stored then."""

    def identity(self, function: Any) -> Hashable:
        """The key of a function in this store.

        Raises
        ------
        CannotCache
            If another run could not tell the function from another one.
        """

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """The stored result, or None."""

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """Store a result."""

    def clear(self) -> None:
        """Delete all results."""


class Memory:
    """Results in memory. With a limit, the least recently used result is deleted first."""

    digest: ClassVar[None] = None

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._results: OrderedDict[Any, CachedResult] = OrderedDict()
        self._lock = Lock()

    def identity(self, function: Any) -> Hashable:
        """The identity of the function; the context keeps the function alive."""
        return id(function)

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """See `Store.get`."""
        found = self._results.get((function, key))
        if found is not None and self._limit is not None:
            with self._lock:
                if (function, key) in self._results:
                    self._results.move_to_end((function, key))
        return found

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """See `Store.put`."""
        with self._lock:
            self._results[function, key] = result
            if self._limit is not None and len(self._results) > self._limit:
                self._results.popitem(last=False)

    def clear(self) -> None:
        """See `Store.clear`."""
        with self._lock:
            self._results.clear()


class Folder:
    """Results in a folder, for later runs and for several processes at once. An unreadable result counts as missing."""

    def __init__(self, path: str) -> None:
        try:
            import diskcache
        except ModuleNotFoundError:
            raise ValueError("folder= needs diskcache: install cassette_import[memoize]") from None
        try:
            self._cache: Any = diskcache.Cache(path, eviction_policy="none")
        except Exception as error:  # from the file system, or from SQLite
            raise ValueError(f"the folder {path} cannot be used: {' '.join(str(error).split())}") from None
        self._digests: dict[int, tuple[Any, bytes]] = {}
        weakref.finalize(self, self._cache.close)  # CPython 3.13 warns of databases that are not closed

    def identity(self, function: Any) -> Hashable:
        """The digest of the function: a changed function starts anew."""
        return self.digest(function)

    def digest(self, function: Any) -> bytes:
        """The digest of a function or class, computed once."""
        known = self._digests.get(id(function))
        if known is None:  # the function is kept alive, so that no other one gets its identity
            known = self._digests[id(function)] = function, digest_of(function)
        return known[1]

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """See `Store.get`."""
        try:
            found = self._cache.get(_digest(function, key))
            return None if found is None else _checked(found)
        except Exception:  # a damaged file, or a class that does not exist any more
            return None

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """See `Store.put`."""
        try:
            self._cache.set(_digest(function, key), result.pickled())
        except Exception:  # a full disk, or a lock that another process holds: the next call is a miss
            return

    def clear(self) -> None:
        """See `Store.clear`."""
        self._cache.clear()


def _checked(pickled: bytes) -> CachedResult:
    pickle.loads(pickled)
    return CachedResult(pickled, is_pickled=True)


def _digest(function: Any, key: bytes) -> bytes:
    return hashlib.sha256(function + key).digest()
