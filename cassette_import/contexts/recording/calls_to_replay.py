"""The recorded calls that are left to replay, in the order of each thread, job and task."""

from __future__ import annotations

import json
import sys
import threading
import time
import types
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from cassette_import.contexts.recording.call_sequences import CallSequences, current_task, running_loop
from cassette_import.contexts.recording.carried_requests import Carried, decoded_request
from cassette_import.contexts.recording.event_loops import origin_of_task
from cassette_import.contexts.recording.recording_file import Call, CallSequence, Recording
from cassette_import.contexts.recording.requests_by_function import FUNCTIONS, family_of_title

if TYPE_CHECKING:
    from cassette_import.contexts.recording.requests_of_calls import Matcher, RequestMatcher

__all__ = [
    "AnyOrder",
    "CallsInAnyOrder",
    "CallsInRecordedOrder",
    "EndOfRecording",
    "NotRecorded",
    "Patience",
    "ReplayOrder",
    "SameCalls",
    "described_call",
    "is_same_call",
    "object_numbers",
    "pause",
    "until_cancelled",
]


# ---- `Patience`: how long a replay waits for what may never come, such as the call of a thread that needs a lock
# first

_LONGEST: Final = 20.0
_BUSY: Final = 0.1
_monotonic: Final = time.monotonic
_process_time: Final = time.process_time


