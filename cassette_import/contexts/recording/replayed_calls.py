"""`ReplayedCalls`: finds the recorded call of each call of a run, and its result."""

from __future__ import annotations

import functools
import io
import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.calls_to_replay import CallsInAnyOrder, CallsInRecordedOrder, NotRecorded
from cassette_import.contexts.recording.carried_requests import NO_RESPONSE, Carried, ResponsePart
from cassette_import.contexts.recording.decoding import BadValue
from cassette_import.contexts.recording.effects import argument_at, repeat_effects
from cassette_import.contexts.recording.external_calls import LazyAwaitable, ignored_call, run_in_external_call
from cassette_import.contexts.recording.mismatches import Mismatches
from cassette_import.contexts.recording.record import Record
from cassette_import.contexts.recording.recording_context import RecordingContext
from cassette_import.contexts.recording.recording_file import Call, Recording, ReplayMismatch
from cassette_import.contexts.recording.replay_order import ReplayOrder, pause, until_cancelled
from cassette_import.contexts.recording.replayed_loops import ReplayedLoop
from cassette_import.contexts.recording.replayed_values import ReplayedValues
from cassette_import.contexts.recording.requests_by_function import is_connection
from cassette_import.contexts.recording.tracebacks import without_frames_in
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["NewCall", "NewCalls", "NoObject", "ReplayedCalls", "make_again", "make_real", "make_reals", "use_object"]

# ---- calls that a replay makes although they are not in its recording: new ones, and requests that are ignored
#
# An object from the recording has nothing behind it. A client, such as a session, is made when a new request needs it;
# other objects cannot be.


class NoObject(Exception):
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


def make_reals(*values: Any) -> None:
    """Make the objects behind all proxies in arguments; raise `NoObject` if one cannot be made."""
    for value in values:
        if proxies.is_proxy(value):
            make_real(value)
        elif isinstance(value, list | tuple):
            make_reals(*value)
        elif type(value) is dict:
            make_reals(*value.values())


def make_real(proxy: Any) -> Any:
    """The object behind a proxy, made now if it comes from the recording; raise `NoObject` if it cannot be made."""
    if proxies.real_of(proxy) is None:
        make = proxies.maker_of(proxy)
        if make is None:
            raise NoObject(type(proxy).__qualname__)
        proxies.change_proxy(proxy, real=run_in_external_call(make))
    return proxies.real_of(proxy)


def make_again(
    call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any], assigned: Mapping[str, Any]
) -> Any:
    """Make a client or a request object as the program has made it, and with the attributes that it has assigned."""
    make_reals(arguments, keywords)
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

    def ended(self, *, failed: bool = False) -> None:
        """Close the recording after a run, which must not be shorter than the recorded one unless it has failed."""
        raise NotImplementedError

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
            make_reals(receiver, arguments, dict(keywords))
        except NoObject as problem:
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
    real = make_real(proxy)
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
