"""`ReplayedCalls`: finds the recorded call of each call of a run, and its result."""

from __future__ import annotations

import difflib
import functools
import io
import os
import shutil
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.calls_to_replay import (
    CallsInAnyOrder,
    CallsInRecordedOrder,
    NotRecorded,
    ReplayOrder,
    described_call,
    is_same_call,
    object_numbers,
    pause,
    until_cancelled,
)
from cassette_import.contexts.recording.carried_requests import NO_RESPONSE, Carried, ResponsePart, decoded_request
from cassette_import.contexts.recording.effects import argument_at, repeat_effects
from cassette_import.contexts.recording.external_calls import (
    LazyAwaitable,
    call_site,
    ignored_call,
    run_in_external_call,
)
from cassette_import.contexts.recording.masking import Mask
from cassette_import.contexts.recording.record import Record
from cassette_import.contexts.recording.recording_context import RecordingContext
from cassette_import.contexts.recording.recording_file import Call, CallSequence, Recording, ReplayMismatch
from cassette_import.contexts.recording.replayed_loops import ReplayedLoop
from cassette_import.contexts.recording.requests_by_function import is_connection
from cassette_import.contexts.recording.tracebacks import without_frames_in
from cassette_import.contexts.recording.values import BadValue, Decoder, decoded_error
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["Mismatches", "NewCall", "NewCalls", "ReplayedCalls", "ReplayedValues", "make_again", "use_object"]

# ---- the messages of replay mismatches: where the run is, which call was recorded, and how this call differs

_LONGEST_PART = 120
_REQUEST_PARTS = ("method", "uri", "headers", "body")


class Mismatches:
    """Writes messages on the mismatches of one replay.

    Parameters
    ----------
    recording:
        The recording.
    mask:
        Replaces the names of folders by the folders.
    """

    def __init__(self, recording: Recording, mask: Mask) -> None:
        self._recording = recording
        self._path = recording.path
        self._mask = mask

    def at(self, call: Call, what: list[Any], encoded: Any, carried: Carried | None) -> str:
        """This run makes another call than the recorded one at this place."""
        return (
            f"{_shown_site(call_site())}: replay mismatch at call {call.number} of {self._path}\n"
            f"  recorded: {self._described_with_site(call)}\n"
            f"  now:      {_described(what, encoded, carried)}"
            f"{_differences(call, carried)}{_note_on_descriptor(call, what, encoded)}"
            f"{self._note(call, what, encoded, carried)}"
        )

    def at_end(self, what: list[Any], encoded: Any, carried: Carried | None = None) -> str:
        """This run makes a call after all recorded ones."""
        if self._recording.is_missing:
            why = "does not exist"
        else:
            why = "has no more calls here" if self._recording.finished else "was cut short before this call"
        return (
            f"{_shown_site(call_site())}: the recording {self._path} {why}\n"
            f"  now:      {_described(what, encoded, carried)}"
        )

    def variable_at_end(self, name: str) -> str:
        """This run reads an environment variable, or the names of all (""), after the end of a recording cut short."""
        read = f"os.environ[{name!r}]" if name else "the names of all environment variables"
        return f"the recording {self._path} was cut short before this was read\n  now:      {read}"

    def not_found(
        self, what: list[Any], encoded: Any, carried: Carried | None, unused: Iterable[Call], used: Iterable[Call]
    ) -> str:
        """This run makes a call that is not in a recording without order, or has been replayed already."""
        site = _shown_site(call_site())
        now = f"  now:      {_described(what, encoded, carried)}"
        repeated = next((call for call in used if _is_this(call, what, encoded, carried)), None)
        if repeated is not None:
            return (
                f"{site}: {self._path} contains this call, but this run makes it more often (allow_playback_repeats "
                f"replays it again)\n  recorded: {self._described_with_site(repeated)}\n{now}"
            )
        message = f"{site}: replay mismatch: {self._path} does not contain this call\n{now}"
        nearest = _nearest([*unused, *used], what, encoded, carried)
        if nearest is None:
            return message
        return f"{message}\n  nearest:  {self._described_with_site(nearest)}{_differences(nearest, carried)}"

    def at_object(self, what: list[Any], encoded: Any, class_name: str, *, in_fork: bool = False) -> str:
        """This run makes a call that is not replayed, with an object that exists in the recording alone."""
        reason, advice = f"{self._path} does not contain this call", "record it again with the record mode all"
        if in_fork:
            reason, advice = "a forked process makes its calls itself", "leave such calls out with without="
        return (
            f"{_shown_site(call_site())}: {reason}, and it cannot be made: the {class_name} comes from the recording; "
            f"{advice}\n"
            f"  now:      {_described(what, encoded, None)}"
        )

    def unused(self, left: Sequence[CallSequence]) -> str:
        """The run ended before its recording."""
        first = min((sequence.calls[0] for sequence in left), key=lambda call: call.number)
        count = sum(len(sequence.calls) for sequence in left)
        return (
            f"the run ended, but its recording {self._path} goes on, with {count} more "
            f"call{'' if count == 1 else 's'}\n  recorded: {self._described_with_site(first)}"
        )

    def cut_short(self, call: Call) -> str:
        """The recorded run ended while it awaited the result of a call."""
        return f"{self._path} was cut short while this was awaited\n  recorded: {self._described_with_site(call)}"

    def lost_order(self, call: Call | None) -> str:
        """Tasks have gone on in another order than recorded, since this call did not end when it did so there."""
        place = "" if call is None else f" since {self._described_with_site(call)}"
        return (
            f"replay: tasks have gone on in another order than recorded{place}, so the output may differ: the program "
            "has changed, or makes tasks in the order of a set of objects"
        )

    def damaged(self, error: Exception) -> str:
        """A value of the recording cannot be decoded."""
        return f"{self._path} is damaged, or was recorded in another environment: {error}"

    def _described_with_site(self, call: Call) -> str:
        shown = _shown_recorded(call)
        return f"{shown}    ({_shown_site(self._mask.restored(call.site))})"

    def _note(self, expected: Call, what: list[Any], encoded: Any, carried: Carried | None) -> str:
        """A line on the recorded call that is like this one, if there is one: the program has changed the order."""
        for call in self._recording.calls.values():
            if call is not expected and _is_this(call, what, encoded, carried):
                break
        else:
            return ""
        seed = self._recording.header.get("hash seed")
        is_fixed = "test" in self._recording.header or (isinstance(seed, str) and seed.isdigit())
        advice = (
            "sets of objects have no fixed order"
            if is_fixed
            else "if it is that of a set, record it with PYTHONHASHSEED=0"
        )
        return f"\n  note:     call {call.number} of the recording is this one: the order of calls differs; {advice}"


