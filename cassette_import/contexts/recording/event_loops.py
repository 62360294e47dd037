"""Event loops of asyncio: the handles that a loop is about to run are counted, and what comes from outside is known.

A loop runs handles in the order in which they were added, so what follows from the program alone is the same in each
run. Four things are not: when an external awaitable ends, when a timer expires, when a thread adds a handle, and when
code that is not the program's does. They are *arrivals*. Each handle of the program and each arrival is one *step*. A
recording contains the steps of the arrivals, and this makes a replay of the loop exact.

Handles that belong to an external call, such as those of a connection, are not steps: a replay does not have them.
"""

from __future__ import annotations

import collections
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from cassette_import.contexts.recording.call_sequences import (
    arrival_origin,
    current_task,
    origin_of_result,
    running_loop,
)
from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["EXTERNAL", "Arrival", "LoopQueue", "RecordedLoop", "origin_of_task", "queue_of_running_loop", "watch_loops"]

# ---- event loops of asyncio

Arrival: TypeAlias = tuple[Any, ...]
"""What names an arrival, equally in each run: its kind, and numbers."""

Watch: TypeAlias = Callable[[Any], "LoopQueue | None"]
"""Called with a loop that begins to run; returns the queue that it uses from now on, None for its own."""

EXTERNAL: Final[Arrival] = ("external",)
"""Names all handles that belong to external calls."""

_MODULE: Final = "asyncio.base_events"
_MACHINERY: Final = ("_read_from_self", "_loop_self_reading")
"""Methods of loops that are called when another thread wakes the loop."""

_watches: Final[list[Watch]] = []


class LoopQueue(collections.deque[Any]):
    """The handles that a loop is about to run; it takes the place of the loop's own queue.

    Parameters
    ----------
    loop:
        The loop.
    context:
        The context that records or replays the loop.
    number:
        The number of the loop in the recording.
    is_external:
        Whether the code that is running belongs to an external call; with a context as argument, whether the code does
        that runs in it.

    Attributes
    ----------
    step:
        How many steps the program has made.
    """

    def __init__(self, loop: Any, context: Any, number: int, is_external: Callable[[Any], bool]) -> None:
        super().__init__(_detached(loop))
        self.context = context
        self.number = number
        self.step = 0
        self._loop = loop
        self._owner = threading.get_ident()
        self._is_in_external_call = is_external
        self._is_in_program = False
        self._awaiting: set[Any] = set()
        self._timers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._counts: collections.Counter[str] = collections.Counter()
        call_at = loop.call_at

        @hidden
        def numbered_call_at(*arguments: Any, **keywords: Any) -> Any:
            handle = call_at(*arguments, **keywords)
            if self._is_from_program() and not self._is_external(handle):
                self._number_timer(handle)
            return handle

        loop.call_at = numbered_call_at

    def begin_awaiting(self) -> None:
        """Note that the current task awaits an external call. Its handles belong to this call until it ends."""
        self._awaiting.add(current_task())

    def end_awaiting(self) -> None:
        """Note that the current task awaits an external call no longer."""
        self._awaiting.discard(current_task())

    def stopped(self) -> None:
        """Note that the loop has stopped."""

    def handles(self) -> list[Any]:
        """All handles, also those that wait for their step."""
        return [super(LoopQueue, self).popleft() for _ in range(super().__len__())]

    def next_number(self, kind: str) -> int:
        """One number after another, beginning with 1, for each kind of thing."""
        self._counts[kind] += 1
        return self._counts[kind]

    def origin_of_task(self) -> tuple[int, ...]:
        """What names a task at its first external call, in each run."""
        return self.number, self.next_number("task"), 0

    def arrival(self, handle: Any) -> Arrival | None:
        """What names a handle that is added; None for one that follows from the program alone."""
        if self._is_external(handle):
            return EXTERNAL
        for argument in handle._args or ():
            job = origin_of_result(argument)  # it may have ended before the loop began to wait for it, in this thread
            if job is not None:
                return "job", *job
        if threading.get_ident() != self._owner:
            origin = arrival_origin()
            return EXTERNAL if origin is None else ("thread", *origin)
        if hasattr(handle, "_when"):
            known = self._timers.get(id(handle))
            return EXTERNAL if known is None else ("timer", known[1])
        if self._is_from_program():
            return ("timer", self.next_number("timer")) if _is_timeout_that_is_over(handle) else None
        return "other", self.next_number("other")

    def _is_from_program(self) -> bool:
        """Whether the program is running, and not the loop itself or an external call."""
        return (self._is_in_program or self._loop._thread_id is None) and not self._is_in_external_call(None)

    def _is_external(self, handle: Any) -> bool:
        if self._is_in_external_call(handle._context):
            return True
        owner = getattr(handle._callback, "__self__", None)
        if owner is self._loop:
            return handle._callback.__name__ in _MACHINERY
        return bool(self._awaiting) and isinstance(owner, _future_type()) and owner in self._awaiting

    def _number_timer(self, handle: Any) -> None:
        key = id(handle)
        reference = weakref.ref(handle, lambda _: self._timers.pop(key, None))
        self._timers[key] = reference, self.next_number("timer")


def _is_timeout_that_is_over(handle: Any) -> bool:
    """Whether a handle that is no timer ends a block `asyncio.timeout` whose time was over when it began.

    The clock decides whether such a block has a timer.
    """
    timeouts = sys.modules.get("asyncio.timeouts")
    kind = type(getattr(handle._callback, "__self__", None))
    return timeouts is not None and kind is timeouts.Timeout


def _detached(loop: Any) -> Any:
    """The handles of a loop, which has a plain queue and its own methods from now on."""
    queue = loop._ready
    if isinstance(queue, LoopQueue):
        loop._ready = collections.deque(queue.handles())
        vars(loop).pop("call_at", None)
    return loop._ready


def _future_type() -> Any:
    return sys.modules["asyncio"].Future


def queue_of_running_loop() -> LoopQueue | None:
    """The queue of the loop that is running in this thread, if it is watched."""
    queue = getattr(running_loop(), "_ready", None)
    return queue if isinstance(queue, LoopQueue) else None


def origin_of_task() -> tuple[int, ...]:
    """What names the current task at its first external call; nothing in a loop that is not watched."""
    queue = queue_of_running_loop()
    return () if queue is None else queue.origin_of_task()


def watch_loops(watch: Watch) -> None:
    """Call a function with each loop of asyncio that begins to run, from now on."""
    if not _watches:
        module = sys.modules.get(_MODULE)
        if hasattr(module, "BaseEventLoop"):
            _intercept_loops(_MODULE, module)
        else:
            POST_IMPORT.when_imported(_MODULE, _intercept_loops)
    if watch not in _watches:
        _watches.append(watch)


def _intercept_loops(name: str, module: Any) -> None:
    run_forever = module.BaseEventLoop.run_forever

    @hidden
    def watched(self: Any) -> Any:
        queues: Iterable[LoopQueue | None] = (watch(self) for watch in _watches) if not self.is_running() else ()
        queue = next(filter(None, queues), None)
        if queue is None:
            if not self.is_running():
                _detached(self)
            return run_forever(self)
        self._ready = queue
        try:
            return run_forever(self)
        finally:
            queue.stopped()

    watched.__name__, watched.__qualname__ = run_forever.__name__, run_forever.__qualname__
    watched.__doc__ = run_forever.__doc__
    module.BaseEventLoop.run_forever = watched


# ---- `RecordedLoop`: notes at which step of an event loop each arrival came, so that a replay can go the same way


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
