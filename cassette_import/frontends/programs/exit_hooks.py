"""Hooks for the ways out of a process that skip `atexit`, `os._exit` and an exec; and the status of a failed ending."""

from __future__ import annotations

import contextvars
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["call_before_exit", "fail_at_end", "replace_exit_functions"]

_system: Final[Any] = sys.modules.get("posix") or sys.modules.get("nt")


def _do_nothing(goes_on: bool = False) -> None:
    """The callback until another one is set."""


_callback: list[Callable[..., object]] = [_do_nothing]
_FAILURE: Final = 1


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


def call_before_exit(callback: Callable[..., object]) -> None:
    """Have `callback` called before one of these functions ends this process: with ``goes_on=True`` before an exec.

    If it returns True, a process that ends with status 0 ends with status 1.
    """
    _callback[0] = callback


def fail_at_end() -> None:
    """Have this process end with status 1; called while its `atexit` functions run."""
    # Nothing but an exit changes the status by now. The modules are removed after the other `atexit` functions, which
    # may have something to write, too.
    leave: Any = getattr(os._exit, "__wrapped__", os._exit)
    vars(sys)["cassette_import.end"] = _End(
        leave, [stream for stream in (sys.stdout, sys.stderr) if stream is not None]
    )


class _End:
    """Its finalizer ends the process."""

    def __init__(self, leave: Callable[[int], object], streams: list[Any]) -> None:
        self._leave = leave
        self._streams = streams

    def __del__(self, status: int = _FAILURE) -> None:
        try:
            for stream in self._streams:
                stream.flush()
        finally:
            self._leave(status)


def _replaced(original: Any, *, is_exec: bool) -> Any:
    @hidden
    def leave(*arguments: Any, **keywords: Any) -> Any:
        if not is_exec or _can_be_executed(*arguments):
            # Outside of all contexts: the callback is no part of the program.
            fails = contextvars.Context().run(_callback[0], goes_on=is_exec)
            if fails and not is_exec and (*arguments, *keywords.values()) == (0,):
                return original(_FAILURE)
        return original(*arguments, **keywords)

    # Profilers and tracebacks show the name of the original; pickle looks the function up under it.
    described: Any = leave
    shown = f"<built-in method {original.__module__}.{original.__name__}>"
    described.__code__ = leave.__code__.replace(co_filename="~", co_firstlineno=0, co_name=shown)
    described.__name__, described.__doc__ = original.__name__, original.__doc__
    described.__qualname__, described.__module__ = original.__name__, original.__module__
    described.__wrapped__ = original  # for its signature
    return leave


def _can_be_executed(path: Any = None, *others: Any) -> bool:
    try:
        return os.access(path, os.X_OK)  # `execvp` calls this for folder after folder, most of them in vain
    except TypeError:
        return False
