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

__all__ = ["METHODS", "follow_standard_input"]

METHODS: Final[dict[type, tuple[str, ...]]] = {
    io.TextIOWrapper: ("read", "readline", "readlines"),
    io.BufferedReader: ("read", "read1", "readinto", "readinto1", "readline", "peek"),
}
"""The methods that read the standard input and its buffer."""


@hidden
def _call(function: Any, file: Any, *arguments: Any) -> Any:
    for context in reversed(ACTIVE.get().contexts):
        make_call = getattr(context, "call_from_standard_input", None)
        if make_call is not None and not is_used_by_debugger():
            return make_call(function, file, *arguments)
    return function(file, *arguments)


def _method(function: Any) -> Callable[..., Any]:
    @hidden
    def method(self: Any, /, *arguments: Any) -> Any:
        return _call(function, self, *arguments)

    return method


def _asking(kind: Any) -> Any:
    """A class of files, whose methods ask the active context."""

    @hidden
    def next_line(self: Any) -> Any:
        line = _call(kind.readline, self)
        if not line:
            raise StopIteration
        return line

    methods = {name: _method(getattr(kind, name)) for name in METHODS[kind]}
    return type(kind.__name__, (kind,), {"__module__": kind.__module__, "__next__": next_line, **methods})


_Text: Final = _asking(io.TextIOWrapper)
_Bytes: Final = _asking(io.BufferedReader)

_before: Final[list[Any]] = []
"""The former `sys.stdin`, kept alive: when it is deleted, it closes the file."""


def follow_standard_input() -> None:
    """Replace `sys.stdin`, if nothing has been read of it. This happens once and is not undone."""
    file = sys.stdin
    if "bdb" in sys.modules:  # a debugger reads ahead
        return
    if type(file) is not io.TextIOWrapper or type(file.buffer) is not io.BufferedReader or file is not sys.__stdin__:
        return
    _before.append(file)
    text = _Text(_Bytes(file.buffer.raw), file.encoding, file.errors, line_buffering=file.line_buffering)
    text.mode = file.mode
    system: Any = sys  # for the type checker, `__stdin__` is final
    system.stdin = system.__stdin__ = text