class Patience:
    """Ends after some seconds in which nothing happened.

    While the process is busy, something may still come: a thread may be compiling functions, for example.

    Parameters
    ----------
    seconds:
        How long to wait.

    >>> Patience(60).is_over()
    False
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begin = self._since = _monotonic()
        self._processed = _process_time()

    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        now = _monotonic()
        elapsed = now - self._since
        if elapsed <= self._seconds:
            return False
        processed = _process_time()
        if processed - self._processed < _BUSY * elapsed or now - self._begin > _LONGEST:
            return True
        self._since, self._processed = now, processed
        return False


# ---- the order of a replay: calls of different threads and tasks end in the order in which they ended when recorded
#
# The order is a goal and not a guarantee: a thread may hold a lock that another one needs first. A thread that waits
# for its turn for a quarter of a second, while no call ends, goes on.
#
# Between two external calls a thread may print, or put something into a queue, and the next thread must not overtake
# it. So the next thread waits up to a fiftieth of a second until the previous one comes to its next call.

_PATIENCE: Final = 0.25
_SETTLING_TIME: Final = 0.02
_SETTLING_TIME_AFTER_END: Final = 0.005


class ReplayOrder:
    """The recorded order in which calls ended, and the position of this run in it.

    Parameters
    ----------
    recording:
        The recording. `CallSequence.thread` is the thread that replays a sequence, if one does.
    """

    def __init__(self, recording: Recording) -> None:
        self._order = recording.order
        self._calls = recording.calls
        self._sequences = recording.sequences
        self._ended_calls: set[int] = set()
        self._skipped: set[int] = set()
        self._next = 0
        self._waiting_sequences: set[int] = set()
        self._ended_sequences: set[int] = set()
        self._last_change = _monotonic()
        self._changed = threading.Condition()
        self.has_lost_order = False
        """Whether a task has waited in vain for its turn, so that tasks have gone on in another order than recorded."""
        self.lost_at: int | None = None
        """The number of the call whose end it waited for, if it is known."""

    def call_ended(self, number: int) -> None:
        """Note that the call of this number has ended."""
        with self._changed:
            self._ended_calls.add(number)
            self._waiting_sequences.discard(self._calls[number].sequence)
            self._last_change = _monotonic()
            self._advance()
            self._changed.notify_all()

    def lose(self, number: int | None) -> None:
        """Note that tasks go on in another order than recorded, from the end of this call on, if it is known."""
        with self._changed:
            self.has_lost_order = True
            if self.lost_at is None:
                self.lost_at = number

    def sequence_ended(self, sequence: int) -> None:
        """Note that the thread or job of this sequence has ended: another one may go on because of that."""
        with self._changed:
            self._ended_sequences.add(sequence)
            self._last_change = _monotonic()
            self._changed.notify_all()

    def is_running_elsewhere(self, sequence: CallSequence) -> bool:
        """Whether another thread replays this sequence, and has not ended."""
        if (
            sequence.thread is None
            or sequence.thread == threading.get_ident()
            or sequence.number in self._ended_sequences
        ):
            return False
        return any(thread.ident == sequence.thread for thread in threading.enumerate())

    def wait_for_turn(self, number: int) -> None:
        """Wait in a thread until the calls that ended before this one have ended."""
        with self._changed:
            self._waiting_sequences.add(self._calls[number].sequence)
            self._changed.notify_all()
            while not self._may_go(number, threading.get_ident()):
                if self._waits_in_vain():
                    if current_task() is not None and self._next < len(self._order):
                        self.lose(self._order[self._next])
                    self._skip_to(number)
            while (left := self._time_to_settle(number)) > 0:
                self._changed.wait(left)

    def wait_for_all(self) -> None:
        """Wait until the other threads have made all their recorded calls, as long as calls end."""
        with self._changed:
            while self._next < len(self._order):
                if self._waits_in_vain():
                    return

    async def wait_for_turn_in_task(self, number: int) -> None:
        """Wait in a task until the calls that ended before this one have ended."""
        since, seen = _monotonic(), len(self._ended_calls)
        while not self._may_go(number, None):
            await _yield()
            if len(self._ended_calls) != seen:
                since, seen = _monotonic(), len(self._ended_calls)
            elif _monotonic() - since > _PATIENCE:
                self.lose(self._order[self._next] if self._next < len(self._order) else None)
                self._skip_to(number)

    def _waits_in_vain(self) -> bool:
        """Wait until a call ends; return whether none does."""
        before, patience = len(self._ended_calls), Patience(_PATIENCE)
        while not self._changed.wait(_PATIENCE):
            if len(self._ended_calls) != before:
                return False
            if patience.is_over():
                return True
        return False

    def _advance(self) -> None:
        order, ended, skipped = self._order, self._ended_calls, self._skipped
        while self._next < len(order) and (order[self._next] in ended or order[self._next] in skipped):
            self._next += 1

    def _may_go(self, number: int, thread: int | None) -> bool:
        if self._next >= len(self._order):
            return True
        first = self._order[self._next]
        # A thread cannot wait for a call that it has to make itself; a task can, since another task makes it.
        return first == number or number in self._skipped or (thread is not None and self._thread_of(first) == thread)

    def _time_to_settle(self, number: int) -> float:
        """How many seconds to wait for the thread of the previous call, which may still print, for example.

        There is no need to wait if that thread is at its next call already. The wait has an upper limit.
        """
        if self._next == 0 or self._next >= len(self._order) or self._order[self._next] != number:
            return 0
        before = self._calls[self._order[self._next - 1]]
        if before.sequence in self._waiting_sequences or self._thread_of(before.number) == threading.get_ident():
            return 0
        patience = _SETTLING_TIME_AFTER_END if before.sequence in self._ended_sequences else _SETTLING_TIME
        return patience - (_monotonic() - self._last_change)

    def _thread_of(self, number: int) -> int | None:
        return self._sequences[self._calls[number].sequence].thread

    def _skip_to(self, number: int) -> None:
        """Do not wait any longer for the calls before this one."""
        with self._changed:
            for earlier in self._order[self._next :]:
                if earlier == number:
                    break
                self._skipped.add(earlier)
            self._advance()


class AnyOrder(ReplayOrder):
    """No order: no call waits for another one."""

    def call_ended(self, number: int) -> None:
        """See `ReplayOrder`."""

    def wait_for_turn(self, number: int) -> None:
        """See `ReplayOrder`."""

    def wait_for_all(self) -> None:
        """See `ReplayOrder`."""

    async def wait_for_turn_in_task(self, number: int) -> None:
        """See `ReplayOrder`."""


@types.coroutine
def _yield() -> Any:
    yield


async def pause() -> None:
    """Let other tasks run, once."""
    if running_loop() is not None:
        await _yield()


async def until_cancelled() -> None:
    """Wait until the task is cancelled."""
    if running_loop() is not None:
        await sys.modules["asyncio"].get_running_loop().create_future()


# ---- encoded calls: comparing them, and their text in messages

_LONGEST_SHOWN: Final = 200


def is_same_call(what: list[Any], arguments: Any, other_what: list[Any], other_arguments: Any) -> bool:
    """Whether two encoded calls are the same: the same function, and equal arguments."""
    return what == other_what and (
        arguments == other_arguments or _comparable(arguments) == _comparable(other_arguments)
    )


def _comparable(encoded: Any) -> Any:
    """Encoded arguments without the numbers of the program's own objects, which may differ from run to run."""
    if isinstance(encoded, list):
        return [_comparable(item) for item in encoded]
    if isinstance(encoded, dict):
        own = encoded.get("own")
        if isinstance(own, list) and len(own) == 2:
            return {"own": own[1]}
        return {key: _comparable(item) for key, item in encoded.items()}
    return encoded


def object_numbers(encoded: Any) -> list[int]:
    """The numbers of the program's own objects in encoded arguments, in their order."""
    if isinstance(encoded, list):
        return [number for item in encoded for number in object_numbers(item)]
    if isinstance(encoded, dict):
        own = encoded.get("own")
        if own is not None:
            return [own[0]]
        return [number for item in encoded.values() for number in object_numbers(item)]
    return []


def described_call(what: list[Any], arguments: Any) -> str:
    """A call as the message of a replay mismatch shows it, with the number of the proxy that it uses."""
    proxy = f" of object {what[2]}" if len(what) > 2 else ""
    return _shown_call(what, arguments) + proxy


