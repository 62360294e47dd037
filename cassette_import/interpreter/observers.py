"""Hiding what the machinery itself does from tracers, profilers and tools that watch the event loop.

Knows `sys` and asyncio; must not know code or contexts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from gc import disable, enable, isenabled  # as they are today, whatever the program puts in their place


def pause_garbage_collection() -> Callable[[], None]:
    """Keep garbage from being collected until what is returned is called.

    Otherwise what we make would have the program's garbage collected, and its finalizers run, in the middle of a call;
    and where a program has many objects, collections take a third of the time that specialising takes.
    """
    if not isenabled():
        return _nothing
    disable()
    return enable


def _nothing() -> None:
    pass


def pause_observers() -> Callable[[], None]:
    """Hide what follows from tracers and profilers; what is returned shows them the program again."""
    tracer, profiler = sys.gettrace(), sys.getprofile()
    if not callable(profiler):
        profiler = None  # a profiler in C, which cannot be set again from here
    resume_garbage_collection = pause_garbage_collection()  # which are reported to `gc.callbacks`
    asyncio_events = sys.modules.get("asyncio.events")
    loop = asyncio_events._get_running_loop() if asyncio_events is not None else None
    if asyncio_events is not None and loop is not None:
        asyncio_events._set_running_loop(None)  # tools forbid to read files while one runs (blockbuster)
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
