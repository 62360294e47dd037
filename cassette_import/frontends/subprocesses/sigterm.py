"""A callback before SIGTERM ends a process.

Knows signals; must not know what the callback does.
"""

from __future__ import annotations

import contextvars
import os
import signal
from collections.abc import Callable
from types import FrameType

__all__ = ["call_on_sigterm"]


def call_on_sigterm(callback: Callable[..., None]) -> None:
    """Have `callback` called before SIGTERM ends the process, unless the program handles the signal.

    Process pools end their workers in this way.
    """

    def terminated(number: int, frame: FrameType | None) -> None:
        contextvars.Context().run(callback)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminated)
    except ValueError:  # not the main thread
        pass
