"""Hooks for the ways out of a process that skip `atexit`: `os._exit` and an exec.

Knows the functions of the operating system; must not know what the callback does.
"""

from __future__ import annotations

import contextvars
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden, unmonitored

__all__ = ["call_before_exit", "replace_exit_functions"]

_system: Final[Any] = sys.modules.get("posix") or sys.modules.get("nt")


def _do_nothing(goes_on: bool = False) -> None:
    """The callback until another one is set."""


_callback: list[Callable[..., None]] = [_do_nothing]


def replace_exit_functions() -> None:
    """Replace `os._exit`, `os.execv` and `os.execve`, which the other functions of the exec family call.

    To be called before contexts are made: a context that has one of them as a target needs the function that the
    program will call.
    """
    if _callback[0] is _do_nothing and hasattr(os, "_exit"):
        for name in ("_exit", "execv", "execve"):
            if hasattr(os, name):
                replacement = _replaced(getattr(os, name), is_exec=name != "_exit")
                setattr(os, name, replacement)
                setattr(_system, name, replacement)


def call_before_exit(callback: Callable[..., None]) -> None:
    """Have `callback` called before one of these functions ends this process: with ``goes_on=True`` before an exec."""
    _callback[0] = callback


def _replaced(original: Any, *, is_exec: bool) -> Any:
    @hidden
    def leave(*arguments: Any, **keywords: Any) -> Any:
        if not is_exec or _can_be_executed(*arguments):
            # Outside of all contexts: the callback is no part of the program.
            contextvars.Context().run(_callback[0], goes_on=is_exec)
        return original(*arguments, **keywords)

    # Profilers and tracebacks show the name of the original; pickle looks the function up under it.
    described: Any = leave
    shown = f"<built-in method {original.__module__}.{original.__name__}>"
    described.__code__ = unmonitored(leave.__code__.replace(co_filename="~", co_firstlineno=0, co_name=shown))
    described.__name__, described.__doc__ = original.__name__, original.__doc__
    described.__qualname__, described.__module__ = original.__name__, original.__module__
    described.__wrapped__ = original  # for its signature
    return leave


def _can_be_executed(path: Any = None, *others: Any) -> bool:
    try:
        return os.access(path, os.X_OK)  # `execvp` calls this for folder after folder, most of them in vain
    except TypeError:
        return False
