"""Threads and jobs that the program starts: each of them runs in the context, in a call sequence of its own."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from cassette_import.activation.verbs import fallback, overdub
from cassette_import.contexts.recording.call_sequences import job
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE

__all__ = ["StartedJobs"]


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
