"""Call sequences: each thread, executor job and asyncio task makes its external calls in an order of its own."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

__all__ = ["CallSequences", "arrival_origin", "current_task", "job", "origin_of_result"]

_Sequence = TypeVar("_Sequence")


class CallSequences(Generic[_Sequence]):
    """The call sequence of each thread, job and task.

    Parameters
    ----------
    make:
        Called as ``make(kind, origin)`` at the first call of a thread, job or task; returns its sequence.
        The origin of a thread or job is the sequence that started it, and a running number: the only name that stays
        the same from run to run. It is empty if the start was not intercepted.
    task_origin:
        Called at the first call of a task; returns its origin.
    """

    def __init__(
        self,
        make: Callable[[str, Sequence[int]], _Sequence],
        task_origin: Callable[[], Sequence[int]] = tuple,
    ) -> None:
        self._make = make
        self._task_origin = task_origin
        self._threads = threading.local()
        self._tasks: weakref.WeakKeyDictionary[Any, _Sequence] = weakref.WeakKeyDictionary()
        self._jobs: weakref.WeakKeyDictionary[Any, _Sequence] = weakref.WeakKeyDictionary()

    def current(self) -> _Sequence:
        """The sequence of the code that is running."""
        task = current_task()
        if task is not None:
            return self._of(self._tasks, task, "task", self._task_origin)
        job = _THREAD.job
        if job is not None:
            return self._of(self._jobs, job, "thread", lambda: job.origin)
        sequence: _Sequence | None = getattr(self._threads, "sequence", None)
        if sequence is None:
            is_main = threading.current_thread() is threading.main_thread()
            sequence = self._threads.sequence = self._make("main" if is_main else "thread", ())
        return sequence

    def _of(
        self,
        known: weakref.WeakKeyDictionary[Any, _Sequence],
        key: Any,
        kind: str,
        origin: Callable[[], Sequence[int]],
    ) -> _Sequence:
        sequence = known.get(key)
        if sequence is None:
            sequence = known[key] = self._make(kind, origin())
        return sequence


class _Job:
    """One job of an executor. A worker thread runs many of them, in an order that differs from run to run."""

    def __init__(self, origin: Sequence[int]) -> None:
        self.origin = origin
        self.arrivals = 0


class _Thread(threading.local):
    """The job that a thread runs."""

    job: _Job | None = None


_THREAD: Final = _Thread()
_ORIGINS_BY_FUTURE: Final[weakref.WeakKeyDictionary[Any, Sequence[int]]] = weakref.WeakKeyDictionary()
_DEEPEST: Final = 8
"""How many frames there are at most between an executor's own function and a job."""


@contextmanager
def job(origin: Sequence[int]) -> Iterator[None]:
    """Run the code in this block in a call sequence of its own."""
    made = _Job(origin)
    before, _THREAD.job = _THREAD.job, made
    future = _future_of_job()
    if future is not None:
        _ORIGINS_BY_FUTURE[future] = origin
    try:
        yield
    finally:
        _THREAD.job = before


def arrival_origin() -> tuple[int, ...] | None:
    """What names something that this thread passes to an event loop; None for a thread that runs no job."""
    job = _THREAD.job
    if job is None:
        return None
    job.arrivals += 1
    return *job.origin, job.arrivals


def origin_of_result(future: Any) -> Sequence[int] | None:
    """The origin of the job whose result is in a future; None for other objects."""
    try:
        return _ORIGINS_BY_FUTURE.get(future)
    except TypeError:  # it cannot be hashed, or there are no weak references to it
        return None


def _future_of_job() -> Any:
    """The future of the job that an executor has just begun in this thread; None in a callback of one that is done."""
    module: Any = sys.modules.get("concurrent.futures.thread")
    if module is None:
        return None
    frame: Any = sys._getframe(1)
    for _ in range(_DEEPEST):
        if frame is None:
            return None
        if frame.f_code is module._WorkItem.run.__code__:
            future = frame.f_locals["self"].future
            return None if future.done() else future
        frame = frame.f_back
    return None


def running_loop() -> Any:
    """The loop that is running in this thread, or None. asyncio may be in the middle of its import."""
    get = getattr(sys.modules.get("asyncio.events"), "_get_running_loop", None)
    return None if get is None else get()


def current_task() -> Any:
    """The asyncio task that is running in this thread, or None."""
    return None if running_loop() is None else sys.modules["asyncio"].current_task()
