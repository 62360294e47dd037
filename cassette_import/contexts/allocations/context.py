"""`Allocations`: which calls allocate memory, what they leave behind, and which lines keep it.

The hooks read how much memory is allocated, and count what happened since the hook before.
"""

from __future__ import annotations

import functools
import tracemalloc
from _tracemalloc import _get_object_traceback  # the public function makes an object for each frame
from collections.abc import Mapping
from threading import get_ident
from types import CodeType
from typing import Any, ClassVar, Final, TypeVar

from cassette_import.activation.context import Context
from cassette_import.contexts.allocations.exports import ORDERS, AllocatedBytes, table
from cassette_import.contexts.allocations.memory import (
    NO_PLACE,
    KnownFunctions,
    Memory,
    Peak,
    Place,
    Site,
    SiteAllocations,
    below,
    is_own_file,
    measured,
    peak_of,
    sites_of,
    without_lines,
)
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.calls.exports import writers
from cassette_import.kits.events import FollowedBody
from cassette_import.kits.function_names import Label, label_of_code
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import text_writer
from cassette_import.rewriting.events import Events
from cassette_import.specialization.compilation_listeners import LISTENERS

__all__ = ["Allocations"]

# ---- one run of the body of a generator, coroutine or callback, as allocations are measured
#
# From each resumption to the next suspension, the body is a call in the tree of the thread that advances it.


class _MeasuredBody(FollowedBody):
    """One run of a body. It begins when the object is made.

    A body that begins while nothing is measured is where measuring begins and ends.
    """

    __slots__ = ("_first", "_functions", "_is_outermost", "_label", "_memory", "is_running")

    @hidden
    def __init__(self, memory: Memory, functions: KnownFunctions, code: CodeType) -> None:
        self._memory = memory
        self._functions = functions
        self._label: Label = label_of_code(code)
        self.is_running = False
        self._is_outermost = not memory.is_measured
        if self._is_outermost:
            memory.open()

    @hidden
    @without_lines
    def resumed(self, value: Any = None) -> Any:
        """Begin a call of the body."""
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if not memory.is_measured:
            return value
        self.is_running = True
        below(_begin_body, self, now)
        del now
        memory.leave_hook()
        return value

    @hidden
    @without_lines
    def suspended(self, value: Any = None) -> Any:
        """End a call of the body."""
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if not (self.is_running and memory.is_measured):
            return value
        self.is_running = False
        below(_end_body, self, now)
        del now
        memory.leave_hook()
        return value

    @hidden
    def ended(self) -> None:
        """End the run; with the outermost one, measuring ends."""
        FollowedBody.ended(self)
        if self._is_outermost:
            self._is_outermost = False
            self._memory.close()


@without_lines
def _begin_body(body: _MeasuredBody, now: tuple[int, int], _c: None, _d: None) -> None:
    thread = body._memory.enter_hook(now[0], now[1])
    thread.begin(body, body._functions.node_below(thread, body._label, NO_PLACE))


@without_lines
def _end_body(body: _MeasuredBody, now: tuple[int, int], _c: None, _d: None) -> None:
    body._memory.enter_hook(now[0], now[1]).end(body)


# ---- `Allocations`: which calls allocate memory, what they leave behind, and which lines keep it

Self = TypeVar("Self", bound="Allocations")
_OTHERS_USE: Final = ("start", "stop", "clear_traces", "reset_peak")
_REFUSED: Final = {id(getattr(tracemalloc, name)): name for name in _OTHERS_USE}


