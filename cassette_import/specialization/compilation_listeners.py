"""Who is notified of compiled code. Listeners may be added before the body compiler is imported."""

from __future__ import annotations

import threading
import weakref
from typing import Final

from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.records import Protocol


class CompilationListener(Protocol):
    """Notified of each compiled body and module level."""

    def code_begins(self) -> None:
        """Code is going to be made in this thread. A call of `code_made` follows; such pairs may nest."""

    def code_made(self, functions: int, seconds: float) -> None:
        """Code was made in this thread, which took so many seconds: so many functions were compiled.

        There are none if a body was in the cache, or if the code is a module level.
        """


LISTENERS: Final[weakref.WeakSet[CompilationListener]] = weakref.WeakSet()
"""They are not kept alive."""


class _Reported(threading.local):
    seconds = 0.0


_reported: Final = _Reported()
"""`_reported.seconds`: how many seconds of this thread listeners have been notified of."""


class making_code:
    """A block that makes code, or finds the functions that are to have it. Listeners are notified of its time.

    `functions` may be assigned in the block: how many functions it has compiled. The time of a block within a block of
    the same thread is reported once.
    """

    __slots__ = ("_began", "_known", "_listeners", "functions")

    def __enter__(self) -> making_code:
        self.functions = 0
        self._listeners = list(LISTENERS) if LISTENERS else []
        self._known, self._began = _reported.seconds, perf_counter()
        for listener in self._listeners:
            listener.code_begins()
        return self

    def __exit__(self, *exception: object) -> None:
        reported_inside = _reported.seconds - self._known
        seconds = max(0.0, perf_counter() - self._began - reported_inside)
        _reported.seconds += seconds
        for listener in self._listeners:
            listener.code_made(self.functions, seconds)
