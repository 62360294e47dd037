"""`Record`: records the result of every external call, so that `Replay` can run the program without these calls."""

from __future__ import annotations

import collections
import functools
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.call_sequences import CallSequences
from cassette_import.contexts.recording.carried_requests import NO_RESPONSE, Carried, ResponsePart
from cassette_import.contexts.recording.effects import Effects, is_callback, place_of_filled_buffer
from cassette_import.contexts.recording.event_loops import LoopQueue, RecordedLoop, origin_of_task
from cassette_import.contexts.recording.external_calls import (
    IN_EXTERNAL_CALL,
    LazyAwaitable,
    ObservedAwaitable,
    awaited,
    call_site,
    ignored_call,
    is_awaitable,
    is_external,
    named_like,
    run_in_external_call,
)
from cassette_import.contexts.recording.proxies import with_real_objects
from cassette_import.contexts.recording.recording_context import RecordingContext
from cassette_import.contexts.recording.recording_file import Recording, Writer
from cassette_import.contexts.recording.request_options import (
    LEFT_OUT,
    Names,
    RequestOptions,
    described_options,
    listed,
)
from cassette_import.contexts.recording.tracebacks import without_frames_in
from cassette_import.contexts.recording.values import Encoder, encoded_error
from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.reporting import Writer as ReportWriter
from cassette_import.kits.targets import never_called

__all__ = ["Record"]

# ---- notes for the user, printed when recording ends: where a replay may differ from the recorded run

_MOST: Final = 5


