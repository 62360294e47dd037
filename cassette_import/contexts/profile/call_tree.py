"""The tree of calls that a profile builds for each thread, one node per path.

Knows functions and their labels; must not know hooks, or how time is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any, Final

from cassette_import.contexts.common.function_names import Label

__all__ = [
    "NOBODY",
    "NO_CHILDREN",
    "Node",
    "Site",
    "Thread",
    "UncorrectedThread",
    "folded",
    "kind_of",
    "site_of",
    "walk",
]

NO_CHILDREN: Final[dict[Any, Any]] = {}  # and no sites: shared by all nodes that have none; never written to


class Node:
    """One path of calls: a function, called by the node above it.

    A path is never under way twice in a thread; its call under way, if there is one, began at `start`. `key` is what
    the hooks know the function by: itself if it lasts, else its `id()` while the call is under way. `kind` says what
    was called. Of the calls made here, `last` is the latest one, and `following` of a node is the one that
    came after it when it was last there. `inner` is the part of `total` that went into folded nodes. All times are
    those of the thread's clock, see `Thread`.
    """

    __slots__ = (
        "calls", "children", "following", "inner", "key", "kind", "label", "last", "parent", "site", "sites",
        "start", "total",
    )  # fmt: skip

    def __init__(self, label: Label, parent: Node | None, kind: str) -> None:
        self.label = label
        self.parent: Any = parent
        self.kind = kind
        self.children: dict[Any, Any] = NO_CHILDREN  # by label, and by id() of functions that last and of code
        self.key: Any = NOBODY
        self.last: Any = _NONE
        self.following: Any = _NONE
        self.calls = 0
        self.start = self.total = self.inner = 0.0
        self.sites: dict[Any, Any] = NO_CHILDREN
        self.site: Any = None

    def below(self) -> Iterator[Node]:
        """The nodes of the calls made here."""
        # Other threads may be adding to it.
        return (node for key, node in list(self.children.items()) if type(key) is tuple)


class Site:
    """Calls and seconds of the calls from one instruction of the calling code."""

    __slots__ = ("calls", "code", "offset", "total")

    def __init__(self, code: CodeType, offset: int) -> None:
        self.code = code
        self.offset = offset
        self.calls = 0
        self.total = 0.0


class _None:
    """Stands for the node that is not there yet; it is nobody's."""

    key: Final = object()
    following: Any = None


NOBODY: Final = _None.key
_NONE: Final = _None()
_NONE.following = _NONE


class Thread:
    """The tree of one thread, and the node of the innermost call under way.

    Threads that have the same identifier, one after the other, share a tree: there may be very many of them. `entered`
    is how many blocks of the context the thread is in, the outermost since `root.start`.

    `skipped` is time that was not the program's: in the hooks, and in what compiled functions for this context. The
    thread's own clock is the real one less that. `aside` is the part of it that is not the ordinary cost of events.
    """

    __slots__ = ("aside", "entered", "folded", "name", "node", "root", "skipped")

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = self.node = Node(("~", 0, f"<{name}>"), None, "")
        self.folded: dict[tuple[Label, Label, bool, bool], list[Node]] = {}
        self.entered = 0
        self.skipped = self.aside = 0.0


class UncorrectedThread(Thread):
    """A thread whose clock is the real one."""

    __slots__ = ()

    @property
    def skipped(self) -> float:
        """Nothing is."""
        return 0.0

    @skipped.setter
    def skipped(self, seconds: float) -> None:
        pass


def walk(thread: Thread) -> Iterator[tuple[Node, bool]]:
    """Every node, on the way in and (True) on the way out; a tree may be as deep as a recursion was."""
    work = [(thread.root, False)]
    while work:
        node, leaving = work.pop()
        yield node, leaving
        if not leaving:
            work.append((node, True))
            work.extend([(child, False) for child in node.below()][::-1])


def site_of(node: Node, code: CodeType, offset: int) -> Site:
    """The figures of a call site. A function may have code of several makes, and what C calls back comes from
    anywhere."""
    site: Site | None = node.sites.get((id(code), offset))
    if site is None:
        if node.sites is NO_CHILDREN:
            node.sites = {}
        site = node.sites[id(code), offset] = Site(code, offset)
        node.sites.setdefault(offset, site)
    return site


def kind_of(function: Any) -> str:
    """The kind of callee, which decides how dear an event is.

    >>> kind_of(len), kind_of(list.append), kind_of(dict), kind_of(kind_of)
    ('builtin', 'method in C', 'class', 'function')
    """
    kind = type(function)
    if kind is FunctionType:
        return "method" if "." in function.__qualname__.rpartition("<locals>.")[2] else "function"
    if kind is BuiltinFunctionType:
        return "builtin"
    if issubclass(kind, type):
        return "class in Python" if type(function.__init__) is FunctionType else "class"
    return "method in C"


def folded(thread: Thread, label: Label, kind: str) -> Node:
    """A node for all paths from one function to another, once there are too many to keep apart.

    Its place in the tree changes with each call, so it notes at once what is otherwise found out from the
    place: whether the function, and the step from its caller to it, are under way further up already.
    """
    above = thread.node
    under_way = set()
    recursive = recursive_step = False
    node = above
    while node is not thread.root:
        under_way.add(id(node))
        if not recursive_step and node.label == label:
            recursive = True
            recursive_step = node.parent.label == above.label
        node = node.parent
    pool = thread.folded.setdefault((above.label, label, recursive, recursive_step), [])
    resting = next((node for node in pool if id(node) not in under_way), None)
    if resting is None:
        resting = Node(label, above, kind)
        pool.append(resting)
    resting.parent = above
    return resting