class Allocations(Context, events=Events.CALLS):
    """Measures memory by call site: bytes that calls allocate and leave behind, their peaks, and who keeps memory.

    Memory is what `tracemalloc` traces: that of all objects, and the data of NumPy's arrays. It is measured while the
    context is active anywhere; what is alive at the end is *kept*. What was alive at the peak is known by line too.

    Parameters
    ----------
    sort:
        What the table is sorted by: ``"bytes"``, ``"cumulative"``, ``"left"``, ``"kept"``, ``"peak"`` or ``"alive"``.
    limit:
        How many call sites the table on the terminal shows. Files have all of them.
    operators:
        Whether operators are measured too, each one by itself. Without this, their memory is that of the call around
        them.
    paths:
        How many different call paths the flame graph keeps apart, to bound memory.

    Raises
    ------
    ValueError
        If an option has no such value. The message is one line.
    RuntimeError
        When the context is entered, if something else uses `tracemalloc`; when the program calls a function that would
        spoil the measurement: `tracemalloc.start`, for example.

    Example
    -------
    >>> from cassette_import import overdub
    >>> def halves(text):
    ...     block = bytes(100_000)
    ...     return bytes(50_000)
    >>> allocations = Allocations()
    >>> _ = overdub(allocations, halves, "")
    >>> sorted(round(found.bytes, -4) for found in allocations.by_site.values() if found.bytes > 10_000)
    [50000, 100000]
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    follows_bodies: ClassVar[bool] = True
    follows_roots: ClassVar[bool] = True
    announced: int = 0
    """What bodies compare before they call `follow_call`: no call is announced, so that all of them do."""
    module_level = False

    def __init__(self, *, sort: str = "bytes", limit: int = 30, operators: bool = False, paths: int = 100_000) -> None:
        super().__init__()
        if sort not in ORDERS:
            raise ValueError(f"sort is one of {', '.join(ORDERS)}, not {sort!r}{suggestion(str(sort), ORDERS)}")
        for name, value in (("limit", limit), ("paths", paths)):
            check_number(name, value)
        switch: object = operators
        if not isinstance(switch, bool):
            raise ValueError(f"operators is True or False, not {operators!r}")
        if operators:
            self.events = Events.CALLS | Events.OPERATORS  # type: ignore[misc]  # the base lets instances differ
        self._sort = sort
        self._limit = limit
        self._functions = KnownFunctions(paths)
        self._memory = Memory()
        LISTENERS.add(self)

    def __enter__(self: Self) -> Self:
        """Enter the context, and begin to measure."""
        entered = super().__enter__()
        try:
            self._memory.open()
        except BaseException as error:
            super().__exit__(type(error), error, error.__traceback__)
            raise
        return entered

    def __exit__(self, *exception: object) -> None:
        """Leave the context; what is alive now is kept."""
        self._end_call(None)  # no call has this key
        self._memory.close()
        super().__exit__(*exception)

    def root_begins(self, function: Any) -> None:
        """Begin to measure, and begin the call of a root function."""
        self._memory.open()
        memory = self._memory
        memory.is_inside = True
        now = measured()
        below(_begin, self, function, now, NO_PLACE)
        del now
        memory.leave_hook()

    def root_ended(self, function: Any) -> None:
        """End the call of a root function; what is alive now is kept, if nothing else is measured."""
        self._end_call(function)
        self._memory.close()

    # The hooks run for every call of the program. What they measure comes first. Their variables are freed before they
    # measure again: what a hook allocates and frees is in no stretch then.

    @without_lines
    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """End the stretch before the call, and begin the call."""
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if not memory.is_measured:
            return
        below(_begin_at, self, f, now, object())  # the object's call site is that of this hook
        del now
        memory.leave_hook()

    @without_lines
    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """End the call, and the stretch in it."""
        self._end_call(f)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """End a call that raised."""
        self._end_call(f)

    @without_lines
    def _end_call(self, function: Any) -> None:
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if memory.is_measured:
            below(_end, memory, function, now)
            del now
            memory.leave_hook()

    @without_lines
    def follow_body(self, code: CodeType) -> FollowedBody:
        """Called when the body of a generator, coroutine or generator expression begins."""
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if memory.is_measured:
            below(_end_stretch, memory, now)
        body = _MeasuredBody(memory, self._functions, code)
        del now
        memory.leave_hook()
        body.resumed()
        return body

    def follow_call(self, code: CodeType) -> FollowedBody | None:
        """Called when a function begins that may have been entered without a call event: as a callback, for example."""
        memory = self._memory
        if memory.is_measured:
            thread = memory.trees.get(get_ident())
            if thread is not None and thread.calls and _is_of(code, thread.node.label):
                return None
        return self.follow_body(code)

    def code_begins(self) -> None:
        """Called when functions are going to be compiled: that is not the program's memory."""
        memory = self._memory
        memory.is_inside = True
        now, peak = measured()
        if memory.is_measured:
            memory.compiling += 1
            if memory.compiling == 1:
                # Between a hook and the function, there was only what leads to the compiler.
                memory.enter_hook(now, 0 if memory.tree_of_this_thread().is_fresh else peak)

    def code_made(self, functions: int, seconds: float) -> None:
        """Called when they are compiled."""
        memory = self._memory
        if memory.compiling:
            memory.compiling -= 1
            if not memory.compiling:
                memory.leave_hook()

    def forked(self) -> None:
        """Begin anew in a forked process."""
        self._memory.forget()

    # ---- results

    @property
    def by_site(self) -> dict[Site, SiteAllocations]:
        """What each call site allocates and leaves behind, and what its line keeps, those with the most bytes first."""
        return sites_of(self._memory)

    @property
    def peak(self) -> Peak:
        """The most memory that the program had at once, and the calls in progress at that moment."""
        return peak_of(self._memory)

    @property
    def kept(self) -> int:
        """The bytes that were allocated while the context was active, and were alive at its end."""
        return sum(size for size, _ in self._memory.kept_now().by_line().values())

    def summary(self) -> str:
        """The table, with at most `limit` call sites."""
        return table(self._memory, self._sort, self._limit)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """A writer for each file suffix.

        `.html` for an interactive flame graph by bytes, `.json` for https://www.speedscope.app, `.collapsed` or
        `.folded` for tools that draw flame graphs, `.txt` for the table.
        """
        text = text_writer(lambda: table(self._memory, self._sort))
        return {**writers(functools.partial(AllocatedBytes, self._memory)), ".txt": text}


