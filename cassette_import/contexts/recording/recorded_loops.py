"""`RecordedLoop`: notes at which step of an event loop each arrival came, so that a replay can go the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cassette_import.contexts.recording.event_loops import EXTERNAL, Arrival, LoopQueue

__all__ = ["RecordedLoop"]


class RecordedLoop(LoopQueue):
    """The queue of a loop that is recorded. The order is that of the loop's own queue.

    Parameters
    ----------
    loop, context, number, is_external:
        See `LoopQueue`.
    write:
        Called with each line for the recording.
    """

    def __init__(
        self,
        loop: Any,
        context: Any,
        number: int,
        is_external: Callable[[Any], bool],
        write: Callable[[Mapping[str, Any]], None],
    ) -> None:
        super().__init__(loop, context, number, is_external)
        self._write = write
        self._arrivals: dict[int, Arrival] = {}

    def append(self, handle: Any) -> None:
        """Add a handle."""
        arrival = self.arrival(handle)
        if arrival is not None:
            self._arrivals[id(handle)] = arrival
        super().append(handle)

    def popleft(self) -> Any:
        """Remove the next handle, which the loop runs now."""
        handle = super().popleft()
        arrival = self._arrivals.pop(id(handle), None)
        if handle._cancelled:
            return handle
        self._is_in_program = arrival is not EXTERNAL
        if arrival is not EXTERNAL:
            if arrival is not None:
                self._write({"arrival": list(arrival), "step": [self.number, self.step]})
            self.step += 1
        return handle

    def __len__(self) -> int:
        """The loop asks for the number of handles between two of them, and when it has run all of them."""
        self._is_in_program = False
        return super().__len__()

    def awaited(self) -> list[int]:
        """The awaitable that the current task awaits has ended: its step."""
        self.end_awaiting()
        self._is_in_program = True
        self.step += 1
        return [self.number, self.step - 1]

    def stopped(self) -> None:
        """See `LoopQueue`."""
        self._is_in_program = False
        self._write({"arrival": ["stop"], "step": [self.number, self.step]})
