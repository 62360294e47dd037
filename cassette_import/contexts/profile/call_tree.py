"""The call tree that a profile builds for each thread: one node per call path."""

from __future__ import annotations

from collections.abc import Mapping
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any, Final, Protocol

from cassette_import.interpreter import code_objects
from cassette_import.kits.function_names import Label

__all__ = [
    "BODY",
    "CALLBACK",
    "CALLED_IN_PYTHON",
    "CREATION",
    "NOWHERE",
    "NO_CHILDREN",
    "NO_KEY",
    "SUSPENDABLE",
    "KnownFunction",
    "MeasuredThreads",
    "Node",
    "SiteTotals",
    "ThreadTree",
    "count_call",
    "folded_node",
    "kind_of",
    "leave_bodies",
    "new_child",
    "place_of",
    "root_of",
    "site_totals",
]

CALLED_IN_PYTHON: Final = frozenset(("function", "method", "packing", "class in Python"))
"""The kinds of callees whose entry is Python code."""

BODY: Final = "body"
"""The kind of the nodes of bodies of generators and coroutines: each resumption of the body is a call."""

CALLBACK: Final = "callback"
"""The kind of the nodes of functions that were entered without a call event."""

CREATION: Final = "creation"
"""The kind of the nodes of calls that create a generator or coroutine, and run nothing of its body."""

PACKING: Final = code_objects.VARARGS | code_objects.VARKEYWORDS

SUSPENDABLE: Final = code_objects.GENERATOR | code_objects.COROUTINE | code_objects.ASYNC_GENERATOR

NO_CHILDREN: Final[dict[Any, Any]] = {}
"""Shared by all nodes without children, and by all nodes without call sites; never written to."""


class Node:
    """One call path: a function, called by the function of the parent node.

    A path never has two calls in progress in one thread. The attributes:

    - `key` is how the hooks recognise the function: the function itself if it is long-lived (see `described`), else
      its `id()` while the call is in progress.
    - `kind` is the kind of callee, see `kind_of`; of the body of a generator or coroutine, it is `BODY`;
      of a function that was entered without a call event, `CALLBACK`.
    - `place` is the key under which the parent has the node, unless the node is a folded one. It is the label, except
      for calls that create a generator or coroutine, and for functions that were entered without a call event: these,
      and the other calls or the body, are different nodes with one label.
    - `start` is when the call in progress began, if there is one.
    - `latest` is the child that was called last. `successor` is the sibling that was called after this node when
      this node was last called; the hooks try it first, since programs repeat themselves.
    - `callee` is what is being called, if it is not simply `key`. Folded nodes have none.
    - `announces` is the code of the function, if its body asks if there was a call event of it.
    - `indirect` is how many of the calls were events that looked up the active context: they take longer.
    - `folded_time` is the part of `total` that was spent in folded nodes (see `folded_node`).

    All times are in seconds of the thread's clock, see `ThreadTree`.
    """

    __slots__ = (
        "announces", "callee", "calls", "children", "folded_time", "indirect", "is_folded", "key", "kind", "label",
        "latest", "parent", "place", "site", "sites", "start", "successor", "total",
    )  # fmt: skip

    def __init__(self, label: Label, place: object, parent: Node | None, kind: str, children: dict[Any, Any]) -> None:
        self.label = label
        self.place = place
        self.parent: Any = parent
        self.kind = kind
        self.children = children  # by place, and by id() of long-lived functions and of code
        self.key: Any = NO_KEY
        self.latest: Any = _NO_NODE
        self.successor: Any = _NO_NODE
        self.callee: Any = NO_KEY
        self.announces: Any = None
        self.is_folded = False
        self.calls = self.indirect = 0
        self.start = self.total = self.folded_time = 0.0
        self.sites: dict[Any, Any] = NO_CHILDREN
        self.site: Any = None


def new_child(parent: Node, label: Label, kind: str) -> Node:
    """A node below another one, which does not have it yet."""
    return type(parent)(label, place_of(label, kind), parent, kind, NO_CHILDREN)


def place_of(label: Label, kind: str) -> object:
    """The key of a node below its parent. One function may have several nodes there, by the ways in which it runs."""
    return (label, kind) if kind in (CREATION, CALLBACK) else label


class KnownFunction:
    """The label and the kind of a function.

    `lasting` is what nodes refer to by its `id()`: the function or its code; None if both are short-lived.
    """

    __slots__ = ("kind", "label", "lasting")

    def __init__(self, lasting: Any, label: Label, kind: str) -> None:
        self.lasting = lasting
        self.label = label
        self.kind = kind


class SiteTotals:
    """The calls of one node from one instruction of the calling code.

    `total` is the seconds of the *outermost* calls: those that were not made from within a call from the same
    instruction. Their times do not overlap.
    """

    __slots__ = ("calls", "code", "offset", "place", "total")

    def __init__(self, code: CodeType, offset: int, place: SitePlace) -> None:
        self.code = code
        self.offset = offset
        self.place = place
        self.calls = 0
        self.total = 0.0