class _RecordingNotes:
    """The notes of one recording, each of them once."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}

    def late_call(self, name: str) -> None:
        """Note that the program calls a function which calls another one at a moment that no recording contains."""
        file, number, function = call_site()
        self._notes[
            f"{file}:{number} in {function}: {name}: neither the moment of this call nor what the function gets is "
            "recorded, so a replay may differ here"
        ] = None

    def callbacks(self, line: Mapping[str, Any], arguments: Any, keywords: Mapping[str, Any]) -> None:
        """Note the functions of the program that an external call gets. `line` is the call in the recording."""
        for argument in (*arguments, *keywords.values()):
            if is_callback(argument):
                file, number, function = line["site"]
                self._notes[
                    f"{file}:{number} in {function}: {line['what'][1]} gets {argument.__qualname__}: a replay does not "
                    "call it, so let the program not depend on what it does, or mark a function around it (boundary=)"
                ] = None

    def print_first(self) -> None:
        """Print the first notes."""
        for note in itertools.islice(self._notes, _MOST):
            print(f"record: {note}", file=sys.__stderr__)


# ---- `RecordedCalls`: makes external calls, and writes each one with its outcome


class RecordedCalls(RecordingContext):
    """The base of `Record`. Its attributes are assigned there."""

    _writer: Writer | None
    _call_numbers: itertools.count[int]
    _sequences: CallSequences[int]
    _encode: Callable[[Any], tuple[Any, Any]]
    """Encodes a result; returns it with what the program gets."""
    _notes: _RecordingNotes
    _active_context: RecordingContext | None
    """The context whose calls are recorded, if it is another one."""

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._writer is not None:
            self._writer.write(line)

    def _is_recording(self) -> bool:
        if self._writer is None or not self._writer.is_open or IN_EXTERNAL_CALL.get():
            return False
        return not (self._active_context or self).is_paused and not self.is_in_fork

    @hidden
    def recorded(
        self,
        what: list[Any],
        call: Callable[..., Any],
        arguments: Any,
        keywords: Mapping[str, Any],
        carried: Carried | None = None,
        made_by: Carried | None = None,
    ) -> Any:
        """Make an external call and record the outcome.

        `carried` is the request that the call carries, `made_by` the one of the call that made the receiver.
        """
        if not self._is_recording():
            return call(*with_real_objects(arguments), **with_real_objects(dict(keywords)))
        if carried is not None and carried.is_ignored:
            return ignored_call(call, arguments, keywords)
        with self._lock:
            is_hidden = carried is not None and self._requests.hides_arguments
            line = {
                "lane": self._sequences.current(),
                "what": what,
                "arguments": [[], []] if is_hidden else self.encoded_arguments(arguments, keywords, what),
                "site": self._mask.value(call_site()),
            }
            if carried is not None and (carried.is_sent or is_hidden):
                line["request"] = carried.encoded
            if is_hidden:
                line["filtered"] = True
            self._notes.callbacks(line, arguments, keywords)
            held = self._held_files.of_call(what)
            effects = Effects(arguments, {**keywords, **held}, place_of_filled_buffer(what, arguments))
        token = IN_EXTERNAL_CALL.set(True)
        response = NO_RESPONSE
        if carried is not None or made_by is not None:
            response = ResponsePart(self._requests, what[1], carried, made_by)
        try:
            result = call(*with_real_objects(arguments), **with_real_objects(dict(keywords)))
        except BaseException as error:
            IN_EXTERNAL_CALL.reset(token)
            self._end(line, effects, response, error=error)
            raise
        IN_EXTERNAL_CALL.reset(token)
        shown = self._end(line, effects, response, result)
        self._held_files.made(shown, arguments, keywords, held)
        return shown

    def _end(
        self, line: dict[str, Any], effects: Effects, response: ResponsePart, value: Any = None, error: Any = None
    ) -> Any:
        """Write a call and its outcome; return the value that the program gets."""
        with self._lock:
            shown = value
            outcome: dict[str, Any] = {}
            if error is not None:
                outcome["error"] = self._mask.value(encoded_error(error, self._encode))
            elif (path := effects.path_of(value)) is not None:
                outcome["value"] = {"argument": path}
            elif not is_awaitable(value):
                encoded, shown = self._encoded_result(value, response)
                if encoded is LEFT_OUT:
                    return shown
                outcome["value"] = self._mask.value(encoded)
            number = next(self._call_numbers)
            if not outcome:
                observed = ObservedAwaitable(value, run_in_external_call)
                shown = named_like(self._await_recorded(number, observed, response), value)
                if lookup(type(value), "send") is None:
                    line["no coroutine"] = True
                    shown = LazyAwaitable(shown)
            changed = effects.encoded(self._encode, value)
            if changed:
                outcome["changed"] = self._mask.value(changed)
            if self._writer is not None:
                self._writer.calls += 1
                self._write({"call": number, **line, "at": self._writer.now, **outcome})
        return shown

    def _encoded_result(self, value: Any, response: ResponsePart) -> tuple[Any, Any]:
        """A result as JSON, and what the program gets. `LEFT_OUT` instead of JSON if a hook leaves it out."""
        encoded, shown = self._encode(value)
        changed = response.made(shown)
        if changed is LEFT_OUT:
            return LEFT_OUT, shown
        if changed is not shown:
            encoded = self._encode(changed)[0]
        self._mask.learn_from(encoded)
        return encoded, shown

    async def _await_recorded(self, number: int, observed: ObservedAwaitable, response: ResponsePart) -> Any:
        """The coroutine that the program awaits instead of an external awaitable."""
        loop: RecordedLoop | None = self.live_loop()
        if loop is not None:
            observed.on_wait = loop.begin_awaiting
        try:
            value = await observed
        except GeneratorExit:
            if loop is not None:
                loop.end_awaiting()
            raise
        except BaseException as error:
            step = loop.awaited() if loop is not None and observed.waited else None
            error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
            with self._lock:
                encoded = encoded_error(error, self._encode)
                self._mask.learn_from(encoded)
                self._write_end(number, observed, step, {"error": self._mask.value(encoded)})
            raise
        step = loop.awaited() if loop is not None and observed.waited else None
        with self._lock:
            encoded, shown = self._encoded_result(value, response)
            outcome = {"left out": True} if encoded is LEFT_OUT else {"value": self._mask.value(encoded)}
            self._write_end(number, observed, step, outcome)
        return shown

    def _write_end(
        self, number: int, observed: ObservedAwaitable, step: list[int] | None, outcome: Mapping[str, Any]
    ) -> None:
        if self._writer is not None:
            line = {"end": number, "at": self._writer.now, **outcome, "waited": observed.waited}
            self._write(line if step is None else {**line, "step": step})


# ---- the objects in recorded results: external ones get proxies, and those of the program are recognised


class _RecordedObjects:
    """Encodes results, with a reference for each object that cannot be serialised.

    Parameters
    ----------
    handler:
        Handles the uses of proxies.
    program_objects:
        The objects that the program has passed out, and their numbers, by identity.
    write:
        Writes the line that describes a class.
    first_proxy, first_class:
        The first number of a proxy and of a class: a recording that is extended has some.
    """

    def __init__(
        self,
        handler: proxies.UseHandler,
        program_objects: Mapping[int, tuple[Any, int]],
        write: Callable[[Mapping[str, Any]], None],
        first_proxy: int = 1,
        first_class: int = 0,
    ) -> None:
        self.encode = Encoder(self._encode_reference)
        self._handler = handler
        self._program_objects = program_objects
        self._write = write
        self._proxy_numbers = itertools.count(first_proxy)
        self._class_numbers = itertools.count(first_class)
        self._proxy_types: dict[type, tuple[int, type[proxies.Proxy]]] = {}
        self._proxies_by_object: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    def _encode_reference(self, value: Any) -> tuple[Any, Any]:
        """A result that cannot be serialised: a proxy, an object of the program that it passed out before, an
        exception, or an external object, which gets a proxy."""
        if proxies.is_proxy(value):
            return self._handle(value), value
        own = self._program_objects.get(id(value))
        if own is not None and own[0]() is value:
            return {"own": own[1]}, value
        if isinstance(value, BaseException):
            return {"error": encoded_error(value, self.encode)}, value
        proxy = self._proxies_by_object.get(id(value))
        if proxy is None or proxies.real_of(proxy) is not value:
            proxy = self._new_proxy(value)
        return self._handle(proxy), proxy

    def _handle(self, proxy: Any) -> dict[str, Any]:
        return {"handle": [proxies.number_of(proxy), self._type_of(type(proxies.real_of(proxy)))[0]]}

    def _new_proxy(self, value: Any) -> Any:
        kind = type(value)
        made = self._type_of(kind)[1]
        proxy = proxies.make_proxy(made, kind, next(self._proxy_numbers), self._handler, value)
        self._proxies_by_object[id(value)] = proxy
        return proxy

    def _type_of(self, kind: type) -> tuple[int, type[proxies.Proxy]]:
        known = self._proxy_types.get(kind)
        if known is None:
            description = proxies.described_class(kind)
            known = self._proxy_types[kind] = next(self._class_numbers), proxies.proxy_type(description)
            self._write({"class": known[0], **description})
        return known


# ---- the first free numbers of a recording, for calls that are added to it


class _FirstNumbers(NamedTuple):
    """The first numbers of a new recording, by what they count."""

    call: int = 1
    sequence: int = 0
    proxy: int = 1
    class_: int = 0
    program_object: int = 0


def _first_free_numbers(recording: Recording) -> _FirstNumbers:
    """The first numbers that a recording does not contain."""
    proxies, objects = [0], [-1]
    for call in recording.calls.values():
        for tag, number in _references([call.outcome, call.arguments, call.changed]):
            (proxies if tag == "handle" else objects).append(number)
    return _FirstNumbers(
        max(recording.calls, default=0) + 1,
        max(recording.sequences, default=-1) + 1,
        max(proxies) + 1,
        max(recording.classes, default=-1) + 1,
        max(objects) + 1,
    )


def _references(encoded: Any) -> Iterator[tuple[str, int]]:
    """The tags and numbers of all references in an encoded value."""
    if isinstance(encoded, list | tuple):
        for item in encoded:
            yield from _references(item)
    elif isinstance(encoded, dict):
        for tag, content in encoded.items():
            number = content[0] if isinstance(content, list) and content else content
            if tag in ("handle", "own") and isinstance(number, int):
                yield tag, number
            yield from _references(content)


def _no_object() -> None:
    """A weak reference to an object of an earlier run."""


# ---- `Record`: records the result of every external call, so that `Replay` can run the program without these calls


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
        self._notes = _RecordingNotes()
        self._run: Mapping[str, Any] = {}
        self._prints_summary = self._has_ended = False
        self._extended: Recording | None = None
        self._active_context: RecordingContext | None = None
        self._options = RequestOptions(
            filter_headers, filter_query_parameters, filter_post_data_parameters, ignore_hosts, ignore_localhost,
            before_record_request, before_record_response,
        )  # fmt: skip
        super().__init__(listed(boundary), listed(mask), listed(without), places, self._options)
        self._objects = _RecordedObjects(self, self._program_objects, self._write)
        self._encode = self._objects.encode
        if file is not None:
            self.stream(file)

    def record_for(self, context: RecordingContext, extended: Recording | None) -> int:
        """Record the calls of another context, which is the active one, with its objects, requests and secrets.

        With `extended`, numbers begin after those of this recording. Returns the first number of a proxy.
        """
        first = _FirstNumbers() if extended is None else _first_free_numbers(extended)
        self._active_context = context
        self._mask, self._requests = context._mask, context._requests
        self._program_objects = context._program_objects
        self._program_objects_by_number = context._program_objects_by_number
        self._program_objects_by_number += [_no_object] * (first.program_object - len(self._program_objects_by_number))
        self._objects = _RecordedObjects(context, self._program_objects, self._write, first.proxy, first.class_)
        self._encode = self._objects.encode
        self._call_numbers = itertools.count(first.call)
        self._sequence_numbers = itertools.count(first.sequence)
        self._extended = extended
        return first.proxy

    # ---- the file

    def inform(self, run: Mapping[str, Any]) -> None:
        """Note what the command line or pytest runs, for the header. Called before `stream`."""
        output = run.get("output")
        if self._writer is None and output is None:
            raise ValueError("record needs a file to write to: -o FILE")
        if self._writer is not None and output:
            raise ValueError(f"record writes one file, and two are named: file={self._writer.path} and -o {output}")
        self._run = {name: value for name, value in run.items() if name != "output"}
        self._prints_summary = output is not None
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
