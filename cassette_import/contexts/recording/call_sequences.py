"""Call sequences: each thread, executor job and asyncio task makes its external calls in an order of its own.

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

__all__ = ["CallSequences", "current_task", "job"]

_Sequence = TypeVar("_Sequence")
_JOB: Final[contextvars.ContextVar[tuple[int, _Job] | None]] = contextvars.ContextVar("job", default=None)


class CallSequences(Generic[_Sequence]):
    """The call sequence of each thread, job and task.

    Parameters
    ----------
    make:
        Called as ``make(kind, origin)`` at the first call of a thread, job or task; returns its sequence.
        The origin of a thread or job is the sequence that started it, and a running number: the only name that stays
        the same from run to run. It is empty if the start was not intercepted.
    """

    def __init__(self, make: Callable[[str, Sequence[int]], _Sequence]) -> None:
        self._make = make
        self._threads = threading.local()
        self._tasks: weakref.WeakKeyDictionary[Any, _Sequence] = weakref.WeakKeyDictionary()
        self._jobs: weakref.WeakKeyDictionary[Any, _Sequence] = weakref.WeakKeyDictionary()

    def current(self) -> _Sequence:
        """The sequence of the code that is running."""
        task = current_task()
        if task is not None:
            return self._of(self._tasks, task, "task", ())
        job = _JOB.get()
        if job is not None and job[0] == threading.get_ident():
            return self._of(self._jobs, job[1], "thread", job[1].origin)
        sequence: _Sequence | None = getattr(self._threads, "sequence", None)
        if sequence is None:
            is_main = threading.current_thread() is threading.main_thread()
            sequence = self._threads.sequence = self._make("main" if is_main else "thread", ())
        return sequence

    def _of(
        self, known: weakref.WeakKeyDictionary[Any, _Sequence], key: Any, kind: str, origin: Sequence[int]
    ) -> _Sequence:
        sequence = known.get(key)
        if sequence is None:
            sequence = known[key] = self._make(kind, origin)
        return sequence


class _Job:
    """One job of an executor. A worker thread runs many of them, in an order that differs from run to run."""

    def __init__(self, origin: Sequence[int]) -> None:
        self.origin = origin


@contextmanager
def job(origin: Sequence[int]) -> Iterator[None]:
    """Run the code in this block in a call sequence of its own."""
    token = _JOB.set((threading.get_ident(), _Job(origin)))
    try:
        yield
    finally:
        _JOB.reset(token)


def current_task() -> Any:
    """The asyncio task that is running in this thread, or None."""
    asyncio: Any = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return None
    return asyncio.current_task()
