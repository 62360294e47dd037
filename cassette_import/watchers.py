"""Hiding what the machinery itself does from tracers, profilers and tools that watch the event loop.

Knows `sys` and asyncio; must not know code or contexts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable


def without_watchers() -> Callable[[], None]:
    """Hide what follows from tracers and profilers; what is returned shows them the program again."""
    tracer, profiler = sys.gettrace(), sys.getprofile()
    if not callable(profiler):
        profiler = None  # a profiler in C, which cannot be set again from here
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

    return resume