def _is_this(call: Call, what: list[Any], encoded: Any, carried: Carried | None) -> bool:
    """Whether a recorded call is this one: arguments need not show what a request contains."""
    has_request = carried is not None and carried.is_sent
    if (call.encoded_request is not None) != has_request or _differences(call, carried):
        return False
    return is_same_call(call.what, call.arguments, what, encoded)


_DESCRIPTORS = ("os.", "fcntl.", "termios.", "mmap.", "select.", "socket.fromfd", "builtins.open", "io.open")
"""The functions whose first argument may be a descriptor begin like this."""


def _note_on_descriptor(call: Call, what: list[Any], encoded: Any) -> str:
    """A line on a descriptor that has another number than in the recorded run: code outside has opened it."""
    recorded, now = call.arguments[0], encoded[0]
    if call.what != what or not what[1].startswith(_DESCRIPTORS) or not recorded or not now:
        return ""
    if type(recorded[0]) is not int or type(now[0]) is not int or recorded[0] == now[0] or recorded[1:] != now[1:]:
        return ""
    return (
        f"\n  note:     descriptor {now[0]} was opened by code that is not recorded: overdub its package (-p), or add "
        "the function that opens it (boundary=)"
    )


def _described(what: list[Any], encoded: Any, carried: Carried | None) -> str:
    return (
        described_call(what, encoded)
        if carried is None
        else _with_request(described_call(what, encoded), carried.encoded)
    )


def _shown_recorded(call: Call) -> str:
    shown = described_call(call.what, call.arguments)
    return shown if call.encoded_request is None else _with_request(shown, call.encoded_request)


def _with_request(shown: str, encoded: Any) -> str:
    """A call with its request, unless the address stands in the arguments already."""
    if encoded["uri"] in shown or not encoded["method"]:
        return shown
    return f"{shown}: {encoded['method']} {encoded['uri']}"


