"""`Memoize`: chosen functions are run once for each set of arguments, and remembered from then on.

What is remembered is correct or not remembered at all: arguments are told apart by type and state, also if they
are mutable; results that can be changed are handed out as fresh copies; a call that changes its arguments, that
gives out one of them, or that has to do with things that cannot be told apart, is made each time.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, Final

from cassette_import import current, recurse
from cassette_import.contexts.common.interception import TargetedContext
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.targets import ResolvedTarget, Target, resolve_target, split_targets
from cassette_import.contexts.memoize.argument_keys import CannotRemember, Key, Remembered, remembered
from cassette_import.contexts.memoize.stores import Folder, Memory, Store
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["Memoize"]

_REASONS: Final = 5
"""How many different reasons for not remembering a summary names."""


class _Statistics:
    """What became of the calls of one function."""

    __slots__ = ("calls", "hits", "reasons")

    def __init__(self) -> None:
        self.calls = self.hits = 0
        self.reasons: Counter[str] = Counter()

    @property
    def misses(self) -> int:
        return self.calls - self.hits - self.reasons.total()


class Memoize(TargetedContext):
    """Remembers what chosen functions give, and does not run them again.

    Parameters
    ----------
    functions:
        The functions: callables, or text, ``"package.module.function"``.
    limit:
        How many results are kept in memory; the one that was not asked for longest goes first. All if not given.
    folder:
        Where to keep results from run to run, instead of in memory. Needs the extra `memoize`. A function whose
        source has changed begins anew; one that calls a changed one does not, so remove the folder then.

    Raises
    ------
    ValueError
        If text leads nowhere, a function gives generators, or the folder cannot be used. The message is one line.

    On the command line, ``-c memoize:functions=package.f+package.g,limit=1000``.

    Only functions whose results depend on their arguments alone should be chosen. Exceptions are not remembered.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> memoize = Memoize(colorsys.rgb_to_hls)
    >>> greys = [overdub(memoize, colorsys.rgb_to_hls, 0.5, 0.5, 0.5) for _ in range(3)]
    >>> greys
    [(0.0, 0.5, 0.0), (0.0, 0.5, 0.0), (0.0, 0.5, 0.0)]
    >>> print(memoize.summary())
    memoize: colorsys.rgb_to_hls: 3 calls, 2 remembered, 1 made
    """

    def __new__(cls, *functions: Target, **options: Any) -> Memoize:
        """Make an instance of the type that overloads these functions."""
        if not functions:
            raise ValueError("no function is given: name those to be remembered, as module.function")
        return cls.for_targets([_checked(resolve_target(function)) for function in functions])

    def __init__(self, *functions: Target, limit: int | None = None, folder: str | None = None) -> None:
        super().__init__()
        if limit is not None:
            _check_limit(limit)
        if limit is not None and folder is not None:
            raise ValueError("a folder keeps everything: give limit= or folder=, not both")
        self._store: Store = Memory(limit) if folder is None else Folder(str(folder))
        self._identities: dict[int, Hashable] = {}
        self._statistics = {id(target): _Statistics() for target in self._targets}

    @classmethod
    def from_options(cls, *, functions: str, **options: Any) -> Memoize:
        """What the command line makes of ``functions=…,key=value,…``."""
        return cls(*split_targets(str(functions)), **options)

    @hidden
    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Give what is remembered, or make the call and remember."""
        target = self.target_of(function, arguments)
        key = None if target is None else self._key(target, arguments, keywords)
        known = None if key is None else self._known(target, key)
        if known is None:
            # As `proceed` has it, in this frame: what is remembered is often recursive.
            if current() is None:
                with self:
                    result = function(*arguments, **keywords)
            else:
                result = recurse(self, function, *arguments, **keywords)
            if key is None:
                return result
            if inspect.iscoroutinefunction(function):
                return self._awaited(target, key, result)
            self._remember(target, key, result)
            return result
        return _already(known) if inspect.iscoroutinefunction(function) else known.value()

    def _key(self, target: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Key | None:
        statistics = self._statistics[id(target)]
        with self._lock:
            statistics.calls += 1
        try:
            return Key(arguments, keywords, self._store.lasts)
        except CannotRemember as reason:
            self._not_remembered(statistics, reason)
            return None

    def _known(self, target: Any, key: Key) -> Remembered | None:
        known = self._store.get(self._identity(target), key.value)
        if known is not None:
            with self._lock:
                self._statistics[id(target)].hits += 1
        return known

    def _identity(self, target: Any) -> Hashable:
        """What stands for the function in the store."""
        try:
            return self._identities[id(target)]
        except KeyError:  # at the first call
            return self._identities.setdefault(id(target), self._store.identity(target.function))

    def _remember(self, target: Any, key: Key, result: Any) -> None:
        try:
            key.check_unchanged()
            self._store.put(self._identity(target), key.value, remembered(result, key))
        except CannotRemember as reason:
            self._not_remembered(self._statistics[id(target)], reason)

    async def _awaited(self, target: Any, key: Key, call: Any) -> Any:
        result = await call
        self._remember(target, key, result)
        return result

    def _not_remembered(self, statistics: _Statistics, reason: CannotRemember) -> None:
        with self._lock:
            statistics.reasons[str(reason)] += 1

    def clear(self) -> None:
        """Forget everything that is remembered; the statistics stay."""
        self._store.clear()

    def statistics(self) -> dict[str, dict[str, Any]]:
        """For each function: `calls`, of them `remembered`, `made`, and `not_rememberable` by reason."""
        with self._lock:
            return {
                target.name: {
                    "calls": it.calls,
                    "remembered": it.hits,
                    "made": it.misses,
                    "not_rememberable": dict(it.reasons.most_common()),
                }
                for target in self._targets
                for it in (self._statistics[id(target)],)
            }

    def summary(self) -> str:
        """How often each function was called, and how often it had to be run."""
        lines: list[str] = []
        for name, figures in self.statistics().items():
            lines += _lines(name, **figures)
        return "memoize: " + "\n  ".join(lines) if len(self._targets) == 1 else "\n  ".join(["memoize:", *lines])

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for the statistics."""
        return {
            ".txt": lambda path: _write(path, self.summary()),
            ".json": lambda path: _write(path, json.dumps(self.statistics(), indent=2)),
        }


def _check_limit(limit: Any) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit is a number of results, from 1 on, not {limit!r}")


async def _already(known: Remembered) -> Any:
    return known.value()


def _checked(target: ResolvedTarget) -> ResolvedTarget:
    if inspect.isgeneratorfunction(target.function) or inspect.isasyncgenfunction(target.function):
        raise ValueError(f"{target.name} gives generators, which can be used only once, so they cannot be remembered")
    return target


def _lines(name: str, calls: int, remembered: int, made: int, not_rememberable: Mapping[str, int]) -> list[str]:
    if not calls:
        return [f"{name}: never called"]
    lines = [f"{name}: {calls} call{'' if calls == 1 else 's'}, {remembered} remembered, {made} made"]
    if not_rememberable:
        lines[0] += f", {sum(not_rememberable.values())} not rememberable:"
        shown = list(not_rememberable.items())
        lines += [f"  {count} × {reason}" for reason, count in shown[:_REASONS]]
        if len(shown) > _REASONS:
            lines.append(f"  … {len(shown) - _REASONS} further reasons")
    return lines


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
