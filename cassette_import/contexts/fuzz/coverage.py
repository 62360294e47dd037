"""Coverage of branches and lines: `sys.monitoring` where there is one, otherwise `sys.settrace`.

Both report only what was not seen before, so a function that takes known branches costs what it costs alone. A branch
is known by its place in the source: the code of a function changes when a context is entered.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from cassette_import.rewriting.symbols import IS_ANY_ACTIVE

__all__ = ["Coverage", "coverage"]

_TOOLS: Final = (4, 3, 2)
"""The numbers of tools that are tried; 0 and 1 belong to debuggers and coverage, 5 to optimizers."""


class Coverage:
    """What was reached of some files.

    Attributes
    ----------
    branches, lines:
        What was reached so far: branches by file, place and direction, lines by file and number.
    functions:
        The file, first line and name of the functions that were entered, in order.
    """

    def __init__(self, is_covered: Callable[[str], bool]) -> None:
        self.is_covered = is_covered
        self.branches: set[tuple[Any, ...]] = set()
        self.lines: set[tuple[str, int]] = set()
        self.functions: dict[tuple[str, int, str], None] = {}
        self.is_on = False
        self._entry_tests: dict[int, tuple[CodeType, int]] = {}
        self._positions: dict[int, tuple[CodeType, list[tuple[Any, ...]]]] = {}

    @property
    def reached(self) -> int:
        """How much was reached: it grows when a run reaches something new."""
        return len(self.branches) + len(self.lines)

    def start(self) -> None:
        """Begin to listen to the interpreter's events."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop listening."""
        raise NotImplementedError

    def call(self, f: Callable[[Any], Any], argument: Any) -> None:
        """Call a function and note what it reaches."""
        self.is_on = True
        try:
            f(argument)
        finally:
            self.is_on = False

    def _is_entry_test(self, code: CodeType, offset: int) -> bool:
        """Whether a jump belongs to the test with which a rewritten function begins; the source has no such test."""
        known = self._entry_tests.get(id(code))
        if known is None:
            jumps = (one.offset for one in dis.get_instructions(code) if one.opname.startswith("POP_JUMP"))
            first = next(jumps, -1) if IS_ANY_ACTIVE in code.co_names else -1
            known = self._entry_tests[id(code)] = code, first
        return offset <= known[1]

    def _position(self, code: CodeType, offset: int) -> tuple[Any, ...]:
        """Where an instruction is in the source."""
        # By identity, as everywhere here: the hash of a code object takes all its constants into account.
        known = self._positions.get(id(code))
        if known is None:
            known = self._positions[id(code)] = code, list(code.co_positions())
            self.functions[code.co_filename, code.co_firstlineno, code.co_name] = None
        return known[1][offset // 2]


class _Monitored(Coverage):
    """Events of `sys.monitoring`, each switched off where it has nothing new to say."""

    def start(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
        free = [number for number in _TOOLS if monitoring.get_tool(number) is None]
        if not free:
            raise RuntimeError("fuzz needs a tool number of sys.monitoring, and all are taken: stop the other tools")
        self._tool = free[0]
        self._next: dict[tuple[int, int], int] = {}
        self._taken: set[tuple[int, int, int]] = set()
        events = monitoring.events
        monitoring.use_tool_id(self._tool, "cassette_import fuzz")
        self._disable = monitoring.DISABLE
        listeners: list[tuple[int, Callable[..., Any]]] = [(events.LINE, self._line)]
        if hasattr(events, "BRANCH_LEFT"):
            listeners += [(events.BRANCH_LEFT, self._left), (events.BRANCH_RIGHT, self._right)]
        else:
            listeners += [(events.BRANCH, self._branch)]
        for event, listener in listeners:
            monitoring.register_callback(self._tool, event, listener)
        self._events = [event for event, _ in listeners]
        monitoring.set_events(self._tool, sum(self._events))
        monitoring.restart_events()

    def stop(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
        monitoring.set_events(self._tool, 0)
        for event in self._events:
            monitoring.register_callback(self._tool, event, None)
        monitoring.free_tool_id(self._tool)

    def _line(self, code: CodeType, line: int) -> Any:
        if not self.is_covered(code.co_filename):
            return self._disable
        if not self.is_on:
            return None
        self._position(code, 0)
        self.lines.add((code.co_filename, line))
        return self._disable

    def _branch(self, code: CodeType, offset: int, destination: int) -> Any:
        """A branch before 3.14: one event for both directions, so it is needed until both were taken."""
        taken = id(code), offset, destination
        if taken in self._taken:
            return None
        if not self.is_covered(code.co_filename) or self._is_entry_test(code, offset):
            return self._disable
        if not self.is_on:
            return None
        self._taken.add(taken)
        key = code.co_filename, *self._position(code, offset)
        self.branches.add((*key, destination > self._following(code, offset)))
        return self._disable if {(*key, True), (*key, False)} <= self.branches else None

    def _following(self, code: CodeType, offset: int) -> int:
        """Where the instruction after a jump begins."""
        if (id(code), offset) not in self._next:
            offsets = [one.offset for one in dis.get_instructions(code)]
            for here, following in zip(offsets, [*offsets[1:], offsets[-1] + 2], strict=True):
                self._next[id(code), here] = following
        return self._next.get((id(code), offset), offset + 2)

    def _left(self, code: CodeType, offset: int, destination: int) -> Any:
        return self._direction(code, offset, False)

    def _right(self, code: CodeType, offset: int, destination: int) -> Any:
        return self._direction(code, offset, True)

    def _direction(self, code: CodeType, offset: int, direction: bool) -> Any:
        if not self.is_covered(code.co_filename) or self._is_entry_test(code, offset):
            return self._disable
        if self.is_on:
            self.branches.add((code.co_filename, *self._position(code, offset), direction))
            return self._disable
        return None


class _Traced(Coverage):
    """Lines with their predecessors, from `sys.settrace`."""

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def call(self, f: Callable[[Any], Any], argument: Any) -> None:
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            f(argument)
        finally:
            sys.settrace(before)

    def _entered(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not self.is_covered(code.co_filename):
            return None
        self.functions[code.co_filename, code.co_firstlineno, code.co_name] = None
        last = code.co_firstlineno

        def within(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                self.lines.add((code.co_filename, frame.f_lineno))
                self.branches.add((code.co_filename, last, frame.f_lineno))
                last = frame.f_lineno
            return within

        return within


def coverage(is_covered: Callable[[str], bool]) -> Coverage:
    """The coverage of the files for which a function of their names is true."""
    return (_Monitored if hasattr(sys, "monitoring") else _Traced)(is_covered)