def _differences(call: Call, carried: Carried | None) -> str:
    """A line for each part of the requests that differs."""
    if carried is None or call.encoded_request is None:
        return ""
    recorded = decoded_request(call.encoded_request)
    lines = []
    for part in _REQUEST_PARTS:
        before, now = getattr(recorded, part), getattr(carried.request, part)
        if part == "headers":
            names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
            lines += [f"headers.{name}: {_short(before.get(name))} -> {_short(now.get(name))}" for name in names]
        elif before != now:
            lines.append(f"{part}: {_short(before)} -> {_short(now)}")
    return "".join(f"\n  differs:  {line}" for line in lines)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_PART else f"{text[:_LONGEST_PART]}…"


def _nearest(calls: Sequence[Call], what: list[Any], encoded: Any, carried: Carried | None) -> Call | None:
    """The recorded call of the same function that is most like this one."""
    same = [call for call in calls if (call.encoded_request is not None) == (carried is not None and carried.is_sent)]
    if carried is None or not carried.is_sent:
        same = [call for call in same if call.what[:2] == what[:2]]
    now = _described(what, encoded, carried)
    return max(
        same[:1000],
        key=lambda call: difflib.SequenceMatcher(None, _shown_recorded(call), now).ratio(),
        default=None,
    )


def _shown_site(site: list[Any]) -> str:
    return f"{site[0]}:{site[1]} in {site[2]}"


# ---- recorded values of a replay


class ReplayedValues:
    """The values of a recording as the program gets them.

    Parameters
    ----------
    recording:
        Describes the classes of proxies.
    mask:
        Replaces the names of folders by the folders.
    handler:
        Handles the uses of proxies.
    """

    def __init__(self, recording: Recording, mask: Mask, handler: proxies.UseHandler) -> None:
        self._recording = recording
        self._mask = mask
        self._handler = handler
        self._proxies: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._proxy_types: dict[int, tuple[type, type[proxies.Proxy]]] = {}
        self._program_objects: dict[int, Any] = {}
        self._unused_number = 0
        self._returned = frozenset(_returned_objects([call.outcome for call in recording.calls.values()]))
        """The numbers of the program's objects that are results of calls. They stay alive: in the recorded run, the
        external object held them."""
        self.decode = Decoder(self._decode_reference)

    def value(self, encoded: Any) -> Any:
        """A recorded value. Raises `BadValue` if the recording is damaged."""
        return self.decode(self._mask.restored(encoded))

    def error(self, encoded: Any) -> BaseException:
        """A recorded exception. Raises `BadValue` if the recording is damaged."""
        return decoded_error(self._mask.restored(encoded), self.decode)

    def learn_program_objects(self, recorded: Any, encoded: Any, by_number: list[Any]) -> None:
        """Learn from the arguments of a call which object of the program has which number in the recording.

        Such an object can be the result of a later call. `by_number` are weak references to the objects of this run.
        """
        if not by_number:
            return
        for before, now in zip(object_numbers(recorded), object_numbers(encoded), strict=False):
            if before >= 0 and now >= 0:
                found = by_number[now]
                self._program_objects[before] = _holder_of(found()) if before in self._returned else found

    def _decode_reference(self, tag: str, content: Any) -> Any:
        if tag == "handle" and isinstance(content, list) and list(map(type, content)) == [int, int]:
            return self._proxy(*content)
        if tag == "own" and isinstance(content, int):
            known = self._program_objects.get(content)
            return None if known is None else known()
        if tag == "error":
            return decoded_error(content, self.decode)
        raise BadValue(f"no value is written as {tag!r}")

    def renumber(self, proxy: Any, number: int) -> int:
        """Let a proxy be the recorded object of another number.

        If another proxy has this number, it gets one that is not in the recording. Returns that one.
        """
        self._unused_number -= 1
        other = self._proxies.get(number)
        self._proxies.pop(proxies.number_of(proxy), None)
        if other is not None:
            proxies.change_proxy(other, number=self._unused_number)
            self._proxies[self._unused_number] = other
        proxies.change_proxy(proxy, number=number)
        self._proxies[number] = proxy
        return self._unused_number

    def _proxy(self, number: int, class_number: int) -> Any:
        proxy = self._proxies.get(number)
        if proxy is None:
            kind, made = self._proxy_type(class_number)
            proxy = self._proxies[number] = proxies.make_proxy(made, kind, number, self._handler)
        return proxy

    def _proxy_type(self, number: int) -> tuple[type, type[proxies.Proxy]]:
        known = self._proxy_types.get(number)
        if known is None:
            description = self._recording.classes.get(number)
            if description is None:
                raise BadValue(f"class {number} is not described")
            known = proxies.class_of(description), proxies.proxy_type(description, hide=False)
            self._proxy_types[number] = known
        return known


