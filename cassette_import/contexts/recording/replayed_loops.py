"""`ReplayedLoop`: an event loop whose arrivals come at the recorded steps.

An arrival that comes too early waits; for one that is late, the loop waits. Timers do not wait for their time. If an
arrival does not come for a second, the replay has lost the recorded order, and goes on without it.
"""

from __future__ import annotations

import collections
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.recording.calls_to_replay import Patience
from cassette_import.contexts.recording.event_loops import EXTERNAL, Arrival, LoopQueue
from cassette_import.contexts.recording.recording_file import LoopSteps

__all__ = ["ReplayedLoop"]

_PATIENCE: Final = 1.0
_INTERVAL: Final = 0.01
_MOST_EXTERNAL: Final = 2_000
"""How many handles of other code a loop runs while the next step is missing: a handle may add itself each time."""


class ReplayedLoop(LoopQueue):
    """The queue of a loop that is replayed.

    Parameters
    ----------
    loop, context, number, is_external:
        See `LoopQueue`.
    steps:
        The recorded steps of this loop.
    lose:
        Called with the arrival that does not come.
    """

    def __init__(
        self,
        loop: Any,
        context: Any,
        number: int,
        is_external: Callable[[Any], bool],
        steps: LoopSteps,
        lose: Callable[[Arrival | None], None],
    ) -> None:
        super().__init__(loop, context, number, is_external)
        self._recorded = dict(steps.arrivals)
        self._last = max(self._recorded, default=-1)
        self._stops = collections.deque(steps.stops)
        self._lose = lose
        self._external: collections.deque[Any] = collections.deque()
        self._early: dict[Arrival, Any] = {}
        self._numbered_timers: dict[int, Any] = {}
        self._expired: set[Arrival] = set()
        self._futures: dict[Arrival, Any] = {}
        self._woken: list[Any] | None = None
        self._has_come = threading.Event()
        self._patience: Patience | None = None
        self._spun = self._turns = 0
        self._skipped: set[Arrival] = set()
        self._is_lost = False
        self._idle = sys.modules["asyncio"].Handle(print, (), loop)
        self._idle._cancelled = True  # so that the loop does not run it

    # ---- what the loop does with its queue

    def append(self, handle: Any) -> None:
        """Add a handle. One that is an arrival waits for its step."""
        if self._woken is not None and self._owner == threading.get_ident():
            self._woken.append(handle)
            return
        arrival = self.arrival(handle)
        if arrival is EXTERNAL:
            self._external.append(handle)
        elif arrival is None or arrival in self._skipped or (self.step > self._last and arrival not in self._expired):
            super().append(handle)
        elif arrival not in self._expired:
            self._early[arrival] = handle
        self._has_come.set()

    def popleft(self) -> Any:
        """Remove the next handle, which the loop runs now. It may be one that does nothing."""
        handle = self._next()
        if self._loop._stopping:
            # The recorded loop ran some more handles after the one that stopped it.
            while handle is not self._idle:
                handle._run()
                handle = self._next()
        return handle

    def __len__(self) -> int:
        """How many handles the loop may run now. It asks for the number between two of them."""
        self._is_in_program = False
        is_ready = self._is_ready()
        if not self._external and not is_ready:
            return self._wait()
        self._spun = 0 if is_ready else self._spun + 1
        if self._spun > _MOST_EXTERNAL and self.step <= self._last:
            self._spun = 0
            self._skip()
        self._patience = None
        self._turns = len(self._external)
        return len(self._external) + super().__len__() + 2

    def clear(self) -> None:
        """Remove all handles."""
        self.handles()

    def handles(self) -> list[Any]:
        """See `LoopQueue`."""
        found = [*self._external, *super().handles(), *self._early.values()]
        self._external.clear()
        self._early.clear()
        return found

    def release(self) -> None:
        """Do not wait for recorded steps any longer: the replay is over."""
        self._recorded.clear()
        self._last = -1
        for future in list(self._futures.values()):
            if not future.done():
                self._loop.call_soon_threadsafe(_wake, future)

    def stopped(self) -> None:
        """See `LoopQueue`."""
        self._is_in_program = False
        if self._stops:
            self._stops.popleft()

    # ---- awaitables

    async def until(self, arrival: Arrival) -> None:
        """Await the step of an arrival in the current task, also if the task is cancelled meanwhile."""
        asyncio: Any = sys.modules["asyncio"]
        self.begin_awaiting()
        try:
            while True:
                if arrival in self._skipped:
                    return
                future = self._futures[arrival] = self._loop.create_future()
                self._has_come.set()
                try:
                    await future
                except asyncio.CancelledError:
                    if future.done() and not future.cancelled():
                        raise
                else:
                    return
        finally:
            self.end_awaiting()
            self._futures.pop(arrival, None)

    def _number_timer(self, handle: Any) -> None:
        super()._number_timer(handle)
        reference, number = self._timers[id(handle)]
        self._numbered_timers[number] = reference

    # ---- the recorded steps

    def _next(self) -> Any:
        # A handle that adds itself again must not keep the program from its turn.
        if self._external and (self._turns > 0 or not self._is_ready()):
            self._turns -= 1
            self._is_in_program = False
            return self._external.popleft()
        if self._loop._stopping and self._stops and self.step >= self._stops[0]:
            return self._idle
        arrival = self._recorded.get(self.step)
        if arrival is not None:
            handle = self._take(arrival)
        elif super().__len__():
            handle = super().popleft()
            if handle._cancelled:
                return handle
        else:
            handle = None
        if handle is None:
            return self._idle
        self.step += 1
        self._is_in_program = True
        return handle

    def _is_ready(self) -> bool:
        """Whether there is a handle for the next step."""
        arrival = self._recorded.get(self.step)
        return super().__len__() > 0 if arrival is None else self._has(arrival)

    def _has(self, arrival: Arrival) -> bool:
        future = self._futures.get(arrival)
        if future is not None:
            return not future.done()
        return arrival in self._early or self._timer(arrival) is not None

    def _take(self, arrival: Arrival) -> Any:
        """The handle of an arrival; None if it has not come."""
        future = self._futures.get(arrival)
        if future is not None:
            return None if future.done() else self._handle_that_wakes(future)
        handle = self._early.pop(arrival, None) or self._timer(arrival)
        if handle is None or handle._cancelled:
            return None
        if arrival[0] == "timer":
            self._expired.add(arrival)
        return handle

    def _timer(self, arrival: Arrival) -> Any:
        """The handle of a timer whose time need not have come."""
        if arrival[0] != "timer" or arrival[1] not in self._numbered_timers:
            return None
        handle = self._numbered_timers[arrival[1]]()
        return None if handle is None or handle._cancelled else handle

    def _handle_that_wakes(self, future: Any) -> Any:
        self._woken = []
        try:
            future.set_result(None)
        finally:
            woken, self._woken = self._woken, None
        return woken[0]

    # ---- arrivals that do not come

    def _wait(self) -> int:
        """Wait a moment for the next arrival, or for the handle of the next step."""
        if self.step > self._last:
            return self._free()
        if self._patience is None:
            self._patience = Patience(_PATIENCE)
        if self._patience.is_over() or (self._is_lost and self._has_later()):
            self._patience = None
            self._skip()
        else:
            self._has_come.wait(_INTERVAL)
            self._has_come.clear()
        return 1

    def _has_later(self) -> bool:
        """Whether the handle of a program's step is missing, and the arrival after it has come."""
        if self.step in self._recorded:
            return False
        return self._has(self._recorded[min(step for step in self._recorded if step > self.step)])

    def _skip(self) -> None:
        """Do not wait any longer for the next step."""
        self._is_lost = True
        arrival = self._recorded.pop(self.step, None)
        if arrival is None:
            self.step = min(step for step in self._recorded if step >= self.step)
        else:
            self.step += 1
            self._skipped.add(arrival)
            future = self._futures.get(arrival)
            if future is not None:
                _wake(future)
        self._lose(arrival)

    def _free(self) -> int:
        """After the last recorded arrival: whatever has come may go on."""
        for arrival, handle in list(self._early.items()):
            del self._early[arrival]
            super().append(handle)
        return super().__len__()


def _wake(future: Any) -> None:
    if not future.done():
        future.set_result(None)
