"""One run of the body of a generator, coroutine or callback, as allocations are measured.

From each resumption to the next suspension, the body is a call in the tree of the thread that advances it.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from cassette_import.contexts.allocations.call_tree import NO_PLACE, KnownFunctions
from cassette_import.contexts.allocations.depth import below, without_lines
from cassette_import.contexts.allocations.memory import Memory, measured
from cassette_import.contexts.common.function_names import Label, label_of_code
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.followed_bodies import FollowedBody

__all__ = ["MeasuredBody"]


class MeasuredBody(FollowedBody):
    """One run of a body. It begins when the object is made.

    A body that begins while nothing is measured is where measuring begins and ends.
    """

    __slots__ = ("_first", "_functions", "_is_outermost", "_label", "_memory", "is_running")

    @hidden
    def __init__(self, memory: Memory, functions: KnownFunctions, code: CodeType) -> None:
        self._memory = memory
        self._functions = functions
        self._label: Label = label_of_code(code)
        self.is_running = False
        self._is_outermost = not memory.is_measured
        if self._is_outermost:
            memory.open()

    @hidden
    @without_lines
    def resumed(self, value: Any = None) -> Any:
        """Begin a call of the body."""
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if not memory.is_measured:
            return value
        self.is_running = True
        below(_begin, self, now)
        del now
        memory.leave_hook()
        return value

    @hidden
    @without_lines
    def suspended(self, value: Any = None) -> Any:
        """End a call of the body."""
        memory = self._memory
        memory.is_inside = True
        now = measured()
        if not (self.is_running and memory.is_measured):
            return value
        self.is_running = False
        below(_end, self, now)
        del now
        memory.leave_hook()
        return value

    @hidden
    def ended(self) -> None:
        """End the run; with the outermost one, measuring ends."""
        FollowedBody.ended(self)
        if self._is_outermost:
            self._is_outermost = False
            self._memory.close()


@without_lines
def _begin(body: MeasuredBody, now: tuple[int, int], _c: None, _d: None) -> None:
    thread = body._memory.enter_hook(now[0], now[1])
    thread.begin(body, body._functions.node_below(thread, body._label, NO_PLACE))


@without_lines
def _end(body: MeasuredBody, now: tuple[int, int], _c: None, _d: None) -> None:
    body._memory.enter_hook(now[0], now[1]).end(body)
