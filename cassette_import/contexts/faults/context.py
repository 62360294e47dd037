"""`Faults`: injects faults into chosen calls, to test how a program handles them.

A fault is an exception, a delay, or a changed result. Calls are counted for each target separately, in the order in
which they begin, over all threads.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Collection, Mapping
from random import Random
from time import sleep
from typing import Any, Final

from cassette_import.contexts.common.coroutines import standing_for
from cassette_import.contexts.common.interception import TargetedContext
from cassette_import.contexts.common.options import further_options_of
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.targets import ResolvedTarget, Target, resolve_target, split_targets
from cassette_import.contexts.common.text import plural, text_writer
from cassette_import.contexts.common.unmatched_targets import constructor_hint, never_called
from cassette_import.contexts.faults.options import corruption_from, exception_from, seconds_from, selection_from
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["Faults"]

_SHOWN_CALLS: Final = 10
"""How many numbers of calls a report shows."""


class _Counts:
    """The calls of one target, its faults, and the generator that chooses calls at random."""

    __slots__ = ("before", "calls", "faults", "first_faults", "random")

    def __init__(self, random: Random) -> None:
        self.calls = self.faults = 0
        self.before = 0  # the calls of the process of which this one is a copy, which are reported there
        self.first_faults: list[int] = []  # the numbers of the first calls with a fault
        self.random = random


class Faults(TargetedContext):
    """Makes calls of chosen functions raise, take longer, or return another result.

    Parameters
    ----------
    targets:
        The functions: callables, or text, ``"package.module.function"``.
    raises:
        An exception, or a type of exceptions, that is raised instead of the call.
    delay:
        Seconds to wait before the call.
    corrupt:
        A function that changes the result, or True for a small random change.
    nth:
        The number of the call with the fault, counted from 1, or several numbers.
    every:
        Every how many calls there is a fault: 3 means the third, the sixth, …
    probability:
        The probability of a fault in each call, from 0 to 1. Without any of these three, every call has a fault.
    seed:
        The seed of the random choices. The same seed makes the same choices.

    Raises
    ------
    ValueError
        If the arguments contradict each other, or a text names no function. The message is one line.

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
            raise ValueError("no fault is given: give raises=, delay= or corrupt=")
        if raises is not None and corrupt:
            raise ValueError("a call that raises has no result to corrupt: give raises= or corrupt=, not both")
        self._chosen = selection_from(nth, every, probability)
        self._raises = exception_from(raises)
        self._delay = seconds_from(delay)
        self._corrupt = corruption_from(corrupt)
        self._counts = {id(target): _Counts(Random(f"{seed}/{target.name}")) for target in self._targets}
        resolved, counts = self._targets, self._counts
        self.report_unmatched(
            lambda: [target.name for target in resolved if not counts[id(target)].calls - counts[id(target)].before]
        )

    @classmethod
    @further_options_of(__init__)
    def from_options(cls, *, target: str, **options: Any) -> Faults:
        """What the command line makes of ``target=…,key=value,…``.

        Parameters
        ----------
        target:
            Dotted names of the functions, separated by ``+``: ``target=time.sleep+shop.orders.load``.
        raises:
            The dotted name of an exception type that is raised instead of the call: ``raises=OSError``.
        corrupt:
            The dotted name of a function that changes the result, or True for a small random change.
        nth:
            The number of the call with the fault, counted from 1.
        """
        return cls(*split_targets(str(target)), **options)

    @hidden
    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Make the call, with a fault if it is chosen."""
        target = self.target_of(function, arguments)
        if target is None:
            return self.proceed(function, arguments, keywords)
        with self._lock:
            counts = self._counts[id(target)]
            counts.calls = number = counts.calls + 1
            is_chosen = self._chosen(number, counts.random)
            random = Random(counts.random.random()) if is_chosen else counts.random
            if is_chosen:
                counts.faults += 1
                counts.first_faults += [number] if len(counts.first_faults) < _SHOWN_CALLS else []
        if not is_chosen:
            return self.proceed(function, arguments, keywords)
        if inspect.iscoroutinefunction(function):
            call = None if self._raises else self.proceed(function, arguments, keywords)
            return standing_for(self._with_fault_when_awaited(target, number, random, call), function, call)
        if self._delay:
            sleep(self._delay)
        if self._raises is not None:
            raise self._raises(_message(target, number))
        result = self.proceed(function, arguments, keywords)
        return result if self._corrupt is None else self._corrupt(result, random)

    def forked(self) -> None:
        """Start with no calls in a forked process; their numbers go on."""
        super().forked()
        for counts in self._counts.values():
            counts.before, counts.faults = counts.calls, 0
            counts.first_faults.clear()

    async def _with_fault_when_awaited(self, target: ResolvedTarget, number: int, random: Random, call: Any) -> Any:
        """A coroutine whose fault happens when it is awaited. Other tasks run during a delay.

        The steps are those of `intercept`, but wait with `await`.
        """
        if self._delay:
            await asyncio.sleep(self._delay)
        if self._raises is not None:
            raise self._raises(_message(target, number))
        result = await call
        return result if self._corrupt is None else self._corrupt(result, random)

    def found(self) -> dict[str, dict[str, Any]]:
        """For each target: how many `calls` and `faults` it had, and the numbers of the `first` calls with a fault."""
        with self._lock:
            counts = [(target.name, self._counts[id(target)]) for target in self._targets]
            return {
                name: {"calls": it.calls - it.before, "faults": it.faults, "first": list(it.first_faults)}
                for name, it in counts
            }

    def summary(self) -> str:
        """How often each target was called, and the calls with a fault."""
        lines = [_line(name, **figures) for name, figures in self.found().items()]
        return ("faults: " if len(lines) == 1 else "faults:\n  ") + "\n  ".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for the result of `found`."""
        return {
            ".txt": text_writer(self.summary),
            ".json": text_writer(lambda: json.dumps(self.found(), indent=2)),
        }


def _message(target: ResolvedTarget, number: int) -> str:
    return f"injected by faults: call {number} of {target.name}"


def _line(name: str, calls: int, faults: int, first: list[int]) -> str:
    if not calls:
        return never_called(name)
    numbers = ", ".join(map(str, first)) + (", …" if faults > len(first) else "")
    where = f" (call{'' if faults == 1 else 's'} {numbers})" if faults else ""
    return f"{name}: {plural(calls, 'call')}, {plural(faults, 'fault')}{where}{constructor_hint(name)}"
