"""`Replay`: runs a recorded program again; the results of external calls come from the recording."""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cassette_import.activation.verbs import fallback
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.calls_to_replay import (
    AnyOrder,
    CallsInAnyOrder,
    CallsInRecordedOrder,
    EndOfRecording,
    ReplayOrder,
    SameCalls,
    described_call,
    is_same_call,
)
from cassette_import.contexts.recording.carried_requests import Carried
from cassette_import.contexts.recording.event_loops import Arrival, LoopQueue
from cassette_import.contexts.recording.external_calls import ignored_call, is_external
from cassette_import.contexts.recording.record import Record
from cassette_import.contexts.recording.recording_file import BadRecording, Recording, ReplayMismatch, read
from cassette_import.contexts.recording.replayed_calls import (
    Mismatches,
    NewCall,
    NewCalls,
    ReplayedCalls,
    ReplayedValues,
    make_again,
    use_object,
)
from cassette_import.contexts.recording.replayed_loops import ReplayedLoop
from cassette_import.contexts.recording.request_options import Names, RequestOptions, listed, options_of
from cassette_import.contexts.recording.requests_by_function import DEFAULT_PARTS
from cassette_import.contexts.recording.tracebacks import without_frames_in
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.kits.reporting import Writer as ReportWriter

if TYPE_CHECKING:
    from cassette_import.contexts.recording.requests_of_calls import RequestMatcher

__all__ = ["Replay"]

# ---- the options of a replay: which recording is replayed, whether calls are recorded, and what two requests share

_RECORD_MODES: Final = ("none", "once", "new_episodes", "all")
"""Which calls of a run are recorded: none; all if there is no recording yet; those that the recording lacks; all."""


def _opened(file: str | Recording, record_mode: str) -> tuple[Recording, bool]:
    """The recording to replay, and whether calls are recorded."""
    if isinstance(file, Recording):
        return file, record_mode in ("all", "new_episodes")
    if record_mode == "none":
        return read(file), False
    if record_mode != "all" and os.path.exists(file) and os.path.getsize(file):
        recording = read(file)
        if recording.calls or (recording.finished and recording.environment):
            return recording, record_mode == "new_episodes"
    return Recording.missing(file, {}), True  # so is one of a run that made no call, such as one that failed before


def _parts_to_match(given: Any, order: str | None, recording: Recording, may_record: bool) -> Any:
    """The parts of requests that are compared; None for all arguments."""
    if given is not None:
        return listed(given)
    if recording.is_extended or (may_record and recording.calls):
        return recording.header.get("match_on") or DEFAULT_PARTS
    return None


def _check_choice(option: str, given: Any, choices: Sequence[Any]) -> None:
    """Raise a `ValueError` for a value that an option does not have."""
    if given not in choices:
        raise ValueError(f"{option}={given!r}: there are {', '.join(filter(None, choices))}")


# ---- what a debugger sees of a proxy in a replay: recorded results, without using them up


def _inspected(recording: Recording, what: list[Any], name: str, encoded: Any, decode: Callable[[Any], Any]) -> Any:
    """The result for a debugger that uses a proxy: no recorded call is used up."""
    kind, title, number = what
    for call in recording.calls.values():
        outcome = call.outcome
        if outcome is not None and outcome[0] == "value" and is_same_call(call.what, call.arguments, what, encoded):
            return decode(outcome[1])
    if name in ("__repr__", "__str__", "__format__"):
        return f"<proxy for {title.rpartition('.')[0]}, number {number}>"
    raise (AttributeError if kind == "get" else LookupError)(f"{described_call(what, encoded)} is not in the recording")


# ---- `Replay`: runs a recorded program again; the results of external calls come from the recording


