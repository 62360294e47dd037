"""The output formats of a trace: a tree as text, JSON lines, and trace events for Chrome and Perfetto.

Writing never disturbs the program: after an error, nothing more is written to the stream.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from itertools import islice
from typing import IO, Any, Final, NamedTuple

from cassette_import.contexts.trace.bounded_repr import MASK, Secrets, Shortener
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.events import ModuleImport
from cassette_import.kits.function_names import display, parameter_names
from cassette_import.kits.text import printable

__all__ = [
    "OUTPUTS",
    "WORDS",
    "CallStack",
    "Output",
    "ShownCall",
    "StackHere",
    "TracedThread",
    "Tree",
    "UnbufferedFile",
    "output_of",
]

# ---- the output formats of a trace: a tree as text, JSON lines, and trace events for Chrome and Perfetto

_INDENT: Final = "  "
_MOST_LEVELS: Final = 100
"""Deeper calls are not indented further: in a deep recursion, a line would be mostly space."""
_MOST_ARGUMENTS: Final = 50
"""The most positional arguments of a call that are shown, and the most named ones."""
WORDS: Final = {"result": "->", "exception": "raised"}


class UnbufferedFile:
    """A text file without a buffer: nothing is lost, however the program ends."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - see close
        self._write = self._file.write

    def write(self, text: str) -> None:
        """Write the text at once."""
        data = text.encode("utf-8", "backslashreplace")
        written = self._write(data)
        while written != len(data):  # a full pipe accepts a part
            data = data[written or 0 :]
            written = self._write(data)

    def flush(self) -> None:
        """Do nothing, as there is no buffer."""

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TracedThread(NamedTuple):
    """A thread of the trace. The first one is not named in a tree."""

    number: int
    name: str
    is_first: bool


class ShownCall(NamedTuple):
    """A call as text: the name of the function, and the arguments. An import has none."""

    name: str
    positional: list[str]
    named: dict[str, str]
    is_import: bool = False


_NO_THREAD: Final = TracedThread(0, "", True)
"""What notes belong to."""


