"""`Record`: records the result of every external call, so that `Replay` can run the program without these calls."""

from __future__ import annotations

import collections
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.common.reporting import Writer as ReportWriter
from cassette_import.contexts.common.unmatched_targets import never_called
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.awaitables import awaited
from cassette_import.contexts.recording.call_sequences import CallSequences
from cassette_import.contexts.recording.event_loops import LoopQueue, origin_of_task
from cassette_import.contexts.recording.external_calls import (
    IN_EXTERNAL_CALL,
    ignored_call,
    is_external,
)
from cassette_import.contexts.recording.first_numbers import FirstNumbers, first_free_numbers, no_object
from cassette_import.contexts.recording.recorded_calls import RecordedCalls
from cassette_import.contexts.recording.recorded_loops import RecordedLoop
from cassette_import.contexts.recording.recorded_objects import RecordedObjects
from cassette_import.contexts.recording.recording_context import RecordingContext
from cassette_import.contexts.recording.recording_file import Recording, Writer
from cassette_import.contexts.recording.recording_notes import RecordingNotes
from cassette_import.contexts.recording.request_options import (
    Names,
    RequestOptions,
    described_options,
    listed,
)
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["Record"]


class Record(RecordedCalls):
    """Records the value or exception of every external call; `Replay` runs the program again without these calls.

    Parameters
    ----------
    file:
        The recording. The command line gives it as ``-o FILE``.
    boundary:
        Dotted names of more functions whose calls are external; on the command line,
        ``record:boundary=shop.rate+shop.mail``.
    mask:
        Names of environment variables, arguments, headers and keys whose values are secret. They may be patterns, and
        in one text they are separated by ``+``: ``record:mask=API_KEY+*TOKEN*``.
    without:
        External calls that are not recorded: groups (`boundaries.GROUPS`, and ``environment``) or names of functions:
        ``record:without=files+time.sleep``. A replay makes these calls again.
    places:
        Folders whose paths may differ in a replay, by the names that replace them in the recording.
    filter_headers, filter_query_parameters, filter_post_data_parameters:
        Names of headers and parameters that are removed from requests before they are written and compared. A pair of a
        name and a text replaces the value; the second item may also be a function.
    ignore_hosts, ignore_localhost:
        Requests to these hosts are not recorded; a replay sends them. Hosts may be patterns.
    before_record_request, before_record_response:
        Functions, or ``module:function``. The first one returns the request as it is written, or None for a request
        that is not recorded. The second one gets a part of a response; it returns the value as it is written, the
        unchanged response, or None for a part that is not recorded.

    Raises
    ------
    ValueError
        If `without` contains a text that is neither a group nor a name of a function in the boundary.
    OSError
        If the file cannot be written.

    Example
    -------
    ``python -m cassette_import run -c record -o shop.cassette shop.py``
    """

    def __init__(
        self,
        file: str | None = None,
        *,
        boundary: Iterable[str] | str = (),
        mask: Iterable[str] | str = (),
        without: Iterable[str] | str = (),
        places: Mapping[str, str] | None = None,
        filter_headers: Names = (),
        filter_query_parameters: Names = (),
        filter_post_data_parameters: Names = (),
        ignore_hosts: Names = (),
        ignore_localhost: bool = False,
        before_record_request: Callable[[Any], Any] | str | None = None,
        before_record_response: Callable[[Any], Any] | str | None = None,
    ) -> None:
        self._writer: Writer | None = None
        self._call_numbers = itertools.count(1)
        self._sequences: CallSequences[int] = CallSequences(self._new_sequence, origin_of_task)
        self._sequence_numbers = itertools.count()
        self._loop_numbers = itertools.count()
        self._starts: collections.Counter[int] = collections.Counter()
        self._running: dict[tuple[int, ...], None] = {}
        self._read_variables: set[str] = set()
        self._changed_variables: set[str] = set()
        self._notes = RecordingNotes()
        self._run: Mapping[str, Any] = {}
        self._prints_summary = self._has_ended = False
        self._extended: Recording | None = None
        self._active_context: RecordingContext | None = None
        self._options = RequestOptions(
            filter_headers, filter_query_parameters, filter_post_data_parameters, ignore_hosts, ignore_localhost,
            before_record_request, before_record_response,
        )  # fmt: skip
        super().__init__(listed(boundary), listed(mask), listed(without), places, self._options)
        self._objects = RecordedObjects(self, self._program_objects, self._write)
        self._encode = self._objects.encode
        if file is not None:
            self.stream(file)

    def record_for(self, context: RecordingContext, extended: Recording | None) -> int:
        """Record the calls of another context, which is the active one, with its objects, requests and secrets.

        With `extended`, numbers begin after those of this recording. Returns the first number of a proxy.
        """
        first = FirstNumbers() if extended is None else first_free_numbers(extended)
        self._active_context = context
        self._mask, self._requests = context._mask, context._requests
        self._program_objects = context._program_objects
        self._program_objects_by_number = context._program_objects_by_number
        self._program_objects_by_number += [no_object] * (first.program_object - len(self._program_objects_by_number))
        self._objects = RecordedObjects(context, self._program_objects, self._write, first.proxy, first.class_)
        self._encode = self._objects.encode
        self._call_numbers = itertools.count(first.call)
        self._sequence_numbers = itertools.count(first.sequence)
        self._extended = extended
        return first.proxy

    # ---- the file

    def inform(self, run: Mapping[str, Any]) -> None:
        """Note what the command line or pytest runs, for the header. Called before `stream`."""
        if self._writer is None and run.get("output") is None:
            raise ValueError("record needs a file to write to: -o FILE")
        self._run = {name: value for name, value in run.items() if name != "output"}
        self._prints_summary = run.get("output") is not None
        if self._writer is not None:
            self._writer.inform(self._run)

    def stream(self, path: str, *, waits: bool = False) -> None:
        """Record to this file from now on; if it waits, from the first call on, which makes the file."""
        program = {"argv": list(sys.argv), "folder": os.getcwd(), "hash seed": os.environ.get("PYTHONHASHSEED")}
        header = {
            **({} if "test" in self._run else program),
            **self._run,
            "boundary": list(self._boundary),
            "mask": list(self._mask.names),
            "without": list(self._without),
            **described_options(self._options),
        }
        if self._extended is not None:
            header = {"match_on": list(self._run.get("match_on", ()))}
        self._writer = Writer(os.path.abspath(path), header, self._extended, waits=waits)

    @property
    def is_streaming(self) -> bool:
        """Whether there is a file."""
        return self._writer is not None

    @property
    def calls(self) -> int:
        """How many calls were recorded."""
        return 0 if self._writer is None else self._writer.calls

    def close(self) -> None:
        """Write the last line. Called at the end of a program that the command line runs, and of a ``with`` block."""
        with self._lock:
            if self._writer is not None and not self.is_in_fork:
                is_end = self._writer.is_open
                self._has_ended = True
                self._writer.finish(list(self._running))
                if is_end and "argv" in self._run:
                    self._print_unknown_names()
                    self._notes.print_first()
                    if self._prints_summary:
                        print(self.summary(), file=sys.__stderr__)

    def forget(self) -> None:
        """Leave no file, if there is none yet."""
        if self._writer is not None:
            self._writer.forget()

    def note_late_call(self, name: str) -> None:
        """See `RecordingContext.note_late_call`."""
        self._notes.late_call(name)

    def _print_unknown_names(self) -> None:
        for name in self._boundary:
            if self._watcher.lacks(name):
                print(f"record: boundary={name}: the program has not imported such a function", file=sys.__stderr__)
            elif self._writer is not None and self._writer.sizes.lacks(name):
                print(f"record: boundary={never_called(name)}", file=sys.__stderr__)

    def __enter__(self) -> Any:
        self.check_not_ended("Record")
        if self._writer is not None:
            self._writer.begin()
        self.block_begins()
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self.block_ends() and not self._run:
            self.close()

    def check_not_ended(self, kind: str) -> None:
        """Raise a `RuntimeError` if the recording has its last line: no call would be recorded any more."""
        if self._has_ended and self._writer is not None:
            raise RuntimeError(f"{self._writer.path} is complete: it ended with a block; make a {kind} for each block")

    def summary(self) -> str:
        """One line: how many calls were recorded, in which file, its size, and which functions take most of it."""
        self.close()
        if self._writer is None:
            return "record: nothing was recorded, because there is no file: use -o FILE or Record(FILE)"
        return f"record: {self._writer.sizes.described()} in {self._writer.path}"

    @property
    def formats(self) -> Mapping[str, ReportWriter]:
        """Recordings have one format, whatever the suffix."""
        return dict.fromkeys((".cassette", ".jsonl", ""), lambda path: self.close())

    def _new_sequence(self, kind: str, origin: Sequence[int]) -> int:
        number = next(self._sequence_numbers)
        self._write({"lane": number, "kind": kind, "origin": list(origin)})
        return number

    def new_origin(self) -> Sequence[int]:
        """See `RecordingContext.new_origin`."""
        sequence = self._sequences.current()
        self._starts[sequence] += 1
        origin = sequence, self._starts[sequence]
        self._running[origin] = None
        return origin

    def origin_of_many(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.origin_of_many`."""
        self._running.pop(tuple(origin), None)

    def job_began(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.job_began`."""
        self._running[tuple(origin)] = None

    def job_ended(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.job_ended`."""
        self._running.pop(tuple(origin), None)

    def watched_loop(self, loop: Any) -> LoopQueue | None:
        """See `RecordingContext.watched_loop`."""
        if not self._is_recording() or self._active_context is not None:
            return None
        known = loop._ready
        if isinstance(known, RecordedLoop) and known.context is self:
            return known
        with self._lock:
            origin = self.new_origin()
            self.origin_of_many(origin)
            number = next(self._loop_numbers)
            self._write({"event loop": number, "origin": list(origin)})
        return RecordedLoop(loop, self, number, is_external, self._write)

    # ---- calls

    @hidden
    def external_call(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """Call the function and record the outcome."""
        carried = self._requests.of_function(what[1], arguments, keywords)
        return self.recorded(what, functools.partial(fallback, self, function), arguments, keywords, carried)

    @hidden
    def use(self, proxy: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Use the object behind a proxy and record the outcome."""
        title = f"{type(proxy).__qualname__}.{name}"
        what = [kind, title, proxies.number_of(proxy)]
        made_by = self._requests.of_proxy(proxy)
        if name == "__await__":
            return self.recorded(what, functools.partial(awaited, proxies.real_of(proxy)), (), {}, made_by=made_by)
        call = functools.partial(proxies.USES[kind], proxies.real_of(proxy), name)
        carried = self._requests.of_method(proxy, name, arguments, keywords) if kind == "call" else None
        if self._requests.is_ignored(proxy, carried) and self._is_recording():
            return ignored_call(call, arguments, keywords)
        return self.recorded(what, call, arguments, keywords, carried, made_by)

    # ---- the environment

    def variable(self, name: str, value: str | None) -> str | None:
        """The actual value; it is recorded when the program reads it for the first time."""
        if self._is_recording() and name not in self._read_variables and name not in self._changed_variables:
            with self._lock:
                self._read_variables.add(name)
                self._write({"environment": name, "value": self._mask.variable(name, value)})
        return value

    def variables(self, names: list[str]) -> list[str]:
        """The actual names; they are recorded when the program reads them for the first time."""
        if self._is_recording() and "" not in self._read_variables:
            with self._lock:
                self._read_variables.add("")
                # No variable can be called "".
                self._write(
                    {"environment": "", "value": [name for name in names if name not in self._changed_variables]}
                )
        return names

    def variable_changed(self, name: str) -> None:
        """See `RecordingContext.variable_changed`."""
        if not IN_EXTERNAL_CALL.get():
            self._changed_variables.add(name)
