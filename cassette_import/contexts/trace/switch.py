"""When a trace is on: from a call of one function to the end of a call of another."""

from __future__ import annotations

from typing import Any

from cassette_import.contexts.common.targets import ResolvedTarget, resolve_target
from cassette_import.contexts.common.unmatched_targets import never_called
from cassette_import.interpreter.callables import python_function

__all__ = ["Switch"]


class Switch:
    """Whether the calls of now are traced, in all threads.

    Each call of `start` turns the trace on. The end of a call of `stop` that began while the trace was on turns it off.
    Without `start`, the trace is on from the beginning, once.

    Parameters
    ----------
    start, stop:
        Dotted names of functions, separated by ``+``, or empty.

    Raises
    ------
    ValueError
        If a name leads nowhere. The message is one line.

    >>> switch = Switch("os.path.join", "")
    >>> import os
    >>> switch.begins(len, (), None, 0), switch.begins(os.path.join, (), None, 0), switch.begins(len, (), None, 1)
    (False, True, True)
    """

    def __init__(self, start: str, stop: str) -> None:
        self._starts = _targets("start", start)
        self._stops = _targets("stop", stop)
        self._is_on = not self._starts
        self._stopping: tuple[object, int] | None = None
        self._met: set[str] = set()

    def begins(self, function: Any, args: tuple[Any, ...], calls: object, position: int) -> bool:
        """Whether a call is traced that begins now. It is the call at this position among the thread's calls."""
        if not self._is_on and self._matched(self._starts, function, args):
            self._is_on = True
        if self._is_on and self._stopping is None and self._matched(self._stops, function, args):
            self._stopping = calls, position
        return self._is_on

    def ends(self, calls: object, position: int) -> None:
        """Note that the calls of a thread from this position on have ended."""
        if self._stopping is not None and self._stopping[0] is calls and position <= self._stopping[1]:
            self._is_on = False
            self._stopping = None

    def unmatched(self) -> list[str]:
        """The options whose functions were never called, with these."""
        groups = {"start": self._starts, "stop": self._stops}
        return [
            f"{option}={never_called(target.name)}"
            for option, targets in groups.items()
            for target in targets
            if f"{option} {target.name}" not in self._met
        ]

    def _matched(self, targets: list[ResolvedTarget], function: Any, args: tuple[Any, ...]) -> bool:
        runs = python_function(function)  # of a class its `__init__`, of an object `__call__`
        for target in targets:
            if target.pending and not target.resolve():
                continue
            if target.function is function or (target.function is runs and runs is not None):
                if not target.matches(args):
                    continue
                self._met.add(f"{'start' if targets is self._starts else 'stop'} {target.name}")
                return True
        return False


def _targets(option: str, names: str) -> list[ResolvedTarget]:
    try:
        return [resolve_target(name.strip()) for name in names.split("+") if name.strip()]
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error