def _holder_of(value: Any) -> Callable[[], Any]:
    return lambda: value


def _returned_objects(encoded: Any) -> Iterator[int]:
    """The numbers of the program's own objects in encoded results."""
    if isinstance(encoded, list | tuple):
        for item in encoded:
            yield from _returned_objects(item)
    elif isinstance(encoded, dict):
        number = encoded.get("own")
        if isinstance(number, int):
            yield number
        for item in encoded.values():
            yield from _returned_objects(item)


# ---- calls that a replay makes although they are not in its recording: new ones, and requests that are ignored
#
# An object from the recording has nothing behind it. A client, such as a session, is made when a new request needs it;
# other objects cannot be.


class _NoObject(Exception):
    """The object of this class comes from the recording, and cannot be made."""


class NewCalls:
    """Makes the calls that a recording lacks, and adds them to it.

    Parameters
    ----------
    context:
        The replay.
    recorder:
        Records the calls.
    recording:
        The recording, which may be empty.
    path:
        The file that the calls are added to. If it is not the file of the recording, it begins as a copy of this file.
    """

    def __init__(self, context: RecordingContext, recorder: Record, recording: Recording, path: str) -> None:
        self._context = context
        self._recording = recording
        self._path = path
        self.recorder = recorder
        self.live: set[int] = set()
        """The numbers of the proxies from the recording that have made new calls."""
        self._first_proxy = recorder.record_for(context, recording if recording.calls else None)
        if not recording.calls:
            recorder.stream(path, waits=True)

    @property
    def count(self) -> int:
        """How many calls were added."""
        return self.recorder.calls - len(self._recording.calls) if self.recorder.is_streaming else 0

    @hidden
    def make(
        self,
        what: list[Any],
        carried: Carried | None,
        made_by: Carried | None,
        call: Callable[..., Any],
        arguments: Any,
        keywords: Mapping[str, Any],
    ) -> Any:
        """Make a call and record it."""
        if not self.recorder.is_streaming:
            self._begin()
        return self.recorder.recorded(what, call, arguments, keywords, carried, made_by)

    def is_live(self, number: int) -> bool:
        """Whether the object behind the proxy of this number exists, and is used since a new call."""
        return number >= self._first_proxy or number in self.live

    def inform(self, run: Mapping[str, Any]) -> None:
        """Note what the command line runs, for the header of a new recording."""
        self.recorder.inform({**run, "output": ""})

    def forget(self) -> None:
        """Leave no file, if no call was made: the run has failed before."""
        self.recorder.forget()

    def close(self) -> None:
        """Write the last line, if there are new calls."""
        self.recorder.close()

    def _begin(self) -> None:
        """Prepare the file for the first new call: a line that was cut off is removed."""
        if os.path.abspath(self._path) != os.path.abspath(self._recording.path):
            shutil.copy(self._recording.path, self._path)
        with open(self._path, "rb+") as file:
            contents = file.read()
            file.truncate(contents.rfind(b"\n") + 1)
        self.recorder.stream(self._path)


def _make_reals(*values: Any) -> None:
    """Make the objects behind all proxies in arguments; raise `_NoObject` if one cannot be made."""
    for value in values:
        if proxies.is_proxy(value):
            _make_real(value)
        elif isinstance(value, list | tuple):
            _make_reals(*value)
        elif type(value) is dict:
            _make_reals(*value.values())


def _make_real(proxy: Any) -> Any:
    """The object behind a proxy, made now if it comes from the recording; raise `_NoObject` if it cannot be made."""
    if proxies.real_of(proxy) is None:
        make = proxies.maker_of(proxy)
        if make is None:
            raise _NoObject(type(proxy).__qualname__)
        proxies.change_proxy(proxy, real=run_in_external_call(make))
    return proxies.real_of(proxy)


def make_again(
    call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any], assigned: Mapping[str, Any]
) -> Any:
    """Make a client or a request object as the program has made it, and with the attributes that it has assigned."""
    _make_reals(arguments, keywords)
    made = call(*proxies.with_real_objects(arguments), **proxies.with_real_objects(dict(keywords)))
    for name, value in assigned.items():
        setattr(made, name, value)
    return made


