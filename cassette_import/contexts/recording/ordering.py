"""Whose turn it is: calls of different threads and tasks end, in a replay, in the order in which they ended before.

It is an order that one can wish for, not one that can be had at any price: a thread may hold a lock that another
one needs first. Who waits in vain for a quarter of a second goes on.

Between two calls to the outside a thread may print, or put something into a queue, and who comes next must not
overtake it: it is given a fiftieth of a second to come to its next call.

Knows the recorded order; must not know what the calls are.
"""

from __future__ import annotations

import sys
import threading
import time
import types
from typing import Any, Final

from cassette_import.contexts.recording.recording_file import Lane, Recording

__all__ = ["Turns", "pause", "until_cancelled"]

_PATIENCE: Final = 0.25
_SETTLING: Final = 0.02
_AFTER_ITS_END: Final = 0.005
_monotonic: Final = time.monotonic


class Turns:
    """The recorded order in which calls ended.

    Parameters
    ----------
    recording:
        The recording; the threads of its lanes are those that replay them, as far as somebody does.
    """

    def __init__(self, recording: Recording) -> None:
        self._order = recording.order
        self._calls = recording.calls
        self._lanes = recording.lanes
        self._done: set[int] = set()
        self._given_up: set[int] = set()
        self._front = 0
        self._at_rest: set[int] = set()
        self._ended: set[int] = set()
        self._last = _monotonic()
        self._changed = threading.Condition()

    def done(self, number: int) -> None:
        """This call has ended."""
        with self._changed:
            self._done.add(number)
            self._at_rest.discard(self._calls[number].lane)
            self._last = _monotonic()
            self._advance()
            self._changed.notify_all()

    def ended(self, lane: int) -> None:
        """The thread or job of this lane has come to its end; somebody else may go on because of that."""
        with self._changed:
            self._ended.add(lane)
            self._last = _monotonic()
            self._changed.notify_all()

    def is_under_way(self, lane: Lane) -> bool:
        """Whether another thread replays this lane, and is not at its end."""
        if lane.thread is None or lane.thread == threading.get_ident() or lane.number in self._ended:
            return False
        return any(thread.ident == lane.thread for thread in threading.enumerate())

    def wait(self, number: int) -> None:
        """Let the threads that were first go first."""
        with self._changed:
            self._at_rest.add(self._calls[number].lane)
            self._changed.notify_all()
            while not self._may_go(number, threading.get_ident()):
                before = len(self._done)
                if not self._changed.wait(_PATIENCE) and len(self._done) == before:
                    self._give_up(number)
            while (left := self._time_to_settle(number)) > 0:
                self._changed.wait(left)

    def wait_for_the_rest(self) -> None:
        """Let the others come to the end of what is recorded of them, as long as one of them gets on."""
        with self._changed:
            while self._front < len(self._order):
                before = len(self._done)
                if not self._changed.wait(_PATIENCE) and len(self._done) == before:
                    return

    async def wait_here(self, number: int) -> None:
        """Let the tasks and threads that were first go first."""
        since, seen = _monotonic(), len(self._done)
        while not self._may_go(number, None):
            await _yield()
            if len(self._done) != seen:
                since, seen = _monotonic(), len(self._done)
            elif _monotonic() - since > _PATIENCE:
                self._give_up(number)

    def _advance(self) -> None:
        order = self._order
        while self._front < len(order) and (order[self._front] in self._done or order[self._front] in self._given_up):
            self._front += 1

    def _may_go(self, number: int, thread: int | None) -> bool:
        if self._front >= len(self._order):
            return True
        first = self._order[self._front]
        # What this very thread has to do first cannot be waited for, but by a task.
        return first == number or number in self._given_up or (thread is not None and self._thread_of(first) == thread)

    def _time_to_settle(self, number: int) -> float:
        """How long to leave another thread, which was on before, to do what it did then without a call to the outside:
        but not for ever, and not if it is at its next call already."""
        if self._front == 0 or self._front >= len(self._order) or self._order[self._front] != number:
            return 0
        before = self._calls[self._order[self._front - 1]]
        if before.lane in self._at_rest or self._thread_of(before.number) == threading.get_ident():
            return 0
        patience = _AFTER_ITS_END if before.lane in self._ended else _SETTLING
        return patience - (_monotonic() - self._last)

    def _thread_of(self, number: int) -> int | None:
        return self._lanes[self._calls[number].lane].thread

    def _give_up(self, number: int) -> None:
        with self._changed:
            for earlier in self._order[self._front :]:
                if earlier == number:
                    break
                self._given_up.add(earlier)
            self._advance()


@types.coroutine
def _yield() -> Any:
    yield


async def pause() -> None:
    """Let other tasks run, once."""
    if _in_asyncio():
        await _yield()


async def until_cancelled() -> None:
    """Wait for as long as nobody cancels."""
    if _in_asyncio():
        await sys.modules["asyncio"].get_running_loop().create_future()


def _in_asyncio() -> bool:
    asyncio: Any = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None
