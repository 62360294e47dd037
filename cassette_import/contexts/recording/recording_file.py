"""The file: a recording is JSON lines, written one by one as things happen, so that a killed run leaves a usable one.

The first line is the header. Then, each a line:

``{"call": 7, "lane": 0, "what": […], "arguments": […], "site": […], "at": …, "value": …}``
    a call, when it ended in seconds since the beginning, and what came of it; ``"error"`` in the place of
    ``"value"`` if it raised; with neither, it was only begun;
``{"end": 7, "at": 0.9, "value": …}``
    what came of a call that was begun: what was awaited;
``{"lane": 1, "kind": "thread", "origin": [0, 2]}``
    a thread, executor's job or task makes its first call: the second one that lane 0 started. Calls have their
    order within a lane;
``{"class": 3, …}``
    what stand-ins for objects of this class look like;
``{"environment": "HOME", "value": …}``
    a variable, at its first use;
``{"finished": 41, "running": [[0, 2]]}``
    the end, and the origins of threads and jobs that had not come to theirs; a recording without it was cut short.

Knows lines; must not know contexts, or how values are written.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO

from cassette_import.contexts.recording.recording_lines import check

__all__ = ["VERSION", "BadRecording", "Call", "Departure", "Lane", "Recording", "Writer", "read", "shown_call"]

VERSION: Final = 1
_monotonic: Final = time.monotonic
_MARK: Final = "cassette_import recording"


class BadRecording(ValueError):
    """A file that is no recording, or one of a version that is not known, or a damaged one. One line says which."""


class Departure(BaseException):
    """A run that departs from its recording. No `Exception`, so that no handler in the program mends it in silence."""


class Writer:
    """Writes a recording, line by line.

    Parameters
    ----------
    path:
        The file. One that exists is replaced.
    header:
        What is to be known of the run.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self.path = path
        self.calls = 0
        self._begun = _monotonic()
        self._file: TextIO | None = open(path, "w", encoding="ascii", newline="\n")  # noqa: SIM115 - closed by finish
        self.write({_MARK: VERSION, "python": sys.version.split()[0], **header})

    def write(self, line: Mapping[str, Any]) -> None:
        """Write one line; it is in the operating system's hands when this returns."""
        if self._file is None:
            return
        try:
            self._file.write(json.dumps(line, separators=(", ", ": ")) + "\n")
            self._file.flush()
        except OSError as error:
            self.abandon()
            print(
                f"cassette_import: {self.path}: recording ends after {self.calls} calls: {error.strerror or error}",
                file=sys.__stderr__,
            )

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return round(_monotonic() - self._begun, 6)

    def finish(self, running: Sequence[Sequence[int]] = ()) -> None:
        """Write the end, with the origins of the threads and jobs that are not at theirs, and close the file."""
        self.write({"finished": self.calls, **({"running": running} if running else {})})
        self.abandon()

    def abandon(self) -> None:
        """Close the file as it is."""
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:
                pass

    @property
    def is_open(self) -> bool:
        """Whether anything can still be written."""
        return self._file is not None


class Call:
    """A recorded call."""

    __slots__ = ("arguments", "changed", "lane", "number", "outcome", "pending", "site", "waited", "what")

    def __init__(self, line: Mapping[str, Any]) -> None:
        self.number: int = line["call"]
        self.lane: int = line["lane"]
        self.what: list[Any] = line["what"]
        self.arguments: list[Any] = line["arguments"]
        self.site: list[Any] = line["site"]
        self.changed: list[Any] = line.get("changed", [])
        self.outcome = _outcome(line)
        self.pending = self.outcome is None
        self.waited = False


class Lane:
    """The calls of a thread, executor's job or task that are not replayed yet; and who replays them, if anybody."""

    __slots__ = ("calls", "kind", "number", "origin", "taken", "thread")

    def __init__(self, number: int, kind: str, origin: tuple[int, ...]) -> None:
        self.number = number
        self.kind = kind
        self.origin = origin
        self.calls: deque[Call] = deque()
        self.taken = False
        self.thread: int | None = None


def _outcome(line: Mapping[str, Any]) -> tuple[str, Any] | None:
    for key in ("value", "error"):
        if key in line:
            return key, line[key]
    return None


