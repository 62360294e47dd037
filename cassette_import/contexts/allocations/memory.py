"""Memory at call boundaries: the call tree of each thread, live blocks by line, and the results by call site.

`tracemalloc` knows how many bytes are allocated now and at the highest point since it was asked last; NumPy reports
its data to it. A *stretch* is what runs between two events. The memory that hooks allocate is in no stretch: a stretch
begins after a hook with the memory of that moment. All threads share one memory, so a stretch that begins with an
event of one thread and ends with one of another belongs to neither.
"""

from __future__ import annotations

import gc
import linecache
import os
import sysconfig
import threading
import tracemalloc
from _tracemalloc import _get_traces  # a snapshot makes objects of them, which takes ten times as long
from collections.abc import Callable, Sequence
from threading import get_ident
from types import FunctionType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import execute_all
from cassette_import.kits.calls.trees import Tree
from cassette_import.kits.function_names import Label, described, lasting_part, thread_name

__all__ = [
    "NO_PLACE",
    "KnownFunctions",
    "Memory",
    "Peak",
    "Place",
    "Site",
    "SiteAllocations",
    "below",
    "is_own_file",
    "measured",
    "peak_of",
    "sites_of",
    "trees_of",
    "without_lines",
]


# ---- depth: what hooks allocate is allocated below as many frames of cassette_import as `tracemalloc` records
#
# `tracemalloc` finds the line of each recorded frame at each allocation, by a search from the beginning of its
# function. In a long function of the program, one allocation takes twenty times as long as in a short one, and a hook
# has dozens. So hooks allocate below frames of their own, which have no lines to search.

_FRAMES: Final = 4
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
_FURTHER: Final[Label] = ("~", 0, "<further paths>")
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
        lasting = lasting_part(function)
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
                if parent.label is _FURTHER:
                    return parent
                label, place = _FURTHER, NO_PLACE
                node = parent.children.get((label, place))
            if node is None:
                self.left -= 1
                node = parent.children[label, place] = Node(label, place, parent)
        return node


# ---- which memory is alive at a moment, by the line of the program that allocated it
#
# `tracemalloc` has the innermost frames of each block. Blocks that cassette_import allocated for itself are left out;
# frames of it that only pass a call on are looked through.

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_PASSING_ON: Final = tuple(_PACKAGE + name + os.sep for name in ("activation", "importing", "runtime"))
_STANDARD_LIBRARY: Final = sysconfig.get_path("stdlib") + os.sep
_THIRD_PARTY: Final = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})

Traceback = tuple[tuple[str, int], ...]
"""Files and lines, the innermost frame first."""


