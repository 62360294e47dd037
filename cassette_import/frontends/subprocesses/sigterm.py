"""A callback before SIGTERM ends a process, and the repetition of a SIGTERM that a process has missed.

A handler in Python runs when the interpreter is between two instructions, or when the signal interrupts a system call.
A signal that arrives just before a process begins to wait does neither, and a worker of a pool would wait for ever. So
a process that has the handler says so by a file, which the handler removes first; `multiprocessing` repeats the signal
while the file is there.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, Final

from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["call_on_sigterm", "repeat_missed_signals"]

_POPEN: Final = "multiprocessing.popen_fork"
_PAUSES: Final = (0.001, 0.01, 0.05, 0.25, 1.0)
"""The seconds after which a signal that was not noticed is sent again. A program's own handler may be there instead."""


def call_on_sigterm(callback: Callable[..., None], note: str) -> None:
    """Have `callback` called before SIGTERM ends the process, unless the program handles the signal.

    Process pools end their workers in this way.

    Parameters
    ----------
    callback:
        The function to call.
    note:
        A file that exists as long as the handler waits for the signal.
    """

    def terminated(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # it may be sent again
        with contextlib.suppress(OSError):
            os.unlink(note)
        try:
            contextvars.Context().run(callback)
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminated)
            with contextlib.suppress(OSError):
                os.close(os.open(note, os.O_CREAT | os.O_WRONLY))
    except ValueError:  # not the main thread
        pass


def repeat_missed_signals(note_of: Callable[[int], str]) -> None:
    """Have `multiprocessing` send SIGTERM once more to processes that have missed it.

    Parameters
    ----------
    note_of:
        Returns the `note` of a process, by its identifier.
    """

    def divert(name: str, module: ModuleType) -> None:
        POST_IMPORT.forget(name, divert)
        popen: Any = module.__dict__["Popen"]
        original = popen.terminate

        @functools.wraps(original)
        @hidden
        def terminate(self: Any) -> None:
            original(self)
            _repeat(self.pid, note_of(self.pid))

        popen.terminate = terminate

    module = sys.modules.get(_POPEN)
    if module is not None:
        divert(_POPEN, module)
    else:
        POST_IMPORT.when_imported(_POPEN, divert)
        POST_IMPORT.come_first()


def _repeat(process: int, note: str) -> None:
    """Send SIGTERM until the handler of a process has begun, or the process has ended."""
    for pause in _PAUSES:
        if not os.path.exists(note) or _has_ended(process):
            return
        time.sleep(pause)
        if os.path.exists(note):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)


def _has_ended(process: int) -> bool:
    try:
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except OSError:
        return True