class Recording:
    """What a file holds.

    Attributes
    ----------
    header:
        The first line.
    lanes:
        The lanes by their numbers.
    order:
        The numbers of all calls that ended, in the order in which they did.
    finished:
        Whether the recorded run came to its end.
    running:
        The origins of threads and jobs that had not come to theirs by then.
    is_missing:
        Whether there is no such file: this stands for it, and has no calls.
    """

    def __init__(self, path: str, header: dict[str, Any]) -> None:
        self.path = path
        self.header = header
        self.lanes: dict[int, Lane] = {}
        self.calls: dict[int, Call] = {}
        self.order: list[int] = []
        self.classes: dict[int, dict[str, Any]] = {}
        self.environment: dict[str, Any] = {}
        self.finished = False
        self.running: set[tuple[int, ...]] = set()
        self.is_missing = False

    @classmethod
    def missing(cls, path: str, header: dict[str, Any]) -> Recording:
        """What stands for a recording that nobody has made: no call is in it."""
        recording = cls(path, header)
        recording.finished = recording.is_missing = True
        return recording

    def take_in(self, line: Mapping[str, Any]) -> None:
        """Take in one line of the file after the header."""
        check(line)
        if "call" in line:
            call = Call(line)
            self.lanes[call.lane].calls.append(call)
            self.calls[call.number] = call
            if not call.pending:
                self.order.append(call.number)
        elif "end" in line:
            call = self.calls[line["end"]]
            call.outcome = _outcome(line)
            call.waited = bool(line.get("waited"))
            self.order.append(call.number)
        elif "class" in line:
            self.classes[line["class"]] = {
                "name": str(line["name"]),
                "methods": list(line["methods"]),
                "special": list(line["special"]),
            }
        elif "kind" in line:
            self.lanes[line["lane"]] = Lane(line["lane"], str(line["kind"]), tuple(line["origin"]))
        elif "environment" in line:
            self.environment[line["environment"]] = line["value"]
        else:
            self.finished = line["finished"] == len(self.calls)
            if not self.finished:
                raise ValueError("calls are missing")
            self.running = {tuple(origin) for origin in line.get("running", ())}


def read(path: str) -> Recording:
    """Read a recording. A last line that was cut off is left away.

    Raises
    ------
    BadRecording
        If there is no file, it is no recording, its version is not known, or a line is damaged.
    """
    try:
        with open(path, "rb") as file:
            contents = file.read()
    except OSError as error:
        raise BadRecording(f"{path}: {error.strerror or error}") from error
    first, newline, rest = contents.partition(b"\n")
    header = _object(first) if newline else None
    if header is None or _MARK not in header:
        raise BadRecording(f"{path}: is no recording" + ("" if contents else ", but empty"))
    if header[_MARK] != VERSION:
        raise BadRecording(
            f"{path}: is of version {header[_MARK]!r}, and version {VERSION} is what can be read here; "
            "replay it with the cassette_import that recorded it, or record it again"
        )
    try:
        check(header)
    except ValueError as error:
        raise BadRecording(f"{path}, line 1: is damaged ({error}); record it again") from error
    recording = Recording(path, header)
    lines = rest.split(b"\n")
    # What follows the last newline is what a killed run did not get to write.
    for number, text in enumerate(lines[:-1], 2):
        line = _object(text)
        try:
            if line is None:
                raise ValueError("no JSON object")
            recording.take_in(line)
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


def shown_call(what: list[Any], arguments: list[Any]) -> str:
    """A call as people read it.

    >>> shown_call(["call", "time.sleep"], [[2], [["unit", "s"]]])
    "time.sleep(2, unit='s')"
    """
    positional, keywords = arguments
    words = [_shown(item) for item in positional]
    kind, name = map(str, what[:2])
    if kind == "get":
        return name
    if kind == "set":
        return f"{name} = {words[0]}"
    if kind == "delete":
        return f"del {name}"
    return f"{name}({', '.join([*words, *(f'{key}={_shown(value)}' for key, value in keywords)])})"


def _shown(encoded: Any) -> str:
    if isinstance(encoded, list):
        return f"[{', '.join(map(_shown, encoded))}]"
    if not isinstance(encoded, dict):
        text = repr(encoded)
        return text if len(text) <= 200 else f"{text[:180]}… ({len(encoded)} characters)"
    try:
        [(tag, content)] = encoded.items()
        return _shown_tagged(tag, content)
    except (TypeError, ValueError, LookupError, AttributeError):  # a recording that was changed can say anything
        return json.dumps(encoded)[:100]


def _shown_tagged(tag: str, content: Any) -> str:
    if tag == "bytes":
        return "b" + repr(content)
    if tag == "tuple":
        return f"({', '.join(map(_shown, content))}{',' * (len(content) == 1)})"
    if tag == "dict":
        return f"{{{', '.join(f'{_shown(key)}: {_shown(value)}' for key, value in content)}}}"
    if tag in ("own", "handle", "type", "function"):
        return f"<{str(content[-1] if isinstance(content, list) else content).replace(':', '.')}>"
    if tag == "long":
        return f"{content[1]!r}… ({content[0]} characters)"
    if tag == "made":
        return f"{content[0].partition(':')[2]}({', '.join(map(_shown, content[2]))})"
    return f"{tag} {json.dumps(content)[:100]}"
