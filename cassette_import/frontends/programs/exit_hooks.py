"""Ways out of a process that pass by `atexit`: what is to be told is told before they are taken.

Knows the functions of the operating system; must not know what is told.
"""

from __future__ import annotations

import contextvars
import inspect
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden, unwatched

__all__ = ["look_out", "tell_before_leaving", "tell_when_terminated"]

_system: Final[Any] = sys.modules.get("posix") or sys.modules.get("nt")


def nothing(goes_on: bool = False) -> None:
    """Tell nothing."""


_telling: list[Callable[..., None]] = [nothing]


def look_out() -> None:
    """Replace `os._exit`, `os.execv` and `os.execve`, and thereby what is made of them.

    To be called before anybody else can have taken hold of them: whoever names one of them as a target means what
    the program calls.
    """
    if _telling[0] is nothing and hasattr(os, "_exit"):
        for name in ("_exit", "execv", "execve"):
            if hasattr(os, name):
                replacement = _replaced(getattr(os, name), is_exec=name != "_exit")
                setattr(os, name, replacement)
                setattr(_system, name, replacement)


def tell_before_leaving(tell: Callable[..., None]) -> None:
    """From now on `tell` is called before this process leaves in one of these ways: with ``goes_on=True`` before an
    exec."""
    _telling[0] = tell


def _replaced(original: Any, *, is_exec: bool) -> Any:
    @hidden
    def leave(*arguments: Any, **keywords: Any) -> Any:
        if not is_exec or _can_be_executed(*arguments):
            # Outside of all contexts: telling is no part of the program.
            contextvars.Context().run(_telling[0], goes_on=is_exec)
        return original(*arguments, **keywords)

    # It passes for the original wherever a name is shown, and is pickled as such.
    described: Any = leave
    shown = f"<built-in method {original.__module__}.{original.__name__}>"
    described.__code__ = unwatched(leave.__code__.replace(co_filename="~", co_firstlineno=0, co_name=shown))
    described.__name__, described.__doc__ = original.__name__, original.__doc__
    described.__qualname__, described.__module__ = original.__name__, original.__module__
    described.__signature__ = inspect.signature(original)
    return leave


def _can_be_executed(path: Any = None, *others: Any) -> bool:
    try:
        return os.access(path, os.X_OK)  # `execvp` tries one folder after the other
    except TypeError:
        return False


def tell_when_terminated(tell: Callable[..., None]) -> None:
    """Have SIGTERM, where it is left to the system, end the process as before, after `tell`: pools end their workers
    in this way."""

    def terminated(number: int, frame: FrameType | None) -> None:
        contextvars.Context().run(tell)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminated)
    except ValueError:  # not the main thread
        pass
