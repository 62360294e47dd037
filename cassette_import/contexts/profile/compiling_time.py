"""The time in which some thread makes code: the other threads wait for it, or for the interpreter.

Several threads may make code in the same time, and making one piece may need another one. So this is a clock, which
goes on as long as there is any of them.
"""

from __future__ import annotations

import sys
from _thread import RLock
from collections.abc import Mapping
from threading import get_ident
from typing import Final, NamedTuple

from cassette_import.contexts.profile.call_tree import ThreadTree
from cassette_import.interpreter.clock import perf_counter, processor_time

__all__ = ["CompilingTime"]

_SLEEP: Final = ("~", 0, "<built-in method time.sleep>")
"""The label of a call that ends by the clock, whatever other threads do."""


class _Moment(NamedTuple):
    """The clock of compiling, and the processor time of a thread."""

    compiling: float
    computed: float


class CompilingTime:
    """Omits the time from the calls in progress in the threads that make no code themselves.

    What these have computed meanwhile, in turns with the others, is not omitted; and a sleep goes on.

    Parameters
    ----------
    threads:
        The call trees by thread.
    """

    def __init__(self, threads: Mapping[int, ThreadTree]) -> None:
        self._threads = threads
        self.forked()

    def forked(self) -> None:
        """Start anew in a forked process: only the running thread is there."""
        self._lock = RLock()  # a finalizer may be specialised anywhere
        self._makers: dict[int, int] = {}
        """The threads that make code, with how many pieces each has begun."""
        self._marks: dict[int, _Moment] = {}
        """Up to where the time was omitted from the other threads."""
        self._before = self._since = 0.0
        """The time before the present interval, and when that began."""

    def begin(self) -> None:
        """The running thread begins to make a piece of code."""
        here = get_ident()
        with self._lock:
            if here in self._makers:
                self._makers[here] += 1
                return
            if self._makers:
                self._omit()
                self._makers[here] = 1
            else:
                self._since = perf_counter()
                self._makers[here] = 1
                self._marks = self._moments_of(self._others())

    def end(self) -> None:
        """The running thread has made a piece of code. Its own clock omits the time that this took."""
        here = get_ident()
        with self._lock:
            if here not in self._makers:
                return  # it began before the profile was there
            self._omit()
            self._makers[here] -= 1
            if self._makers[here]:
                return
            self._before, self._since = self._now(), perf_counter()
            del self._makers[here]
            if self._makers:
                self._marks.update(self._moments_of([here]))

    def _now(self) -> float:
        return self._before + perf_counter() - self._since

    def _omit(self) -> None:
        """Omit what has passed since the last time from the threads that make no code."""
        moments = self._moments_of(self._others())
        clock = perf_counter()
        for ident, now in moments.items():
            last, thread = self._marks.get(ident, now), self._threads[ident]
            node = thread.node
            if (node is not thread.root or thread.entered) and node.label != _SLEEP:
                waited = now.compiling - last.compiling - max(0.0, now.computed - last.computed)
                omitted = min(waited, clock - thread.measured_overhead - node.start)
                if omitted > 0.0:
                    thread.measured_overhead += omitted
        self._marks.update(moments)

    def _others(self) -> list[int]:
        """The threads that make no code."""
        return [ident for ident in [*self._threads] if ident not in self._makers]

    def _moments_of(self, threads: list[int]) -> dict[int, _Moment]:
        """The present moment of each thread, if the system tells its processor time."""
        # The clock of a thread that is over must not be asked for. Kept frames would keep this one and its callers.
        running = set(sys._current_frames()) if threads else ()
        times = {ident: processor_time(ident) for ident in threads if ident in running}
        now = self._now()
        return {ident: _Moment(now, computed) for ident, computed in times.items() if computed is not None}