# ---- `ReplayedCalls`: finds the recorded call of each call of a run, and its result


class NewCall(Exception):
    """This call is not in the recording, and is to be made."""


class ReplayedCalls(RecordingContext):
    """The base of `Replay`. Its attributes are assigned there."""

    recording: Recording
    mismatch: ReplayMismatch | None
    make_mismatch: Callable[[str], ReplayMismatch]
    _any_order: CallsInAnyOrder | None
    """The recorded calls, if they may come in any order."""
    _in_order: CallsInRecordedOrder
    _order: ReplayOrder
    _values: ReplayedValues
    _mismatches: Mismatches
    _new: NewCalls | None
    """Makes the calls that the recording lacks; None if they are mismatches."""
    _is_over: threading.Event
    _last_requests: dict[int, int]
    """The number of the call that sent the last request over a connection, by the number of its proxy."""
    _replayed: int
    _replayed_requests: int

    def _replay(
        self,
        what: list[Any],
        arguments: Any,
        keywords: Mapping[str, Any],
        carried: Carried | None,
        proxy: Any = None,
        made_by: Carried | None = None,
    ) -> Any:
        if not self.recording.finished:
            self._in_order.let_others_catch_up()
        call = self._next_call(what, arguments, keywords, carried)
        if proxy is not None and is_connection(what[1]) and carried is not None and len(call.what) > 2:
            self._be_connection(proxy, call)
        response = NO_RESPONSE
        if carried is not None or made_by is not None:
            response = ResponsePart(self._requests, what[1], carried, made_by)
        if call.is_pending:
            awaitable: Any = self._await_replayed(call, response)
            awaitable.__name__ = awaitable.__qualname__ = what[1].rpartition(".")[2]
            return awaitable if call.is_coroutine else LazyAwaitable(awaitable)
        self._order.wait_for_turn(call.number)
        if what[1] == "builtins.input":
            if arguments:
                _print_prompt(arguments[0])
            if isinstance(sys.stdin, io.StringIO):
                sys.stdin.readline()  # as the recorded call did: what iterates over it must not get the line again
        held = self._held_files.of_call(what)
        self._repeat_effects(call, arguments, {**keywords, **held})
        self._order.call_ended(call.number)
        assert call.outcome is not None
        kind, content = call.outcome
        if kind == "error":
            raise self._error(content)
        if isinstance(content, dict) and "argument" in content:
            return argument_at(content["argument"], arguments, {**keywords, **held})
        value = self._value(content)
        self._held_files.made(value, arguments, keywords, held)
        if response is not NO_RESPONSE:
            response.note(value)
        return value

    def _repeat_effects(self, call: Call, arguments: Any, keywords: Mapping[str, Any]) -> None:
        """Change the arguments as the recorded call did."""
        for effect in call.changed:
            if len(effect) == 2:  # of an earlier release
                _change(arguments[effect[0]], self._value(effect[1]))
            else:
                repeat_effects([self._mask.restored(effect)], arguments, keywords, self._value)

    def _next_call(self, what: list[Any], arguments: Any, keywords: Mapping[str, Any], carried: Carried | None) -> Call:
        """The recorded call that this call is a repetition of."""
        with self._lock:
            if self.mismatch is not None:
                raise self.mismatch
            is_hidden = carried is not None and self._requests.hides_arguments
            encoded = [[], []] if is_hidden else self.encoded_arguments(arguments, keywords, what)
            call = self._taken(what, encoded, carried)
            self._replayed += 1
            self._replayed_requests += carried is not None and carried.is_sent
            self._values.learn_program_objects(call.arguments, encoded, self._program_objects_by_number)
            return call

    def _taken(self, what: list[Any], encoded: Any, carried: Carried | None) -> Call:
        if self._any_order is not None:
            after = self._last_requests.get(what[2], 0) if len(what) > 2 else 0
            call = self._any_order.take(what, encoded, carried, after, self._in_order.recorded_sequence())
            if call is not None:
                return call
            if self._new is not None:
                raise NewCall
            unused, used = self._any_order.unused(), self._any_order.used.values()
            raise self._set_mismatch(self._mismatches.not_found(what, encoded, carried, unused, used))
        try:
            return self._in_order.take(what, encoded, carried)
        except NotRecorded as problem:
            if problem.expected is None:
                raise self._set_mismatch(self._mismatches.at_end(what, encoded, carried)) from None
            raise self._set_mismatch(self._mismatches.at(problem.expected, what, encoded, carried)) from None

    def _be_connection(self, proxy: Any, call: Call) -> None:
        """Let a connection be the recorded one that sent this request: its response is read from the connection."""
        if self._new is not None:
            self._new.live.discard(call.what[2])
        before, number = proxies.number_of(proxy), call.what[2]
        self._last_requests[number] = call.number
        if before != number:
            other = self._values.renumber(proxy, number)
            self._requests.renumbered(number, other)
            self._requests.renumbered(before, number)

    def _wait_for_the_end(self) -> None:
        """Stop this thread, because the recorded run ended before this call.

        A daemon thread stops until the process ends. Another thread ends when only such threads are left. If the
        process continues after the replay, the thread returns from here and makes its call.
        """
        self._is_over.wait()
        if self.is_paused:
            return
        if threading.current_thread().daemon:
            threading.Event().wait()
        raise SystemExit from None  # ends a thread without a message

    async def _await_replayed(self, call: Call, response: ResponsePart) -> Any:
        """The coroutine that the program awaits instead of a recorded awaitable."""
        outcome = call.outcome
        loop: ReplayedLoop | None = self.live_loop()
        if outcome is None and self.recording.finished:
            await until_cancelled()
        if outcome is None:
            raise self._set_mismatch(self._mismatches.cut_short(call))
        if loop is not None:
            if call.waited:
                await loop.until(("end", call.number))
        elif call.waited:
            await pause()
        if loop is None and outcome[0] == "error" and outcome[1]["class"].endswith(":CancelledError"):
            try:
                await until_cancelled()
            finally:
                self._order.call_ended(call.number)
        if loop is None:
            await self._order.wait_for_turn_in_task(call.number)
        self._order.call_ended(call.number)
        if outcome[0] == "value":
            value = self._value(outcome[1])
            response.note(value)
            return value
        try:
            raise self._error(outcome[1])
        except BaseException as error:
            error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
            raise

    # ---- calls that are made

    @hidden
    def call_in_fork(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """See `RecordingContext.call_in_fork`."""
        return self._made(what, functools.partial(fallback, self, function), arguments, keywords, ignored_call)

    @hidden
    def _made(
        self, what: list[Any], call: Any, arguments: Any, keywords: Mapping[str, Any], make: Callable[..., Any]
    ) -> Any:
        """The result of a call that is made; a mismatch if it needs an object that the recording alone contains."""
        receiver = call.args[0] if call.func is use_object else None
        try:
            _make_reals(receiver, arguments, dict(keywords))
        except _NoObject as problem:
            encoded = self.encoded_arguments(arguments, keywords, what)
            message = self._mismatches.at_object(what, encoded, str(problem), in_fork=self.is_in_fork)
            raise self._set_mismatch(message) from None
        return make(call, arguments, keywords)

    # ---- mismatches

    def _set_mismatch(self, message: str) -> ReplayMismatch:
        self.mismatch = self.make_mismatch(message)
        return self.mismatch

    # ---- values

    def _value(self, encoded: Any) -> Any:
        try:
            return self._values.value(encoded)
        except BadValue as error:
            raise self._set_mismatch(self._mismatches.damaged(error)) from None

    def _error(self, encoded: Any) -> BaseException:
        try:
            return self._values.error(encoded)
        except BadValue as error:
            raise self._set_mismatch(self._mismatches.damaged(error)) from None


def use_object(proxy: Any, kind: str, name: str, /, *arguments: Any, **keywords: Any) -> Any:
    """Use the object behind a proxy; it is made if it comes from the recording."""
    real = _make_real(proxy)
    return real.__await__() if name == "__await__" else proxies.USES[kind](real, name, *arguments, **keywords)


def _print_prompt(prompt: Any) -> None:
    """Print the prompt of `input`, as it did in the recorded run."""
    if sys.stdout is not None:
        sys.stdout.write(str(prompt))
        sys.stdout.flush()


def _change(target: Any, after: Any) -> None:
    """Assign the recorded contents to an argument that the call has changed."""
    if isinstance(target, dict | set):
        target.clear()
        target.update(after)
    else:
        target[:] = after
