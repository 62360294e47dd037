"""`Memoize`: chosen functions run once for each set of arguments; further calls return the cached result.

A result is cached only where this is correct. Arguments are compared by type and state, mutable ones too. Mutable
results are returned as new copies. A call that changes its arguments, returns one of them, or has arguments that
cannot be compared is never cached.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from contextlib import AbstractContextManager
from sys import getrefcount
from typing import Any, Final

from cassette_import.activation.context import current
from cassette_import.activation.verbs import recurse
from cassette_import.contexts.memoize.cached_results import (
    CachedResult,
    CannotCache,
    Key,
    cached_result,
    held_by_callable,
    in_order,
    takes_others,
)
from cassette_import.contexts.memoize.stores import Folder, Memory, Shared, Store
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.coroutines import standing_for
from cassette_import.kits.interception import TargetedContext
from cassette_import.kits.reporting import Writer
from cassette_import.kits.targets import ResolvedTarget, Target, never_called, resolve_target, split_targets
from cassette_import.kits.text import plural, text_writer

__all__ = ["Memoize"]

_SHOWN_REASONS: Final = 5
"""How many different reasons for not caching a summary shows."""


def _references() -> int:
    """How many references to a result `getrefcount` counts if only a variable holds it."""
    result = object()
    return getrefcount(result)


_REFERENCES: Final = _references()


class _Statistics:
    """Hits and misses of the calls of one function."""

    __slots__ = ("calls", "hits", "reasons")

    def __init__(self) -> None:
        self.calls = self.hits = 0
        self.reasons: Counter[str] = Counter()

    @property
    def misses(self) -> int:
        return self.calls - self.hits - self.reasons.total()


class Memoize(TargetedContext):
    """Caches the results of chosen functions, and does not run them again for the same arguments.

    Parameters
    ----------
    functions:
        The functions: callables, or text, ``"package.module.function"``.
    limit:
        How many results are cached in memory; the least recently used one is deleted first. By default all are.
    folder:
        A folder in which to cache results for later runs, instead of in memory. Needs the extra `memoize`. The results
        of a function whose source has changed are not used. Those of its callers are: delete the folder then.
    store:
        A mapping of texts to bytes in which to cache results instead, such as a client of Redis.
    locks:
        With `store`: makes the lock of a key, a context manager. Without it, two processes may compute one result. A
        lock that cannot be taken is a `LockError`; one that cannot be released is counted in the summary.

    Raises
    ------
    ValueError
        If a text names no function, a function is a generator function, or the folder cannot be used. The message is
        one line.

    On the command line, ``-c memoize:functions=package.f+package.g,limit=1000``.

    Choose only functions whose results depend on nothing but their arguments. Exceptions are not cached.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> memoize = Memoize(colorsys.rgb_to_hls)
    >>> greys = [overdub(memoize, colorsys.rgb_to_hls, 0.5, 0.5, 0.5) for _ in range(3)]
    >>> greys
    [(0.0, 0.5, 0.0), (0.0, 0.5, 0.0), (0.0, 0.5, 0.0)]
    >>> print(memoize.summary())
    memoize: colorsys.rgb_to_hls: 3 calls, 2 hits, 1 miss
    """

    def __new__(cls, *functions: Target, **options: Any) -> Memoize:
        """Make an instance of the type that overloads these functions."""
        if not functions:
            raise ValueError("no function is given: name those to cache, as module.function")
        return cls.for_targets([_checked(resolve_target(function)) for function in functions])

    def __init__(
        self,
        *functions: Target,
        limit: int | None = None,
        folder: str | None = None,
        store: MutableMapping[str, bytes] | None = None,
        locks: Callable[[str], AbstractContextManager[Any]] | None = None,
    ) -> None:
        super().__init__()
        if limit is not None:
            _check_limit(limit)
        if limit is not None and folder is not None:
            raise ValueError("a folder stores all results: give limit= or folder=, not both")
        if store is not None and (limit is not None or folder is not None):
            raise ValueError("store says where results are: give no limit= and no folder=")
        if locks is not None and store is None:
            raise ValueError("locks are those of a store: give store=, too")
        if store is not None and not (hasattr(store, "__getitem__") and hasattr(store, "__setitem__")):
            raise ValueError(f"store is a mapping of texts to bytes, not {type(store).__name__}")
        self._store: Store
        if store is not None:
            self._store = Shared(store, locks)
        else:
            self._store = Memory(limit) if folder is None else Folder(str(folder))
        self._identities: dict[int, Hashable] = {}
        self._with_others = {id(target) for target in self._targets if takes_others(target.function)}
        self._unidentified: dict[int, str] = {}  # why functions have no key, by the identity of the target
        self._statistics = {id(target): _Statistics() for target in self._targets}
        targets, statistics = self._targets, self._statistics
        self.report_unmatched(lambda: [target.name for target in targets if not statistics[id(target)].calls])

    @classmethod
    def from_options(cls, *, functions: str, limit: Any = None, folder: Any = None) -> Memoize:
        """What the command line makes of ``functions=…,key=value,…``.

        Parameters
        ----------
        functions:
            Dotted names of the functions, separated by ``+``: ``functions=shop.price+shop.tax``.
        """
        return cls(*split_targets(str(functions)), limit=limit, folder=folder)

    @hidden
    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Return the cached result, or make the call and cache its result."""
        target = self.target_of(function, arguments)
        key = None if target is None else self._key(target, arguments, keywords)
        cached = None if key is None else self._cached(target, key)
        is_coroutine = inspect.iscoroutinefunction(function)
        lock = None
        result = None  # certainly bound: CPython 3.14 takes a reference to a variable only if it may be unbound
        if cached is None and key is not None and not is_coroutine:
            lock = self._store.lock(self._identities[id(target)], key.value)
        try:
            if lock is not None and key is not None:
                cached = self._cached(target, key)  # while this call waited, or before it began to wait
            if cached is not None:
                return standing_for(_as_coroutine(cached), function, None) if is_coroutine else cached.value()
            # As in `proceed`, but without its frame: cached functions are often recursive.
            if current() is None:
                with self:
                    result = function(*arguments, **keywords)
            else:
                result = recurse(self, function, *arguments, **keywords)
            if key is None:
                return result
            if is_coroutine:
                return standing_for(self._awaited(target, key, result), function, result)
            others = getrefcount(result) - _REFERENCES
            self._cache(target, key, result, others)
            return result
        finally:
            if lock is not None:
                lock.release()

    def _key(self, target: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Key | None:
        statistics = self._statistics[id(target)]
        with self._lock:
            statistics.calls += 1
        try:
            if id(target) not in self._identities:
                self._identify(target)
            if len(keywords) > 1:
                others = id(target) in self._with_others
                keywords = in_order(keywords, target.function) if others else dict(sorted(keywords.items()))
            return Key(arguments, keywords, self._store.digest, held_by_callable(target.function))
        except CannotCache as reason:
            self._not_cached(statistics, reason)
            return None

    def _cached(self, target: Any, key: Key) -> CachedResult | None:
        cached = self._store.get(self._identities[id(target)], key.value)
        if cached is not None:
            with self._lock:
                self._statistics[id(target)].hits += 1
        return cached

    def _identify(self, target: Any) -> None:
        """Find the key of the function in the store, at its first call; raise if it has none."""
        if id(target) not in self._unidentified:
            try:
                self._identities[id(target)] = self._store.identity(target.function)
            except CannotCache as reason:
                self._unidentified[id(target)] = str(reason)
            else:
                return
        raise CannotCache(self._unidentified[id(target)])

    def _cache(self, target: Any, key: Key, result: Any, others: int) -> None:
        try:
            key.check_unchanged()
            self._store.put(self._identities[id(target)], key.value, cached_result(result, key, others))
        except CannotCache as reason:
            self._not_cached(self._statistics[id(target)], reason)

    async def _awaited(self, target: Any, key: Key, call: Any) -> Any:
        result = await call
        others = getrefcount(result) - _REFERENCES
        self._cache(target, key, result, others)
        return result

    def _not_cached(self, statistics: _Statistics, reason: CannotCache) -> None:
        with self._lock:
            statistics.reasons[str(reason)] += 1

    def forked(self) -> None:
        """Start with no calls in a forked process; the cached results stay."""
        super().forked()
        for statistics in self._statistics.values():
            statistics.calls = statistics.hits = 0
            statistics.reasons.clear()

    def clear(self) -> None:
        """Delete all cached results; the statistics stay."""
        self._store.clear()

    def statistics(self) -> dict[str, dict[str, Any]]:
        """For each function: its `calls`, of them `hits` and `misses`, and the `uncacheable` ones by reason."""
        with self._lock:
            return {
                target.name: {
                    "calls": it.calls,
                    "hits": it.hits,
                    "misses": it.misses,
                    "uncacheable": dict(it.reasons.most_common()),
                }
                for target in self._targets
                for it in (self._statistics[id(target)],)
            }

    def portable_results(self) -> dict[str, dict[str, Any]]:
        """See `Merging`: the statistics. Results are shared by a folder alone."""
        return self.statistics()

    def add_results(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        """See `Merging`: the statistics of a function are added up."""
        with self._lock:
            for target in self._targets:
                it, other = self._statistics[id(target)], results[target.name]
                it.calls += other["calls"]
                it.hits += other["hits"]
                it.reasons.update(other["uncacheable"])

    @property
    def merged_formats(self) -> Mapping[str, Writer]:
        """See `Merging`."""
        return self.formats

    def summary(self) -> str:
        """The hits and misses of each function, and why calls were not cached."""
        lines: list[str] = []
        for name, figures in self.statistics().items():
            lines += _lines(name, **figures)
        unreleased = self._store.unreleased.items() if isinstance(self._store, Shared) else ()
        lines += [f"{plural(count, 'lock')} could not be released: {why}" for why, count in unreleased]
        return "memoize: " + "\n  ".join(lines) if len(self._targets) == 1 else "\n  ".join(["memoize:", *lines])

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for the statistics."""
        return {
            ".txt": text_writer(self.summary),
            ".json": text_writer(lambda: json.dumps(self.statistics(), indent=2)),
        }


def _check_limit(limit: Any) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit is a number of results, from 1 on, not {limit!r}")


async def _as_coroutine(cached: CachedResult) -> Any:
    return cached.value()


def _checked(target: ResolvedTarget) -> ResolvedTarget:
    if inspect.isgeneratorfunction(target.function) or inspect.isasyncgenfunction(target.function):
        raise ValueError(
            f"{target.name} is a generator function: generators can be used only once, so they cannot be cached"
        )
    return target


def _lines(name: str, calls: int, hits: int, misses: int, uncacheable: Mapping[str, int]) -> list[str]:
    if not calls:
        return [never_called(name)]
    lines = [f"{name}: {plural(calls, 'call')}, {plural(hits, 'hit')}, {plural(misses, 'miss', 'misses')}"]
    if uncacheable:
        lines[0] += f", {sum(uncacheable.values())} uncacheable:"
        reasons = list(uncacheable.items())
        lines += [f"  {count} × {reason}" for reason, count in reasons[:_SHOWN_REASONS]]
        if len(reasons) > _SHOWN_REASONS:
            lines.append(f"  … {len(reasons) - _SHOWN_REASONS} further reasons")
    return lines
