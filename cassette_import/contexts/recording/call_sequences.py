"""Call sequences: each thread, executor job and asyncio task makes its external calls in an order of its own."""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

from cassette_import.activation.verbs import fallback, overdub
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import ACTIVE

__all__ = ["CallSequences", "StartedJobs", "arrival_origin", "current_task", "origin_of_result"]

# ---- call sequences: each thread, executor job and asyncio task makes its external calls in an order of its own

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


# ---- threads and jobs that the program starts: each of them runs in the context, in a call sequence of its own


class StartedJobs:
    """Starts the threads and jobs of one context.

    Parameters
    ----------
    context:
        The `RecordingContext` in which they run.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._thread = threading.local()

    @hidden
    def start_thread(self, index: int, function: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Start a thread or job whose function, the argument at `index`, runs in the context.

        It gets a call sequence of its own.
        """
        if getattr(self._thread, "is_starting", False):  # this context is active more than once
            return fallback(self._context, function, *arguments, **keywords)
        if function is threading.Thread.start:
            thread: Any = arguments[0]
            if thread._target is not None:
                thread._target = self._in_this_context(thread._target)
            elif type(thread).run is not threading.Thread.run:
                thread.run = self._in_this_context(thread.run)
        elif function is _executor_map() and len(arguments) > index + 1:
            # One more iterable, which numbers the jobs in the order in which they are submitted.
            wrapped = self._in_this_context(arguments[index], is_numbered=True)
            arguments = (*arguments[:index], wrapped, *arguments[index + 1 :], itertools.count(1))
        elif len(arguments) > index:
            wrapped = self._in_this_context(arguments[index])
            arguments = (*arguments[:index], wrapped, *arguments[index + 1 :])
        self._thread.is_starting = True
        try:
            return fallback(self._context, function, *arguments, **keywords)
        finally:
            self._thread.is_starting = False

    def named(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A job or thread that code outside of the overdubbed packages starts, in a call sequence of its own."""
        if getattr(self._thread, "is_starting", False):  # the program starts it
            return run
        with self._context._lock:
            origin = self._context.new_origin()
        return self._in_sequence(run, origin)

    @hidden
    def start_in_thread_pool(
        self, kind: str, function: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> Any:
        """Start jobs of a `multiprocessing.pool.ThreadPool`. Pools of processes are left alone."""
        pool: Any = sys.modules["multiprocessing.pool"]
        if len(arguments) > 1 and isinstance(arguments[0], pool.ThreadPool):
            run = self._in_this_context(arguments[1], is_numbered=kind != "one")
            if kind == "one":
                arguments = (arguments[0], run, *arguments[2:])
            elif len(arguments) > 2:
                unpacked = _unpacked(run) if kind == "item" else _unpacked_arguments(run)
                arguments = (arguments[0], unpacked, _numbered(arguments[2], kind), *arguments[3:])
        return fallback(self._context, function, *arguments, **keywords)

    def _in_this_context(self, function: Callable[..., Any], *, is_numbered: bool = False) -> Callable[..., Any]:
        """A function that runs in a call sequence of its own; if it is numbered, one for each last argument."""
        function = self._context.as_callback(function)
        with self._context._lock:
            origin = self._context.new_origin()
            if is_numbered:
                self._context.origin_of_many(origin)

        @hidden
        def run(*arguments: Any, **keywords: Any) -> Any:
            if any(context is self._context for context in ACTIVE.get().contexts):
                return function(*arguments, **keywords)
            return overdub(self._context, function, *arguments, **keywords)

        return self._in_sequence(run, origin, is_numbered=is_numbered)

    def _in_sequence(self, run: Callable[..., Any], origin: Any, *, is_numbered: bool = False) -> Callable[..., Any]:
        """A function that runs in the call sequence of an origin; if it is numbered, one for each last argument."""

        @hidden
        def run_in_sequence(*arguments: Any, **keywords: Any) -> Any:
            own = (*origin, arguments[-1]) if is_numbered else origin
            arguments = arguments[:-1] if is_numbered else arguments
            with job(own):
                try:
                    self._context.job_began(own)
                    return run(*arguments, **keywords)
                finally:
                    self._context.job_ended(own)

        return run_in_sequence


def _executor_map() -> Any:
    module: Any = sys.modules.get("concurrent.futures._base")
    return None if module is None else module.Executor.map


def _numbered(items: Any, kind: str) -> Any:
    """The items of the jobs, each with its number; for a method that unpacks its items, in one more tuple."""
    pairs: Any = ((item, number) for number, item in enumerate(items, 1))
    if kind == "items":
        pairs = ((pair,) for pair in pairs)
    return list(pairs) if hasattr(items, "__len__") else pairs


def _unpacked(run: Callable[..., Any]) -> Callable[[Any], Any]:
    return hidden(lambda pair: run(*pair))


def _unpacked_arguments(run: Callable[..., Any]) -> Callable[[Any], Any]:
    return hidden(lambda pair: run(*pair[0], pair[1]))
