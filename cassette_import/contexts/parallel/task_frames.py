"""Frames of a task as log records and warnings name them: those above the function are the program's, not a worker's.

A worker says how many frames above the function one is; the process of the program finds it, from the call on.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Final, TypeAlias

__all__ = ["Above", "Callers", "StackEntry", "caller", "frames_of_task", "stack_entries", "stack_text"]

Callers: TypeAlias = Sequence[tuple[FrameType, int, int]]
"""The frames of a call, the innermost first, each with its last instruction and its line then."""
StackEntry: TypeAlias = tuple[str, int, str, str | None]
"""File, line, function and text of the line."""

_PACKAGE: Final = os.path.dirname(__file__) + os.sep


class Above(str):
    """A text about frames of a worker, and which frames of the program are meant.

    Attributes
    ----------
    level:
        How many frames above the function the first one is; 0 for one in the function.
    inside:
        The entries of a stack that are in the function, the innermost first.
    """

    level: int = 0
    inside: Sequence[StackEntry] = ()


def frames_of_task(is_skipped: Callable[[FrameType], bool]) -> tuple[list[FrameType], list[FrameType]]:
    """The frames of this thread, the innermost first: those in the function of a task, and those above it.

    Parameters
    ----------
    is_skipped:
        Whether a frame does not count.
    """
    frames = list(_outwards(sys._getframe(1)))
    first = next(number for number, frame in enumerate(frames) if not _is_in_package(frame))
    last = next((number for number in range(first, len(frames)) if _is_in_package(frames[number])), len(frames))
    return [frame for frame in frames[first:last] if not is_skipped(frame)], frames[last:]


def caller(callers: Callers, level: int) -> tuple[FrameType, int]:
    """The frame so many levels above a function, and its line; the outermost one if there are fewer."""
    last = callers[0][0], callers[0][2]
    for number, above in enumerate(_above(callers), 1):
        last = above
        if number == level:
            break
    return last


def stack_entries(frames: Sequence[FrameType]) -> list[StackEntry]:
    """Frames as entries of a stack, in the same order."""
    return _entries((frame, frame.f_lineno) for frame in frames)


def stack_text(inside: Sequence[StackEntry], callers: Callers, level: int) -> str:
    """A stack as `logging` writes it: what is in the function, and the program's frames from a level on."""
    above = _entries(_above(callers))[max(level - 1, 0) :] or _entries([caller(callers, level)])
    lines = traceback.StackSummary.from_list([*inside, *above][::-1]).format()
    return ("Stack (most recent call last):\n" + "".join(lines)).removesuffix("\n")


def _entries(frames: Iterator[tuple[FrameType, int]] | Sequence[tuple[FrameType, int]]) -> list[StackEntry]:
    return [(one.filename, one.lineno or 0, one.name, one.line) for one in traceback.StackSummary.extract(iter(frames))]


def _above(callers: Callers) -> Iterator[tuple[FrameType, int]]:
    for frame, _, line in callers:
        yield frame, line
    for frame in _outwards(callers[-1][0].f_back):
        yield frame, frame.f_lineno


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_in_package(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)
