"""How a trace is written: as a tree for people, as one JSON object a line, or for the viewers of Chrome and Perfetto.

Writing never disturbs the program: a stream that is closed or full is written to no more. Knows streams; must not
know contexts.
"""

from __future__ import annotations

import json
import os
import threading
from typing import IO, Any, Final, NamedTuple

from cassette_import.contexts.common.function_names import display, parameter_names
from cassette_import.contexts.trace.bounded_repr import MASK, Secrets, Shortener
from cassette_import.interpreter.clock import perf_counter

__all__ = ["ChromeTrace", "JsonLines", "Lane", "Output", "Tree", "Unbuffered"]

_INDENT: Final = "  "
_WORDS: Final = {"result": "->", "exception": "raised"}


class Unbuffered:
    """A file that has all that was written to it, however the program ends."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - see close
        self._write = self._file.write

    def write(self, text: str) -> None:
        """Write it now."""
        data = text.encode("utf-8", "backslashreplace")
        written = self._write(data)
        while written != len(data):  # a full pipe takes a part
            data = data[written or 0 :]
            written = self._write(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing more is written."""
        self._file.close()


class Lane(NamedTuple):
    """A thread as the trace tells it from others; the first one needs no name in a tree."""

    number: int
    name: str
    is_first: bool


class Shown(NamedTuple):
    """Arguments as text."""

    positional: list[str]
    named: dict[str, str]


class Output:
    """Where a trace goes.

    `whole_lines` is for streams that the program writes to as well: a line is written when it is complete.
    Otherwise a call is written when it begins, and stands in the file even if it never ends.
    """

    def __init__(self, stream: IO[str], *, show: Shortener, secrets: Secrets, whole_lines: bool = False) -> None:
        self._stream = stream
        self._secrets = secrets
        self._show = show
        self._whole_lines = whole_lines
        self._works = True
        self._start = perf_counter()
        # A signal handler or a finaliser may come here while its own thread is writing.
        self._lock = threading.RLock()

    def begin(self, lane: Lane, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A call begins."""
        raise NotImplementedError

    def end(self, lane: Lane, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
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

    def hides_result(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Whether the result is a secret by the name of the function, or of a name that it is given:
        ``get_password()``, ``os.getenv("API_TOKEN")``."""
        if not self._secrets.are_masked:
            return False
        return self._secrets.is_name(display(function).rpartition(".")[2]) or any(map(self._secrets.is_name, args))

    def _arguments(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Shown:
        if not self._secrets.are_masked:
            return Shown([self._show(value) for value in args], {name: self._show(kwargs[name]) for name in kwargs})
        names = parameter_names(function)
        names += (None,) * (len(args) - len(names))
        positional = []
        after_secret_name = False
        for name, value in zip(names, args, strict=False):
            # `setattr(settings, "password", value)`
            positional.append(self._masked(value) if after_secret_name else self._show.named(name, value))
            after_secret_name = after_secret_name or self._secrets.is_name(value)
        return Shown(positional, {name: self._show.named(name, value) for name, value in kwargs.items()})

    def _value(self, kind: str, value: Any, is_secret: bool) -> str:
        return self._masked(value) if is_secret and kind == "result" else self._show(value)

    def _masked(self, value: Any) -> str:
        if value is None or value is True or value is False:
            return repr(value)
        self._secrets.remember(value)
        return MASK

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

    _unfinished: tuple[int, int] | None = None  # thread and level of a call whose line goes on
    _held_back = ""

    def begin(self, lane: Lane, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Begin a line."""
        if self._secrets.are_masked or kwargs:
            shown = self._arguments(function, args, kwargs)
            arguments = shown.positional + [f"{name}={text}" for name, text in shown.named.items()]
        else:
            arguments = list(map(self._show, args))
        line = f"{_prefix(lane, level)}{display(function)}({', '.join(arguments)})"
        with self._lock:
            before = "" if self._unfinished is None else f"{self._held_back}\n"
            self._unfinished = lane.number, level
            if not self._whole_lines:
                self._write(before + line)
                return
            self._held_back = line
            if before:
                self._write(before)

    def end(self, lane: Lane, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Go on with the line of this call, or begin one."""
        outcome = f"{_WORDS[kind]} {self._value(kind, value, is_secret)}\n"
        with self._lock:
            if self._unfinished == (lane.number, level):
                self._write(f"{self._held_back} {outcome}")
            else:
                line = _prefix(lane, level + 1) + outcome
                self._write(line if self._unfinished is None else f"{self._held_back}\n{line}")
            self._unfinished = None
            self._held_back = ""

    def finish(self) -> None:
        """End a line that was begun."""
        with self._lock:
            if self._unfinished is not None:
                self._write(self._held_back + "\n")
                self._unfinished = None
                self._held_back = ""


class JsonLines(Output):
    """One object a line, with the seconds since the beginning."""

    def begin(self, lane: Lane, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Write the call."""
        shown = self._arguments(function, args, kwargs)
        self._line("call", lane, level, function, args=shown.positional, kwargs=shown.named)

    def end(self, lane: Lane, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Write what became of it."""
        self._line(kind, lane, level, function, value=self._value(kind, value, is_secret))

    def _line(self, event: str, lane: Lane, level: int, function: Any, **more: object) -> None:
        entry = {
            "event": event,
            "function": display(function),
            "depth": level,
            "thread": "" if lane.is_first else lane.name,
            "at": round(perf_counter() - self._start, 9),
            **more,
        }
        with self._lock:
            self._write(json.dumps(entry) + "\n")


class ChromeTrace(Output):
    """The trace events that chrome://tracing and https://ui.perfetto.dev show, a lane for each thread.

    The format allows for a list that was not ended: what a killed program left behind can be looked at.
    """

    def __init__(self, stream: IO[str], *, show: Shortener, secrets: Secrets, whole_lines: bool = False) -> None:
        super().__init__(stream, show=show, secrets=secrets, whole_lines=whole_lines)
        self._lanes: set[int] = set()
        self._is_begun = self._is_finished = False

    def begin(self, lane: Lane, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Write where the call begins."""
        shown = self._arguments(function, args, kwargs)
        given: dict[str, Any] = {str(number): text for number, text in enumerate(shown.positional)}
        self._event(lane, "B", name=display(function), cat=_category(function), args={**given, **shown.named})

    def end(self, lane: Lane, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Write where it ends."""
        self._event(lane, "E", args={kind: self._value(kind, value, is_secret)})

    def _event(self, lane: Lane, phase: str, **more: Any) -> None:
        moment = round((perf_counter() - self._start) * 1e6, 3)
        entry = {"ph": phase, "ts": moment, "pid": os.getpid(), "tid": lane.number, **more}
        with self._lock:
            if lane.number not in self._lanes:
                self._lanes.add(lane.number)
                named = {"name": "thread_name", "ph": "M", "pid": os.getpid(), "tid": lane.number}
                self._entry({**named, "args": {"name": lane.name}})
            self._entry(entry)

    def _entry(self, entry: dict[str, Any]) -> None:
        self._write((",\n" if self._is_begun else "[\n") + json.dumps(entry))
        self._is_begun = True

    def close(self) -> None:
        """End the list."""
        with self._lock:
            if not self._is_finished:
                self._is_finished = True
                self._write("\n]\n" if self._is_begun else "[]\n")
        super().close()


def _category(function: Any) -> str:
    name = display(function)
    return name.rpartition(".")[0] or "call"


def _prefix(lane: Lane, level: int) -> str:
    return ("" if lane.is_first else f"[{lane.name}] ") + _INDENT * level
