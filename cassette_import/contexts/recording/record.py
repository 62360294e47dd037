"""`Record`: records the result of every external call, so that `Replay` can run the program without these calls.

Knows how results are encoded and written; must not know how they are replayed.
"""

from __future__ import annotations

import collections
import functools
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.common.reporting import Writer as ReportWriter
from cassette_import.contexts.common.unmatched_targets import never_called
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.arrays import is_array
from cassette_import.contexts.recording.awaitables import ObservedAwaitable, is_awaitable
from cassette_import.contexts.recording.call_sequences import CallSequences
from cassette_import.contexts.recording.encoding import Encoder
from cassette_import.contexts.recording.exceptions import encoded_error, without_frames_in
from cassette_import.contexts.recording.proxies import with_real_objects
from cassette_import.contexts.recording.recording_context import IN_EXTERNAL_CALL, RecordingContext, call_site
from cassette_import.contexts.recording.recording_file import Writer
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["Record"]


class Record(RecordingContext):
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
    ) -> None:
        self._writer: Writer | None = None
        self._call_numbers = itertools.count(1)
        self._proxy_numbers = itertools.count(1)
        self._proxy_types: dict[type, tuple[int, type[proxies.Proxy]]] = {}
        self._proxies_by_object: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._sequences: CallSequences[int] = CallSequences(self._new_sequence)
        self._sequence_numbers = itertools.count()
        self._starts: collections.Counter[int] = collections.Counter()
        self._running: dict[tuple[int, ...], None] = {}
        self._read_variables: set[str] = set()
        self._changed_variables: set[str] = set()
        self._run: Mapping[str, Any] = {}
        self._encode = Encoder(self._encode_reference)
        super().__init__(_names(boundary), _names(mask), _names(without), places)
        if file is not None:
            self.stream(file)

    # ---- the file

    def inform(self, run: Mapping[str, Any]) -> None:
        """Note what the command line or pytest runs, for the header. Called before `stream`."""
        if self._writer is None and run.get("output") is None:
            raise ValueError("record needs a file to write to: -o FILE")
        self._run = {name: value for name, value in run.items() if name != "output"}

    def stream(self, path: str) -> None:
        """Record to this file from now on."""
        program = {"argv": list(sys.argv), "folder": os.getcwd(), "hash seed": os.environ.get("PYTHONHASHSEED")}
        header = {
            **({} if "test" in self._run else program),
            **self._run,
            "boundary": list(self._boundary),
            "mask": list(self._mask.names),
            "without": list(self._without),
        }
        self._writer = Writer(os.path.abspath(path), header)

    @property
    def calls(self) -> int:
        """How many calls were recorded."""
        return 0 if self._writer is None else self._writer.calls

    def close(self) -> None:
        """Write the last line. Called at the end of a program that the command line runs, and of a ``with`` block."""
        with self._lock:
            if self._writer is not None and os.getpid() == self._process:
                is_end = self._writer.is_open
                self._writer.finish(list(self._running))
                if is_end and "argv" in self._run:
                    self._print_unknown_names()
                    print(self.summary(), file=sys.__stderr__)

    def _print_unknown_names(self) -> None:
        for name in self._boundary:
            if self._watcher.lacks(name):
                print(f"record: boundary={name}: the program has not imported such a function", file=sys.__stderr__)
            elif self._writer is not None and self._writer.sizes.lacks(name):
                print(f"record: boundary={never_called(name)}", file=sys.__stderr__)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if not self._run:
            self.close()

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

    def job_ended(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.job_ended`."""
        self._running.pop(tuple(origin), None)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._writer is not None:
            self._writer.write(line)

    def _is_recording(self) -> bool:
        is_open = self._writer is not None and self._writer.is_open
        return is_open and not self.is_paused and not IN_EXTERNAL_CALL.get() and os.getpid() == self._process

    # ---- calls

    @hidden
    def external_call(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """Call the function and record the outcome."""
        return self._recorded(what, functools.partial(fallback, self, function), arguments, keywords)

    @hidden
    def use(self, proxy: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Use the object behind a proxy and record the outcome."""
        title = f"{type(proxy).__qualname__}.{name}"
        what = [kind, title, proxies.number_of(proxy)]
        if name == "__await__":
            return self._recorded(what, functools.partial(_awaited, proxies.real_of(proxy)), (), {})
        call = functools.partial(proxies.USES[kind], proxies.real_of(proxy), name)
        return self._recorded(what, call, arguments, keywords)

    @hidden
    def _recorded(self, what: list[Any], call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        if not self._is_recording():
            return call(*with_real_objects(arguments), **with_real_objects(dict(keywords)))
        with self._lock:
            line = {
                "lane": self._sequences.current(),
                "what": what,
                "arguments": self.encoded_arguments(arguments, keywords, what),
                "site": self._mask.value(call_site()),
            }
            buffers = [
                (index, item, self._encode(item)[0]) for index, item in enumerate(arguments) if _is_mutable(item)
            ]
        token = IN_EXTERNAL_CALL.set(True)
        try:
            result = call(*with_real_objects(arguments), **with_real_objects(dict(keywords)))
        except BaseException as error:
            IN_EXTERNAL_CALL.reset(token)
            self._end(line, buffers, error=error)
            raise
        IN_EXTERNAL_CALL.reset(token)
        return self._end(line, buffers, result)

    def _end(self, line: dict[str, Any], buffers: list[Any], value: Any = None, error: Any = None) -> Any:
        """Write a call and its outcome; return the value that the program gets."""
        with self._lock:
            number = next(self._call_numbers)
            shown = value
            outcome: dict[str, Any] = {}
            if error is not None:
                outcome["error"] = self._mask.value(encoded_error(error, self._encode))
            elif is_awaitable(value):
                observed = ObservedAwaitable(value, _run_in_external_call)
                shown = _named_like(self._await_recorded(number, observed), value)
            else:
                encoded, shown = self._encode(value)
                self._mask.learn_from(encoded)
                outcome["value"] = self._mask.value(encoded)
            changed = [[index, after] for index, item, before in buffers if (after := self._encode(item)[0]) != before]
            if changed:
                outcome["changed"] = self._mask.value(changed)
            if self._writer is not None:
                self._writer.calls += 1
                self._write({"call": number, **line, "at": self._writer.now, **outcome})
        return shown

    async def _await_recorded(self, number: int, observed: ObservedAwaitable) -> Any:
        """The coroutine that the program awaits instead of an external awaitable."""
        try:
            value = await observed
        except GeneratorExit:
            raise
        except BaseException as error:
            error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
            with self._lock:
                self._write_end(number, observed, "error", encoded_error(error, self._encode))
            raise
        with self._lock:
            encoded, shown = self._encode(value)
            self._write_end(number, observed, "value", encoded)
        return shown

    def _write_end(self, number: int, observed: ObservedAwaitable, kind: str, encoded: Any) -> None:
        if self._writer is not None:
            self._mask.learn_from(encoded)
            line = {"end": number, "at": self._writer.now, kind: self._mask.value(encoded)}
            self._write({**line, "waited": observed.waited})

    # ---- results that cannot be serialised

    def _encode_reference(self, value: Any) -> tuple[Any, Any]:
        """A result that cannot be serialised: a proxy, an object of the program that it passed out before, an
        exception, or an external object, which gets a proxy."""
        if proxies.is_proxy(value):
            return self._handle(value), value
        own = self._program_objects.get(id(value))
        if own is not None and own[0]() is value:
            return {"own": own[1]}, value
        if isinstance(value, BaseException):
            return {"error": encoded_error(value, self._encode)}, value
        proxy = self._proxies_by_object.get(id(value))
        if proxy is None or proxies.real_of(proxy) is not value:
            proxy = self._new_proxy(value)
        return self._handle(proxy), proxy

    def _handle(self, proxy: Any) -> dict[str, Any]:
        return {"handle": [proxies.number_of(proxy), self._proxy_types[type(proxies.real_of(proxy))][0]]}

    def _new_proxy(self, value: Any) -> Any:
        kind = type(value)
        known = self._proxy_types.get(kind)
        if known is None:
            description = proxies.described_class(kind)
            known = self._proxy_types[kind] = len(self._proxy_types), proxies.proxy_type(description)
            self._write({"class": known[0], **description})
        proxy = proxies.make_proxy(known[1], kind, next(self._proxy_numbers), self, value)
        self._proxies_by_object[id(value)] = proxy
        return proxy

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


def _names(names: Iterable[str] | str) -> list[str]:
    return [name.strip() for name in names.split("+") if name.strip()] if isinstance(names, str) else list(names)


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _run_in_external_call(step: Callable[..., Any], *arguments: Any) -> Any:
    token = IN_EXTERNAL_CALL.set(True)
    try:
        return step(*arguments)
    finally:
        IN_EXTERNAL_CALL.reset(token)


def _named_like(coroutine: Any, original: Any) -> Any:
    for name in ("__name__", "__qualname__"):
        found = getattr(original, name, None)
        if isinstance(found, str):
            setattr(coroutine, name, found)
    return coroutine


def _is_mutable(value: Any) -> bool:
    """Whether a call can change an argument in a way that the recording can express."""
    return type(value) in (list, dict, bytearray, set, memoryview) or is_array(value)
