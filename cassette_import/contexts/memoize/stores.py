"""The stores of `memoize`: results are cached in memory, with diskcache in a folder, or in a mapping of the user."""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, MutableMapping
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any, ClassVar, Final, Protocol

from cassette_import.contexts.memoize.argument_keys import on_one_line
from cassette_import.contexts.memoize.cached_results import CachedResult
from cassette_import.contexts.memoize.file_locks import FileLocks
from cassette_import.contexts.memoize.function_digests import digest_of
from cassette_import.errors import CassetteError
from cassette_import.interpreter.installed_packages import needs
from cassette_import.interpreter.when_gone import when_gone

__all__ = ["Folder", "LockError", "Memory", "ResultLock", "Shared", "Store"]


class ResultLock(Protocol):
    """The lock of one result: who holds it computes the result, and others wait until it is there."""

    def release(self) -> None:
        """Let the next thread or process have the lock."""


class LockError(CassetteError):
    """The lock of a result could not be taken, so another process may be computing the result."""


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

    def lock(self, function: Hashable, key: Any) -> ResultLock | None:
        """Wait for the lock of a result, and take it; None if the store has no locks."""

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

    def lock(self, function: Hashable, key: Any) -> None:
        """See `Store.lock`."""

    def clear(self) -> None:
        """See `Store.clear`."""
        with self._lock:
            self._results.clear()


_open_caches: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


@atexit.register
def _close_caches() -> None:
    for cache in list(_open_caches):
        cache.close()


class _ByDigest:
    """A store whose keys are the same in other processes and later runs."""

    def __init__(self) -> None:
        self._digests: dict[int, tuple[Any, bytes]] = {}

    def identity(self, function: Any) -> Hashable:
        """The digest of the function: a changed function starts anew."""
        return self.digest(function)

    def digest(self, function: Any) -> bytes:
        """The digest of a function or class, computed once."""
        known = self._digests.get(id(function))
        if known is None:  # the function is kept alive, so that no other one gets its identity
            known = self._digests[id(function)] = function, digest_of(function)
        return known[1]


class Folder(_ByDigest):
    """Results in a folder, for later runs and for several processes at once. An unreadable result counts as missing."""

    def __init__(self, path: str) -> None:
        super().__init__()
        try:
            from diskcache import Cache
        except ImportError:
            raise ValueError(needs("folder=", "diskcache", "memoize")) from None
        try:
            self._cache: Any = Cache(path, eviction_policy="none")
        except Exception as error:  # from the file system, or from SQLite
            raise ValueError(f"the folder {path} cannot be used: {' '.join(str(error).split())}") from None
        self._locks = FileLocks(os.path.join(path, "computing"))
        # CPython 3.13 warns of databases that are not closed.
        _open_caches.add(self._cache)
        when_gone(self, self._cache.close)

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

    def lock(self, function: Hashable, key: Any) -> ResultLock | None:
        """See `Store.lock`. Other threads and processes wait; they do not wait for a process that is killed."""
        return self._locks.hold(_digest(function, key).hex())

    def clear(self) -> None:
        """See `Store.clear`."""
        self._cache.clear()


_PREFIX: Final = "cassette_import:memoize:"


class Shared(_ByDigest):
    """Results in a mapping of the user, such as a database: texts as keys, bytes as values.

    Only `mapping[key]` and `mapping[key] = value` are needed for calls, and what fails there counts as missing.
    """

    def __init__(
        self, mapping: MutableMapping[str, bytes], locks: Callable[[str], AbstractContextManager[Any]] | None
    ) -> None:
        super().__init__()
        self._mapping = mapping
        self._locks = locks
        self.unreleased: Counter[str] = Counter()
        """Why locks could not be released: they had ended before, for example."""

    def get(self, function: Hashable, key: Any) -> CachedResult | None:
        """See `Store.get`."""
        try:
            return _checked(self._mapping[_name(function, key)])
        except Exception:  # a missing key, a lost connection, or a class that does not exist any more
            return None

    def put(self, function: Hashable, key: Any, result: CachedResult) -> None:
        """See `Store.put`."""
        try:
            self._mapping[_name(function, key)] = result.pickled()
        except Exception:  # a lost connection: the next call is a miss
            return

    def lock(self, function: Hashable, key: Any) -> ResultLock | None:
        """See `Store.lock`."""
        if self._locks is None:
            return None
        try:
            lock = self._locks(_name(function, key))
            lock.__enter__()
        except Exception as error:
            raise LockError(
                f"a lock of memoize cannot be taken: {_described(error)}; check what makes the locks (locks=)"
            ) from error
        return _LockOfUser(lock, self.unreleased)

    def clear(self) -> None:
        """See `Store.clear`. Other keys of the mapping stay."""
        names: list[Any] = list(self._mapping)
        for name in names:
            text = name.decode() if isinstance(name, bytes) else name  # clients of databases have bytes
            if text.startswith(_PREFIX):
                del self._mapping[name]


class _LockOfUser:
    """A lock of the user's, which was taken. Why it could not be released is counted."""

    def __init__(self, lock: AbstractContextManager[Any], unreleased: Counter[str]) -> None:
        self._lock = lock
        self._unreleased = unreleased

    def release(self) -> None:
        """See `ResultLock.release`. The result is there, or its exception, whatever the lock says."""
        try:
            self._lock.__exit__(None, None, None)
        except Exception as error:
            self._unreleased[_described(error)] += 1


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {on_one_line(error)}"


def _checked(pickled: bytes) -> CachedResult:
    pickle.loads(pickled)
    return CachedResult(pickled, is_pickled=True)


def _name(function: Any, key: bytes) -> str:
    return _PREFIX + _digest(function, key).hex()


def _digest(function: Any, key: bytes) -> bytes:
    return hashlib.sha256(function + key).digest()
