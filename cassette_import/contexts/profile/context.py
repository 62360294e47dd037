"""`Profile`: how often each function is called, and its self time and cumulative time.

The hooks build one call tree for each thread. They take no lock, and usually find the next node at once, because
programs repeat themselves (`Node.successor`). They measure their own time, and the clock of their thread omits it.
Everything else is computed from the trees afterwards: `overhead_subtraction`, `statistics`. Knows hooks and call trees;
must not know how times are corrected, or how statistics are computed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from threading import get_ident
from types import CodeType, FunctionType
from typing import Any, ClassVar, TypeVar

from cassette_import.activation.context import Context
from cassette_import.contexts.common.function_names import Label, described, thread_name
from cassette_import.contexts.common.options import options_of
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.profile.call_tree import (
    BODY,
    CALLBACK,
    CREATION,
    NO_CHILDREN,
    NO_KEY,
    SUSPENDABLE,
    KnownFunction,
    Node,
    ThreadTree,
    UncorrectedThreadTree,
    count_call,
    folded_node,
    kind_of,
    leave_bodies,
    site_totals,
)
from cassette_import.contexts.profile.formats import writers
from cassette_import.contexts.profile.profiled_body import ProfiledBody
from cassette_import.contexts.profile.table import ORDERS, table
from cassette_import.interpreter.clock import perf_counter
from cassette_import.rewriting.events import Events
from cassette_import.runtime.module_imports import importer
from cassette_import.specialization.compilation_listeners import LISTENERS

__all__ = ["Profile"]

Self = TypeVar("Self", bound="Profile")


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
        Whether overhead, the time that profiling itself takes, is subtracted. The cost of an event is estimated when
        the statistics are computed; with millions of events it is calibrated, once per process.
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
            raise ValueError(f"sort is one of {', '.join(ORDERS)}, not {sort!r}")
        for name, value in (("limit", limit), ("paths", paths)):
            if value < 0:
                raise ValueError(f"{name} must not be less than 0, and is {value}")
        self._sort = sort
        self._limit = limit
        self._paths = paths
        self.subtracts_overhead = overhead
        self._threads: dict[int, ThreadTree] = {}
        LISTENERS.add(self)
        self.announced = 0
        """The thread in which the latest event is the call of a function whose body asks for that (`follow_call`)."""
        # Nodes refer to functions and code by id(), which is valid as long as these are alive.
        self._known: dict[int, KnownFunction] = {}
        self._bodies: dict[int, KnownFunction] = {}
        self._labels: dict[Label, Label] = {}

    @options_of(__init__)
    def __new__(cls, *, sites: bool = False, **options: Any) -> Profile:
        """Make an instance of the type that records call sites, or of the one that does not."""
        return super().__new__(_SiteProfile if sites and cls is Profile else cls)

    def __enter__(self: Self) -> Self:
        """Enter the context, and start the clock of the block's own code."""
        entered = super().__enter__()
        thread = self.tree_of_this_thread()
        thread.entered += 1
        if thread.entered == 1:
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
        super().__exit__(*exception)

    # The hooks run for every call of the program. They compare keys because an interrupt that arrives inside a hook may
    # separate a pair of hooks.

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Descend to the function's node and start its clock."""
        began = perf_counter()
        ident = get_ident()
        try:
            thread = self._threads[ident]
        except KeyError:
            thread = self.tree_of_this_thread()
        parent = thread.node
        node = parent.latest.successor
        if node.key is not f:
            try:
                node = parent.children[id(f)]
            except KeyError:
                node = None
            if node is None:  # outside of `except`, so that its exceptions have no KeyError as their context
                node = self._node_below(thread, f)
            else:
                node.key = f  # several functions have the same label, such as those that a decorator made
                parent.latest.successor = node
        parent.latest = node
        thread.node = node
        if node.announces:
            self.announced = ident
        start = node.start = began - thread.measured_overhead
        thread.measured_overhead = perf_counter() - start

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Stop the clock and return to the parent node."""
        end = perf_counter()
        try:
            thread = self._threads[get_ident()]
        except KeyError:  # this thread has no call in progress
            return
        end -= thread.measured_overhead
        node = thread.node
        if node.key is f:
            node.calls += 1
            node.total += end - node.start
            thread.node = node.parent
        else:
            self._leave(thread, f, end)
        thread.measured_overhead = perf_counter() - end

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Stop the clock of a call that raised."""
        self.announced = 0  # the function may not have begun
        try:
            self._end(None, f)
        except RecursionError:  # the program's own exception goes on; `_leave` mends the tree
            return

    _begin, _end = prehook, posthook  # as plain methods: on the class, `prehook` and `posthook` are for registering

    def follow_body(self, code: CodeType) -> ProfiledBody:
        """Called when the body of a generator, coroutine or generator expression begins."""
        return ProfiledBody(self, self._threads, code)

    def follow_call(self, code: CodeType) -> ProfiledBody | None:
        """Called when a function begins that may have been entered without a call event: as a callback, for example."""
        thread = self._threads.get(get_ident())
        if thread is not None:
            node = thread.node
            if node.label is self._body(code).label and node.kind != CALLBACK:
                node.announces = True
                return None
        return ProfiledBody(self, self._threads, code)

    def tree_of_this_thread(self) -> ThreadTree:
        """The call tree of the running thread; a new one at its first event."""
        ident = get_ident()
        thread = self._threads.get(ident)
        if thread is None:
            kind = ThreadTree if self.subtracts_overhead else UncorrectedThreadTree
            thread = self._threads[ident] = kind(thread_name(ident))
        return thread

    def _node_below(self, thread: ThreadTree, function: Any) -> Node:
        """The node for a function that the parent node does not have by its identity."""
        parent = thread.node
        lasting = function
        if type(function) is FunctionType and "<" in function.__qualname__:
            lasting = function.__code__  # each closure is a new function, but all closures of one `def` share its code
        node: Node | None = parent.children.get(id(lasting)) if lasting is not function else None
        if node is None:
            known = self._known.get(id(lasting)) or self._described(function, lasting)
            node = parent.children.get((known.label, CREATION) if known.kind == CREATION else known.label)
            if node is None:
                if self._paths <= 0:
                    node = folded_node(thread, known.label, known.kind)
                    node.key = id(function)
                    return node
                node = self._new_node(thread, known)
            if known.lasting is not None:
                parent.children[id(lasting)] = node
            if known.lasting is function:
                node.key = function
                return node
        node.key = id(function)  # it is short-lived, and must not be kept alive
        return node

    def _described(self, function: Any, lasting: Any) -> KnownFunction:
        """What nodes need to know of a function. It is kept if the function is long-lived, or code represents it."""
        label, is_long_lived = described(function)
        label = self._labels.setdefault(label, label)
        if not is_long_lived and lasting is function:
            return KnownFunction(None, label, kind_of(function))
        known = self._known[id(lasting)] = KnownFunction(lasting, label, kind_of(function))
        return known

    def _new_node(self, thread: ThreadTree, known: KnownFunction) -> Node:
        self._paths -= 1
        began = perf_counter()
        parent = thread.node
        node = Node(known.label, parent, known.kind)
        if parent.children is NO_CHILDREN:
            parent.children = {}
        parent.children[node.place] = node
        thread.one_off += perf_counter() - began
        return node

    def node_of_body(self, thread: ThreadTree, code: CodeType) -> Node:
        """The node for the body of a generator or coroutine that the parent node does not have yet."""
        known = self._body(code)
        if self._paths <= 0:
            node = thread.node.children.get(known.label) or folded_node(thread, known.label, known.kind)
        else:
            node = thread.node.children.get(known.label) or self._new_node(thread, known)
            thread.node.children[~id(code)] = node
        return node

    def _body(self, code: CodeType) -> KnownFunction:
        """What nodes need to know of the body of a function with this code."""
        known = self._bodies.get(id(code))
        if known is None:
            label = code.co_filename, code.co_firstlineno, code.co_name
            label = self._labels.setdefault(label, label)
            is_callback = (not code.co_flags & SUSPENDABLE and code.co_name[0] != "<") or code.co_name == "<lambda>"
            known = self._bodies[id(code)] = KnownFunction(code, label, CALLBACK if is_callback else BODY)
        return known

    def leave_body(self, thread: ThreadTree, node: Node, end: float) -> None:
        """End the run of a body, and the calls in it that an interrupt has cut off."""
        above = thread.node
        while above is not thread.root and above is not node:
            above = above.parent
        if above is node:
            leave_bodies(thread, node, end)
            thread.node = node.parent
            count_call(node, end)

    def _leave(self, thread: ThreadTree, function: Any, end: float) -> None:
        """End a call whose node is not the current one, or whose key is not the function itself."""
        identity = id(function)
        node = thread.node
        while node is not thread.root and node.key is not function and node.key != identity:
            node = node.parent
        if node is thread.root:  # the prehook of this call did not run
            return
        leave_bodies(thread, node, end)
        thread.node = node.parent
        count_call(node, end)
        if type(node.key) is int:
            node.key = NO_KEY

    def code_made(self, functions: int, seconds: float) -> None:
        """Called when functions or a module level were compiled, in the thread whose call or import waited for it."""
        thread = self.current_thread()
        if thread is not None:
            thread.measured_overhead += seconds
            thread.one_off += seconds
            thread.specialised += functions
            thread.specialising += seconds

    def current_thread(self) -> ThreadTree | None:
        """The call tree of the running thread, if it has one."""
        return self._threads.get(get_ident())

    def forked(self) -> None:
        """Start with empty trees in a forked process; the calls in progress are not counted there."""
        self._threads.clear()

    def threads(self) -> list[ThreadTree]:
        """The call trees as they are now."""
        return list(self._threads.values())

    def summary(self) -> str:
        """The table, with at most `limit` functions."""
        return table(self, self._sort, self._limit)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """A writer for each file suffix.

        `.html` for an interactive flame graph, `.callgraph.html` for a call graph with times, `.json` for
        https://www.speedscope.app, `.prof` for `pstats` and snakeviz, `.collapsed` or `.folded` for tools that draw
        flame graphs, `.txt` for the table.
        """
        return writers(self, self._sort)


class _SiteProfile(Profile, events=Events.CALLS):
    """A profile that also records call sites. It is a type of its own, because hooks belong to the type."""

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Record the call site of the call."""
        frame = sys._getframe(1)
        self._begin(f)
        found = perf_counter()
        thread = self._threads[get_ident()]
        node = thread.node
        offset = frame.f_lasti
        try:
            site = node.sites[offset]
        except KeyError:
            site = None
        if site is None or site.code is not frame.f_code:
            frame = importer(frame)
            site = site_totals(node, frame.f_code, frame.f_lasti)
        node.site = site
        thread.measured_overhead += perf_counter() - found

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the call for its call site as well."""
        # It begins as `Profile.posthook` does. A common function would cost a frame per event, while the clock runs.
        end = perf_counter()
        try:
            thread = self._threads[get_ident()]
        except KeyError:  # this thread has no call in progress
            return
        node = thread.node
        site = node.site
        if site is not None:
            site.calls += 1
            site.total += end - thread.measured_overhead - node.start
            node.site = None
        thread.measured_overhead += perf_counter() - end
        self._end(result, f)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count a call that raised for its call site as well."""
        try:
            self.posthook(exception, f)
        except RecursionError:  # as above
            return
