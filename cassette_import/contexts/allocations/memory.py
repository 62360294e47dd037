"""Memory at call boundaries: what rose and fell between two events, and which call it belongs to.

`tracemalloc` knows how many bytes are allocated now and at the highest point since it was asked last; NumPy reports
its data to it. A *stretch* is what runs between two events. The memory that hooks allocate is in no stretch: a stretch
begins after a hook with the memory of that moment. All threads share one memory, so a stretch that begins with an
event of one thread and ends with one of another belongs to neither.
"""

from __future__ import annotations

import gc
import os
import sysconfig
import threading
import tracemalloc
from _tracemalloc import _get_traces  # a snapshot makes objects of them, which takes ten times as long
from collections.abc import Sequence
from threading import get_ident
from typing import Any, Final

from cassette_import.contexts.allocations.call_tree import FRAMES, NO_PLACE, Node, ThreadTree, below, without_lines
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import execute_all
from cassette_import.kits.function_names import thread_name

__all__ = ["SEVERAL_THREADS", "HighestEvent", "LiveBlocks", "Memory", "is_own_file", "measured"]

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


class HighestEvent:
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

SEVERAL_THREADS: Final = "several threads"
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
        self.shared = Node(("~", 0, f"<{SEVERAL_THREADS}>"), NO_PLACE, None)
        self.collected = Node(("~", 0, f"<{_GARBAGE}>"), NO_PLACE, None)
        self.kept = LiveBlocks()
        self.highest = HighestEvent()
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
                tracemalloc.start(FRAMES)
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
        self.highest = HighestEvent()
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