# ---- what hooks call by `below`, in frames without lines


@without_lines
def _begin(context: Allocations, function: Any, now: tuple[int, int], place: Place) -> None:
    thread = context._memory.enter_hook(now[0], now[1])
    functions = context._functions
    thread.begin(function, functions.node_below(thread, functions.label_of(function), place))


@without_lines
def _begin_at(context: Allocations, function: Any, now: tuple[int, int], probe: object) -> None:
    place = _place_of(probe)
    if id(function) in _REFUSED:
        _refuse(function, place)
    _begin(context, function, now, place)


@without_lines
def _end(memory: Memory, function: Any, now: tuple[int, int], _d: None) -> None:
    memory.enter_hook(now[0], now[1]).end(function)


@without_lines
def _end_stretch(memory: Memory, now: tuple[int, int], _c: None, _d: None) -> None:
    memory.enter_hook(now[0], now[1])


@without_lines
def _place_of(probe: object) -> Place:
    """The line of the program that made an object. It is asked of `tracemalloc`: a frame object would be new memory."""
    # A generator expression would be freed too late.
    for frame in _get_object_traceback(probe) or ():
        if not is_own_file(frame[0]):
            return frame
    return NO_PLACE


def _is_of(code: CodeType, label: tuple[str, int, str]) -> bool:
    return label == label_of_code(code)


def _refuse(function: Any, place: Place) -> None:
    raise RuntimeError(
        f"{place[0]}:{place[1]} calls tracemalloc.{_REFUSED[id(function)]}, "
        f"which would spoil the measurement of `allocations`; run the program without the context, or without this call"
    )
