"""Lanes: in each thread, executor's job and asyncio task, calls have an order of their own.

Knows threads and tasks; must not know what is recorded.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

__all__ = ["Lanes", "current_task", "job"]

_Lane = TypeVar("_Lane")
_JOB: Final[contextvars.ContextVar[tuple[int, _Job] | None]] = contextvars.ContextVar("job", default=None)


class Lanes(Generic[_Lane]):
    """The lane of each thread, job and task; `make(kind, origin)` makes one at the first call.

    `origin` says who started a thread or job, and as which of his: the only name for it that lasts from run to run.
    It is empty for those of which nobody saw the start.
    """

    def __init__(self, make: Callable[[str, Sequence[int]], _Lane]) -> None:
        self._make = make
        self._threads = threading.local()
        self._tasks: weakref.WeakKeyDictionary[Any, _Lane] = weakref.WeakKeyDictionary()
        self._jobs: weakref.WeakKeyDictionary[Any, _Lane] = weakref.WeakKeyDictionary()

    def here(self) -> _Lane:
        """The lane of the code that is running."""
        task = current_task()
        if task is not None:
            return self._of(self._tasks, task, "task", ())
        job = _JOB.get()
        if job is not None and job[0] == threading.get_ident():
            return self._of(self._jobs, job[1], "thread", job[1].origin)
        lane: _Lane | None = getattr(self._threads, "lane", None)
        if lane is None:
            is_main = threading.current_thread() is threading.main_thread()
            lane = self._threads.lane = self._make("main" if is_main else "thread", ())
        return lane

    def _of(self, known: weakref.WeakKeyDictionary[Any, _Lane], key: Any, kind: str, origin: Sequence[int]) -> _Lane:
        lane = known.get(key)
        if lane is None:
            lane = known[key] = self._make(kind, origin)
        return lane


class _Job:
    """One job of an executor; workers do many, in an order that nobody can foretell."""

    def __init__(self, origin: Sequence[int]) -> None:
        self.origin = origin


@contextmanager
def job(origin: Sequence[int]) -> Iterator[None]:
    """What runs in this block is a lane of its own."""
    token = _JOB.set((threading.get_ident(), _Job(origin)))
    try:
        yield
    finally:
        _JOB.reset(token)


def current_task() -> Any:
    """The asyncio task that is running here, or None."""
    asyncio: Any = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return None
    return asyncio.current_task()
