"""`Profile`: calls, self time and cumulative time of each function; the time of compiling is left out.

The hooks build one call tree for each thread. They take no lock, and usually find the next node at once, because
programs repeat themselves (`Node.successor`). They measure their own time, and the thread's clock omits it: two of the
four readings of the clock for an event are for that. Everything else is computed from the trees afterwards:
`statistics`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from threading import get_ident
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import Any, ClassVar, Final, TypeVar
from weakref import WeakKeyDictionary

from cassette_import.activation import greenlets
from cassette_import.activation.context import Context
from cassette_import.contexts.profile.call_paths import CallPaths, ProfiledBody, new_body
from cassette_import.contexts.profile.call_tree import (
    CALLBACK,
    NO_KEY,
    Node,
    ThreadTree,
    count_call,
    leave_bodies,
    site_totals,
)
from cassette_import.contexts.profile.compiling_time import CompilingTime
from cassette_import.contexts.profile.statistics import ORDERS, Costs, Statistics, SummedStatistics, costs_of, table
from cassette_import.interpreter.callables import METHODS_OF_TYPES, split
from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.calls.exports import writers
from cassette_import.kits.events import NOT_FOLLOWED, AcceleratedHooks, FollowedBody, importer
from cassette_import.kits.function_names import thread_name
from cassette_import.kits.options import check_number, options_of
from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import text_writer
from cassette_import.rewriting.events import Events
from cassette_import.specialization.compilation_listeners import LISTENERS

__all__ = ["Profile"]

# ---- `Profile`: how often each function is called, and its self time and cumulative time

Self = TypeVar("Self", bound="Profile")
_USUAL_CLOCK: Final = perf_counter
_frame: Final = sys._getframe


class Profile(Context, events=Events.CALLS):
    """Counts calls and measures time for each function, each caller and, if wanted, each call site.

    Parameters
    ----------
    sort:
        What the table is sorted by: ``"own"`` for self time, ``"cumulative"`` for cumulative time, or ``"calls"``.
    limit:
        How many functions the table on the terminal shows. Files hold all of them.
    paths:
        How many different call paths are kept apart, to bound memory. Later paths are still counted for their
        function and caller, but are not in the tree that the flame graph and speedscope show.
    sites:
        Whether calls are also counted for each call site: the line and column of the call. An event then costs two
        to five times as much.
    overhead:
        Whether overhead, the time that profiling itself takes, is subtracted, as far as it is measured or can be
        estimated. No function loses all of its time.
    imports:
        Whether the module level of imported modules is measured, too, call by call. If not, an import is one call,
        ``import NAME``, with its time.

    Raises
    ------
    ValueError
        If an option has no such value. The message is one line.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> profile = Profile(sort="cumulative")
    >>> _ = overdub(profile, colorsys.hls_to_rgb, 0.1, 0.2, 0.3)
    >>> print(profile.summary().partition(" in ")[0])
    profile: 3 calls (3 primitive) of 1 function
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True
    follows_bodies: ClassVar[bool] = True
    announced: int = 0
    """The thread in which the latest event is the call of a function whose body asks for that (`follow_call`)."""
    module_level = False

    def __init__(
        self,
        *,
        sort: str = "own",
        limit: int = 30,
        paths: int = 500_000,
        sites: bool = False,
        overhead: bool = True,
        imports: bool = False,
    ) -> None:
        super().__init__()
        self.module_level = imports
        if sort not in ORDERS:
            raise ValueError(f"sort is one of {', '.join(ORDERS)}, not {sort!r}{suggestion(str(sort), ORDERS)}")
        for name, value in (("limit", limit), ("paths", paths)):
            check_number(name, value)
        self._sort = sort
        self._limit = limit
        self.paths = CallPaths(paths)
        self.subtracts_overhead = overhead
        self._threads: dict[int, ThreadTree] = {}
        self._elsewhere: SummedStatistics | None = None
        self._suspended: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """The calls in which greenlets are suspended."""
        self._compiling_time = CompilingTime(self._threads)
        LISTENERS.add(self)
        greenlets.LISTENERS.add(self)

    @options_of(__init__)
    def __new__(cls, *, sites: bool = False, **options: Any) -> Profile:
        """Make an instance of the type that records call sites, or of the one that does not."""
        if cls is not Profile:
            return super().__new__(cls)
        quickest = QUICKEST[0] if ACCELERATOR.is_used else Profile
        return super().__new__(_SiteProfile if sites else quickest)

    def __enter__(self: Self) -> Self:
        """Enter the context, and start the clock of the block's own code."""
        entered = super().__enter__()
        thread = self.tree_of_this_thread()
        thread.entered += 1
        if thread.entered == 1:
            self.event_costs()  # measured before and after the block
            thread.root.start = perf_counter() - thread.measured_overhead
        return entered

    def __exit__(self, *exception: object) -> None:
        """Stop the clock and leave the context."""
        thread = self.tree_of_this_thread()
        if thread.entered:
            thread.entered -= 1
            if not thread.entered:
                end = perf_counter() - thread.measured_overhead
                leave_bodies(thread, thread.root, end)
                thread.node = thread.root
                thread.root.total += end - thread.root.start
                self.event_costs()
        super().__exit__(*exception)

    @classmethod
    def _accelerated_hooks(cls) -> AcceleratedHooks:
        """What call sites call."""
        return AcceleratedHooks(Recorder.enter, Recorder.leave, Recorder.fail)

    @property
    @hidden
    def recorder(self) -> Any:
        """What the call sites of a function call, as long as it runs in this thread: the hooks of its call tree."""
        try:
            return self._threads[get_ident()]
        except KeyError:
            return self.tree_of_this_thread()

    # The same as hooks, for profiles that record more, and for subclasses.

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Descend to the function's node and start its clock."""
        self.recorder.enter(f)

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Stop the clock and return to the parent node."""
        self.recorder.leave(result, f)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Stop the clock of a call that raised."""
        self.recorder.fail(f)

    def direct_hooks(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """What call sites call before and after a call, for measuring it."""
        return self.recorder.enter, self.recorder.leave

    def event_costs(self) -> Costs:
        """What events add to the measured times."""
        return costs_of(_SiteProfile, is_in_c=False)

    def follow_body(self, code: CodeType) -> FollowedBody:
        """Called when the body of a generator, coroutine or generator expression begins."""
        return new_body(ProfiledBody).begin(self, self._threads, code)

    def follow_call(self, code: CodeType) -> FollowedBody | None:
        """Called when a function begins that may have been entered without a call event: as a callback, for example."""
        began = perf_counter()
        thread = self._threads.get(get_ident())
        self.announced = 0  # a lambda has not asked
        if thread is not None:
            node = thread.node
            if node.label is self.paths.body(code).label and node.kind != CALLBACK:
                node.announces = code
                thread.measured_overhead += perf_counter() - began
                return None
        return self.follow_body(code)

    def tree_of_this_thread(self) -> ThreadTree:
        """The call tree of the running thread; a new one at its first event."""
        ident = get_ident()
        thread = self._threads.get(ident)
        if thread is None:
            thread = self._threads[ident] = self._new_tree(thread_name(ident))
        return thread

    def _new_tree(self, name: str) -> ThreadTree:
        """The tree of a thread with this name."""
        made = (Recorder if self.subtracts_overhead else _UncorrectedRecorder)(name)
        made.profile = self
        return made

    def leave_body(self, thread: ThreadTree, node: Node, end: float) -> None:
        """End the run of a body, and the calls in it that an interrupt has cut off."""
        above = thread.node
        while above is not thread.root and above is not node:
            above = above.parent
        if above is node:
            leave_bodies(thread, node, end)
            thread.node = node.parent
            count_call(node, end)

    def _leave_node(self, thread: ThreadTree, node: Node, end: float) -> None:
        """End a call in progress, and the bodies in it that ended unnoticed."""
        leave_bodies(thread, node, end)
        thread.node = node.parent
        count_call(node, end)
        if type(node.key) is int:
            node.key = NO_KEY

    def code_begins(self) -> None:
        """Called when code is going to be made. `code_made` receives the time afterwards."""
        self._compiling_time.begin()

    def code_made(self, functions: int, seconds: float) -> None:
        """Called when functions or a module level were compiled, in the thread whose call or import waited for it."""
        self._compiling_time.end()
        thread = self.current_thread()
        if thread is not None:
            thread.measured_overhead += seconds
            thread.specialised += functions
            thread.specialising += seconds

    def _other_clock(self) -> Callable[[], float] | None:
        """The clock, if it is not the usual one."""
        return None if perf_counter is _USUAL_CLOCK else perf_counter

    def current_thread(self) -> ThreadTree | None:
        """The call tree of the running thread, if it has one."""
        return self._threads.get(get_ident())

    def forked(self) -> None:
        """Start with empty trees in a forked process; the calls in progress are not counted there."""
        here = self.current_thread()
        self._compiling_time.forked()
        self._threads.clear()
        if here is not None:  # functions that run here have it
            here.forget()
            self._threads[get_ident()] = here

    @hidden
    def switched(self, origin: Any, target: Any) -> None:
        """Called when another greenlet goes on in the running thread: in the call in which it was suspended."""
        thread = self.current_thread()
        if thread is not None:
            self._suspended[origin] = thread.node
            thread.node = self._suspended.pop(target, thread.root)

    def threads(self) -> list[ThreadTree]:
        """The call trees as they are now."""
        return list(self._threads.values())

    def summary(self) -> str:
        """The table, with at most `limit` functions."""
        return self._table(self._limit)

    def _table(self, limit: int | None = None) -> str:
        return table(self._elsewhere or self.portable_results(), self._sort, limit)

    def portable_results(self) -> SummedStatistics:
        """See `Merging`: what the table shows."""
        return SummedStatistics(Statistics(self))

    def add_results(self, results: SummedStatistics) -> None:
        """See `Merging`: the table is of these processes then, and no more of this one."""
        if self._elsewhere is None:
            self._elsewhere = results
        else:
            self._elsewhere.add(results)

    @property
    def merged_formats(self) -> Mapping[str, Writer]:
        """See `Merging`: the table. Files of the other formats are merged as files."""
        return {".txt": text_writer(self._table)}

    @property
    def formats(self) -> Mapping[str, Writer]:
        """A writer for each file suffix.

        `.html` for an interactive flame graph, `.callgraph.html` for a call graph with times, `.json` for
        https://www.speedscope.app, `.prof` for `pstats` and snakeviz, `.collapsed` or `.folded` for tools that draw
        flame graphs, `.txt` for the table.
        """
        table = text_writer(self._table)
        return {**writers(functools.partial(Statistics, self), of_times=True), ".txt": table}


class Recorder(ThreadTree):
    """The call tree of one thread, with the hooks: what the call sites of a function call while it runs there.

    The hooks compare keys because an interrupt that arrives inside one may separate a pair of hooks. They read the
    clock at their beginning and at their end, so that the thread's clock omits them.
    """

    __slots__ = ("profile",)
    profile: Profile

    @hidden
    def enter(self, callee: Any, a: Any = None, b: Any = None, c: Any = None, d: Any = None, /) -> Any:
        """Descend to the node of a callee and start its clock; return the callee."""
        began = perf_counter()
        parent = self.node
        node = parent.latest.successor
        if node.key is not callee:
            if type(callee) is MethodType and callee.__func__ is node.key:
                node.callee = callee
            elif callee is not None:
                node = self._node_of(callee)
            else:  # the call fails, and no handler notes it
                self._node_of(callee).calls += 1
                return None
        if node.announces:
            self.profile.announced = get_ident()
        if a is self:  # see `make_accelerated_event`
            node.indirect += 1
        parent.latest = self.node = node
        start = node.start = began - self.measured_overhead
        self.measured_overhead = perf_counter() - start
        return callee

    @hidden
    def leave(
        self, result: Any, callee: Any, a: Any = None, b: Any = None, c: Any = None, d: Any = None, e: Any = None, /
    ) -> Any:
        """Stop the clock of a callee and return to the parent node; return the result."""
        end = perf_counter() - self.measured_overhead
        node = self.node
        if node.key is callee:
            node.calls += 1
            node.total += end - node.start
            self.node = node.parent
        elif node.callee is callee:
            node.callee = NO_KEY
            node.calls += 1
            node.total += end - node.start
            self.node = node.parent
        else:
            self._leave(callee, end)
        self.measured_overhead = perf_counter() - end
        return result

    @hidden
    def fail(self, callee: Any) -> None:
        """Stop the clock of a callee that raised."""
        self.profile.announced = 0  # the function may not have begun
        try:
            self.leave(None, callee)
        except RecursionError:  # the program's own exception goes on; `_leave` mends the tree
            return

    @hidden
    def _node_of(self, callee: Any) -> Node:
        """The node for a callee that is not simply the next one."""
        kind = type(callee)
        function = callee.__func__ if kind is MethodType else callee
        if kind is BuiltinFunctionType:  # as `split` does, without a frame and a tuple
            known = METHODS_OF_TYPES.get(id(type(callee.__self__)))
            function = None if known is None else known.get(callee.__name__)
        if type(function) is not FunctionType and type(function) is not MethodDescriptorType:
            function = split(callee)[0]
        parent = self.node
        latest = parent.latest
        node: Node | None = latest.successor
        if node is None or node.key is not function:
            node = parent.children.get(id(function))
            if node is None:
                return self._other_node_of(callee, function)
            node.key = function  # several functions have the same label, such as those that a decorator made
            if not latest.is_folded:
                latest.successor = node
        node.callee = callee
        return node

    @hidden
    def _other_node_of(self, callee: Any, function: Any) -> Node:
        """The node for a callee that the parent node does not have by its identity."""
        parent = self.node
        node: Node | None = parent.children.get(id(function.__code__)) if type(function) is FunctionType else None
        if node is not None:  # the closures of one `def`
            node.key = id(function)
        else:
            node = self.profile.paths.node_below(self, function)
            node.is_folded = parent.children.get(node.place) is not node
        if not node.is_folded:
            node.callee = callee
        return node

    def _leave(self, callee: Any, end: float) -> None:
        """End a call whose node is not the current one, or that is in a folded node."""
        function = split(callee)[0]
        identity = id(function)
        node = self.node
        while node is not self.root and node.key is not function and node.key != identity:
            node.callee = NO_KEY  # an interrupt has cut it off
            node = node.parent
        if node is not self.root:  # else the prehook of this call did not run
            node.callee = NO_KEY
            self.profile._leave_node(self, node, end)

    @hidden
    def begun(self, is_lambda: bool = False) -> FollowedBody | None:
        """The run of a function that begins and may have been entered without a call event.

        If there was an event, there is no run; the value of a lambda needs one, which reports nothing.
        """
        profile = self.profile
        code = _frame(1).f_code
        if profile.announced != get_ident() or self.node.announces is not code:
            body = profile.follow_call(code)
        else:
            profile.announced = 0
            body = None
        return NOT_FOLLOWED if body is None and is_lambda else body

    @hidden
    def follow_here(self) -> FollowedBody:
        """The run of the body that begins here."""
        profile = self.profile
        return new_body(ProfiledBody).begin(profile, profile._threads, _frame(1).f_code)


class _UncorrectedRecorder(Recorder):
    """The same for a thread whose clock is the real one: overhead is not subtracted."""

    __slots__ = ()
    measured_overhead = property(lambda self: 0.0, lambda self, seconds: None)


class _SiteProfile(Profile, events=Events.CALLS):
    """A profile that also records call sites. It is a type of its own, because hooks belong to the type."""

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Record the call site of the call."""
        frame = sys._getframe(1)
        thread: Recorder = self.recorder
        thread.enter(f)
        found = perf_counter()
        node = thread.node
        offset = frame.f_lasti
        try:
            site = node.sites[offset]
        except KeyError:
            site = None
        if site is None or site.code is not frame.f_code:
            frame = importer(frame)
            site = site_totals(thread, node, frame.f_code, frame.f_lasti)
        place = site.place
        if place.outermost is None or place.is_free():
            place.outermost = node
        node.site = site
        thread.measured_overhead += perf_counter() - found

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the call for its call site as well."""
        end = perf_counter()
        thread: Recorder = self.recorder
        node = thread.node
        before = node.total
        thread.measured_overhead += perf_counter() - end
        thread.leave(result, f)
        found = perf_counter()
        site = node.site
        if site is not None:
            site.calls += 1
            if site.place.outermost is node:
                site.total += node.total - before
                site.place.outermost = None
            node.site = None
        thread.measured_overhead += perf_counter() - found

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count a call that raised for its call site as well."""
        try:
            self.posthook(exception, f)
        except RecursionError:  # as above
            return


QUICKEST: Final[list[type[Profile]]] = []
"""The type whose hooks are in C; its module adds it."""
_SiteProfile.__name__ = _SiteProfile.__qualname__ = Profile.__name__  # reports name the type that was asked for