class LiveBlocks:
    """The blocks that were alive at some moments; at none to begin with.

    They are put together by line when that is asked for. As long as memory is traced, it takes ten times as long: each
    number that is computed is a new block. The traces are kept as they are: tuples that were freed here would be the
    next ones of the program, as if those allocated nothing.
    """

    def __init__(self) -> None:
        self._parts: list[Sequence[Any]] = []  # domain, size, traceback and depth of each block

    def __len__(self) -> int:
        """How many blocks there are, those of cassette_import included."""
        return sum(map(len, self._parts))

    def add_all(self) -> None:
        """Add all blocks that are alive now."""
        is_enabled = gc.isenabled()
        gc.disable()  # the program's garbage lives as long as it would
        try:
            self._parts.append(_get_traces())
        finally:
            if is_enabled:
                gc.enable()

    def added_to(self, others: LiveBlocks) -> LiveBlocks:
        """These blocks and others."""
        both = LiveBlocks()
        both._parts = others._parts + self._parts
        return both

    def by_line(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Numbers of bytes and blocks that the program has allocated, by file and line."""
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for traces in self._parts:
            lines: dict[int, tuple[str, int] | None] = {}
            for _, size, traceback, _ in traces:
                if id(traceback) not in lines:  # blocks of one traceback share the object
                    lines[id(traceback)] = _program_line(traceback)
                line = lines[id(traceback)]
                if line is not None:
                    total, count = found.get(line, (0, 0))
                    found[line] = total + size, count + 1
        return found


def _program_line(traceback: Traceback) -> tuple[str, int] | None:
    """The line of the program that has allocated a block; None if cassette_import has done it for itself."""
    found = None
    for frame in traceback:
        filename = frame[0]
        if not filename.startswith(_PACKAGE):
            if found is None:
                found = frame
            if not _is_standard_library(filename):
                return found
        elif not filename.startswith(_PASSING_ON):
            return None
    return found


@without_lines
def is_own_file(filename: str) -> bool:
    """Whether a file is one of cassette_import.

    >>> is_own_file(__file__), is_own_file("shop.py")
    (True, False)
    """
    return filename.startswith(_PACKAGE)


def _is_standard_library(filename: str) -> bool:
    is_in_its_folder = filename.startswith(_STANDARD_LIBRARY) and not filename.startswith(_THIRD_PARTY)
    return is_in_its_folder or filename.startswith("<frozen ")


# ---- what was alive at the event with the most memory: the blocks there are looked at as memory rises
#
# To look at all blocks takes time for each of them. So it happens at each new highest event as long as that costs less
# than the events themselves, and otherwise when memory has risen by an eighth.

_BLOCKS_FOR_AN_EVENT: Final = 8
"""To look at so many blocks takes a fifth of the time that the hooks of an event take."""
_NINE: Final = 9
_EIGHTHS: Final = 8
"""Integers: a float that a hook frees would be the next one of the program, as if that allocated nothing."""


class _HighestEvent:
    """The event at which the most memory was alive, of those at which all blocks were looked at.

    Attributes
    ----------
    level:
        How many bytes were alive.
    blocks:
        The blocks that were alive.
    far_above:
        The level at which the blocks are looked at again, however few events there were since then.
    waiting:
        The number of events until a higher level is enough; each event counts it down.
    """

    __slots__ = ("blocks", "far_above", "level", "waiting")

    def __init__(self) -> None:
        self.level = self.far_above = self.waiting = 0
        self.blocks = LiveBlocks()

    def note(self, level: int) -> None:
        """Look at the blocks of an event that has more memory than any before."""
        self.level = level
        self.far_above = -(-level * _NINE // _EIGHTHS)
        self.blocks = LiveBlocks()
        self.blocks.add_all()
        self.waiting = -(-len(self.blocks) // _BLOCKS_FOR_AN_EVENT)


# ---- memory at call boundaries: what rose and fell between two events, and which call it belongs to

_SEVERAL_THREADS: Final = "several threads"
"""The name of the tree for what belongs to one of several threads."""
_GARBAGE: Final = "garbage collection"
_measured: Final = tracemalloc.get_traced_memory
_reset_peak: Final = tracemalloc.reset_peak
_owners: Final[list[Memory]] = []
"""Whose measurement is in progress: at most one, because there is one highest point."""
_lock: Final = threading.Lock()


class Memory:
    """The memory of a program while it is measured, by thread and call.

    `is_measured` is true between the first `open` and the last `close`. `level` is what the program has allocated less
    what it has freed; `peak` its highest value, which was reached in the call `peak_node`.
    """

    def __init__(self) -> None:
        self.trees: dict[int, ThreadTree] = {}
        self.shared = Node(("~", 0, f"<{_SEVERAL_THREADS}>"), NO_PLACE, None)
        self.collected = Node(("~", 0, f"<{_GARBAGE}>"), NO_PLACE, None)
        self.kept = LiveBlocks()
        self.highest = _HighestEvent()
        self.is_measured = self.is_interrupted = False
        self.level = self.peak = 0
        self.compiling = 0
        """How many nested reports say that code is being made. It may be made in a thread for that purpose."""
        self.peak_node: Node | None = None
        self._scopes = 0
        self._base = 0
        self.is_inside = False
        self._collection_began = 0
        self._last: ThreadTree | None = None

    # ---- when memory is measured

    def open(self) -> None:
        """Begin to measure, if that is not so yet; a `close` follows.

        Raises
        ------
        RuntimeError
            If something else uses `tracemalloc`.
        """
        with _lock:
            if not self._scopes:
                if _owners or tracemalloc.is_tracing():
                    user = "another context `allocations`" if _owners else "PYTHONTRACEMALLOC, or tracemalloc.start()"
                    raise RuntimeError(
                        f"allocations: memory is traced already, by {user}; end that first: there is one highest point"
                    )
                execute_all()  # the code of late modules is none of the program's memory
                _owners.append(self)
                tracemalloc.start(_FRAMES)
                gc.callbacks.append(self._on_collection)
                self._last = self.tree_of_this_thread()
                self.is_measured = True
                self.leave_hook()
            self._scopes += 1

    def close(self) -> None:
        """End what an `open` has begun. After the last one, count what is still alive, and measure no more."""
        with _lock:
            self._scopes -= 1
            if self._scopes:
                return
            self.is_measured = False
            if tracemalloc.is_tracing():
                self.kept.add_all()
                tracemalloc.stop()
            else:
                self.is_interrupted = True  # the program has stopped it
            _owners.clear()
            if self._on_collection in gc.callbacks:
                gc.callbacks.remove(self._on_collection)

    def kept_now(self) -> LiveBlocks:
        """What is alive now, or was when measuring ended."""
        if not (self.is_measured and tracemalloc.is_tracing()):
            return self.kept
        now = LiveBlocks()
        now.add_all()
        return now.added_to(self.kept)

    def forget(self) -> None:
        """Begin anew in a forked process, with the calls in progress left out."""
        self.trees.clear()
        self.kept = LiveBlocks()
        self.highest = _HighestEvent()
        self.shared.own = self.level = self.peak = 0
        self.peak_node = None
        if self.is_measured:
            tracemalloc.clear_traces()
            self._last = self.tree_of_this_thread()
            self.leave_hook()

    # ---- at each event: first `is_inside = True`, because to measure may start the garbage collector; then `measured`,
    # and `enter_hook` below with its result; at last `leave_hook`

    @without_lines
    def enter_hook(self, now: int, peak: int) -> ThreadTree:
        """End a stretch; return the tree of the running thread.

        Each integer that is computed here is a block that is traced, which takes longer than all else. So nothing is
        added that is zero, as it is in most stretches.
        """
        thread = self.trees.get(get_ident())
        if thread is None:
            thread = self.tree_of_this_thread()
        base = self._base
        risen = peak - base if peak > base else 0
        change = now - base
        if thread is self._last:
            node = thread.node
            thread.is_fresh = False
            level = thread.level
            high = level + risen if risen else level
            if high > thread.high:
                thread.high = high
            if change:
                thread.level = level + change
        else:
            node = self.shared
            node.left += change
            self._last = thread
        level = self.level
        if risen:
            node.own += risen
            high = level + risen
        else:
            high = level
        if high > self.peak:
            self.peak = high
            self.peak_node = node
        if change:
            self.level = level + change
        highest = self.highest
        if highest.waiting:
            highest.waiting -= 1
        level = self.level
        if level > highest.level and (not highest.waiting or level >= highest.far_above) and tracemalloc.is_tracing():
            highest.note(level)
        return thread

    @without_lines
    def leave_hook(self) -> None:
        """Begin a stretch. The caller has freed its own variables."""
        self.is_inside = False
        below(_begin_stretch, self)

    def tree_of_this_thread(self) -> ThreadTree:
        """The call tree of the running thread; a new one at its first event."""
        ident = get_ident()
        found = self.trees.get(ident)
        if found is None:
            found = self.trees[ident] = ThreadTree(thread_name(ident))
        return found

    @hidden
    def _on_collection(self, phase: str, info: Any) -> None:
        """Count what the garbage collector frees while a hook runs: it belongs to the program."""
        if not self.is_inside:
            return
        if phase == "start":
            self._collection_began = _measured()[0]
        elif self._collection_began:
            change = _measured()[0] - self._collection_began
            self._collection_began = 0
            self.level += change
            self.collected.left += change


@without_lines
def _begin_stretch(memory: Memory, _b: None, _c: None, _d: None) -> None:
    memory._base = _measured()[0]
    _reset_peak()


@without_lines
def measured() -> tuple[int, int]:
    """What is allocated now, and at the highest point since the last stretch began."""
    found: tuple[int, int] = below(_now)
    return found


@without_lines
def _now(_a: None, _b: None, _c: None, _d: None) -> tuple[int, int]:
    return _measured()


# ---- allocations by call site, and the peak: what is computed from call trees when measuring is over


class Site(NamedTuple):
    """A line of the program with calls. A module level has the line 0, and so has what is in no file, such as a thread.

    >>> Site("shop.py", 12)
    Site(file='shop.py', line=12)
    """

    file: str
    line: int

    @property
    def text(self) -> str:
        """The line itself; empty if there is no source."""
        return linecache.getline(self.file, self.line).strip() if self.line else ""


class SiteAllocations:
    """What the calls of one line have allocated.

    Attributes
    ----------
    function:
        The name of the function that has the line; empty if no call was measured there.
    calls:
        How many calls were made there.
    bytes:
        By how many bytes memory rose in these calls, without the calls in them.
    cumulative:
        The same, with the calls in them.
    left:
        How many bytes these calls had allocated and not freed when they returned, less what they freed of others.
    peak:
        How far memory rose at most above what it was when one of these calls began.
    alive:
        How many bytes that the line itself allocated were alive at the peak.
    kept, blocks:
        How many bytes and blocks that the line itself allocated are alive at the end.

    Example
    -------
    >>> from cassette_import import overdub
    >>> from cassette_import.contexts import Allocations
    >>> def load():
    ...     return bytes(100_000)
    >>> allocations = Allocations()
    >>> _ = overdub(allocations, load)
    >>> [found] = [found for found in allocations.by_site.values() if found.bytes > 10_000]
    >>> found.calls, round(found.bytes, -4)
    (1, 100000)
    """

    __slots__ = ("alive", "blocks", "bytes", "calls", "cumulative", "function", "kept", "left", "peak")

    def __init__(self) -> None:
        self.function = ""
        self.calls = self.bytes = self.cumulative = self.left = self.peak = 0
        self.alive = self.kept = self.blocks = 0

    def __repr__(self) -> str:
        return f"SiteAllocations({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"


class Peak(NamedTuple):
    """The most memory at once.

    Attributes
    ----------
    bytes:
        How many bytes there were.
    stack:
        The calls in progress, outermost first, as file, line and function.
    alive:
        How many bytes there were at the highest event, whose blocks `SiteAllocations.alive` counts by line. The peak
        may be higher: between two events.
    """

    bytes: int
    stack: tuple[tuple[str, int, str], ...]
    alive: int


def trees_of(memory: Memory) -> list[Tree]:
    """All trees that have something to show, with the bytes of their paths."""
    roots = [thread.root for thread in list(memory.trees.values())]
    trees = [
        Tree(root.label[2], root)
        for root in roots + ([memory.shared] if memory.shared.own or memory.shared.left else [])
    ]
    for tree in trees:
        tree.weigh([node.own for node in tree.nodes])
    return trees


def sites_of(memory: Memory) -> dict[Site, SiteAllocations]:
    """What was allocated by call site, those with the most bytes first."""
    found: dict[Site, SiteAllocations] = {}
    for tree in trees_of(memory):
        _add_tree(tree, found)
    for (file, line), (size, count) in memory.kept_now().by_line().items():
        site = found.setdefault(Site(file, line), SiteAllocations())
        site.kept, site.blocks = size, count
    for (file, line), (size, _) in memory.highest.blocks.by_line().items():
        found.setdefault(Site(file, line), SiteAllocations()).alive = size
    return dict(sorted(found.items(), key=lambda entry: (-entry[1].bytes, -entry[1].kept, entry[0])))


def _add_tree(tree: Tree, found: dict[Site, SiteAllocations]) -> None:
    """Add each path to its site. A recursive call is part of the outermost one of the same site."""
    sites = [_site(node) for node in tree.nodes]
    outermost = tree.outermost(sites)
    for position in (position for position, leaving in tree.walk() if leaving):
        node = tree.nodes[position]
        totals = found.setdefault(sites[position], SiteAllocations())
        totals.calls += node.calls
        totals.bytes += node.own
        totals.function = totals.function or _function(node)
        totals.peak = max(totals.peak, node.peak)
        if outermost[position]:
            totals.cumulative += int(tree.cumulative[position])
            totals.left += node.left


def _site(node: Node) -> Site:
    """The line that makes the calls of a node; of a body without a call, the line of its `def`, if it has one."""
    if node.place is not NO_PLACE:
        return Site(*node.place)
    file, line, name = node.label
    if file == "~":
        return Site(name, 0)
    return Site(file, 0 if name == "<module>" else line)


def _function(node: Node) -> str:
    return node.label[2] if node.place is NO_PLACE or node.parent is None else node.parent.label[2]


def peak_of(memory: Memory) -> Peak:
    """The most memory that the program had at once, and the calls in progress at that moment."""
    node = memory.peak_node
    stack = () if node is None else tuple(each.label for each in node.path())
    return Peak(memory.peak, stack, memory.highest.level)
