"""The recorded calls that are left to replay, for runs that may make them in any order."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from cassette_import.contexts.recording.call_text import comparable
from cassette_import.contexts.recording.carried_requests import Carried
from cassette_import.contexts.recording.recording_file import Call, Recording
from cassette_import.contexts.recording.same_calls import SameCalls

__all__ = ["CallsInAnyOrder"]


class CallsInAnyOrder:
    """The calls of a recording; each one replays one call of this run.

    Parameters
    ----------
    recording:
        The recording.
    same:
        Compares calls.
    repeats:
        Whether a call may be replayed several times.
    """

    def __init__(self, recording: Recording, same: SameCalls, *, repeats: bool) -> None:
        self._same = same
        self._repeats = repeats
        self._requests: list[Call] = []
        self._others: dict[str, deque[Call]] = defaultdict(deque)
        self.used: dict[int, Call] = {}
        calls = [call for sequence in recording.sequences.values() for call in sequence.calls]
        for call in sorted(calls, key=lambda call: call.number):
            if call.encoded_request is not None:
                self._requests.append(call)
            else:
                self._others[_key(call.what, call.arguments)].append(call)

    def take(
        self, what: list[Any], encoded: Any, carried: Carried | None, after: int = 0, sequence: int | None = None
    ) -> Call | None:
        """The first recorded call that is this one and was not replayed; None if there is none.

        `after` is the number of the request that was replayed last on a connection: what is read from the connection
        belongs to it, and not to an earlier request. Calls of the recorded `sequence` come before those of others.
        """
        if carried is not None and (carried.is_sent or carried.encoded is not None):
            found = self._taken_request(what, encoded, carried)
            if found is not None or carried.is_sent:
                return found
        queue = self._others.get(_key(what, encoded), deque())
        left = (call for call in queue if call.number > after)
        call = next(left, None)
        if call is not None and sequence is not None and call.sequence != sequence:
            call = next((other for other in left if other.sequence == sequence), call)
        if call is None:
            return None
        if not (self._repeats and len(queue) == 1):
            queue.remove(call)
        self.used[call.number] = call
        return call

    def _taken_request(self, what: list[Any], encoded: Any, carried: Carried) -> Call | None:
        found = None
        for index, call in enumerate(self._requests):
            if self._same.is_same(call, what, encoded, carried):
                del self._requests[index]
                self.used[call.number] = call
                return call
        if self._repeats:
            for call in self.used.values():
                if call.encoded_request is not None and self._same.is_same(call, what, encoded, carried):
                    found = call
        return found

    def unused(self) -> Iterator[Call]:
        """The calls that were not replayed."""
        yield from self._requests
        for queue in self._others.values():
            yield from (call for call in queue if call.number not in self.used)


def _key(what: list[Any], encoded: Any) -> str:
    return json.dumps([what, comparable(encoded)], sort_keys=True)
