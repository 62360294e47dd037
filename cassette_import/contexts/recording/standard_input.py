"""The standard input of a program that `run` records or `replay` runs again: who reads it does not matter.

A loop `for line in sys.stdin` makes no call, and libraries such as `json` and `csv` are not overdubbed. So `sys.stdin`
is an object whose methods ask the active context. Without such a context, it is an ordinary file.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.recording.proxies import is_used_by_debugger
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import ACTIVE

__all__ = ["METHODS", "READ", "follow_standard_input"]

METHODS: Final[dict[type, tuple[str, ...]]] = {
    io.TextIOWrapper: ("read", "readline", "readlines"),
    io.BufferedReader: ("read", "read1", "readinto", "readinto1", "readline", "peek"),
}
"""The methods that read the standard input and its buffer."""

READ: Final[list[Callable[..., Any]]] = []
"""The function of `recording_context` that makes a call, given its context, the function and the arguments."""


@hidden
def _call(function: Any, file: Any, *arguments: Any) -> Any:
    for context in reversed(ACTIVE.get().contexts):
        if hasattr(context, "reads_standard_input") and not is_used_by_debugger():
            return READ[0](context, function, file, *arguments)
    return function(file, *arguments)


def _method(function: Any) -> Callable[..., Any]:
    @hidden
    def method(self: Any, /, *arguments: Any) -> Any:
        return _call(function, self, *arguments)

    return method


def _following(kind: Any) -> Any:
    """A class of files, whose methods ask the active context."""

    @hidden
    def following(self: Any) -> Any:
        line = _call(kind.readline, self)
        if not line:
            raise StopIteration
        return line

    methods = {name: _method(getattr(kind, name)) for name in METHODS[kind]}
    return type(kind.__name__, (kind,), {"__module__": kind.__module__, "__next__": following, **methods})


_Text: Final = _following(io.TextIOWrapper)
_Bytes: Final = _following(io.BufferedReader)

_before: Final[list[Any]] = []
"""What was `sys.stdin` before. It closes the file when it is deleted."""


def follow_standard_input() -> None:
    """Replace `sys.stdin`, if nothing has been read of it. This happens once and is not undone."""
    file = sys.stdin
    if "bdb" in sys.modules:  # a debugger reads ahead
        return
    if type(file) is not io.TextIOWrapper or type(file.buffer) is not io.BufferedReader or file is not sys.__stdin__:
        return
    _before.append(file)
    made = _Text(_Bytes(file.buffer.raw), file.encoding, file.errors, line_buffering=file.line_buffering)
    made.mode = file.mode
    system: Any = sys  # for the type checker, `__stdin__` is final
    system.stdin = system.__stdin__ = made
