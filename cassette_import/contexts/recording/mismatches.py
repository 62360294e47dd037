"""The messages of replay mismatches: where the run is, which call was recorded, and how this call differs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from cassette_import.contexts.recording.calls_to_replay import described_call, is_same_call
from cassette_import.contexts.recording.carried_requests import Carried, decoded_request
from cassette_import.contexts.recording.external_calls import call_site
from cassette_import.contexts.recording.masking import Mask
from cassette_import.contexts.recording.recording_file import Call, CallSequence, Recording

__all__ = ["Mismatches"]

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
