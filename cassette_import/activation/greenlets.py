"""Greenlets: they get the active contexts with `inherit` when they are started, as threads do.

A greenlet has context variables of its own, which are empty when it is started. gevent tells when it starts one, and
eventlet makes them by a class in Python. All others are seen at their first switch, by greenlet's own tracing.

Imports none of them.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextvars import Context
from types import ModuleType
from typing import Any, Final
from weakref import WeakSet

from cassette_import.activation.activations import inherited_activation
from cassette_import.activation.started_functions import as_event
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Protocol
from cassette_import.runtime.state import ACTIVE, INACTIVE


class _OfThread(threading.local):
    greenlet: ModuleType | None = None
    """The module, if this thread follows its greenlets."""


_of_thread: Final = _OfThread()
_library: Final[list[ModuleType]] = []
"""The module `greenlet`, once it is imported."""
_started: Final[WeakSet[Any]] = WeakSet()


class SwitchListener(Protocol):
    """Notified of each switch, for what is kept for a thread and belongs to a greenlet."""

    def switched(self, origin: Any, target: Any) -> None:
        """Another greenlet goes on in this thread."""


LISTENERS: Final[WeakSet[SwitchListener]] = WeakSet()
"""They are not kept alive."""


def divert_greenlets(module: ModuleType) -> None:
    """Note that the module `greenlet` is there."""
    if hasattr(module, "settrace") and hasattr(module, "gettrace"):
        _library.append(module)
        follow_greenlets()


def divert_gevent(module: Any) -> None:
    """Have greenlets of gevent inherit what is active where they are spawned; `module` is `gevent.greenlet`."""

    @hidden
    def spawned(made: Any) -> None:
        _inherit(made)
        context, function = made.gr_context, getattr(made, "_run", None)
        if context is not None and function is not None:
            call = context.run(as_event, function)
            if call is not function:
                made._run = _with_frame(call, module.__file__)

    module.Greenlet.add_spawn_callback(spawned)


def _with_frame(call: Callable[..., Any], filename: str) -> Callable[..., Any]:
    """The call below a frame of gevent: a greenlet has none, and hooks are called from code in Python."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        return call(*arguments, **keywords)

    run.__code__ = run.__code__.replace(co_filename=filename, co_firstlineno=1, co_qualname="Greenlet.run")
    return functools.update_wrapper(run, call)


@hidden
def begin_green_thread(begin: Callable[..., None], made: Any, /, *arguments: Any, **keywords: Any) -> None:
    """`GreenThread.__init__` of eventlet."""
    begin(made, *arguments, **keywords)
    _inherit(made)


def follow_greenlets() -> None:
    """Follow the greenlets of this thread from now on, if the program has imported the library."""
    if _library and _of_thread.greenlet is None:
        _of_thread.greenlet = _library[0]
        _library[0].settrace(_Switched(_library[0].gettrace()))


class _Switched:
    """What greenlet calls after each switch in a thread, in the greenlet that goes on."""

    def __init__(self, before: Callable[[str, Any], None] | None) -> None:
        self._before = before

    @hidden
    def __call__(self, event: str, greenlets: Any) -> None:
        target = greenlets[1]
        if target.gr_context is None and target not in _started:
            _started.add(target)
            parent = target.parent
            _activate(target, parent if parent is not None else greenlets[0])
        for listener in [*LISTENERS]:
            listener.switched(*greenlets)
        if self._before is not None:
            self._before(event, greenlets)


@hidden
def _activate(target: Any, creator: Any) -> None:
    """Activate in the greenlet that runs what is active in the one that has made it. A hub runs nothing for others."""
    context = creator.gr_context
    if context is None or type(target).__module__.partition(".")[0] == "gevent":
        return
    inherited = inherited_activation(context.get(ACTIVE, INACTIVE))
    if inherited is not INACTIVE:
        ACTIVE.set(inherited)


@hidden
def _inherit(made: Any) -> None:
    """Have a greenlet that has not begun inherit what is active here."""
    inherited = inherited_activation(ACTIVE.get())
    if inherited is not INACTIVE and made.gr_context is None:
        context = Context()
        context.run(ACTIVE.set, inherited)
        made.gr_context = context
