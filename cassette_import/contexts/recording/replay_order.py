"""The order of a replay: calls of different threads and tasks end in the order in which they ended when recorded.

The order is a goal and not a guarantee: a thread may hold a lock that another one needs first. A thread that waits for
its turn for a quarter of a second, while no call ends, goes on.

Between two external calls a thread may print, or put something into a queue, and the next thread must not overtake it.
So the next thread waits up to a fiftieth of a second until the previous one comes to its next call.
"""

from __future__ import annotations

import sys
import threading
import time
import types
from typing import Any, Final

from cassette_import.contexts.recording.call_sequences import current_task, running_loop
from cassette_import.contexts.recording.recording_file import CallSequence, Recording

__all__ = ["AnyOrder", "Patience", "ReplayOrder", "pause", "until_cancelled"]

# ---- `Patience`: how long a replay waits for what may never come, such as the call of a thread that needs a lock

_LONGEST: Final = 20.0
_BUSY: Final = 0.1
_plain_clock: Final = time.monotonic
_process_time: Final = time.process_time


class Patience:
    """Ends after some seconds in which nothing happened.

    While the process is busy, something may still come: a thread may be compiling functions, for example.

    Parameters
    ----------
    seconds:
        How long to wait.

    >>> Patience(60).is_over()
    False
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begin = self._since = _plain_clock()
        self._processed = _process_time()

    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        now = _plain_clock()
        elapsed = now - self._since
        if elapsed <= self._seconds:
            return False
        processed = _process_time()
        if processed - self._processed < _BUSY * elapsed or now - self._begin > _LONGEST:
            return True
        self._since, self._processed = now, processed
        return False


# ---- the order of a replay: calls of different threads and tasks end in the order in which they ended when recorded

_PATIENCE: Final = 0.25
_SETTLING_TIME: Final = 0.02
_SETTLING_TIME_AFTER_END: Final = 0.005
_monotonic: Final = time.monotonic


class ReplayOrder:
    """The recorded order in which calls ended, and the position of this run in it.

    Parameters
    ----------
    recording:
        The recording. `CallSequence.thread` is the thread that replays a sequence, if one does.
    """

    def __init__(self, recording: Recording) -> None:
        self._order = recording.order
        self._calls = recording.calls
        self._sequences = recording.sequences
        self._ended_calls: set[int] = set()
        self._skipped: set[int] = set()
        self._next = 0
        self._waiting_sequences: set[int] = set()
        self._ended_sequences: set[int] = set()
        self._last_change = _monotonic()
        self._changed = threading.Condition()
        self.has_lost_order = False
        """Whether a task has waited in vain for its turn, so that tasks have gone on in another order than recorded."""
        self.lost_at: int | None = None
        """The number of the call whose end it waited for, if it is known."""

    def call_ended(self, number: int) -> None:
        """Note that the call of this number has ended."""
        with self._changed:
            self._ended_calls.add(number)
            self._waiting_sequences.discard(self._calls[number].sequence)
            self._last_change = _monotonic()
            self._advance()
            self._changed.notify_all()

    def lose(self, number: int | None) -> None:
        """Note that tasks go on in another order than recorded, from the end of this call on, if it is known."""
        with self._changed:
            self.has_lost_order = True
            if self.lost_at is None:
                self.lost_at = number

    def sequence_ended(self, sequence: int) -> None:
        """Note that the thread or job of this sequence has ended: another one may go on because of that."""
        with self._changed:
            self._ended_sequences.add(sequence)
            self._last_change = _monotonic()
            self._changed.notify_all()

    def is_running_elsewhere(self, sequence: CallSequence) -> bool:
        """Whether another thread replays this sequence, and has not ended."""
        if (
            sequence.thread is None
            or sequence.thread == threading.get_ident()
            or sequence.number in self._ended_sequences
        ):
            return False
        return any(thread.ident == sequence.thread for thread in threading.enumerate())

    def wait_for_turn(self, number: int) -> None:
        """Wait in a thread until the calls that ended before this one have ended."""
        with self._changed:
            self._waiting_sequences.add(self._calls[number].sequence)
            self._changed.notify_all()
            while not self._may_go(number, threading.get_ident()):
                if self._waits_in_vain():
                    if current_task() is not None and self._next < len(self._order):
                        self.lose(self._order[self._next])
                    self._skip_to(number)
            while (left := self._time_to_settle(number)) > 0:
                self._changed.wait(left)

    def wait_for_all(self) -> None:
        """Wait until the other threads have made all their recorded calls, as long as calls end."""
        with self._changed:
            while self._next < len(self._order):
                if self._waits_in_vain():
                    return

    async def wait_for_turn_in_task(self, number: int) -> None:
        """Wait in a task until the calls that ended before this one have ended."""
        since, seen = _monotonic(), len(self._ended_calls)
        while not self._may_go(number, None):
            await _yield()
            if len(self._ended_calls) != seen:
                since, seen = _monotonic(), len(self._ended_calls)
            elif _monotonic() - since > _PATIENCE:
                self.lose(self._order[self._next] if self._next < len(self._order) else None)
                self._skip_to(number)

    def _waits_in_vain(self) -> bool:
        """Wait until a call ends; return whether none does."""
        before, patience = len(self._ended_calls), Patience(_PATIENCE)
        while not self._changed.wait(_PATIENCE):
            if len(self._ended_calls) != before:
                return False
            if patience.is_over():
                return True
        return False

    def _advance(self) -> None:
        order, ended, skipped = self._order, self._ended_calls, self._skipped
        while self._next < len(order) and (order[self._next] in ended or order[self._next] in skipped):
            self._next += 1

    def _may_go(self, number: int, thread: int | None) -> bool:
        if self._next >= len(self._order):
            return True
        first = self._order[self._next]
        # A thread cannot wait for a call that it has to make itself; a task can, since another task makes it.
        return first == number or number in self._skipped or (thread is not None and self._thread_of(first) == thread)

    def _time_to_settle(self, number: int) -> float:
        """How many seconds to wait for the thread of the previous call, which may still print, for example.

        There is no need to wait if that thread is at its next call already. The wait has an upper limit.
        """
        if self._next == 0 or self._next >= len(self._order) or self._order[self._next] != number:
            return 0
        before = self._calls[self._order[self._next - 1]]
        if before.sequence in self._waiting_sequences or self._thread_of(before.number) == threading.get_ident():
            return 0
        patience = _SETTLING_TIME_AFTER_END if before.sequence in self._ended_sequences else _SETTLING_TIME
        return patience - (_monotonic() - self._last_change)

    def _thread_of(self, number: int) -> int | None:
        return self._sequences[self._calls[number].sequence].thread

    def _skip_to(self, number: int) -> None:
        """Do not wait any longer for the calls before this one."""
        with self._changed:
            for earlier in self._order[self._next :]:
                if earlier == number:
                    break
                self._skipped.add(earlier)
            self._advance()


class AnyOrder(ReplayOrder):
    """No order: no call waits for another one."""

    def call_ended(self, number: int) -> None:
        """See `ReplayOrder`."""

    def wait_for_turn(self, number: int) -> None:
        """See `ReplayOrder`."""

    def wait_for_all(self) -> None:
        """See `ReplayOrder`."""

    async def wait_for_turn_in_task(self, number: int) -> None:
        """See `ReplayOrder`."""


@types.coroutine
def _yield() -> Any:
    yield


async def pause() -> None:
    """Let other tasks run, once."""
    if running_loop() is not None:
        await _yield()


async def until_cancelled() -> None:
    """Wait until the task is cancelled."""
    if running_loop() is not None:
        await sys.modules["asyncio"].get_running_loop().create_future()
