"""How a trace is written: as a tree for people, or as one JSON object a line for programs.

Writing never disturbs the program: values are shown cut short, a `__repr__` that raises is named, and a
stream that is closed or full is written to no more. Knows streams; must not know contexts.
"""

from __future__ import annotations

import json
import reprlib
import threading
from time import perf_counter
from typing import IO, Any, Final

from .naming import display

__all__ = ["JsonLines", "Output", "Tree", "shown"]

_INDENT: Final = "  "
_WORDS: Final = {"result": "->", "exception": "raised"}


class Output:
    """Where a trace goes.

    `whole_lines` is for streams that the program writes to as well: a line is written when it is complete.
    Otherwise a call is written when it begins, and stands in the file even if it never ends.
    """

    def __init__(self, stream: IO[str], *, width: int, whole_lines: bool) -> None:
        self._stream = stream
        self._representation = _bounded(width)
        self._whole_lines = whole_lines
        self._works = True
        # A signal handler or a finaliser may come here while its own thread is writing.
        self._lock = threading.RLock()

    def begin(self, thread: str, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call begins."""
        raise NotImplementedError

    def end(self, thread: str, level: int, function: Any, kind: str, value: Any) -> None:
        """A call ends; `kind` says whether `value` is its result or an exception."""
        raise NotImplementedError

    def finish(self) -> None:
        """Leave the stream complete."""

    def close(self) -> None:
        """Nothing more is written; for a stream that is nobody else's."""
        self.finish()
        self._works = False
        try:
            self._stream.close()
        except OSError:
            pass

    def _show(self, value: Any) -> str:
        return shown(value, self._representation)

    def _write(self, text: str) -> None:
        if not self._works:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._works = False


class Tree(Output):
    """Calls indented by how deep they are; the result on the same line where nothing came in between."""

    def __init__(self, stream: IO[str], *, width: int, whole_lines: bool) -> None:
        super().__init__(stream, width=width, whole_lines=whole_lines)
        self._unfinished: tuple[str, int] | None = None  # thread and level of a call whose line goes on
        self._held_back = ""

    def begin(self, thread: str, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Begin a line."""
        arguments = [self._show(value) for value in args]
        arguments += [f"{name}={self._show(value)}" for name, value in kwargs.items()]
        line = f"{_prefix(thread, level)}{display(function)}({', '.join(arguments)})"
        with self._lock:
            self.finish()
            self._unfinished = thread, level
            if self._whole_lines:
                self._held_back = line
            else:
                self._write(line)

    def end(self, thread: str, level: int, function: Any, kind: str, value: Any) -> None:
        """Go on with the line of this call, or begin one."""
        outcome = f"{_WORDS[kind]} {self._show(value)}\n"
        with self._lock:
            if self._unfinished == (thread, level):
                self._write(f"{self._held_back} {outcome}")
                self._unfinished = None
                self._held_back = ""
            else:
                self.finish()
                self._write(_prefix(thread, level + 1) + outcome)

    def finish(self) -> None:
        """End a line that was begun."""
        with self._lock:
            if self._unfinished is not None:
                self._write(self._held_back + "\n")
                self._unfinished = None
                self._held_back = ""


class JsonLines(Output):
    """One object a line, with the seconds since the beginning."""

    def __init__(self, stream: IO[str], *, width: int, whole_lines: bool) -> None:
        super().__init__(stream, width=width, whole_lines=whole_lines)
        self._start = perf_counter()

    def begin(self, thread: str, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Write the call."""
        keywords = {name: self._show(value) for name, value in kwargs.items()}
        self._line("call", thread, level, function, args=[self._show(value) for value in args], kwargs=keywords)

    def end(self, thread: str, level: int, function: Any, kind: str, value: Any) -> None:
        """Write what became of it."""
        self._line(kind, thread, level, function, value=self._show(value))

    def _line(self, event: str, thread: str, level: int, function: Any, **more: object) -> None:
        entry = {
            "event": event,
            "function": display(function),
            "depth": level,
            "thread": thread,
            "at": round(perf_counter() - self._start, 9),
            **more,
        }
        with self._lock:
            self._write(json.dumps(entry) + "\n")


def _prefix(thread: str, level: int) -> str:
    return (f"[{thread}] " if thread else "") + _INDENT * level


def _bounded(width: int) -> reprlib.Repr:
    representation = reprlib.Repr()
    representation.maxlevel = 3
    representation.maxstring = representation.maxother = representation.maxlong = width
    return representation


def shown(value: Any, representation: reprlib.Repr) -> str:
    """A value on one line, cut short; never fails.

    >>> shown([1, "two"], _bounded(60))
    "[1, 'two']"
    >>> shown("x" * 1000, _bounded(9))
    "'x...xx'"
    """
    try:
        text = representation.repr(value)
    except Exception:  # whatever the program's own __repr__ does
        text = object.__repr__(value)
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]
