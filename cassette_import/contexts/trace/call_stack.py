"""The calls in progress in a thread, as a trace keeps them."""

from __future__ import annotations

import threading
from typing import Any

from cassette_import.contexts.trace.output import TracedThread

__all__ = ["CallStack", "StackHere"]

_Call = tuple[Any, int, bool | None]
"""A call in progress: its function, its level, and whether its result is a secret; None if the call is not shown."""


class CallStack:
    """The calls in progress in a thread, outermost first. `level` is that of the next call."""

    __slots__ = ("calls", "level", "thread")

    def __init__(self, thread: TracedThread) -> None:
        self.thread = thread
        self.calls: list[_Call] = []
        self.level = 0

    def push(self, function: Any, is_secret: bool) -> None:
        """Add a call that is shown."""
        self.calls.append((function, self.level, is_secret))
        self.level += 1


class StackHere(threading.local):
    """The call stack of the running thread."""

    stack: CallStack | None = None
