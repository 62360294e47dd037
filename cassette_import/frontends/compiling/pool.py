"""Compiling many modules at once, each in one of several processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Final

from cassette_import.frontends.compiling.compiled_modules import (
    CompiledModule,
    Source,
    begin_worker,
    compile_module,
)

__all__ = ["compile_modules"]

_MODULES_PER_PROCESS: Final = 200
"""A process ends after so many modules, because it keeps what it knows of each of them."""


def compile_modules(
    sources: Sequence[Source], descriptions: Sequence[str], folders: Sequence[str], jobs: int
) -> Iterator[CompiledModule]:
    """Compile modules for the described contexts in so many processes; yield each result when it is there.

    Parameters
    ----------
    sources:
        The modules.
    descriptions:
        The contexts as `-c` takes them, outermost first.
    folders:
        Folders from which contexts may be imported.
    jobs:
        The number of processes.
    """
    # The largest ones first, so that all processes end at the same time.
    ordered = sorted(sources, key=lambda source: -_size(source.path))
    together = jobs * _MODULES_PER_PROCESS
    for first in range(0, len(ordered), together):
        yield from _compiled(ordered[first : first + together], descriptions, folders, jobs)


def _compiled(
    sources: Sequence[Source], descriptions: Sequence[str], folders: Sequence[str], jobs: int
) -> Iterator[CompiledModule]:
    """Compile modules in processes that end afterwards."""
    # `max_tasks_per_child` would do the same, but pools that use it may wait for ever (Python 3.11 to 3.13).
    # Each process begins with a fresh interpreter: a fork would copy threads and what this process has imported.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(sources)), fresh, begin_worker, (descriptions, folders)) as pool:
        waiting: dict[Future[CompiledModule], Source] = {}
        try:
            with _ignored_interrupts():
                for source in sources:
                    waiting[pool.submit(compile_module, source)] = source
        except BrokenProcessPool:  # a process has died already
            yield from (_died(source) for source in sources[len(waiting) :])
        try:
            for future in as_completed(waiting):
                yield _result(future, waiting[future])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Have Ctrl-C ignored in the block, and in the processes that start in it: it is for this process alone."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _result(future: Future[CompiledModule], source: Source) -> CompiledModule:
    try:
        return future.result()
    except BrokenProcessPool:
        return _died(source)


def _died(source: Source) -> CompiledModule:
    return CompiledModule(source.name, problem="a process that compiles modules has died")


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