def _shown_call(what: list[Any], arguments: list[Any]) -> str:
    """A call as people read it.

    >>> _shown_call(["call", "time.sleep"], [[2], [["unit", "s"]]])
    "time.sleep(2, unit='s')"
    """
    positional, keywords = arguments
    words = [_shown(item) for item in positional]
    kind, name = map(str, what[:2])
    if kind == "get":
        return name
    if kind == "set":
        return f"{name} = {words[0]}"
    if kind == "delete":
        return f"del {name}"
    return f"{name}({', '.join([*words, *(f'{key}={_shown(value)}' for key, value in keywords)])})"


def _shown(encoded: Any) -> str:
    if isinstance(encoded, list):
        return f"[{', '.join(map(_shown, encoded))}]"
    if not isinstance(encoded, dict):
        text = repr(encoded)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:180]}… ({len(encoded)} characters)"
    try:
        [(tag, content)] = encoded.items()
        show = _SHOWN_BY_TAG.get(tag)
        return f"{tag} {json.dumps(content)[:100]}" if show is None else show(content)
    except (TypeError, ValueError, LookupError, AttributeError):  # an edited recording can contain anything
        return json.dumps(encoded)[:100]


def _shown_tuple(content: Any) -> str:
    return f"({', '.join(map(_shown, content))}{',' * (len(content) == 1)})"


def _shown_dict(content: Any) -> str:
    return f"{{{', '.join(f'{_shown(key)}: {_shown(value)}' for key, value in content)}}}"


def _shown_reference(content: Any) -> str:
    return f"<{str(content[-1] if isinstance(content, list) else content).replace(':', '.')}>"


_SHOWN_BY_TAG: Final[dict[str, Callable[[Any], str]]] = {
    "bytes": lambda content: "b" + repr(content),
    "tuple": _shown_tuple,
    "dict": _shown_dict,
    "own": _shown_reference,
    "handle": _shown_reference,
    "type": _shown_reference,
    "function": _shown_reference,
    "buffer": lambda content: f"<buffer of {content} bytes>",
    "long": lambda content: f"{content[1]!r}… ({content[0]} characters)",
    "made": lambda content: f"{content[0].partition(':')[2]}({', '.join(map(_shown, content[2]))})",
}


# ---- when a recorded call is the same as a call of this run: its function, its arguments, and the request it carries


class SameCalls:
    """Compares the calls of this run with recorded ones.

    Parameters
    ----------
    match_on:
        Which parts of requests are compared, see `Matcher`. None compares all arguments.

    Raises
    ------
    ValueError
        If there is no such part.
    """

    def __init__(self, match_on: Iterable[str | RequestMatcher] | None) -> None:
        self._matcher: Matcher | None = None
        if match_on is not None:
            # Imported here, because most replays compare all arguments.
            from cassette_import.contexts.recording.requests_of_calls import Matcher

            self._matcher = Matcher(match_on)

    def is_same(self, call: Call, what: list[Any], encoded: Any, carried: Carried | None) -> bool:
        """Whether a recorded call is this one."""
        if carried is None and not call.is_filtered:
            return is_same_call(call.what, call.arguments, what, encoded)
        if self._matcher is not None and carried is not None and carried.is_sent and call.encoded_request is not None:
            return _is_same_function(call.what, what) and self._matcher.is_match(
                carried.request, decoded_request(call.encoded_request)
            )
        if call.is_filtered:
            return (
                call.what == what
                and carried is not None
                and call.encoded_request is not None
                and decoded_request(call.encoded_request) == carried.request
            )
        if not is_same_call(call.what, call.arguments, what, encoded):
            return False
        # The arguments do not show what a request object contains.
        return (
            carried is None or call.encoded_request is None or decoded_request(call.encoded_request) == carried.request
        )


def _is_same_function(what: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two calls have the same kind of result. The numbers of clients do not matter."""
    if what[:2] == other[:2]:
        return True
    family = _family(what)
    return family != "" and family == _family(other)


def _family(what: Sequence[Any]) -> str:
    parameters = FUNCTIONS.get(what[1])
    return family_of_title(what[1]) if parameters is None else parameters.family


# ---- the recorded calls that are left to replay, for runs that may make them in any order


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
        latest = None
        for index, call in enumerate(self._requests):
            if self._same.is_same(call, what, encoded, carried):
                del self._requests[index]
                self.used[call.number] = call
                return call
        if self._repeats:
            for call in self.used.values():
                if call.encoded_request is not None and self._same.is_same(call, what, encoded, carried):
                    latest = call
        return latest

    def unused(self) -> Iterator[Call]:
        """The calls that were not replayed."""
        yield from self._requests
        for queue in self._others.values():
            yield from (call for call in queue if call.number not in self.used)


def _key(what: list[Any], encoded: Any) -> str:
    return json.dumps([what, _comparable(encoded)], sort_keys=True)


# ---- the recorded calls that are left to replay, in the order of each thread, job and task


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