class SitePlace:
    """An instruction of the calling code in one thread: `outermost` is the node of its outermost call in progress."""

    __slots__ = ("outermost",)

    def __init__(self) -> None:
        self.outermost: Node | None = None

    def is_free(self) -> bool:
        """Whether no call from here is in progress: an interrupt may have cut one off."""
        node = self.outermost
        return node is None or node.site is None or node.site.place is not self


class _NoNode:
    """The initial value of `Node.latest` and `Node.successor`. Its key equals no function's."""

    key: Final = object()
    is_folded: Final = True
    successor: Any = None


NO_KEY: Final = _NoNode.key
_NO_NODE: Final = _NoNode()
_NO_NODE.successor = _NO_NODE


class ThreadTree:
    """The call tree of one thread, and the node of its innermost call in progress.

    Threads that have the same identifier, one after the other, share a tree, so that the number of trees stays small.
    `entered` counts the nested blocks of the context that the thread is in; the outermost one began at `root.start`.

    `measured_overhead` is the time that the thread spent in the hooks and in compiling functions for this context. The
    thread's clock is the real clock less this time. `specialised` functions were compiled meanwhile; `specialising` is
    the time for that, and for bodies from the cache and module levels.
    """

    __slots__ = (
        "entered",
        "folded",
        "measured_overhead",
        "name",
        "node",
        "places",
        "root",
        "specialised",
        "specialising",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.forget()

    def forget(self) -> None:
        """Start with an empty tree."""
        self.root = self.node = Node(*root_of(self.name))
        self.folded: dict[tuple[Label, object, bool, bool], list[Node]] = {}
        self.places: dict[tuple[int, int], SitePlace] = {}
        self.entered = 0
        self.measured_overhead = self.specialising = 0.0
        self.specialised = 0


NOWHERE: Final = Node(("", 0, ""), None, None, "", NO_CHILDREN)
"""The node of bodies that have not begun, below no other one."""


def root_of(name: str) -> tuple[Label, object, None, str, dict[Any, Any]]:
    """What the root node of a thread's tree is made of."""
    label = "~", 0, f"<{name}>"
    return label, label, None, "", NO_CHILDREN


class MeasuredThreads(Protocol):
    """What the statistics read: a profile."""

    subtracts_overhead: bool

    def event_costs(self) -> Mapping[str, Any]:
        """What events add to the measured times, see `statistics.Costs`."""

    def threads(self) -> list[ThreadTree]:
        """The call trees as they are now."""

    def current_thread(self) -> ThreadTree | None:
        """The call tree of the running thread, if it has one."""


def site_totals(thread: ThreadTree, node: Node, code: CodeType, offset: int) -> SiteTotals:
    """The totals of a call site; new ones at its first call.

    The offset alone does not identify a call site: a function may run in several code objects, and a callback of C
    code may come from any.
    """
    site: SiteTotals | None = node.sites.get((id(code), offset))
    if site is None:
        if node.sites is NO_CHILDREN:
            node.sites = {}
        place = thread.places.setdefault((id(code), offset), SitePlace())
        site = node.sites[id(code), offset] = SiteTotals(code, offset, place)
        node.sites.setdefault(offset, site)
    return site


def kind_of(function: Any) -> str:
    """The kind of callee, on which the overhead of an event depends.

    >>> kind_of(len), kind_of(list.append), kind_of(dict), kind_of(kind_of)
    ('builtin', 'method in C', 'class', 'function')
    """
    kind = type(function)
    if kind is FunctionType:
        flags = function.__code__.co_flags
        if flags & SUSPENDABLE:
            return CREATION
        if flags & PACKING:
            return "packing"
        return "method" if "." in function.__qualname__.rpartition("<locals>.")[2] else "function"
    if kind is BuiltinFunctionType:
        return "builtin"
    if issubclass(kind, type):
        return "class in Python" if type(function.__init__) is FunctionType else "class"
    return "method in C"


def leave_bodies(thread: ThreadTree, outermost: Node, end: float) -> None:
    """Count the bodies that ended unnoticed inside of a call: generator expressions that raised."""
    node = thread.node
    while node is not outermost:
        if node.kind in (BODY, CALLBACK):
            count_call(node, end)
        node = node.parent


def count_call(node: Node, end: float) -> None:
    """Count a call of a node that ends now."""
    node.calls += 1
    node.total += end - node.start
    parent = node.parent
    if parent.children.get(node.place) is not node:
        parent.folded_time += end - node.start


def folded_node(thread: ThreadTree, label: Label, kind: str) -> Node:
    """A node for all paths from one function to another. It is used once there are too many paths to keep apart.

    The place of a folded node in the tree changes with each call. So whether its function, and the step from its
    caller to it, are already in progress further up is found out now; for other nodes it follows from their place.
    """
    parent = thread.node
    in_progress = set()
    recursive = recursive_step = False
    node = parent
    while node is not thread.root:
        in_progress.add(id(node))
        if not recursive_step and node.label == label:
            recursive = True
            recursive_step = node.parent.label == parent.label
        node = node.parent
    pool = thread.folded.setdefault((parent.label, place_of(label, kind), recursive, recursive_step), [])
    unused = next((node for node in pool if id(node) not in in_progress), None)
    if unused is None:
        unused = new_child(parent, label, kind)
        pool.append(unused)
    unused.parent = parent
    return unused
