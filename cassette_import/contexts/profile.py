"""`Profile`: how often every function is called, and how long it takes, by itself and with what it calls.

The hooks build one tree of calls per thread, a node per path from the outermost call: one dictionary look-up
per event, and no lock. Everything else is worked out from the trees afterwards, in `profile_report`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import get_ident
from time import perf_counter
from typing import Any, ClassVar, Final

from cassette_import import Context, Events

from . import profile_report
from .naming import Label, described, thread_name
from .report import Writer

__all__ = ["Profile"]

_NO_CHILDREN: Final[dict[Any, Node]] = {}  # shared by all nodes that have none; never written to


class Node:
    """One path of calls: a function, called by the node above it.

    `active` is the function while its call is under way and began at `start`; a path is never under way twice
    in a thread. `inner` is the part of `total` that went into calls further down.
    """

    __slots__ = ("active", "calls", "children", "inner", "label", "parent", "start", "total")

    def __init__(self, label: Label, parent: Node | None) -> None:
        self.label = label
        self.parent: Any = parent
        self.children: dict[Any, Node] = _NO_CHILDREN  # by label, and by id() for functions that last
        self.active: Any = None
        self.calls = 0
        self.start = self.total = self.inner = 0.0

    def below(self) -> Iterator[Node]:
        """The nodes of the calls made here."""
        # Other threads may be adding to it.
        return (node for key, node in list(self.children.items()) if type(key) is tuple)


class Thread:
    """The tree of one thread, and the node of the innermost call under way.

    Threads that have the same identifier, one after the other, share a tree: there may be very many of them.
    """

    __slots__ = ("folded", "name", "node", "root")

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = self.node = Node(("~", 0, "<thread>"), None)
        self.folded: dict[tuple[Label, Label, bool, bool], list[Node]] = {}


class Profile(Context, events=Events.CALLS):
    """Counts calls and measures time, per function and per caller.

    Parameters
    ----------
    sort:
        What the table is sorted by: ``"own"`` time, ``"cumulative"`` time or ``"calls"``.
    limit:
        How many functions the table on the terminal shows. Files hold all of them.
    paths:
        How many different paths of calls are kept apart. What comes later is still counted for each function
        and caller, but is no longer part of the tree that `speedscope` shows, so that memory stays bounded.

    Example
    -------
    >>> profile = Profile(sort="cumulative")
    >>> print(profile.summary())
    profile: nothing was called
    """

    inherit: ClassVar[bool] = True
    leaf_hooks: ClassVar[bool] = True

    def __init__(self, *, sort: str = "own", limit: int = 30, paths: int = 500_000) -> None:
        super().__init__()
        if sort not in profile_report.ORDERS:
            raise ValueError(f"sort is one of {', '.join(profile_report.ORDERS)}, not {sort!r}")
        self._sort = sort
        self._limit = limit
        self._paths = paths
        self._threads: dict[int, Thread] = {}
        # Nodes remember functions by id(), which holds as long as the function is alive.
        self._kept: dict[int, Any] = {}

    # The hooks run for every call of the program. `active` is compared because a pair may be torn apart by an
    # interrupt that arrives in a hook itself.

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Go down to the function's node and start its clock."""
        try:
            thread = self._threads[get_ident()]
        except KeyError:
            thread = self._new_thread()
        try:
            node = thread.node.children[id(f)]
        except KeyError:
            node = self._node_below(thread, f)
        thread.node = node
        node.active = f
        node.start = perf_counter()

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Stop the clock and go up again."""
        end = perf_counter()
        try:
            thread = self._threads[get_ident()]
        except KeyError:  # nothing began in this thread
            return
        node = thread.node
        if node.active is not f:
            node = self._node_under_way(thread, f)
        spent = end - node.start
        node.active = None
        node.calls += 1
        node.total += spent
        thread.node = parent = node.parent
        parent.inner += spent

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """A call that raises takes time as well."""
        self.posthook(exception, f)

    def _new_thread(self) -> Thread:
        ident = get_ident()
        thread = self._threads[ident] = Thread(thread_name(ident))
        return thread

    def _node_below(self, thread: Thread, function: Any) -> Node:
        """The node for a function that is not known by its identity here."""
        parent = thread.node
        label, lasts = described(function)
        node = parent.children.get(label)
        if node is None:
            if self._paths <= 0:
                return _folded(thread, label)
            self._paths -= 1
            node = Node(label, parent)
            if parent.children is _NO_CHILDREN:
                parent.children = {}
            parent.children[label] = node
        if lasts:
            self._kept[id(function)] = function
            parent.children[id(function)] = node
        return node

    def _node_under_way(self, thread: Thread, function: Any) -> Node:
        """The function's innermost call under way; calls in it whose end was missed are forgotten."""
        node = thread.node
        while node is not thread.root and node.active is not function:
            node.active = None
            node = node.parent
        if node is thread.root:  # its beginning was missed
            node = Node(described(function).label, thread.root)
            node.start = perf_counter()
        return node

    def forked(self) -> None:
        """In a copy of the process, begin anew; calls that are under way end unseen."""
        self._threads.clear()

    def threads(self) -> list[Thread]:
        """The trees as they are now."""
        return list(self._threads.values())

    def summary(self) -> str:
        """The table, with as many functions as the context was told to show."""
        return profile_report.table(self, self._sort, self._limit)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.prof` for `pstats` and snakeviz, `.json` for https://www.speedscope.app, `.txt` for the table."""
        return {
            ".prof": lambda path: profile_report.write_pstats(self, path),
            ".json": lambda path: profile_report.write_speedscope(self, path),
            ".speedscope.json": lambda path: profile_report.write_speedscope(self, path),
            ".txt": lambda path: profile_report.write_table(self, self._sort, path),
        }


def _folded(thread: Thread, label: Label) -> Node:
    """A node for all paths from one function to another, once there are too many to keep apart.

    Its place in the tree changes with each call, so it notes at once what is otherwise found out from the
    place: whether the function, and the step from its caller to it, are under way further up already.
    """
    parent = thread.node
    recursive = recursive_step = False
    node = parent
    while node is not thread.root and not recursive_step:
        if node.label == label:
            recursive = True
            recursive_step = node.parent.label == parent.label
        node = node.parent
    pool = thread.folded.setdefault((parent.label, label, recursive, recursive_step), [])
    resting = next((node for node in pool if node.active is None), None)
    if resting is None:
        resting = Node(label, parent)
        pool.append(resting)
    resting.parent = parent
    return resting
