"""`Record`: writes down what every call to the outside gives, so that `Replay` can run the program without it."""

from __future__ import annotations

import collections
import functools
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cassette_import import fallback
from cassette_import.contexts.common.reporting import Writer as ReportWriter
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.encoding import Encoder
from cassette_import.contexts.recording.exceptions import encoded_error, without_ours
from cassette_import.contexts.recording.proxies import Observed
from cassette_import.contexts.recording.recording_context import INSIDE, Taped, call_site
from cassette_import.contexts.recording.recording_file import Writer
from cassette_import.contexts.recording.thread_sequences import Lanes
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["Record"]


class Record(Taped):
    """Records the value or exception of every call that leads outside; `Replay` runs the program again without it.

    Parameters
    ----------
    file:
        The recording. The command line gives it as ``-o FILE``.
    boundary:
        Dotted names of more functions that lead outside; on the command line, ``record:boundary=shop.rate+shop.mail``.
    mask:
        Names of variables, arguments, headers and keys whose values are secret; patterns, separated by ``+`` if
        they are text: ``record:mask=API_KEY+*TOKEN*``.
    without:
        What is made as ever, although it leads outside: groups (`boundaries.GROUPS`, and ``environment``) or names of
        functions: ``record:without=files+time.sleep``.
    places:
        Folders that will have another path when the recording is replayed, by the names to write in their place.

    Raises
    ------
    ValueError
        If `without` has what is not outside.
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
        self._numbers = itertools.count(1)
        self._handles = itertools.count(1)
        self._classes: dict[type, tuple[int, type[proxies.StandIn]]] = {}
        self._by_object: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._lanes: Lanes[int] = Lanes(self._new_lane)
        self._lane_numbers = itertools.count()
        self._starts: collections.Counter[int] = collections.Counter()
        self._running: dict[tuple[int, ...], None] = {}
        self._variables: set[str] = set()
        self._changed: set[str] = set()
        self._run: Mapping[str, Any] = {}
        self._encode = Encoder(self._outside)
        super().__init__(_names(boundary), _names(mask), _names(without), places)
        if file is not None:
            self.stream(file)

    # ---- the file

    def inform(self, run: Mapping[str, Any]) -> None:
        """What the command line or pytest runs; told before `stream`."""
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
        """Write the end. Called at the end of a program that the command line runs, and of a ``with`` block."""
        with self._lock:
            if self._writer is not None and os.getpid() == self._process:
                if self._writer.is_open and "argv" in self._run:
                    self._tell_of_unknown_names()
                self._writer.finish(list(self._running))

    def _tell_of_unknown_names(self) -> None:
        for name in filter(self._watcher.lacks, self._boundary):
            print(f"record: boundary={name}: the program has imported no such function", file=sys.__stderr__)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if not self._run:
            self.close()

    def summary(self) -> str:
        """How many calls were recorded."""
        self.close()
        if self._writer is None:
            return "record: nothing was recorded; say where to, with -o FILE or Record(FILE)"
        count = self.calls
        return f"record: {count} call{'' if count == 1 else 's'} in {self._writer.path}"

    @property
    def formats(self) -> Mapping[str, ReportWriter]:
        """Recordings have one format, whatever the suffix."""
        return dict.fromkeys((".cassette", ".jsonl", ""), lambda path: self.close())

    def _new_lane(self, kind: str, origin: Sequence[int]) -> int:
        lane = next(self._lane_numbers)
        self._write({"lane": lane, "kind": kind, "origin": list(origin)})
        return lane

    def origin(self) -> Sequence[int]:
        """See `Taped.origin`."""
        lane = self._lanes.here()
        self._starts[lane] += 1
        origin = lane, self._starts[lane]
        self._running[origin] = None
        return origin

    def ends(self, origin: Sequence[int]) -> None:
        """See `Taped.ends`."""
        self._running.pop(tuple(origin), None)

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._writer is not None:
            self._writer.write(line)

    def _is_recording(self) -> bool:
        is_open = self._writer is not None and self._writer.is_open
        return is_open and not self.is_paused and not INSIDE.get() and os.getpid() == self._process

    # ---- calls

    @hidden
    def answer(self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        """Call the function and record what comes of it."""
        return self._recorded(what, functools.partial(fallback, self, function), arguments, keywords)

    @hidden
    def use(self, stand_in: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Use the object behind a stand-in and record what comes of it."""
        real = proxies.real_of(stand_in)
        title = f"{type(stand_in).__qualname__}.{name}"
        if name == "__await__":
            return self._recorded(["call", title, proxies.number_of(stand_in)], lambda: _awaited(real), (), {})
        call = functools.partial(_USES[kind], real, name)
        return self._recorded([kind, title, proxies.number_of(stand_in)], call, arguments, keywords)

    @hidden
    def _recorded(self, what: list[Any], call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        if not self._is_recording():
            return call(*_real(arguments), **_real(dict(keywords)))
        with self._lock:
            line = {
                "lane": self._lanes.here(),
                "what": what,
                "arguments": self.encoded_arguments(arguments, keywords, what),
                "site": self._mask.value(call_site()),
            }
            buffers = [(index, item, self._encode(item)[0]) for index, item in enumerate(arguments) if _changes(item)]
        token = INSIDE.set(True)
        try:
            result = call(*_real(arguments), **_real(dict(keywords)))
        except BaseException as error:
            INSIDE.reset(token)
            self._end(line, buffers, error=error)
            raise
        INSIDE.reset(token)
        return self._end(line, buffers, result)

    def _end(self, line: dict[str, Any], buffers: list[Any], value: Any = None, error: Any = None) -> Any:
        """Write a call and what came of it; return what the program is to be given."""
        with self._lock:
            number = next(self._numbers)
            shown = value
            outcome: dict[str, Any] = {}
            if error is not None:
                outcome["error"] = self._mask.value(encoded_error(error, self._encode))
            elif proxies.is_awaitable(value):
                shown = _named_like(self._waiting(number, Observed(value, _run_inside)), value)
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

    async def _waiting(self, number: int, observed: Observed) -> Any:
        """What the program awaits in the place of an awaitable from outside."""
        try:
            value = await observed
        except GeneratorExit:
            raise
        except BaseException as error:
            error.__traceback__ = without_ours(error.__traceback__, PACKAGE_FOLDER)
            with self._lock:
                self._write_end(number, observed, "error", encoded_error(error, self._encode))
            raise
        with self._lock:
            encoded, shown = self._encode(value)
            self._write_end(number, observed, "value", encoded)
        return shown

    def _write_end(self, number: int, observed: Observed, kind: str, encoded: Any) -> None:
        if self._writer is not None:
            self._mask.learn_from(encoded)
            line = {"end": number, "at": self._writer.now, kind: self._mask.value(encoded)}
            self._write({**line, "waited": observed.waited})

    # ---- what cannot be held

    def _outside(self, value: Any) -> tuple[Any, Any]:
        """A result that cannot be held: something that the program gave away before, an exception, or a stand-in."""
        if proxies.is_stand_in(value):
            return self._handle(value), value
        own = self._own.get(id(value))
        if own is not None and own[0]() is value:
            return {"own": own[1]}, value
        if isinstance(value, BaseException):
            return {"error": encoded_error(value, self._encode)}, value
        stand_in = self._by_object.get(id(value))
        if stand_in is None or proxies.real_of(stand_in) is not value:
            stand_in = self._stand_in(value)
        return self._handle(stand_in), stand_in

    def _handle(self, stand_in: Any) -> dict[str, Any]:
        return {"handle": [proxies.number_of(stand_in), self._classes[type(proxies.real_of(stand_in))][0]]}

    def _stand_in(self, value: Any) -> Any:
        kind = type(value)
        known = self._classes.get(kind)
        if known is None:
            description = proxies.described(kind)
            known = self._classes[kind] = len(self._classes), proxies.stand_in_type(description)
            self._write({"class": known[0], **description})
        made = proxies.stand_in(known[1], kind, next(self._handles), self, value)
        self._by_object[id(value)] = made
        return made

    # ---- the environment

    def variable(self, name: str, value: str | None) -> str | None:
        """The variable as it is; the first time it is asked for, it is written down."""
        if self._is_recording() and name not in self._variables and name not in self._changed:
            with self._lock:
                self._variables.add(name)
                self._write({"environment": name, "value": self._mask.variable(name, value)})
        return value

    def variables(self, names: list[str]) -> list[str]:
        """The names as they are."""
        if self._is_recording() and "" not in self._variables:
            with self._lock:
                self._variables.add("")
                # No variable can be called "".
                self._write({"environment": "", "value": [name for name in names if name not in self._changed]})
        return names

    def changes(self, name: str) -> None:
        """See `Taped.changes`."""
        if not INSIDE.get():
            self._changed.add(name)


def _names(names: Iterable[str] | str) -> list[str]:
    return [name.strip() for name in names.split("+") if name.strip()] if isinstance(names, str) else list(names)


@hidden
def _call_method(real: Any, name: str, /, *arguments: Any, **keywords: Any) -> Any:
    if name == "__next__":
        return next(real)
    return getattr(real, name)(*arguments, **keywords)


_USES: dict[str, Callable[..., Any]] = {"call": _call_method, "get": getattr, "set": setattr, "delete": delattr}


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _run_inside(step: Callable[..., Any], *arguments: Any) -> Any:
    token = INSIDE.set(True)
    try:
        return step(*arguments)
    finally:
        INSIDE.reset(token)


def _named_like(coroutine: Any, original: Any) -> Any:
    for name in ("__name__", "__qualname__"):
        found = getattr(original, name, None)
        if isinstance(found, str):
            setattr(coroutine, name, found)
    return coroutine


def _changes(value: Any) -> bool:
    """Whether a call can change it, and the recording could say so."""
    return type(value) in (list, dict, bytearray, set, memoryview)


def _real(value: Any) -> Any:
    """Arguments with the objects themselves in the place of stand-ins."""
    if not value and type(value) in (tuple, dict, list):
        return value
    if proxies.is_stand_in(value):
        return proxies.real_of(value)
    kind = type(value)
    if kind is list or kind is tuple:
        items = [_real(item) for item in value]
        return kind(items) if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if kind is dict:
        pairs = {key: _real(item) for key, item in value.items()}
        return pairs if any(pairs[key] is not value[key] for key in value) else value
    return value
