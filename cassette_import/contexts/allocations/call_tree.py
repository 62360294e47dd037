"""The call tree of a thread: for each path of calls, the memory that its calls allocate and leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final, TypeAlias, TypeVar

from cassette_import.kits.function_names import Label, described

__all__ = [
    "FRAMES",
    "FURTHER",
    "NO_PLACE",
    "KnownFunctions",
    "Node",
    "Place",
    "ThreadTree",
    "below",
    "walk",
    "without_lines",
]

# ---- depth: what hooks allocate is allocated below as many frames of cassette_import as `tracemalloc` records
#
# `tracemalloc` finds the line of each recorded frame at each allocation, by a search from the beginning of its
# function. In a long function of the program, one allocation takes twenty times as long as in a short one, and a hook
# has dozens. So hooks allocate below frames of their own, which have no lines to search.

FRAMES: Final = 4
"""How many frames `tracemalloc` records: enough to see on whose behalf the standard library allocates."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Called: TypeAlias = Callable[[Any, Any, Any, Any], Any]


def without_lines(function: _Function) -> _Function:
    """Decorator: the lines of a function are not known.

    >>> @without_lines
    ... def quick():
    ...     return 1
    >>> quick(), list(quick.__code__.co_lines())
    (1, [])
    """
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_linetable=b"")
    return function


@without_lines
def below(
    function: Callable[[Any, Any, Any, Any], Any], a: Any = None, b: Any = None, c: Any = None, d: Any = None
) -> Any:
    """Call a function in Python; with its frame and that of the caller, there are as many frames as are recorded.

    The parameters have names, because a tuple of them would be an allocation in the caller.
    """
    return _further_below(function, a, b, c, d)


@without_lines
def _further_below(function: _Called, a: Any, b: Any, c: Any, d: Any) -> Any:
    return function(a, b, c, d)


# ---- the call tree of a thread: for each path of calls, the memory that its calls allocate and leave behind

Place: TypeAlias = tuple[str, int]
"""The file and the line of a call."""
NO_PLACE: Final[Place] = ("", 0)
"""The place of a call that is written nowhere: the body of a generator, a callback."""
FURTHER: Final[Label] = ("~", 0, "<further paths>")
"""The label of the node for all paths that are too many to be kept apart."""


class Node:
    """All calls of one path: of a function, from one place in the function above it.

    `own` is by how many bytes memory rose in the calls themselves, without the calls in them. `left` is what was
    allocated less what was freed from the beginning to the end of the calls, with all calls in them. `peak` is how far
    memory rose at most above what it was when a call began.
    """

    __slots__ = ("calls", "children", "label", "left", "own", "parent", "peak", "place")

    def __init__(self, label: Label, place: Place, parent: Node | None) -> None:
        self.label = label
        self.place = place
        self.parent = parent
        self.children: dict[tuple[Label, Place], Node] = {}
        self.calls = self.own = self.left = self.peak = 0

    def path(self) -> list[Node]:
        """The nodes from the root to this one."""
        found: list[Node] = []
        node: Node | None = self
        while node is not None:
            found.append(node)
            node = node.parent
        return found[::-1]


class ThreadTree:
    """The call tree of one thread.

    `level` is what the thread has allocated less what it has freed, `high` the highest level since the innermost call
    in progress began. `calls` are the calls in progress: the key and the node of each, the level at which it began, and
    `high` of the call around it. `is_fresh` says that no stretch has ended since a call began.
    """

    __slots__ = ("calls", "high", "is_fresh", "level", "name", "node", "root")

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = self.node = Node(("~", 0, f"<{name}>"), NO_PLACE, None)
        self.calls: list[tuple[object, Node, int, int]] = []
        self.level = self.high = 0
        self.is_fresh = False

    @without_lines
    def begin(self, key: object, node: Node) -> None:
        """Begin a call of a node below the current one."""
        self.calls.append((key, node, self.level, self.high))
        self.node = node
        self.high = self.level
        self.is_fresh = True

    @without_lines
    def end(self, key: object) -> None:
        """End the call with this key, and those in it that ended unnoticed. Nothing happens if none has it."""
        calls = self.calls
        if (not calls or calls[-1][0] is not key) and all(call[0] is not key for call in calls):
            return  # the hook before the call did not run
        while True:
            found, node, level, high = calls.pop()
            self.node = calls[-1][1] if calls else self.root
            node.calls += 1
            if self.node is not node:  # else the node stands for many paths, and is entered already
                if self.level != level:  # zero is not added: each integer that is computed is a block that is traced
                    node.left += self.level - level
                if self.high != level and (risen := self.high - level) > node.peak:
                    node.peak = risen
            if high > self.high:
                self.high = high
            if found is key:
                return


class Known:
    """What nodes need to know of a function. It is kept alive, because tables refer to it by its `id()`."""

    __slots__ = ("label", "lasting")

    def __init__(self, lasting: object, label: Label) -> None:
        self.lasting = lasting
        self.label = label


class KnownFunctions:
    """The functions that a context has met, and the nodes that it may still make."""

    def __init__(self, paths: int) -> None:
        self.left = paths
        self._known: dict[int, Known] = {}

    @without_lines
    def label_of(self, function: Any) -> Label:
        """The label of a function."""
        lasting = function
        if type(function) is FunctionType and "<" in function.__qualname__:
            lasting = function.__code__  # each closure is a new function, but all closures of one `def` share its code
        known = self._known.get(id(lasting))
        if known is not None:
            return known.label
        label, is_long_lived = described(function)
        if is_long_lived or lasting is not function:
            self._known[id(lasting)] = Known(lasting, label)
        return label

    @without_lines
    def node_below(self, thread: ThreadTree, label: Label, place: Place) -> Node:
        """The node of a call that the current node of a thread makes."""
        parent = thread.node
        node = parent.children.get((label, place))
        if node is None:
            if self.left <= 0:
                if parent.label is FURTHER:
                    return parent
                label, place = FURTHER, NO_PLACE
                node = parent.children.get((label, place))
            if node is None:
                self.left -= 1
                node = parent.children[label, place] = Node(label, place, parent)
        return node


def walk(root: Node) -> Iterator[tuple[Node, bool]]:
    """Every node twice: before its children with False, and after them with True. A tree may be very deep."""
    work = [(root, False)]
    while work:
        node, leaving = work.pop()
        yield node, leaving
        if not leaving:
            work.append((node, True))
            work.extend([(child, False) for child in reversed(list(node.children.values()))])
