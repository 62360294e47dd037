"""`Replay`: runs a program again with nothing outside there; what calls give comes from a recording."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cassette_import import fallback
from cassette_import.contexts.common.reporting import Writer as ReportWriter
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.debugged import is_looked_at
from cassette_import.contexts.recording.encoding import BadValue, Decoder
from cassette_import.contexts.recording.exceptions import decoded_error, without_ours
from cassette_import.contexts.recording.matching import own_numbers, same, told
from cassette_import.contexts.recording.ordering import Turns, pause, until_cancelled
from cassette_import.contexts.recording.recording_context import Taped, call_site
from cassette_import.contexts.recording.recording_file import BadRecording, Call, Departure, Lane, Recording, read
from cassette_import.contexts.recording.thread_sequences import Lanes
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["Replay"]


class _Place:
    """A thread, job or task of this run; it takes a lane with its first call."""

    __slots__ = ("kind", "lane", "origin", "starts")

    def __init__(self, kind: str, origin: Sequence[int]) -> None:
        self.kind = kind
        self.origin = tuple(origin)
        self.starts = 0
        self.lane: Lane | None = None


class _EndOfLane(Exception):
    """There is nothing recorded for this call, since the recorded run was over by then."""


class Replay(Taped):
    """Runs a program again as it was recorded by `Record`, with nothing of what was outside.

    A run that departs from its recording gets a `Departure`, which is no `Exception`: it shows the call as it is
    and as it was recorded.

    Parameters
    ----------
    file:
        The recording, or the path of its file.
    places:
        Folders by the names that stand for them in the recording, as `Record` was given them.

    Raises
    ------
    BadRecording
        If the file is none.

    Example
    -------
    ``python -m cassette_import replay shop.cassette``
    """

    def __init__(self, file: str | Recording, *, places: Mapping[str, str] | None = None) -> None:
        self.recording: Recording = file if isinstance(file, Recording) else read(file)
        self.departure: Departure | None = None
        self.departs_with: Callable[[str], Departure] = Departure
        self._places: Lanes[_Place] = Lanes(_Place)
        self._turns = Turns(self.recording)
        self._made: dict[int, tuple[type, type[proxies.StandIn]]] = {}
        self._objects: dict[int, Any] = {}
        self._seen: dict[tuple[int, str], Any] = {}
        self._changed: set[str] = set()
        self._replayed = 0
        self._is_over = threading.Event()
        self._decode = Decoder(self._outside)
        header = self.recording.header
        try:
            super().__init__(header.get("boundary", ()), header.get("mask", ()), header.get("without", ()), places)
        except ValueError as error:
            raise BadRecording(f"{self.recording.path}: cannot be replayed here: {error}") from error

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if exception[:1] == (None,):
            self.check_end()

    def check_end(self) -> None:
        """Raise a `Departure` if the run ended although its recording goes on.

        A thread that nobody has waited for may have come further before.
        """
        self.is_ending()
        lanes = [lane for lane in self.recording.lanes.values() if lane.calls and not self._turns.is_under_way(lane)]
        if self.departure is None and lanes and self.recording.finished:
            first = min((lane.calls[0] for lane in lanes), key=lambda call: call.number)
            count = sum(len(lane.calls) for lane in lanes)
            self._departure(
                f"the run ended, but its recording {self.recording.path} goes on, with {count} more "
                f"call{'' if count == 1 else 's'}\n  recorded: {self._recorded(first)}"
            )
        if self.departure is not None:
            raise self.departure

    def is_ending(self) -> None:
        """The run is over, but for the threads that it waits for: those that have come as far as in the recording may
        end, too."""
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
    def answer(self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        """Give what the recording has for this call."""
        try:
            return self._replay(what, arguments, keywords)
        except _EndOfLane:
            self._wait_for_the_end()
        except BaseException as error:
            error.__traceback__ = None
            raise
        return fallback(self, function, *arguments, **keywords)

    def use(self, stand_in: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Give what the recording has for this use of a stand-in."""
        title = f"{type(stand_in).__qualname__}.{name}"
        number = proxies.number_of(stand_in)
        if is_looked_at():
            return self._glimpse([kind, title, number], name, arguments, keywords)
        try:
            result = self._replay([kind, title, number], arguments, keywords)
        except _EndOfLane:
            self._wait_for_the_end()
            raise SystemExit from None  # there is nothing that could be used
        if kind == "get":
            self._seen[number, title] = result
        return result

    def _replay(self, what: list[Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        if not self.recording.finished:
            self._let_others_come_as_far()
        call = self._taken(what, arguments, keywords)
        if call.pending:
            awaiting: Any = self._waiting(call)
            awaiting.__name__ = awaiting.__qualname__ = what[1].rpartition(".")[2]
            return awaiting
        self._turns.wait(call.number)
        for index, after in call.changed:
            _change(arguments[index], self._value(after))
        self._turns.done(call.number)
        assert call.outcome is not None
        kind, content = call.outcome
        if kind == "error":
            raise self._error(content)
        return self._value(content)

    def _let_others_come_as_far(self) -> None:
        """In a recording that was cut short, the first thread that is at its end must not end the run for all."""
        place = self._places.here()
        if place.kind != "task" and place.lane is not None and not place.lane.calls:
            self._turns.wait_for_the_rest()

    def _wait_for_the_end(self) -> None:
        """This thread was under way here, or not that far, when the recorded run ended: so it gets no further.

        A daemon ends with the process; another thread ends when all that is left is to wait for it. If the run was but
        a part of what the process does, the thread goes on with that.
        """
        self._is_over.wait()
        if self.is_paused:
            return
        if threading.current_thread().daemon:
            threading.Event().wait()
        raise SystemExit from None  # which ends a thread, and says nothing

    async def _waiting(self, call: Call) -> Any:
        """What the program awaits."""
        outcome = call.outcome
        if outcome is None:
            raise self._departure(
                f"{self.recording.path} was cut short while this was awaited\n  recorded: {self._recorded(call)}"
            )
        if call.waited:
            await pause()
        if outcome[0] == "error" and outcome[1]["class"].endswith(":CancelledError"):
            try:
                await until_cancelled()
            finally:
                self._turns.done(call.number)
        await self._turns.wait_here(call.number)
        self._turns.done(call.number)
        if outcome[0] == "value":
            return self._value(outcome[1])
        try:
            raise self._error(outcome[1])
        except BaseException as error:
            error.__traceback__ = without_ours(error.__traceback__, PACKAGE_FOLDER)
            raise

    def _taken(self, what: list[Any], arguments: Any, keywords: Mapping[str, Any]) -> Call:
        """The recorded call that this one is."""
        with self._lock:
            if self.departure is not None:
                raise self.departure
            encoded = self.encoded_arguments(arguments, keywords, what)
            place = self._places.here()
            if place.lane is None:
                place.lane = self._lane_for(place, what, encoded)
            lane = place.lane
            if (lane is None or not lane.calls) and place.origin in self.recording.running:
                raise _EndOfLane
            if lane is None or not lane.calls:
                raise self._departure_at_end(what, encoded)
            lane.thread = threading.get_ident()
            call = lane.calls[0]
            if not same(call, what, encoded):
                raise self._departure_at(call, what, encoded)
            lane.calls.popleft()
            self._replayed += 1
            self._learn_objects(call.arguments, encoded)
            return call

    def _lane_for(self, place: _Place, what: list[Any], encoded: Any) -> Lane | None:
        """The lane of the same origin; of several, the one that begins with this call; else the first that is left,
        so that the departure can show it."""
        left = [lane for lane in self.recording.lanes.values() if lane.kind == place.kind and not lane.taken]
        own = [lane for lane in left if lane.origin == place.origin]
        if not own and place.origin in self.recording.running:
            return None
        left = own or [lane for lane in left if not (place.origin and lane.origin)]
        found = next((lane for lane in left if lane.calls and same(lane.calls[0], what, encoded)), None)
        if found is None and left:
            found = left[0]
        if found is not None:
            found.taken = True
        return found

    def origin(self) -> Sequence[int]:
        """See `Taped.origin`."""
        place = self._places.here()
        if place.lane is None and (place.kind == "main" or place.origin):
            place.lane = self._lane_for(place, [], [])
        place.starts += 1
        return () if place.lane is None else (place.lane.number, place.starts)

    def ends(self, origin: Sequence[int]) -> None:
        """See `Taped.ends`."""
        lane = self._places.here().lane
        if lane is not None:
            self._turns.ended(lane.number)

    # ---- departures

    def _departure(self, message: str) -> Departure:
        self.departure = self.departs_with(message)
        return self.departure

    def _departure_at(self, call: Call, what: list[Any], encoded: Any) -> Departure:
        return self._departure(
            f"{_site(call_site())}: the run departs from its recording {self.recording.path} at call {call.number}\n"
            f"  recorded: {self._recorded(call)}\n"
            f"  now:      {told(what, encoded)}"
        )

    def _departure_at_end(self, what: list[Any], encoded: Any) -> Departure:
        if self.recording.is_missing:
            why = "is not there"
        else:
            why = "has no more calls here" if self.recording.finished else "was cut short before this call"
        return self._departure(
            f"{_site(call_site())}: the recording {self.recording.path} {why}\n  now:      {told(what, encoded)}"
        )

    def _recorded(self, call: Call) -> str:
        return f"{told(call.what, call.arguments)}    ({_site(self._mask.restored(call.site))})"

    def _damaged(self, error: BadValue) -> Departure:
        return self._departure(f"{self.recording.path} is damaged, or of another environment: {error}")

    # ---- values

    def _value(self, encoded: Any) -> Any:
        try:
            return self._decode(self._mask.restored(encoded))
        except BadValue as error:
            raise self._damaged(error) from None

    def _error(self, encoded: Any) -> BaseException:
        try:
            return decoded_error(self._mask.restored(encoded), self._decode)
        except BadValue as error:
            raise self._damaged(error) from None

    def _outside(self, tag: str, content: Any) -> Any:
        if tag == "handle" and isinstance(content, list) and list(map(type, content)) == [int, int]:
            return self._stand_in(*content)
        if tag == "own" and isinstance(content, int):
            known = self._objects.get(content)
            return None if known is None else known()
        if tag == "error":
            return decoded_error(content, self._decode)
        raise BadValue(f"no value is written as {tag!r}")

    def _stand_in(self, number: int, kind: int) -> Any:
        found = self._stand_ins.get(number)
        if found is None:
            made = self._made.get(kind)
            if made is None:
                description = self.recording.classes.get(kind)
                if description is None:
                    raise BadValue(f"class {kind} is not described")
                made = self._made[kind] = (
                    proxies.class_of(description),
                    proxies.stand_in_type(description, hide=False),
                )
            found = self._stand_ins[number] = proxies.stand_in(made[1], made[0], number, self)
        return found

    def _learn_objects(self, recorded: Any, encoded: Any) -> None:
        """Which of the program's objects is which: they can come back as results."""
        if not self._own_by_number:
            return
        for before, now in zip(own_numbers(recorded), own_numbers(encoded), strict=False):
            if before >= 0 and now >= 0:
                self._objects[before] = self._own_by_number[now]

    # ---- for debuggers

    def _glimpse(self, what: list[Any], name: str, arguments: Any, keywords: Mapping[str, Any]) -> Any:
        """What somebody who looks at a stand-in from a debugger sees: nothing of the recording is used up."""
        kind, title, number = what
        if kind == "get" and (number, title) in self._seen:
            return self._seen[number, title]
        encoded = self.encoded_arguments(arguments, keywords, what)
        for call in self.recording.calls.values():
            if same(call, what, encoded) and call.outcome is not None and call.outcome[0] == "value":
                return self._decode(call.outcome[1])
        if name in ("__repr__", "__str__", "__format__"):
            return f"<stand-in for {title.rpartition('.')[0]}, number {number}>"
        raise (AttributeError if kind == "get" else LookupError)(f"{told(what, encoded)} is not in the recording")

    # ---- the environment

    def variable(self, name: str, value: str | None) -> str | None:
        """What the recording knows of a variable; what it does not know is as it is."""
        if name in self._changed or name not in self.recording.environment:
            return value
        recorded: str | None = self.recording.environment[name]
        self._mask.variable(name, recorded)
        return recorded

    def variables(self, names: list[str]) -> list[str]:
        """The recorded names, and what the program has added."""
        recorded = self.recording.environment.get("")
        if recorded is None:
            return names
        kept = [name for name in recorded if name not in self._changed]
        return [*kept, *(name for name in names if name in self._changed)]

    def changes(self, name: str) -> None:
        """See `Taped.changes`."""
        self._changed.add(name)


def _site(site: list[Any]) -> str:
    return f"{site[0]}:{site[1]} in {site[2]}"


def _change(target: Any, after: Any) -> None:
    """Give what was changed by a call its new contents."""
    if isinstance(target, dict | set):
        target.clear()
        target.update(after)
    else:
        target[:] = after
