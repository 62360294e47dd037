"""`Faults`: calls that fail, take long, or give something wrong, so that one sees what a program makes of it.

Which calls are met is counted for each target by itself, in the order in which they begin, threads together.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Collection, Mapping
from random import Random
from time import sleep
from typing import Any, Final

from cassette_import.contexts.common.interception import TargetedContext
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.targets import ResolvedTarget, Target, resolve_target, split_targets
from cassette_import.contexts.faults.options import corruption_from, exception_from, seconds_from, selection_from
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["Faults"]

_REMEMBERED: Final = 10
"""How many numbers of calls a report names."""


class _Record:
    """What became of the calls of one target."""

    __slots__ = ("calls", "met", "random", "times")

    def __init__(self, random: Random) -> None:
        self.calls = self.times = 0
        self.met: list[int] = []  # the first of them
        self.random = random


class Faults(TargetedContext):
    """Makes calls of some functions raise, take longer, or give something else.

    Parameters
    ----------
    targets:
        The functions: callables, or text, ``"package.module.function"``.
    raises:
        An exception, or a type of exceptions, to raise in the place of the call.
    delay:
        Seconds to wait before the call.
    corrupt:
        What makes another result of the right one: a function, or True for a small random change.
    nth:
        The number of the call that is met, counted from 1, or several of them.
    every:
        That each call of this number is met: the third, sixth, … for 3.
    probability:
        How likely each call is to be met, from 0 to 1. Without any of the three, every call is.
    seed:
        What chance begins with. The same seed gives the same choices.

    Raises
    ------
    ValueError
        If the arguments make no sense together, or text leads nowhere. The message is one line.

    On the command line, ``-c faults:target=socket.create_connection,raises=TimeoutError,nth=2``; several targets are
    separated by ``+``.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> faults = Faults(colorsys.rgb_to_yiq, raises=TimeoutError, nth=2)
    >>> overdub(faults, colorsys.rgb_to_yiq, 0, 0, 0)
    (0.0, 0.0, 0.0)
    >>> overdub(faults, colorsys.rgb_to_yiq, 0, 0, 0)
    Traceback (most recent call last):
        ...
    TimeoutError: injected by faults: call 2 of colorsys.rgb_to_yiq
    >>> print(faults.summary())
    faults: colorsys.rgb_to_yiq: 2 calls, 1 fault (call 2)
    """

    def __new__(cls, *targets: Target, **options: Any) -> Faults:
        """Make an instance of the type that overloads these targets."""
        if not targets:
            raise ValueError("no target is given: name a function, as module.function")
        return cls.for_targets(map(resolve_target, targets))

    def __init__(
        self,
        *targets: Target,
        raises: BaseException | type[BaseException] | str | None = None,
        delay: float | None = None,
        corrupt: Callable[[Any], Any] | str | bool | None = None,
        nth: int | Collection[int] | None = None,
        every: int | None = None,
        probability: float | None = None,
        seed: int | str = 0,
    ) -> None:
        super().__init__()
        if raises is None and delay is None and not corrupt:
            raise ValueError("what is to go wrong? give raises=, delay= or corrupt=")
        if raises is not None and corrupt:
            raise ValueError("a call that raises has no result to corrupt: give raises= or corrupt=, not both")
        self._chosen = selection_from(nth, every, probability)
        self._raises = exception_from(raises)
        self._delay = seconds_from(delay)
        self._corrupt = corruption_from(corrupt)
        self._records = {id(target): _Record(Random(f"{seed}/{target.name}")) for target in self._targets}

    @classmethod
    def from_options(cls, *, target: str, **options: Any) -> Faults:
        """What the command line makes of ``target=…,key=value,…``."""
        return cls(*split_targets(str(target)), **options)

    @hidden
    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Let the call pass, or have something go wrong with it."""
        target = self.target_of(function, arguments)
        if target is None:
            return self.proceed(function, arguments, keywords)
        with self._lock:
            record = self._records[id(target)]
            record.calls = number = record.calls + 1
            is_met = self._chosen(number, record.random)
            random = Random(record.random.random()) if is_met else record.random
            if is_met:
                record.times += 1
                record.met += [number] if len(record.met) < _REMEMBERED else []
        if not is_met:
            return self.proceed(function, arguments, keywords)
        if inspect.iscoroutinefunction(function):
            call = None if self._raises else self.proceed(function, arguments, keywords)
            later: Any = self._met_later(target, number, random, call)
            later.__name__, later.__qualname__ = function.__name__, function.__qualname__
            return later
        if self._delay:
            sleep(self._delay)
        if self._raises is not None:
            raise self._raises(f"injected by faults: call {number} of {target.name}")
        result = self.proceed(function, arguments, keywords)
        return result if self._corrupt is None else self._corrupt(result, random)

    async def _met_later(self, target: ResolvedTarget, number: int, random: Random, call: Any) -> Any:
        """What goes wrong with a coroutine goes wrong when it is awaited, and others run meanwhile."""
        if self._delay:
            await asyncio.sleep(self._delay)
        if self._raises is not None:
            raise self._raises(f"injected by faults: call {number} of {target.name}")
        result = await call
        return result if self._corrupt is None else self._corrupt(result, random)

    def found(self) -> dict[str, dict[str, Any]]:
        """For each target, how often it was called, how often something went wrong, and in which calls at first."""
        with self._lock:
            records = [(target.name, self._records[id(target)]) for target in self._targets]
            return {name: {"calls": it.calls, "faults": it.times, "first": list(it.met)} for name, it in records}

    def summary(self) -> str:
        """How often each target was called and met."""
        lines = [_line(name, **figures) for name, figures in self.found().items()]
        return ("faults: " if len(lines) == 1 else "faults:\n  ") + "\n  ".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for what `found` gives."""
        return {
            ".txt": lambda path: _write(path, self.summary()),
            ".json": lambda path: _write(path, json.dumps(self.found(), indent=2)),
        }


def _line(name: str, calls: int, faults: int, first: list[int]) -> str:
    if not calls:
        return f"{name}: never called"
    numbers = ", ".join(map(str, first)) + (", …" if faults > len(first) else "")
    where = f" (call{'' if faults == 1 else 's'} {numbers})" if faults else ""
    return f"{name}: {_plural(calls, 'call')}, {_plural(faults, 'fault')}{where}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
