"""The recorded calls that are left to replay, in the order of each thread, job and task."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from cassette_import.contexts.recording.call_sequences import CallSequences
from cassette_import.contexts.recording.carried_requests import Carried
from cassette_import.contexts.recording.event_loops import origin_of_task
from cassette_import.contexts.recording.recording_file import Call, CallSequence, Recording
from cassette_import.contexts.recording.replay_order import ReplayOrder
from cassette_import.contexts.recording.same_calls import SameCalls

__all__ = ["CallsInRecordedOrder", "EndOfRecording", "NotRecorded"]


class _RunningSequence:
    """A thread, job or task of this run; it takes a recorded call sequence with its first call."""

    __slots__ = ("kind", "origin", "recorded", "starts")

    def __init__(self, kind: str, origin: Sequence[int]) -> None:
        self.kind = kind
        self.origin = tuple(origin)
        self.starts = 0
        self.recorded: CallSequence | None = None


class EndOfRecording(Exception):
    """This call is not recorded, because the recorded run had ended before it."""


class NotRecorded(Exception):
    """This call is not the recorded one. `expected` is the recorded one; None at the end of the recording."""

    def __init__(self, expected: Call | None) -> None:
        self.expected = expected


class CallsInRecordedOrder:
    """The calls of a recording, in the order of each thread, job and task.

    Parameters
    ----------
    recording:
        The recording.
    same:
        Compares calls.
    order:
        The order of calls in different sequences.
    """

    def __init__(self, recording: Recording, same: SameCalls, order: ReplayOrder) -> None:
        self._recording = recording
        self._same = same
        self._order = order
        self._sequences: CallSequences[_RunningSequence] = CallSequences(_RunningSequence, origin_of_task)

    def take(self, what: list[Any], encoded: Any, carried: Carried | None) -> Call:
        """The recorded call that this call is a repetition of; raise `NotRecorded` if it is another one."""
        running = self._sequences.current()
        if running.recorded is None:
            running.recorded = self._take_sequence(running, what, encoded, carried)
        sequence = running.recorded
        if sequence is None or not sequence.calls:
            if running.origin in self._recording.running:
                raise EndOfRecording
            raise NotRecorded(None)
        sequence.thread = threading.get_ident()
        call = sequence.calls[0]
        if not self._same.is_same(call, what, encoded, carried):
            raise NotRecorded(call)
        sequence.calls.popleft()
        return call

    def _take_sequence(
        self, running: _RunningSequence, what: list[Any], encoded: Any, carried: Carried | None
    ) -> CallSequence | None:
        """The recorded sequence of the same origin. Of several, the one that begins with this call. If none does, the
        first one that is left, so that the mismatch can show its call."""
        left = [one for one in self._recording.sequences.values() if one.kind == running.kind and not one.is_taken]
        same_origin = [sequence for sequence in left if sequence.origin == running.origin]
        if not same_origin and running.origin in self._recording.running:
            return None
        left = same_origin or [sequence for sequence in left if not (running.origin and sequence.origin)]
        found = next(
            (one for one in left if one.calls and self._same.is_same(one.calls[0], what, encoded, carried)), None
        )
        if found is None and left:
            found = left[0]
        if found is not None:
            found.is_taken = True
        return found

    def recorded_sequence(self) -> int | None:
        """The number of the recorded sequence whose thread, job or task the current one is, if there are several."""
        if len(self._recording.sequences) < 2:
            return None
        running = self._sequences.current()
        if running.recorded is None:
            running.recorded = self._take_sequence(running, [], [], None)
        return None if running.recorded is None else running.recorded.number

    def let_others_catch_up(self) -> None:
        """In a recording that was cut short, the first thread at its end must not end the run for the others."""
        sequence = self._sequences.current()
        if sequence.kind != "task" and sequence.recorded is not None and not sequence.recorded.calls:
            self._order.wait_for_all()

    def new_origin(self) -> Sequence[int]:
        """See `RecordingContext.new_origin`."""
        running = self._sequences.current()
        if running.recorded is None and (running.kind == "main" or running.origin):
            running.recorded = self._take_sequence(running, [], [], None)
        running.starts += 1
        return () if running.recorded is None else (running.recorded.number, running.starts)

    def sequence_ended(self) -> None:
        """Note that the current thread or job has ended."""
        sequence = self._sequences.current().recorded
        if sequence is not None:
            self._order.sequence_ended(sequence.number)

    def left(self) -> list[CallSequence]:
        """The sequences with calls that no thread of this run will replay."""
        return [
            sequence
            for sequence in self._recording.sequences.values()
            if sequence.calls and not self._order.is_running_elsewhere(sequence)
        ]
