"""`RecordedCalls`: makes external calls, and writes each one with its outcome."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from cassette_import.contexts.recording.awaitables import LazyAwaitable, ObservedAwaitable, is_awaitable, named_like
from cassette_import.contexts.recording.call_sequences import CallSequences
from cassette_import.contexts.recording.carried_requests import NO_RESPONSE, Carried, ResponsePart
from cassette_import.contexts.recording.effects import Effects
from cassette_import.contexts.recording.exceptions import encoded_error
from cassette_import.contexts.recording.external_calls import (
    IN_EXTERNAL_CALL,
    call_site,
    ignored_call,
    run_in_external_call,
)
from cassette_import.contexts.recording.filled_buffers import place_of_filled_buffer
from cassette_import.contexts.recording.proxies import with_real_objects
from cassette_import.contexts.recording.recorded_loops import RecordedLoop
from cassette_import.contexts.recording.recording_context import RecordingContext
from cassette_import.contexts.recording.recording_file import Writer
from cassette_import.contexts.recording.recording_notes import RecordingNotes
from cassette_import.contexts.recording.request_options import (
    LEFT_OUT,
)
from cassette_import.contexts.recording.tracebacks import without_frames_in
from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["RecordedCalls"]


class RecordedCalls(RecordingContext):
    """The base of `Record`. Its attributes are assigned there."""

    _writer: Writer | None
    _call_numbers: itertools.count[int]
    _sequences: CallSequences[int]
    _encode: Callable[[Any], tuple[Any, Any]]
    """Encodes a result; returns it with what the program gets."""
    _notes: RecordingNotes
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
