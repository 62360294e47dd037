"""`Profile`: how often every function is called, and how long it takes, by itself and with what it calls.

The hooks build one tree of calls per thread, a node per path from the outermost call. They take no lock, and mostly
find the next node by asking which one came after the last one before: programs repeat themselves. The time that they
take themselves is known to them, and is skipped by the clock of their thread. Everything else is worked out from the
trees afterwards, in `profile_figures`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any, ClassVar, TypeVar

from cassette_import import Context, Events
from cassette_import.contexts.common.function_names import described, thread_name
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.profile import flamegraph, report
from cassette_import.contexts.profile.call_tree import (
    NO_CHILDREN,
    NOBODY,
    Node,
    Thread,
    UncorrectedThread,
    folded,
    kind_of,
    site_of,
)
from cassette_import.interpreter.clock import perf_counter
from cassette_import.specialization.progress import add_listener

__all__ = ["Profile"]

Self = TypeVar("Self", bound="Profile")


class _Here(threading.local):
    """The record of this thread."""

    thread: Thread


class Profile(Context, events=Events.CALLS):
    """Counts calls and measures time, per function, per caller, and if wanted per call site.

    Parameters
    ----------
    sort:
        What the table is sorted by: ``"own"`` time, ``"cumulative"`` time or ``"calls"``.
    limit:
        How many functions the table on the terminal shows. Files hold all of them.
    paths:
        How many different paths of calls are kept apart. What comes later is still counted for each function
        and caller, but is no longer part of the tree that the flame graph and `speedscope` show, so that memory
        stays bounded.
    sites:
        Whether calls are also counted per call site: the line and column that they are made from. An event then
        costs two to five times as much.
    overhead:
        Whether the time that measuring takes is left out. What one event costs is measured once per process.

    Example
    -------
    >>> profile = Profile(sort="cumulative")
    >>> print(profile.summary())
    profile: nothing was called
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True

    def __new__(
        cls, *, sort: str = "own", limit: int = 30, paths: int = 500_000, sites: bool = False, overhead: bool = True
    ) -> Profile:
        """Make an instance of the type that looks at call sites, or of the one that does not."""
        return super().__new__(_SiteProfile if sites and cls is Profile else cls)

    def __init__(
        self, *, sort: str = "own", limit: int = 30, paths: int = 500_000, sites: bool = False, overhead: bool = True
    ) -> None:
        super().__init__()
        if sort not in report.ORDERS:
            raise ValueError(f"sort is one of {', '.join(report.ORDERS)}, not {sort!r}")
        for name, value in (("limit", limit), ("paths", paths)):
            if value < 0:
                raise ValueError(f"{name} must not be less than 0, and is {value}")
        self._sort = sort
        self._limit = limit
        self._paths = paths
        self.subtracts_overhead = overhead
        self._here = _Here()
        self._threads: dict[int, Thread] = {}
        add_listener(self)
        # Nodes remember functions and code by id(), which holds as long as they are alive.
        self._kept: dict[int, Any] = {}

    def __enter__(self: Self) -> Self:
        """Enter the context, and start the clock of the code in the block itself."""
        entered = super().__enter__()
        thread = self._thread()
        thread.entered += 1
        if thread.entered == 1:
            thread.root.start = perf_counter() - thread.skipped
        return entered

    def __exit__(self, *exception: object) -> None:
        """Stop the clock and leave the context."""
        thread = self._thread()
        if thread.entered:
            thread.entered -= 1
            if not thread.entered:
                thread.root.total += perf_counter() - thread.skipped - thread.root.start
        super().__exit__(*exception)

    # The hooks run for every call of the program. Keys are compared because a pair may be torn apart by an interrupt
    # that arrives in a hook itself.

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Go down to the function's node and start its clock."""
        began = perf_counter()
        try:
            thread = self._here.thread
        except AttributeError:
            thread = self._thread()
        above = thread.node
        node = above.last.following
        if node.key is not f:
            try:
                node = above.children[id(f)]
            except KeyError:
                node = self._node_below(thread, f)
            else:
                above.last.following = node
        above.last = node
        thread.node = node
        node.start = began - thread.skipped
        thread.skipped += perf_counter() - began

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Stop the clock and go up again."""
        end = perf_counter()
        try:
            thread = self._here.thread
        except AttributeError:  # nothing began in this thread
            return
        node = thread.node
        if node.key is f:
            node.calls += 1
            node.total += end - thread.skipped - node.start
            thread.node = node.parent
        else:
            self._leave(thread, f, end - thread.skipped)
        thread.skipped += perf_counter() - end

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """A call that raises takes time as well."""
        self._end(None, f)

    _begin, _end = prehook, posthook  # as methods: what the class makes of the names above is for registering

    def _thread(self) -> Thread:
        """The record of this thread; it is made when the thread is seen first."""
        try:
            return self._here.thread
        except AttributeError:
            ident = threading.get_ident()
            thread = self._threads.get(ident)
            if thread is None:
                kind = Thread if self.subtracts_overhead else UncorrectedThread
                thread = self._threads[ident] = kind(thread_name(ident))
            self._here.thread = thread
            return thread

    def _node_below(self, thread: Thread, function: Any) -> Node:
        """The node for a function that is not known by its identity here."""
        above = thread.node
        # A closure is a new function each time, but always has the same code.
        code = function.__code__ if type(function) is FunctionType else None
        node: Node | None = above.children.get(id(code)) if code is not None else None
        if node is None:
            node = self._labelled_node(thread, function, code)
        if node.key is not function:  # it does not last, and must not be kept
            node.key = id(function)
        return node

    def _labelled_node(self, thread: Thread, function: Any, code: CodeType | None) -> Node:
        above = thread.node
        label, lasts = described(function)
        node: Node | None = above.children.get(label)
        if node is None:
            if self._paths <= 0:
                return folded(thread, label, kind_of(function))
            self._paths -= 1
            began = perf_counter()
            node = Node(label, above, kind_of(function))
            if above.children is NO_CHILDREN:
                above.children = {}
            above.children[label] = node
            thread.aside += perf_counter() - began
        known = function if lasts else code
        if known is not None:
            self._kept[id(known)] = known
            above.children[id(known)] = node
        if lasts:
            node.key = function
        return node

    def _leave(self, thread: Thread, function: Any, end: float) -> None:
        """The end of a call whose node is not the current one, or does not have the function as its key."""
        identity = id(function)
        node = thread.node
        while node is not thread.root and node.key is not function and node.key != identity:
            node = node.parent
        if node is thread.root:  # its beginning was missed
            return
        thread.node = above = node.parent
        node.calls += 1
        node.total += end - node.start
        if type(node.key) is int:
            node.key = NOBODY
        if above.children.get(node.label) is not node:
            above.inner += end - node.start

    def body_made(self, seconds: float) -> None:
        """Told in the thread whose call had to wait: a function was compiled for this context."""
        thread = getattr(self._here, "thread", None)
        if thread is not None:
            thread.skipped += seconds
            thread.aside += seconds

    def here(self) -> Thread | None:
        """The record of this thread, if it has been seen."""
        return getattr(self._here, "thread", None)

    def forked(self) -> None:
        """In a copy of the process, begin anew; calls that are under way end unseen."""
        self._threads.clear()
        self._here = _Here()

    def threads(self) -> list[Thread]:
        """The trees as they are now."""
        return list(self._threads.values())

    def summary(self) -> str:
        """The table, with as many functions as the context was told to show."""
        return report.table(self, self._sort, self._limit)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """A writer for each suffix.

        `.html` for an interactive flame graph, `.json` for https://www.speedscope.app, `.prof` for `pstats` and
        snakeviz, `.collapsed` or `.folded` for tools that make flame graphs, `.txt` for the table.
        """
        return {
            ".prof": lambda path: report.write_pstats(self, path),
            ".json": lambda path: report.write_speedscope(self, path),
            ".speedscope.json": lambda path: report.write_speedscope(self, path),
            ".collapsed": lambda path: report.write_collapsed(self, path),
            ".folded": lambda path: report.write_collapsed(self, path),
            ".html": lambda path: flamegraph.write(self, path),
            ".txt": lambda path: report.write_table(self, self._sort, path),
        }


class _SiteProfile(Profile, events=Events.CALLS):
    """A profile that also keeps calls from different places apart. A type of its own: each type has its code."""

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Note where the call comes from."""
        frame = sys._getframe(1)
        self._begin(f)
        found = perf_counter()
        thread = self._here.thread
        node = thread.node
        offset = frame.f_lasti
        try:
            site = node.sites[offset]
        except KeyError:
            site = None
        if site is None or site.code is not frame.f_code:
            site = site_of(node, frame.f_code, offset)
        node.site = site
        thread.skipped += perf_counter() - found

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count for the call site as well."""
        end = perf_counter()
        try:
            thread = self._here.thread
        except AttributeError:  # nothing began in this thread
            return
        node = thread.node
        site = node.site
        if site is not None:
            site.calls += 1
            site.total += end - thread.skipped - node.start
            node.site = None
        thread.skipped += perf_counter() - end
        self._end(result, f)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """A call that raises has a call site, too."""
        self.posthook(exception, f)