class Output:
    """The output of a trace, in one format.

    With `whole_lines`, only complete lines are written: the program may write to the same stream. Otherwise a call is
    written when it begins, so that it is in the file even if it never ends.
    """

    def __init__(self, stream: IO[str], *, show: Shortener, secrets: Secrets, whole_lines: bool = False) -> None:
        self._stream = stream
        self._has_buffer = not isinstance(stream, UnbufferedFile)
        self._secrets = secrets
        self._show = show
        self._whole_lines = whole_lines
        self._works = True
        self._start = perf_counter()
        # Reentrant: a signal handler or a finaliser may write while its own thread is writing.
        self._lock = threading.RLock()

    def begin(
        self, thread: TracedThread, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Write that a call begins."""
        self.write_call(thread, level, self.shown_call(function, args, kwargs))

    def end(self, thread: TracedThread, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Write that a call ends. `kind` is ``"result"`` or ``"exception"``: what `value` is."""
        self.write_outcome(thread, level, display(function), kind, self.shown_value(kind, value, is_secret=is_secret))

    def write_call(self, thread: TracedThread, level: int, call: ShownCall, at: float | None = None) -> None:
        """Write that a call begins, now or at a time of the clock."""
        raise NotImplementedError

    def write_outcome(
        self, thread: TracedThread, level: int, name: str, kind: str, text: str, at: float | None = None
    ) -> None:
        """Write that a call of the function of this name ends, now or at a time of the clock."""
        raise NotImplementedError

    def note(self, text: str) -> None:
        """Write what the trace leaves out."""
        raise NotImplementedError

    def finish(self) -> None:
        """Complete the last line."""

    def close(self) -> None:
        """Complete the output and close the stream, which must be the trace's own."""
        self.finish()
        self._works = False
        try:
            self._stream.close()
        except OSError:
            pass

    def hides_result(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Whether the result is a secret, because the function or an argument is the name of one.

        Examples are ``get_password()`` and ``os.getenv("API_TOKEN")``.
        """
        if not self._secrets.are_masked:
            return False
        return self._secrets.is_name(display(function).rpartition(".")[2]) or any(map(self._secrets.is_name, args))

    def shown_call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ShownCall:
        """The call as text."""
        left_out = max(0, len(args) - _MOST_ARGUMENTS) + max(0, len(kwargs) - _MOST_ARGUMENTS)
        if left_out:
            args = args[:_MOST_ARGUMENTS]
            kwargs = dict(islice(kwargs.items(), _MOST_ARGUMENTS))
        is_import = type(function) is ModuleImport
        if not self._secrets.are_masked:
            positional = list(map(self._show, args))
            named = {name: self._show(kwargs[name]) for name in kwargs} if kwargs else {}
        else:
            positional = self._shown_positional(function, args)
            named = {name: self._show.named(name, value) for name, value in kwargs.items()}
        if left_out:
            positional.append(f"... {left_out} more")
        return ShownCall(display(function), positional, named, is_import)

    def _shown_positional(self, function: Any, args: tuple[Any, ...]) -> list[str]:
        names = parameter_names(function)
        names += (None,) * (len(args) - len(names))
        positional = []
        after_secret_name = False
        for name, value in zip(names, args, strict=False):
            # `setattr(settings, "password", value)`
            positional.append(self._masked(value) if after_secret_name else self._show.named(name, value))
            after_secret_name = after_secret_name or self._secrets.is_name(value)
        return positional

    def shown_value(self, kind: str, value: Any, *, is_secret: bool) -> str:
        """The result or exception as text."""
        return self._masked(value) if is_secret and kind == "result" else self._show(value)

    def _masked(self, value: Any) -> str:
        if value is None or value is True or value is False:
            return repr(value)
        self._secrets.add(value)
        return MASK

    def _write(self, text: str) -> None:
        if not self._works:
            return
        try:
            self._stream.write(text)
            if self._has_buffer:
                self._stream.flush()
        except (OSError, ValueError):
            self._works = False


class Tree(Output):
    """Calls, indented by depth. The result is on the same line if nothing was written in between."""

    _unfinished: tuple[int, int] | None = None  # thread and level of the call whose line is incomplete
    _held_back = ""

    def begin(
        self, thread: TracedThread, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Start a line."""
        if self._secrets.are_masked or kwargs or len(args) > _MOST_ARGUMENTS or type(function) is ModuleImport:
            self.write_call(thread, level, self.shown_call(function, args, kwargs))
        else:
            self._start_line(thread, level, f"{display(function)}({', '.join(map(self._show, args))})")

    def write_call(self, thread: TracedThread, level: int, call: ShownCall, at: float | None = None) -> None:
        """Start a line."""
        arguments = call.positional + [f"{printable(name)}={text}" for name, text in call.named.items()]
        self._start_line(thread, level, call.name if call.is_import else f"{call.name}({', '.join(arguments)})")

    def _start_line(self, thread: TracedThread, level: int, call: str) -> None:
        line = _prefix(thread, level) + call
        with self._lock:
            before = "" if self._unfinished is None else f"{self._held_back}\n"
            self._unfinished = thread.number, level
            if not self._whole_lines:
                self._write(before + line)
                return
            self._held_back = line
            if before:
                self._write(before)

    def end(self, thread: TracedThread, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Complete the line of the call, or write a new one."""
        text = self.shown_value(kind, value, is_secret=True) if is_secret else self._show(value)
        self.write_outcome(thread, level, "", kind, text)

    def write_outcome(
        self, thread: TracedThread, level: int, name: str, kind: str, text: str, at: float | None = None
    ) -> None:
        """Complete the line of the call, or write a new one."""
        outcome = f"{WORDS[kind]} {text}\n"
        with self._lock:
            if self._unfinished == (thread.number, level):
                self._write(f"{self._held_back} {outcome}")
            else:
                line = _prefix(thread, level + 1) + outcome
                self._write(line if self._unfinished is None else f"{self._held_back}\n{line}")
            self._unfinished = None
            self._held_back = ""

    def note(self, text: str) -> None:
        """Write a line."""
        with self._lock:
            self.finish()
            self._write(f"… {text}\n")

    def finish(self) -> None:
        """Complete the line that was started."""
        with self._lock:
            if self._unfinished is not None:
                self._write(self._held_back + "\n")
                self._unfinished = None
                self._held_back = ""


class JsonLines(Output):
    """One JSON object on each line, with the seconds since the trace began."""

    def write_call(self, thread: TracedThread, level: int, call: ShownCall, at: float | None = None) -> None:
        """Write the call."""
        self._line("call", thread, level, call.name, at, args=call.positional, kwargs=call.named)

    def write_outcome(
        self, thread: TracedThread, level: int, name: str, kind: str, text: str, at: float | None = None
    ) -> None:
        """Write the result or exception."""
        self._line(kind, thread, level, name, at, value=text)

    def note(self, text: str) -> None:
        """Write an object with the event ``"note"``."""
        self._line("note", _NO_THREAD, 0, "", None, value=text)

    def _line(self, event: str, thread: TracedThread, level: int, name: str, at: float | None, **more: object) -> None:
        entry = {
            "event": event,
            "function": name,
            "depth": level,
            "thread": "" if thread.is_first else thread.name,
            "at": round((perf_counter() if at is None else at) - self._start, 9),
            **more,
        }
        with self._lock:
            self._write(json.dumps(entry) + "\n")


class ChromeTrace(Output):
    """Trace events for chrome://tracing and https://ui.perfetto.dev, with one track for each thread.

    The format allows an unterminated list, so the file of a killed program can be opened.
    """

    def __init__(self, stream: IO[str], *, show: Shortener, secrets: Secrets, whole_lines: bool = False) -> None:
        super().__init__(stream, show=show, secrets=secrets, whole_lines=whole_lines)
        self._named_threads: set[int] = set()
        self._has_entries = self._is_finished = False

    def write_call(self, thread: TracedThread, level: int, call: ShownCall, at: float | None = None) -> None:
        """Write the begin event."""
        given: dict[str, Any] = {str(number): text for number, text in enumerate(call.positional)}
        category = call.name.rpartition(".")[0] or "call"
        self._event(thread, "B", at, name=call.name, cat=category, args={**given, **call.named})

    def write_outcome(
        self, thread: TracedThread, level: int, name: str, kind: str, text: str, at: float | None = None
    ) -> None:
        """Write the end event."""
        self._event(thread, "E", at, args={kind: text})

    def note(self, text: str) -> None:
        """Write an instant event, which is shown across all tracks."""
        self._event(_NO_THREAD, "i", None, name=text, cat="note", s="g")

    def _event(self, thread: TracedThread, phase: str, at: float | None, **more: Any) -> None:
        moment = round(((perf_counter() if at is None else at) - self._start) * 1e6, 3)
        entry = {"ph": phase, "ts": moment, "pid": os.getpid(), "tid": thread.number, **more}
        with self._lock:
            if thread.number not in self._named_threads and thread is not _NO_THREAD:
                self._named_threads.add(thread.number)
                named = {"name": "thread_name", "ph": "M", "pid": os.getpid(), "tid": thread.number}
                self._entry({**named, "args": {"name": thread.name}})
            self._entry(entry)

    def _entry(self, entry: dict[str, Any]) -> None:
        self._write((",\n" if self._has_entries else "[\n") + json.dumps(entry))
        self._has_entries = True

    def close(self) -> None:
        """Terminate the list."""
        with self._lock:
            if not self._is_finished:
                self._is_finished = True
                self._write("\n]\n" if self._has_entries else "[]\n")
        super().close()


def _prefix(thread: TracedThread, level: int) -> str:
    indentation = _INDENT * level if level <= _MOST_LEVELS else f"{_INDENT * _MOST_LEVELS}[level {level}] "
    return indentation if thread.is_first else f"[{thread.name}] {indentation}"


OUTPUTS: Final[Mapping[str, type[Output]]] = {".json": ChromeTrace, ".jsonl": JsonLines, ".ndjson": JsonLines}
"""The formats of files by their suffixes. Files with other suffixes have a tree."""


def output_of(path: str) -> type[Output]:
    """The format of a file.

    >>> output_of("calls.jsonl").__name__, output_of("calls.txt").__name__
    ('JsonLines', 'Tree')
    """
    return next((kind for suffix, kind in OUTPUTS.items() if path.lower().endswith(suffix)), Tree)


# ---- the calls in progress in a thread, as a trace keeps them

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
