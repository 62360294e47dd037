"""Pausing observers: tracers, profilers, the garbage collector and tools that guard the event loop.

They observe the program, and are not to notice what cassette_import does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from gc import disable, enable, isenabled  # by name: the program may replace the functions in `gc`
from typing import Any, TypeVar

from cassette_import.interpreter.hidden_frames import hidden

_Result = TypeVar("_Result")


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


@hidden
def _nothing() -> None:
    pass


@hidden
def unobserved(work: Callable[..., _Result], /, *arguments: Any) -> _Result:
    """Call `work` without the notice of tracers, profilers, the garbage collector, and tools that forbid blocking calls
    in event loops."""
    result: _Result = _unobserved(_without_collector_and_loop, work, *arguments)
    return result


def _without_collector_and_loop(work: Callable[..., _Result], /, *arguments: Any) -> _Result:
    resume_garbage_collection = pause_garbage_collection()  # `gc.callbacks` are observers too
    asyncio_events = sys.modules.get("asyncio.events")
    loop = asyncio_events._get_running_loop() if asyncio_events is not None else None
    if asyncio_events is not None and loop is not None:
        asyncio_events._set_running_loop(None)  # blockbuster forbids reading files while one runs
    try:
        return work(*arguments)
    finally:
        if asyncio_events is not None and loop is not None:
            asyncio_events._set_running_loop(loop)
        resume_garbage_collection()


@hidden
def _untraced(work: Callable[..., _Result], /, *arguments: Any) -> _Result:
    """Call `work` without tracer and profiler; without the accelerator, tools of `sys.monitoring` stay.

    A tracer that is reset from a frame that it knows sees the frame's call and no return. So this frame is hidden.
    """
    tracer, profiler = sys.gettrace(), sys.getprofile()
    if not callable(profiler):
        profiler = None  # a profiler in C stays, because it could not be restored from here
    if tracer is not None:
        sys.settrace(None)
    if profiler is not None:
        sys.setprofile(None)
    try:
        return work(*arguments)
    finally:
        if profiler is not None:
            sys.setprofile(profiler)
        if tracer is not None:
            sys.settrace(tracer)


_unobserved: Callable[..., Any] = _untraced
filter_observers: Callable[[], None] = _nothing
"""To be called where hidden frames are going to run: before 3.13, tools would notice how some of them end."""


def use_extension(unobserved_call: Callable[..., Any], filter_events: Callable[[], None]) -> None:
    """Use these functions in C: the interpreter has a state in which it notifies no observer.

    They are no functions of C for the interpreter: 3.11 would notify profilers of their calls, and not of their ends.
    """
    global _unobserved, filter_observers
    _unobserved, filter_observers = unobserved_call, filter_events
