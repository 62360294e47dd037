"""`Replay`: runs a recorded program again; the results of external calls come from the recording.

Knows recordings, and in which order calls are replayed; must not know how they were recorded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.common.reporting import Writer as ReportWriter
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.call_sequences import CallSequences
from cassette_import.contexts.recording.call_text import described_call, is_same_call
from cassette_import.contexts.recording.decoding import BadValue
from cassette_import.contexts.recording.exceptions import without_frames_in
from cassette_import.contexts.recording.recording_context import RecordingContext, call_site
from cassette_import.contexts.recording.recording_file import (
    BadRecording,
    Call,
    CallSequence,
    Recording,
    ReplayMismatch,
    read,
)
from cassette_import.contexts.recording.replay_order import ReplayOrder, pause, until_cancelled
from cassette_import.contexts.recording.replayed_values import ReplayedValues
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["Replay"]


class _RunningSequence:
    """A thread, job or task of this run; it takes a recorded call sequence with its first call."""

    __slots__ = ("kind", "origin", "recorded", "starts")

    def __init__(self, kind: str, origin: Sequence[int]) -> None:
        self.kind = kind
        self.origin = tuple(origin)
        self.starts = 0
        self.recorded: CallSequence | None = None


class _EndOfRecording(Exception):
    """This call is not recorded, because the recorded run had ended before it."""


class Replay(RecordingContext):
    """Runs a program again as `Record` recorded it, without its external calls.

    A run that differs from its recording gets a `ReplayMismatch`, which is not an `Exception`: its message shows the
    call as it is and as it was recorded.

    Parameters
    ----------
    file:
        The recording, or the path of its file.
    places:
        Folders by the names that replace them in the recording, as given to `Record`.

    Raises
    ------
    BadRecording
        If the file is not a recording that can be replayed.

    Example
    -------
    ``python -m cassette_import replay shop.cassette``
    """

    def __init__(self, file: str | Recording, *, places: Mapping[str, str] | None = None) -> None:
        self.recording: Recording = file if isinstance(file, Recording) else read(file)
        self.mismatch: ReplayMismatch | None = None
        self.make_mismatch: Callable[[str], ReplayMismatch] = ReplayMismatch
        self._sequences: CallSequences[_RunningSequence] = CallSequences(_RunningSequence)
        self._order = ReplayOrder(self.recording)
        self._read_attributes: dict[tuple[int, str], Any] = {}
        self._changed_variables: set[str] = set()
        self._replayed = 0
        self._is_over = threading.Event()
        header = self.recording.header
        try:
            super().__init__(header.get("boundary", ()), header.get("mask", ()), header.get("without", ()), places)
        except ValueError as error:
            raise BadRecording(f"{self.recording.path}: cannot be replayed here: {error}") from error
        self._values = ReplayedValues(self.recording, self._mask, self)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if exception[:1] == (None,):
            self.check_end()

    def check_end(self) -> None:
        """Raise a `ReplayMismatch` if the run ended before its recording.

        A thread that is still running need not have made all its recorded calls.
        """
        self.is_ending()
        left = [
            sequence
            for sequence in self.recording.sequences.values()
            if sequence.calls and not self._order.is_running_elsewhere(sequence)
        ]
        if self.mismatch is None and left and self.recording.finished:
            first = min((sequence.calls[0] for sequence in left), key=lambda call: call.number)
            count = sum(len(sequence.calls) for sequence in left)
            self._set_mismatch(
                f"the run ended, but its recording {self.recording.path} goes on, with {count} more "
                f"call{'' if count == 1 else 's'}\n  recorded: {self._described_with_site(first)}"
            )
        if self.mismatch is not None:
            raise self.mismatch

    def is_ending(self) -> None:
        """Note that the main thread has ended. Threads that have made all their recorded calls may end now."""
        self._is_over.set()

    def summary(self) -> str:
        """How many calls were answered."""
        count = self._replayed
        return f"replay: {count} call{'' if count == 1 else 's'} answered from {self.recording.path}"

    @property
    def formats(self) -> Mapping[str, ReportWriter]:
        """None: a replay writes nothing."""
        return {}

    # ---- calls

    @hidden
    def external_call(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """The recorded result of this call."""
        try:
            return self._replay(what, arguments, keywords)
        except _EndOfRecording:
            self._wait_for_the_end()
        except BaseException as error:
            error.__traceback__ = None
            raise
        return fallback(self, function, *arguments, **keywords)

    def use(self, proxy: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """The recorded result of this use of a proxy."""
        title = f"{type(proxy).__qualname__}.{name}"
        number = proxies.number_of(proxy)
        if proxies.is_used_by_debugger():
            return self._inspected([kind, title, number], name, arguments, keywords)
        try:
            result = self._replay([kind, title, number], arguments, keywords)
        except _EndOfRecording:
            self._wait_for_the_end()
            raise SystemExit from None  # there is no object to use
        if kind == "get":
            self._read_attributes[number, title] = result
        return result

    def _replay(self, what: list[Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        if not self.recording.finished:
            self._let_others_catch_up()
        call = self._next_call(what, arguments, keywords)
        if call.is_pending:
            awaitable: Any = self._await_replayed(call)
            awaitable.__name__ = awaitable.__qualname__ = what[1].rpartition(".")[2]
            return awaitable
        self._order.wait_for_turn(call.number)
        for index, after in call.changed:
            _change(arguments[index], self._value(after))
        self._order.call_ended(call.number)
        assert call.outcome is not None
        kind, content = call.outcome
        if kind == "error":
            raise self._error(content)
        return self._value(content)

    def _let_others_catch_up(self) -> None:
        """In a recording that was cut short, the first thread at its end must not end the run for the others."""
        sequence = self._sequences.current()
        if sequence.kind != "task" and sequence.recorded is not None and not sequence.recorded.calls:
            self._order.wait_for_all()

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

    async def _await_replayed(self, call: Call) -> Any:
        """The coroutine that the program awaits instead of a recorded awaitable."""
        outcome = call.outcome
        if outcome is None:
            raise self._set_mismatch(
                f"{self.recording.path} was cut short while this was awaited\n"
                f"  recorded: {self._described_with_site(call)}"
            )
        if call.waited:
            await pause()
        if outcome[0] == "error" and outcome[1]["class"].endswith(":CancelledError"):
            try:
                await until_cancelled()
            finally:
                self._order.call_ended(call.number)
        await self._order.wait_for_turn_in_task(call.number)
        self._order.call_ended(call.number)
        if outcome[0] == "value":
            return self._value(outcome[1])
        try:
            raise self._error(outcome[1])
        except BaseException as error:
            error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
            raise

    def _next_call(self, what: list[Any], arguments: Any, keywords: Mapping[str, Any]) -> Call:
        """The recorded call that this call is a repetition of."""
        with self._lock:
            if self.mismatch is not None:
                raise self.mismatch
            encoded = self.encoded_arguments(arguments, keywords, what)
            running = self._sequences.current()
            if running.recorded is None:
                running.recorded = self._take_sequence(running, what, encoded)
            sequence = running.recorded
            if sequence is None or not sequence.calls:
                if running.origin in self.recording.running:
                    raise _EndOfRecording
                raise self._mismatch_at_end(what, encoded)
            sequence.thread = threading.get_ident()
            call = sequence.calls[0]
            if not is_same_call(call.what, call.arguments, what, encoded):
                raise self._mismatch_at(call, what, encoded)
            sequence.calls.popleft()
            self._replayed += 1
            self._values.learn_program_objects(call.arguments, encoded, self._program_objects_by_number)
            return call

    def _take_sequence(self, running: _RunningSequence, what: list[Any], encoded: Any) -> CallSequence | None:
        """The recorded sequence of the same origin. Of several, the one that begins with this call. If none does, the
        first one that is left, so that the mismatch can show its call."""
        left = [one for one in self.recording.sequences.values() if one.kind == running.kind and not one.is_taken]
        same_origin = [sequence for sequence in left if sequence.origin == running.origin]
        if not same_origin and running.origin in self.recording.running:
            return None
        left = same_origin or [sequence for sequence in left if not (running.origin and sequence.origin)]
        found = next((sequence for sequence in left if _begins_with(sequence, what, encoded)), None)
        if found is None and left:
            found = left[0]
        if found is not None:
            found.is_taken = True
        return found

    def new_origin(self) -> Sequence[int]:
        """See `RecordingContext.new_origin`."""
        running = self._sequences.current()
        if running.recorded is None and (running.kind == "main" or running.origin):
            running.recorded = self._take_sequence(running, [], [])
        running.starts += 1
        return () if running.recorded is None else (running.recorded.number, running.starts)

    def job_ended(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.job_ended`."""
        sequence = self._sequences.current().recorded
        if sequence is not None:
            self._order.sequence_ended(sequence.number)

    # ---- mismatches

    def _set_mismatch(self, message: str) -> ReplayMismatch:
        self.mismatch = self.make_mismatch(message)
        return self.mismatch

    def _mismatch_at(self, call: Call, what: list[Any], encoded: Any) -> ReplayMismatch:
        return self._set_mismatch(
            f"{_shown_site(call_site())}: replay mismatch at call {call.number} of {self.recording.path}\n"
            f"  recorded: {self._described_with_site(call)}\n"
            f"  now:      {described_call(what, encoded)}{self._note(call, what, encoded)}"
        )

    def _note(self, expected: Call, what: list[Any], encoded: Any) -> str:
        """A line on the recorded call that is like this one, if there is one: the program has changed the order."""
        for call in self.recording.calls.values():
            if call is not expected and is_same_call(call.what, call.arguments, what, encoded):
                break
        else:
            return ""
        seed = self.recording.header.get("hash seed")
        is_fixed = "test" in self.recording.header or (isinstance(seed, str) and seed.isdigit())
        advice = (
            "sets of objects have no fixed order"
            if is_fixed
            else "if it is that of a set, record it with PYTHONHASHSEED=0"
        )
        return f"\n  note:     call {call.number} of the recording is this one: the order of calls differs; {advice}"

    def _mismatch_at_end(self, what: list[Any], encoded: Any) -> ReplayMismatch:
        if self.recording.is_missing:
            why = "does not exist"
        else:
            why = "has no more calls here" if self.recording.finished else "was cut short before this call"
        return self._set_mismatch(
            f"{_shown_site(call_site())}: the recording {self.recording.path} {why}\n"
            f"  now:      {described_call(what, encoded)}"
        )

    def _described_with_site(self, call: Call) -> str:
        return f"{described_call(call.what, call.arguments)}    ({_shown_site(self._mask.restored(call.site))})"

    def _damaged(self, error: BadValue) -> ReplayMismatch:
        return self._set_mismatch(f"{self.recording.path} is damaged, or was recorded in another environment: {error}")

    # ---- values

    def _value(self, encoded: Any) -> Any:
        try:
            return self._values.value(encoded)
        except BadValue as error:
            raise self._damaged(error) from None

    def _error(self, encoded: Any) -> BaseException:
        try:
            return self._values.error(encoded)
        except BadValue as error:
            raise self._damaged(error) from None

    def _inspected(self, what: list[Any], name: str, arguments: Any, keywords: Mapping[str, Any]) -> Any:
        """The result for a debugger that uses a proxy: no recorded call is used up."""
        kind, title, number = what
        if kind == "get" and (number, title) in self._read_attributes:
            return self._read_attributes[number, title]
        encoded = self.encoded_arguments(arguments, keywords, what)
        for call in self.recording.calls.values():
            outcome = call.outcome
            if outcome is not None and outcome[0] == "value" and is_same_call(call.what, call.arguments, what, encoded):
                return self._values.decode(outcome[1])
        if name in ("__repr__", "__str__", "__format__"):
            return f"<proxy for {title.rpartition('.')[0]}, number {number}>"
        raise (AttributeError if kind == "get" else LookupError)(
            f"{described_call(what, encoded)} is not in the recording"
        )

    # ---- the environment

    def variable(self, name: str, value: str | None) -> str | None:
        """The recorded value, or the actual one if the variable is not in the recording."""
        if name in self._changed_variables or name not in self.recording.environment:
            return value
        recorded: str | None = self.recording.environment[name]
        self._mask.variable(name, recorded)
        return recorded

    def variables(self, names: list[str]) -> list[str]:
        """The recorded names, and those that the program has added."""
        recorded = self.recording.environment.get("")
        if recorded is None:
            return names
        unchanged = [name for name in recorded if name not in self._changed_variables]
        return [*unchanged, *(name for name in names if name in self._changed_variables)]

    def variable_changed(self, name: str) -> None:
        """See `RecordingContext.variable_changed`."""
        self._changed_variables.add(name)


def _begins_with(sequence: CallSequence, what: list[Any], encoded: Any) -> bool:
    if not sequence.calls:
        return False
    first = sequence.calls[0]
    return is_same_call(first.what, first.arguments, what, encoded)


def _shown_site(site: list[Any]) -> str:
    return f"{site[0]}:{site[1]} in {site[2]}"


def _change(target: Any, after: Any) -> None:
    """Assign the recorded contents to an argument that the call has changed."""
    if isinstance(target, dict | set):
        target.clear()
        target.update(after)
    else:
        target[:] = after