class Replay(ReplayedCalls):
    """Runs a program again as `Record` recorded it, without its external calls.

    A run that differs from its recording gets a `ReplayMismatch`, which is not an `Exception`: its message shows the
    call as it is and as it was recorded.

    Parameters
    ----------
    file:
        The recording, or the path of its file.
    record_mode:
        Which calls are made and recorded: ``none``; ``once``, all of them if the file does not exist; ``new_episodes``,
        those that the recording does not contain; ``all``, all of them, and the file is replaced.
    match_on:
        Which parts of two requests must be equal, in any order of calls: ``method``, ``scheme``, ``host``, ``port``,
        ``path``, ``query``, ``uri``, ``headers``, ``headers.NAME``, ``body``, or a function of two requests. In one
        text, they are separated by ``+``. By default, all arguments of all calls must be equal.
    order:
        ``recorded``: each thread and task makes its calls in the recorded order. ``any``: in any order, and not all of
        them. By default, ``any`` with `match_on` and for a recording with new episodes.
    allow_playback_repeats:
        Whether a call may be replayed several times, in any order.
    filter_headers, filter_query_parameters, filter_post_data_parameters, ignore_hosts, ignore_localhost:
        See `Record`. The recording contains names and hosts, and these hold if no others are given.
    before_record_request, before_record_response:
        See `Record`.
    boundary, mask, without:
        See `Record`, in addition to those of the recording.
    output:
        The file for new calls, if it is not the file of the recording.
    places:
        Folders by the names that replace them in the recording, as given to `Record`.

    Raises
    ------
    BadRecording
        If the file is not a recording that can be replayed.
    ValueError
        If an option is wrong.

    Example
    -------
    ``python -m cassette_import replay shop.cassette``
    """

    def __init__(
        self,
        file: str | Recording,
        *,
        record_mode: str = "none",
        match_on: Iterable[str | RequestMatcher] | str | None = None,
        order: str | None = None,
        allow_playback_repeats: bool = False,
        filter_headers: Names = (),
        filter_query_parameters: Names = (),
        filter_post_data_parameters: Names = (),
        ignore_hosts: Names = (),
        ignore_localhost: bool = False,
        before_record_request: Callable[[Any], Any] | str | None = None,
        before_record_response: Callable[[Any], Any] | str | None = None,
        boundary: Iterable[str] | str = (),
        mask: Iterable[str] | str = (),
        without: Iterable[str] | str = (),
        output: str | None = None,
        places: Mapping[str, str] | None = None,
    ) -> None:
        _check_choice("record_mode", record_mode, _RECORD_MODES)
        _check_choice("order", order, (None, "recorded", "any"))
        self.recording, may_record = _opened(file, record_mode)
        self.mismatch: ReplayMismatch | None = None
        self.make_mismatch: Callable[[str], ReplayMismatch] = ReplayMismatch
        self._read_attributes: dict[tuple[int, str], Any] = {}
        self._assigned: dict[int, dict[str, Any]] = {}
        self._changed_variables: set[str] = set()
        self._last_requests = {}
        self._replayed = self._replayed_requests = 0
        self._is_over = threading.Event()
        self._loops: list[ReplayedLoop] = []
        header = self.recording.header
        given = RequestOptions(
            filter_headers, filter_query_parameters, filter_post_data_parameters, ignore_hosts, ignore_localhost,
            before_record_request, before_record_response,
        )  # fmt: skip
        names = [
            tuple(dict.fromkeys([*header.get(name, ()), *listed(more)]))
            for name, more in (("boundary", boundary), ("mask", mask), ("without", without))
        ]
        more_boundary, all_masked, all_without = names
        options = options_of(header, given)
        try:
            super().__init__(more_boundary, all_masked, all_without, places, options)
        except ValueError as error:
            raise BadRecording(f"{self.recording.path}: cannot be replayed here: {error}") from error
        for call in self.recording.calls.values():
            if call.encoded_request is not None:
                call.encoded_request = self._requests.as_compared(call.encoded_request)
        parts = _parts_to_match(match_on, order, self.recording, may_record)
        try:
            same = SameCalls(parts)
        except ValueError as error:
            if match_on is not None:
                raise
            raise BadRecording(f"{self.recording.path}, line 1: is damaged ({error}); record it again") from error
        self._any_order: CallsInAnyOrder | None = None
        if may_record or (order or ("any" if parts is not None else "recorded")) == "any":
            self._any_order = CallsInAnyOrder(self.recording, same, repeats=allow_playback_repeats)
        self._order = ReplayOrder(self.recording) if self._any_order is None else AnyOrder(self.recording)
        self._in_order = CallsInRecordedOrder(self.recording, same, self._order)
        self._values = ReplayedValues(self.recording, self._mask, self)
        self._mismatches = Mismatches(self.recording, self._mask)
        self._new: NewCalls | None = None
        if may_record:
            shared: dict[str, Any] = {
                "boundary": more_boundary,
                "mask": all_masked,
                "without": all_without,
                "places": places,
            }
            recorder = Record(None, **shared, **options._asdict())
            recorder.inform({"match_on": [part for part in parts or () if isinstance(part, str)], "output": ""})
            self._new = NewCalls(self, recorder, self.recording, output or self.recording.path)

    _given: tuple[tuple[Any, ...], dict[str, Any]]
    """The arguments of the constructor."""

    def __new__(cls, *arguments: Any, **keywords: Any) -> Replay:
        """Keep the arguments: as a decorator, a replay makes a new one for each call."""
        made: Replay = super().__new__(cls)
        made._given = arguments, keywords
        return made

    def _of_one_call(self) -> Replay:
        """A replay of its own for each call of a decorated function, as of VCR.py's `use_cassette`."""
        arguments, keywords = self._given
        return type(self)(*arguments, **keywords)

    def inform(self, run: Mapping[str, Any]) -> None:
        """Note what the command line runs, for the header of a new recording."""
        if self._new is not None:
            self._new.inform(run)

    def __enter__(self) -> Any:
        if self._new is not None:
            self._new.recorder.check_not_ended("Replay")
        self.met_calls = False
        self.block_begins()
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self.block_ends():
            self._call_ended(failed=exception[:1] != (None,))

    def _call_ended(self, *, failed: bool) -> None:
        """Close the recording after a run, which must not be shorter than the recorded one unless it has failed."""
        if not failed:
            self.check_end()
        elif self._new is not None:
            self._new.forget()
        self.close()

    def close(self) -> None:
        """Close the recording, if there are new calls. Event loops go on without it."""
        for loop in self._loops:
            loop.release()
        if self._new is not None:
            self._new.close()

    def check_end(self) -> None:
        """Raise a `ReplayMismatch` if the run ended before its recording.

        A thread that is still running need not have made all its recorded calls. If calls may come in any order, they
        need not all come. A process that the program has forked makes none of them.
        """
        self.is_ending()
        is_whole = self._any_order is None and self.recording.finished and not self.is_in_fork
        if self.mismatch is None and is_whole:
            left = self._in_order.left()
            if left:
                self._set_mismatch(self._mismatches.unused(left))
        if self.mismatch is not None:
            raise self.mismatch

    def is_ending(self) -> None:
        """Note that the main thread has ended. Threads that have made all their recorded calls may end now."""
        self._is_over.set()

    @property
    def has_lost_order(self) -> bool:
        """Whether tasks have gone on in another order than recorded, so that the output may differ."""
        return self._order.has_lost_order and not self.is_in_fork

    @property
    def lost_order(self) -> str:
        """One line on a replay whose tasks have gone on in another order than recorded; otherwise empty."""
        if not self.has_lost_order:
            return ""
        number = self._order.lost_at
        return self._mismatches.lost_order(None if number is None else self.recording.calls[number])

    @property
    def play_count(self) -> int:
        """How many requests were answered from the recording; all calls, if the recording has no requests."""
        has_requests = any(call.encoded_request is not None for call in self.recording.calls.values())
        return self._replayed_requests if has_requests else self._replayed

    @property
    def all_played(self) -> bool:
        """Whether all recorded calls were replayed."""
        return not (self._in_order.left() if self._any_order is None else any(self._any_order.unused()))

    def summary(self) -> str:
        """How many calls were answered, and how many were made and recorded."""
        self.close()
        count, new = self._replayed, 0 if self._new is None else self._new.count
        text = f"replay: {count} call{'' if count == 1 else 's'} answered from {self.recording.path}"
        return f"{text}, {new} recorded" if new else text

    @property
    def formats(self) -> Mapping[str, ReportWriter]:
        """None: a replay writes nothing but its recording."""
        return {}

    # ---- calls

    @hidden
    def external_call(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """The recorded result of this call."""
        carried = self._requests.of_function(what[1], arguments, keywords)
        if carried is not None and carried.is_ignored:
            return self._made(what, functools.partial(fallback, self, function), arguments, keywords, ignored_call)
        try:
            result = self._replay(what, arguments, keywords, carried)
            if carried is not None:
                self._note_maker(result, functools.partial(fallback, self, function), arguments, keywords, carried)
            return result
        except EndOfRecording:
            self._wait_for_the_end()
        except NewCall:
            return self._new_result(what, functools.partial(fallback, self, function), arguments, keywords, carried)
        except BaseException as error:
            error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
            raise
        return fallback(self, function, *arguments, **keywords)

    @hidden
    def use(self, proxy: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """The recorded result of this use of a proxy."""
        title = f"{type(proxy).__qualname__}.{name}"
        number = proxies.number_of(proxy)
        what = [kind, title, number]
        if self.is_in_fork:
            return self._made(what, functools.partial(use_object, proxy, kind, name), arguments, keywords, ignored_call)
        if proxies.is_used_by_debugger():
            known = self._read_attributes if kind == "get" else {}
            if (number, title) in known:
                return known[number, title]
            encoded = self.encoded_arguments(arguments, keywords, what)
            return _inspected(self.recording, what, name, encoded, self._values.decode)
        carried = self._requests.of_method(proxy, name, arguments, keywords) if kind == "call" else None
        call = functools.partial(use_object, proxy, kind, name)
        if self._requests.is_ignored(proxy, carried):
            return self._made(what, call, arguments, keywords, ignored_call)
        made_by = self._requests.of_proxy(proxy)
        if self._new is not None and self._new.is_live(number) and (carried is None or not carried.is_sent):
            return self._new_result(what, call, arguments, keywords, carried, made_by)
        try:
            result = self._replay(what, arguments, keywords, carried, proxy, made_by)
        except EndOfRecording:
            self._wait_for_the_end()
            raise SystemExit from None  # there is no object to use
        except NewCall:
            return self._new_result(what, call, arguments, keywords, carried, made_by, proxy)
        if carried is not None:
            self._note_maker(result, call, arguments, keywords, carried)
        if kind == "get":
            self._read_attributes[number, title] = result
            if isinstance(result, MutableMapping):
                self._assigned.setdefault(number, {})[name] = result
        elif kind == "set":
            self._assigned.setdefault(number, {})[name] = arguments[0]
        return result

    # ---- calls that are not in the recording

    @hidden
    def _new_result(
        self,
        what: list[Any],
        call: Any,
        arguments: Any,
        keywords: Mapping[str, Any],
        carried: Carried | None,
        made_by: Carried | None = None,
        proxy: Any = None,
    ) -> Any:
        """The result of a call that is not in the recording: it is made and recorded."""
        assert self._new is not None
        if proxy is not None:
            self._new.live.add(proxies.number_of(proxy))
        make = functools.partial(self._new.make, what, carried, made_by)
        return self._made(what, call, arguments, keywords, make)

    def _note_maker(
        self, value: Any, call: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any], carried: Carried
    ) -> None:
        """Note how a client or request object from the recording can be made, should a call need it."""
        if not carried.is_sent and proxies.is_proxy(value):
            assigned = self._assigned.setdefault(proxies.number_of(value), {})
            maker = functools.partial(make_again, call, arguments, keywords, assigned)
            proxies.change_proxy(value, maker=maker)

    # ---- threads

    def new_origin(self) -> Sequence[int]:
        """See `RecordingContext.new_origin`."""
        return self._in_order.new_origin() if self._new is None else self._new.recorder.new_origin()

    def origin_of_many(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.origin_of_many`."""
        if self._new is not None:
            self._new.recorder.origin_of_many(origin)

    def job_began(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.job_began`."""
        if self._new is not None:
            self._new.recorder.job_began(origin)

    def job_ended(self, origin: Sequence[int]) -> None:
        """See `RecordingContext.job_ended`."""
        if self._new is None:
            self._in_order.sequence_ended()
        else:
            self._new.recorder.job_ended(origin)

    def watched_loop(self, loop: Any) -> LoopQueue | None:
        """See `RecordingContext.watched_loop`."""
        if self._any_order is not None or not self.recording.loops or self.is_in_fork:
            return None
        known = loop._ready
        if isinstance(known, ReplayedLoop) and known.context is self:
            return known
        with self._lock:
            steps = self.recording.loops.get(tuple(self.new_origin()))
        if steps is None:
            return None
        made = ReplayedLoop(loop, self, steps.number, is_external, steps, self._lose_order)
        self._loops.append(made)
        return made

    def _lose_order(self, arrival: Arrival | None) -> None:
        """Note that an event loop has waited in vain for what arrived in the recorded run."""
        number = arrival[1] if arrival is not None and arrival[0] == "end" else None
        self._order.lose(number)

    # ---- the environment

    def variable(self, name: str, value: str | None) -> str | None:
        """The recorded value, or the actual one if the variable is not in the recording."""
        if self._new is not None and name not in self.recording.environment:
            return self._new.recorder.variable(name, value)
        if name in self._changed_variables:
            return value
        if name not in self.recording.environment:
            self._check_cut(name)
            return value
        recorded: str | None = self.recording.environment[name]
        self._mask.variable(name, recorded)
        return recorded

    def _check_cut(self, name: str) -> None:
        """Raise a mismatch if the recording was cut short before the program read this variable."""
        is_whole = self.recording.finished or self._any_order is not None
        if is_whole or self._in_order.left() or self.is_paused or self.is_in_fork or is_external(None):
            return
        if not proxies.is_used_by_debugger():
            raise self._set_mismatch(self._mismatches.variable_at_end(name))

    def variables(self, names: list[str]) -> list[str]:
        """The recorded names, and those that the program has added."""
        recorded = self.recording.environment.get("")
        if recorded is None:
            self._check_cut("")
            return names if self._new is None else self._new.recorder.variables(names)
        unchanged = [name for name in recorded if name not in self._changed_variables]
        return [*unchanged, *(name for name in names if name in self._changed_variables)]

    def variable_changed(self, name: str) -> None:
        """See `RecordingContext.variable_changed`."""
        self._changed_variables.add(name)
        if self._new is not None:
            self._new.recorder.variable_changed(name)


# `inspect.signature` asks `__new__` first; options are read from the signature.
Replay.__new__.__signature__ = inspect.signature(Replay.__init__)  # type: ignore[attr-defined]
