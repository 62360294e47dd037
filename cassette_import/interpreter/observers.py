"""Pausing observers: tracers, profilers, the garbage collector and tools that guard the event loop.

They observe the program, and are not to notice what cassette_import does. Knows `sys`, `gc` and asyncio. Must not know
code or contexts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from gc import disable, enable, isenabled  # by name: the program may replace the functions in `gc`


def pause_garbage_collection() -> Callable[[], None]:
    """Disable the garbage collector.

    Otherwise new objects of cassette_import would trigger collections, and finalizers of the program would run in the
    middle of a call. And in a program with many objects, collections take a third of the time of specialising.

    Returns
    -------
    A function that restores the former state.
    """
    if not isenabled():
        return _nothing
    disable()
    return enable


def _nothing() -> None:
    pass


def pause_observers() -> Callable[[], None]:
    """Disable tracers, profilers, the garbage collector, and tools that forbid blocking calls in event loops.

    Returns
    -------
    A function that restores the former state.
    """
    tracer, profiler = sys.gettrace(), sys.getprofile()
    if not callable(profiler):
        profiler = None  # a profiler in C stays, because it could not be restored from here
    resume_garbage_collection = pause_garbage_collection()  # `gc.callbacks` are observers too
    asyncio_events = sys.modules.get("asyncio.events")
    loop = asyncio_events._get_running_loop() if asyncio_events is not None else None
    if asyncio_events is not None and loop is not None:
        asyncio_events._set_running_loop(None)  # blockbuster forbids reading files while one runs
    if tracer is not None:
        sys.settrace(None)
    if profiler is not None:
        sys.setprofile(None)

    def resume() -> None:
        if asyncio_events is not None and loop is not None:
            asyncio_events._set_running_loop(loop)
        if profiler is not None:
            sys.setprofile(profiler)
        if tracer is not None:
            sys.settrace(tracer)
        resume_garbage_collection()

    return resume
