"""Tracebacks of programs: the interpreter prints them without the frames of cassette_import.

A runaway recursion may reach its limit in a hook; it is shown as in plain Python.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from types import FrameType, TracebackType
from typing import Final

from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["entries_of", "print_plainly", "without_frames_of", "without_hooks"]

_HOOKS: Final = frozenset(("prehook", "posthook", "errorhook"))
_READY_MADE: Final = os.path.join(PACKAGE_FOLDER, "contexts", "")
_LIBRARIES: Final = PACKAGE_FOLDER, os.path.dirname(os.__file__) + os.sep


def without_frames_of(filenames: tuple[str, ...], traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of these files."""
    entries = [entry for entry in entries_of(traceback) if entry.tb_frame.f_code.co_filename not in filenames]
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        entry.tb_next = following
    return entries[0] if entries else None


def without_hooks(error: BaseException) -> None:
    """Let a RecursionError that reached its limit in a hook of a ready-made context end at the program's own line.

    Other exceptions stay as they are.
    """
    following: BaseException | None = error
    while isinstance(following, RecursionError) and following.__cause__ is None:
        if following.__traceback__ is not None:
            _cut_at_hook(following.__traceback__)
        following.__context__ = _context_in_program(following)
        following = following.__context__


def _context_in_program(error: BaseException) -> BaseException | None:
    """The exception that the program handled when it raised this one.

    Those between the two were raised by a call whose hook could not be called either, because it is as deep: they have
    the frame and line of the call. An exception that an `except` block of the program raises has another line.
    """
    lines: set[tuple[FrameType, int]] = set()
    context: BaseException | None = error
    while isinstance(context, RecursionError) and context.__cause__ is None:
        entries = entries_of(context.__traceback__)
        if context is not error and not (entries and (entries[0].tb_frame, entries[0].tb_lineno) in lines):
            break
        lines.update((entry.tb_frame, entry.tb_lineno) for entry in entries)
        context = context.__context__
    return context


def _cut_at_hook(traceback: TracebackType) -> None:
    """Remove the frames from a hook on, if it called nothing but cassette_import and the standard library."""
    before: TracebackType | None = None
    entries = entries_of(traceback)
    for entry, following in itertools.pairwise(entries):
        code = following.tb_frame.f_code
        if before is None and code.co_name in _HOOKS and code.co_filename.startswith(_READY_MADE):
            before = entry
        elif not code.co_filename.startswith(_LIBRARIES):
            before = None
    if before is not None:
        before.tb_next = None


def entries_of(traceback: TracebackType | None) -> list[TracebackType]:
    """The entries of a traceback, outermost first."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def print_plainly(traceback: TracebackType | None, explanation: str | None = None) -> None:
    """Let the interpreter, which the exception will reach, print this traceback instead of the exception's own.

    An explanation follows it.
    """
    excepthook = getattr(sys, "excepthook", sys.__excepthook__)

    def show(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        sys.excepthook = excepthook
        error.__traceback__ = sys.last_traceback = traceback
        try:
            excepthook(kind, error, traceback)
        except SystemExit:
            raise
        except BaseException as failure:
            _print_failure(failure, error)
        if explanation is not None:
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed or missing
                print(explanation, file=sys.stderr)

    sys.excepthook = show


def _print_failure(failure: BaseException, error: BaseException) -> None:
    """Print what Python prints if an excepthook raises."""
    print("Error in sys.excepthook:", file=sys.stderr)
    failure.__traceback__ = without_frames_of((__file__,), failure.__traceback__)
    sys.__excepthook__(type(failure), failure, failure.__traceback__)
    print("\nOriginal exception was:", file=sys.stderr)
    sys.__excepthook__(type(error), error, error.__traceback__)
