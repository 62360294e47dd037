"""The file of a recording: JSON lines, written one by one as calls end, so that a killed run leaves a usable file.

The first line is the header. Each further line is one of these:

``{"call": 7, "lane": 0, "what": […], "arguments": […], "site": […], "at": …, "value": …}``
    A call that ended, `at` in seconds since the beginning, with its value; or with ``"error"`` instead of
    ``"value"`` if it raised. Without either, its result was an awaitable, which has
    a line of its own when it ends; ``"no coroutine"`` is true for another one than a coroutine.
    A call that carries an HTTP request has it as ``"request"``; if requests are filtered, ``"filtered"`` is true,
    and there are no arguments.
``{"end": 7, "at": 0.9, "value": …}``
    The value or error of the awaitable of a call; or ``"left out"``, which is true for a response that a hook has left
    out, so that the call is not replayed.
``{"lane": 1, "kind": "thread", "origin": [0, 2]}``
    A thread, executor job or task begins its call sequence (a *lane* in the file) with its first call. Its origin: it
    is the second one that sequence 0 started. Calls are ordered within a sequence.
``{"event loop": 0, "origin": [0, 1]}``
    An event loop of asyncio begins to run. Its origin is like that of a thread.
``{"arrival": ["timer", 3], "step": [0, 17]}``
    What came from outside at step 17 of loop 0, see `event_loops`; or that the loop stopped. The line of the end of an
    awaitable has a ``"step"``, too, if its task was suspended.
``{"class": 3, …}``
    The methods that proxies for objects of this class need.
``{"environment": "HOME", "value": …}``
    An environment variable, when the program first read it.
``{"finished": 41, "running": [[0, 2]]}``
    The end of the run, with the number of its calls and the origins of threads and jobs that had not ended. A
    recording without this line was cut short.
``{"extended": 41, "match_on": […]}``
    The calls from here on were added by a later run, by the record mode ``new_episodes``, after so many calls. The
    calls of such a recording have no order.

``what`` is the kind of the call (call, get, set or delete), its name, and the number of the proxy if it uses one.
Values are written as in `values`. There are three references: ``{"handle": [proxy, class]}`` is a proxy,
``{"own": number}`` an object of the program, and ``{"error": …}`` an exception.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TextIO, TypeAlias

__all__ = ["BadRecording", "Call", "CallSequence", "LoopSteps", "Recording", "ReplayMismatch", "Writer", "read"]

# ---- the format of the lines of a recording, so that a damaged or wrongly edited line is found when it is read

_Check: TypeAlias = Callable[[Any], bool]


def _check(line: Mapping[str, Any]) -> None:
    """Raise a ValueError that names a key whose value is not of the right kind.

    >>> _check({"call": 1, "lane": 0, "what": ["call", "time.time"], "arguments": [[], []], "site": ["x.py", 1, "f"]})
    >>> _check({"lane": 1, "kind": "thread", "origin": "main"})
    Traceback (most recent call last):
        ...
    ValueError: origin cannot be 'main'
    """
    for key, is_valid in _CHECKS.items():
        if key in line and not is_valid(line[key]):
            raise ValueError(f"{key} cannot be {str(line[key])[:60]!r}")
    if "environment" in line and not _is_variable(line["value"]):
        raise ValueError(f"a variable cannot be {str(line['value'])[:60]!r}")


def _is_number(value: Any) -> bool:
    return type(value) is int


def _is_text(value: Any) -> bool:
    return type(value) is str


def _all(is_valid: _Check) -> _Check:
    return lambda value: type(value) is list and all(map(is_valid, value))


def _each(*checks: _Check) -> _Check:
    return lambda value: (
        type(value) is list and len(value) == len(checks) and all(map(lambda one, item: one(item), checks, value))
    )


def _is_what(value: Any) -> bool:
    return _each(_is_text, _is_text)(value) or _each(_is_text, _is_text, _is_number)(value)


def _is_anything(value: Any) -> bool:
    return True


def _is_variable(value: Any) -> bool:
    return value is None or _is_text(value) or _texts(value)


def _is_request(value: Any) -> bool:
    return type(value) is dict and _is_text(value.get("method")) and _is_text(value.get("uri"))


def _is_error(value: Any) -> bool:
    return type(value) is dict and _is_text(value.get("class"))


def _is_filter(value: Any) -> bool:
    return _is_text(value) or _each(_is_text, lambda replacement: replacement is None or _is_text(replacement))(value)


_texts: Final = _all(_is_text)

_CHECKS: Final[dict[str, _Check]] = {
    "call": _is_number,
    "end": _is_number,
    "lane": _is_number,
    "what": _is_what,
    "arguments": _each(_all(_is_anything), _all(_each(_is_text, _is_anything))),
    "site": _each(_is_text, _is_number, _is_text),
    "changed": _all(lambda value: type(value) is list and len(value) in (2, 3)),
    "error": _is_error,
    "kind": _is_text,
    "origin": _all(_is_number),
    "event loop": _is_number,
    "arrival": lambda value: type(value) is list and len(value) > 0 and _is_text(value[0]),
    "step": _each(_is_number, _is_number),
    "class": _is_number,
    "name": lambda value: _is_text(value) and ":" in value,
    "methods": _texts,
    "special": _texts,
    "environment": _is_text,
    "finished": _is_number,
    "running": _all(_all(_is_number)),
    "request": _is_request,
    "filtered": lambda value: type(value) is bool,
    "no coroutine": lambda value: type(value) is bool,
    "extended": _is_number,
    "match_on": _texts,
    "filter_headers": _all(_is_filter),
    "filter_query_parameters": _all(_is_filter),
    "filter_post_data_parameters": _all(_is_filter),
    "ignore_hosts": _texts,
    "ignore_localhost": lambda value: type(value) is bool,
    "boundary": _texts,
    "mask": _texts,
    "without": _texts,
    "argv": lambda value: _texts(value) and len(value) > 0 and not any("\0" in text for text in value),
    "folder": _is_text,
    "packages": _texts,
    "exclude": _texts,
    "program": _is_text,
    "test": _is_text,
    "python": _is_text,
    "hash seed": lambda value: value is None or _is_text(value),
}


# ---- what a recording consists of: how many calls of which functions, and how much of the file they take

_UNITS: Final = ("B", "kB", "MB", "GB")
_SHOWN: Final = 3


class _Sizes:
    """Counts the calls and characters of a recording, by function.

    >>> sizes = _Sizes()
    >>> sizes.add({"call": 1, "what": ["call", "time.time"]}, 1500)
    >>> sizes.described()
    '1 call, 1.5 kB (most of it: 1 time.time)'
    """

    def __init__(self) -> None:
        self._whole = 0
        self._calls: Counter[str] = Counter()
        self._characters: Counter[str] = Counter()

    def add(self, line: Mapping[str, Any], length: int) -> None:
        """Add a line of this length."""
        self._whole += length
        if "call" in line:
            name = line["what"][1]
            self._calls[name] += 1
            self._characters[name] += length

    def lacks(self, name: str) -> bool:
        """Whether no call of a function has been recorded, nor of a method of a class of this name."""
        return not any(known == name or known.startswith(f"{name}.") for known in self._calls)

    def described(self) -> str:
        """The sums, and the functions that take most of the recording."""
        count = self._calls.total()
        text = f"{count} call{'' if count == 1 else 's'}, {_shown(self._whole)}"
        largest = [f"{self._calls[name]} {name}" for name, _ in self._characters.most_common(_SHOWN)]
        return f"{text} (most of it: {', '.join(largest)})" if largest else text


def _shown(size: float) -> str:
    number = 0
    while size >= 1000 and number < len(_UNITS) - 1:
        size /= 1000
        number += 1
    return f"{size:.1f} {_UNITS[number]}" if number else f"{size} {_UNITS[0]}"


# ---- the file of a recording: JSON lines, written one by one as calls end, so that a killed run leaves a usable file

_VERSION: Final = 1
_monotonic: Final = time.monotonic
_FORMAT_KEY: Final = "cassette_import recording"


class BadRecording(ValueError):
    """A file that is not a recording, has an unknown version, or is damaged. The message is one line."""


class ReplayMismatch(BaseException):
    """A replay that differs from its recording. It is not an `Exception`, so no handler in the program hides it."""


class Writer:
    """Writes a recording, line by line.

    Parameters
    ----------
    path:
        The file. It is made by the first line; one that exists is replaced.
    header:
        The facts about the run that a replay needs. It is written with the first line after it; until then, `inform`
        may add to it.
    extended:
        A recording that exists and to which lines are added, instead of the header.
    waits:
        Whether the file is made, or replaced, by the first call. A run without calls leaves a file at its end only if
        it has read environment variables.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def __init__(
        self, path: str, header: Mapping[str, Any], extended: Recording | None = None, *, waits: bool = False
    ) -> None:
        self.path = path
        self.calls = 0 if extended is None else len(extended.calls)
        self.sizes = _Sizes()
        self._begun = _monotonic()
        self._header: dict[str, Any] = {_FORMAT_KEY: _VERSION, "python": sys.version.split()[0], **header}
        if extended is not None:
            self._header = {"extended": self.calls, **header}
        self._mode = "w" if extended is None else "a"
        self._waits = waits
        self._waiting: list[Mapping[str, Any]] | None = []
        """The lines before the file is made."""
        self._file: TextIO | None = None
        check_writable(path)

    def _open(self) -> None:
        make: Callable[..., TextIO] = open
        self._file = make(self.path, self._mode, encoding="ascii", newline="\n", opener=_open_privately)

    def inform(self, facts: Mapping[str, Any]) -> None:
        """Add facts to the header, if it has not been written."""
        self._header.update(facts)

    def begin(self) -> None:
        """Write the header, if it has not been written."""
        if self._header:
            header, self._header = self._header, {}
            self.write(header)

    def write(self, line: Mapping[str, Any]) -> None:
        """Write one line. The operating system has it when this returns, so a killed process does not lose it."""
        self.begin()
        try:
            if self._waiting is not None:
                self._waiting.append(line)
                has_read = "finished" in line and any("environment" in each for each in self._waiting)
                if not self._waits or "call" in line or has_read:
                    self._open()  # before nothing waits any more: other threads ask whether the file is open
                    lines, self._waiting = self._waiting, None
                    for each in lines:
                        self._put(each)
            else:
                self._put(line)
        except OSError as error:
            self.close()
            print(
                f"cassette_import: {self.path}: recording ends after {self.calls} calls: {error.strerror or error}",
                file=sys.__stderr__,
            )

    def _put(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            text = json.dumps(line, separators=(", ", ": ")) + "\n"
            self._file.write(text)
            self._file.flush()
            self.sizes.add(line, len(text))

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return round(_monotonic() - self._begun, 6)

    def finish(self, running: Sequence[Sequence[int]] = ()) -> None:
        """Write the last line, with the origins of the threads and jobs that are still running, and close the file."""
        self.write({"finished": self.calls, **({"running": running} if running else {})})
        self.close()

    def forget(self) -> None:
        """Make no file, if there is none yet."""
        if self._waiting is not None:
            self.close()

    def close(self) -> None:
        """Close the file as it is."""
        file, self._file, self._waiting = self._file, None, None
        if file is not None:
            try:
                file.close()
            except OSError:
                pass

    @property
    def is_open(self) -> bool:
        """Whether lines can still be written."""
        return self._file is not None or self._waiting is not None


def _open_privately(path: str, flags: int) -> int:
    """Open a file; a new one is for its owner alone: a recording may contain what other users must not read."""
    return os.open(path, flags, 0o600)


def check_writable(path: str) -> None:
    """Raise the `OSError` that opening a file for writing would raise, as far as that is known before."""
    folder = os.path.dirname(os.path.abspath(path))
    code = (
        errno.EISDIR
        if os.path.isdir(path)
        else 0
        if os.access(path if os.path.exists(path) else folder, os.W_OK)
        else errno.EACCES
        if os.path.isdir(folder)
        else errno.ENOENT
    )
    if code:
        raise OSError(code, os.strerror(code), path)


class Call:
    """A recorded call: its sequence, function, arguments, request and call site, and its outcome."""

    __slots__ = (
        "arguments", "changed", "encoded_request", "is_coroutine", "is_filtered", "is_pending", "number", "outcome",
        "sequence", "site", "waited", "what",
    )  # fmt: skip

    def __init__(self, line: Mapping[str, Any]) -> None:
        self.number: int = line["call"]
        self.sequence: int = line["lane"]
        self.what: list[Any] = line["what"]
        self.arguments: list[Any] = line["arguments"]
        self.site: list[Any] = line["site"]
        self.changed: list[Any] = line.get("changed", [])
        self.encoded_request: dict[str, Any] | None = line.get("request")
        self.is_filtered = bool(line.get("filtered"))
        self.outcome = _outcome(line)
        self.is_pending = self.outcome is None  # its outcome is on a line of its own
        self.is_coroutine = not line.get("no coroutine")  # if it is pending
        self.waited = False


class CallSequence:
    """The calls of a recorded thread, job or task that are left to replay, and the thread that replays them."""

    __slots__ = ("calls", "is_taken", "kind", "number", "origin", "thread")

    def __init__(self, number: int, kind: str, origin: tuple[int, ...]) -> None:
        self.number = number
        self.kind = kind
        self.origin = origin
        self.calls: deque[Call] = deque()
        self.is_taken = False
        self.thread: int | None = None


def _outcome(line: Mapping[str, Any]) -> tuple[str, Any] | None:
    for key in ("value", "error"):
        if key in line:
            return key, line[key]
    return None


class LoopSteps:
    """The recorded steps of one event loop: what arrived at which step, and at which steps the loop stopped."""

    __slots__ = ("arrivals", "number", "stops")

    def __init__(self, number: int) -> None:
        self.number = number
        self.arrivals: dict[int, tuple[Any, ...]] = {}
        self.stops: list[int] = []


class Recording:
    """The contents of a recording's file.

    Attributes
    ----------
    header:
        The first line.
    sequences:
        The call sequences by their numbers.
    order:
        The numbers of all calls that ended, in the order in which they ended.
    loops:
        The steps of event loops, by the origins of the loops.
    finished:
        Whether the recorded run came to its end.
    running:
        The origins of threads and jobs that were still running then.
    is_missing:
        Whether there is no file: the recording has no calls.
    is_extended:
        Whether later runs have added calls, so that the calls have no order.
    """

    def __init__(self, path: str, header: dict[str, Any]) -> None:
        self.path = path
        self.header = header
        self.sequences: dict[int, CallSequence] = {}
        self.calls: dict[int, Call] = {}
        self.order: list[int] = []
        self.classes: dict[int, dict[str, Any]] = {}
        self.environment: dict[str, Any] = {}
        self.loops: dict[tuple[int, ...], LoopSteps] = {}
        self._loops_by_number: dict[int, LoopSteps] = {}
        self.finished = False
        self.running: set[tuple[int, ...]] = set()
        self.is_missing = False
        self.is_extended = False

    @classmethod
    def missing(cls, path: str, header: dict[str, Any]) -> Recording:
        """An empty recording instead of a file that does not exist."""
        recording = cls(path, header)
        recording.finished = recording.is_missing = True
        return recording

    def add(self, line: Mapping[str, Any]) -> None:
        """Add one line of the file after the header."""
        _check(line)
        for key, add in _ADDERS.items():
            if key in line:
                add(self, line)
                return
        raise KeyError("finished")

    def _add_call(self, line: Mapping[str, Any]) -> None:
        call = Call(line)
        self.sequences[call.sequence].calls.append(call)
        self.calls[call.number] = call
        if not call.is_pending:
            self.order.append(call.number)

    def _add_end(self, line: Mapping[str, Any]) -> None:
        call = self.calls[line["end"]]
        if "step" in line:
            self._add_arrival({**line, "arrival": ["end", line["end"]]})
        if line.get("left out"):
            self.sequences[call.sequence].calls.remove(call)
            return
        call.outcome = _outcome(line)
        call.waited = bool(line.get("waited"))
        self.order.append(call.number)

    def _add_loop(self, line: Mapping[str, Any]) -> None:
        number = line["event loop"]
        self.loops[tuple(line["origin"])] = self._loops_by_number[number] = LoopSteps(number)

    def _add_arrival(self, line: Mapping[str, Any]) -> None:
        loop, step = line["step"]
        if line["arrival"] == ["stop"]:
            self._loops_by_number[loop].stops.append(step)
        else:
            self._loops_by_number[loop].arrivals[step] = tuple(line["arrival"])

    def _add_class(self, line: Mapping[str, Any]) -> None:
        self.classes[line["class"]] = {
            "name": str(line["name"]),
            "methods": list(line["methods"]),
            "special": list(line["special"]),
        }

    def _add_sequence(self, line: Mapping[str, Any]) -> None:
        number = line["lane"]
        self.sequences[number] = CallSequence(number, str(line["kind"]), tuple(line["origin"]))

    def _add_variable(self, line: Mapping[str, Any]) -> None:
        self.environment[line["environment"]] = line["value"]

    def _add_extension(self, line: Mapping[str, Any]) -> None:
        self.is_extended = True
        self.finished = False
        self.header = {**self.header, "match_on": line.get("match_on", [])}

    def _add_finish(self, line: Mapping[str, Any]) -> None:
        self.finished = line["finished"] == len(self.calls)
        if not self.finished:
            raise ValueError("calls are missing")
        self.running = {tuple(origin) for origin in line.get("running", ())}


_ADDERS: Final[dict[str, Callable[[Recording, Mapping[str, Any]], None]]] = {
    "call": Recording._add_call,
    "end": Recording._add_end,
    "class": Recording._add_class,
    "kind": Recording._add_sequence,
    "event loop": Recording._add_loop,
    "arrival": Recording._add_arrival,
    "extended": Recording._add_extension,
    "environment": Recording._add_variable,
    "finished": Recording._add_finish,
}
"""What each kind of line adds to a recording, by the key that only lines of this kind have."""


def read(path: str) -> Recording:
    """Read a recording. A last line that was cut off is ignored.

    Raises
    ------
    BadRecording
        If there is no file, it is not a recording, its version is unknown, or a line is damaged.
    """
    try:
        with open(path, "rb") as file:
            contents = file.read()
    except OSError as error:
        raise BadRecording(f"{path}: {error.strerror or error}") from error
    first, newline, rest = contents.partition(b"\n")
    header = _object(first) if newline else None
    if header is None or _FORMAT_KEY not in header:
        raise BadRecording(f"{path}: is not a recording" + ("" if contents else ": it is empty"))
    if header[_FORMAT_KEY] != _VERSION:
        raise BadRecording(
            f"{path}: has version {header[_FORMAT_KEY]!r}, but only version {_VERSION} can be read here; "
            "replay it with the cassette_import that recorded it, or record it again"
        )
    try:
        _check(header)
    except ValueError as error:
        raise BadRecording(f"{path}, line 1: is damaged ({error}); record it again") from error
    recording = Recording(path, header)
    lines = rest.split(b"\n")
    # A killed run may have written a part of a line after the last newline.
    for number, text in enumerate(lines[:-1], 2):
        line = _object(text)
        try:
            if line is None:
                raise ValueError("not a JSON object")
            recording.add(line)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
            raise BadRecording(
                f"{path}, line {number}: is damaged ({type(error).__name__}: {error}); record it again"
            ) from error
    return recording


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
