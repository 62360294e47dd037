"""The last calls of a trace, kept in memory until the end: a ring buffer, so that a trace of any length fits.

Values are shown when the call happens, as they may change later.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from operator import itemgetter
from typing import Any, Final

from cassette_import.contexts.common.text import plural
from cassette_import.contexts.trace.output import Output, ShownCall, TracedThread
from cassette_import.interpreter.clock import perf_counter

__all__ = ["LastCalls"]

_MOST_AROUND: Final = 50
"""How many calls around one of the last calls are shown."""


class _Call:
    """A call as text.

    `begun` and `ended` number the moments of the trace; `ended` is 0 while the call is in progress.
    """

    __slots__ = ("at", "begun", "caller", "ended", "ended_at", "kind", "level", "outcome", "shown", "thread")

    def __init__(
        self, thread: TracedThread, level: int, shown: ShownCall, caller: _Call | None, begun: int, at: float
    ) -> None:
        self.thread = thread
        self.level = level
        self.shown = shown
        self.caller = caller
        self.begun = begun
        self.at = at
        self.ended = 0
        self.ended_at = 0.0
        self.kind = self.outcome = ""


class LastCalls:
    """Keeps the last calls, and writes them to an output with the calls around them.

    It takes the place of an output: a trace calls `begin` and `end`, and `write_all` once at the end.

    Memory is bounded: a call refers to the calls around it only, so besides the last calls, those in progress are kept.
    """

    def __init__(self, output: Output, most: int) -> None:
        self._output = output
        self._most: Final = most
        self._calls: deque[_Call] = deque(maxlen=most)
        self._in_progress: dict[int, list[_Call]] = {}
        self._moments = itertools.count(1)
        self._count = 0
        self._lock = threading.RLock()  # reentrant, see `Output`

    def begin(
        self, thread: TracedThread, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Keep a call."""
        shown = self._output.shown_call(function, args, kwargs)
        with self._lock:
            outer = self._in_progress.setdefault(thread.number, [])
            while outer and outer[-1].level >= level:  # an interrupt separated a pair of hooks
                outer.pop()
            call = _Call(thread, level, shown, outer[-1] if outer else None, next(self._moments), perf_counter())
            outer.append(call)
            self._calls.append(call)
            self._count += 1

    def end(self, thread: TracedThread, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Keep the outcome of a call."""
        text = self._output.shown_value(kind, value, is_secret=is_secret)
        with self._lock:
            outer = self._in_progress.get(thread.number, [])
            while outer and outer[-1].level > level:
                outer.pop()
            if not outer or outer[-1].level != level:
                return
            call = outer.pop()
            if not outer:
                del self._in_progress[thread.number]
            call.kind, call.outcome, call.ended, call.ended_at = kind, text, next(self._moments), perf_counter()

    def forget(self) -> None:
        """Forget the calls so far: they are those of the process of which this one is a copy."""
        self._lock = threading.RLock()  # a thread that exists there alone may hold the other one
        self._calls.clear()
        self._count = 0

    def hides_result(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Whether the result is a secret, see `Output.hides_result`."""
        return self._output.hides_result(function, args)

    def write_to(self, output: Output) -> None:
        """Write the calls from now on to another output, at the end."""
        self._output = output
        self._calls.clear()
        self._count = 0

    def write_all(self) -> None:
        """Write the calls, and the calls around them, in the order in which they began and ended; then forget them."""
        with self._lock:
            calls, self._calls = self._calls, deque(maxlen=self._most)
            earlier = self._count - len(calls)
            self._count = 0
        if earlier:
            self._output.note(f"{plural(earlier, 'earlier call')} left out, except those around the last {len(calls)}")
        moments: list[tuple[int, bool, _Call]] = []
        for call in _with_callers(calls):
            moments.append((call.begun, True, call))
            if call.ended:
                moments.append((call.ended, False, call))
        for _, begins, call in sorted(moments, key=itemgetter(0)):
            if begins:
                self._output.write_call(call.thread, call.level, call.shown, call.at)
            else:
                self._output.write_outcome(
                    call.thread, call.level, call.shown.name, call.kind, call.outcome, call.ended_at
                )


def _with_callers(calls: deque[_Call]) -> list[_Call]:
    """The calls, and those around them; of many calls around one, the innermost."""
    found: dict[int, _Call] = {}
    for call in calls:
        each: _Call | None = call
        for _ in range(_MOST_AROUND):
            if each is None or each.begun in found:
                break
            found[each.begun] = each
            each = each.caller
    return list(found.values())
