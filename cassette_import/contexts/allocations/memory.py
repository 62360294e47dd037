"""Memory at call boundaries: what rose and fell between two events, and which call it belongs to.

`tracemalloc` knows how many bytes are allocated now and at the highest point since it was asked last; NumPy reports
its data to it. A *stretch* is what runs between two events. The memory that hooks allocate is in no stretch: a stretch
begins after a hook with the memory of that moment. All threads share one memory, so a stretch that begins with an
event of one thread and ends with one of another belongs to neither.
"""

from __future__ import annotations

import gc
import threading
import tracemalloc
from threading import get_ident
from typing import Any, Final

from cassette_import.contexts.allocations.call_tree import NO_PLACE, Node, ThreadTree
from cassette_import.contexts.allocations.depth import FRAMES, below, without_lines
from cassette_import.contexts.allocations.highest_event import HighestEvent
from cassette_import.contexts.allocations.live_blocks import LiveBlocks
from cassette_import.contexts.common.function_names import thread_name
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.late_modules import execute_all

__all__ = ["SEVERAL_THREADS", "Memory", "measured"]

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
