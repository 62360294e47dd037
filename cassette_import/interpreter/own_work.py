"""Own work: whether this thread does work of cassette_import's own.

Functions of the program that such work calls run plain meanwhile: finders, audit hooks, what replaces `__import__`. To
overdub them may need the very work that calls them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden


class _OwnWork(threading.local):
    now = False
    makes_function = False


OWN_WORK: Final = _OwnWork()
"""`OWN_WORK.now`: this thread does own work: it specialises a function, imports a module of cassette_import, or makes
what call sites of a context type need.

`OWN_WORK.makes_function`: this thread makes a function for a call that is to run plain; only audit hooks can be called.
"""


class Activity:
    """How own work suspends what is active in this thread; `runtime.state` assigns it."""

    get: Callable[[], object] = staticmethod(lambda: None)
    set: Callable[[Any], object] = staticmethod(lambda active: None)
    suspend: Callable[[], object] = staticmethod(lambda: None)
    resume: Callable[[Any], object] = staticmethod(lambda token: None)


class own_work:
    """A block of own work. No context is active in it, so what it uses of the standard library is no event."""

    __slots__ = ("_before", "_token")

    @hidden
    def __enter__(self) -> None:
        before, active = OWN_WORK.now, Activity.get()
        OWN_WORK.now = True
        try:
            self._token = Activity.suspend()
        except BaseException:  # of a signal's handler, for example, which runs when the call has done its work
            OWN_WORK.now = before
            Activity.set(active)
            raise
        self._before = before

    @hidden
    def __exit__(self, *exception: object) -> None:
        try:
            Activity.resume(self._token)
        finally:
            OWN_WORK.now = self._before
