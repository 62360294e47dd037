"""Tracebacks of programs: the interpreter prints them without the frames of cassette_import.

Knows tracebacks and `sys.excepthook`; must not know how programs run.
"""

from __future__ import annotations

import sys
from types import TracebackType

__all__ = ["print_plainly", "without_frames_of"]


def without_frames_of(filenames: tuple[str, ...], traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of these files."""
    entries = []
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename not in filenames:
            entries.append(traceback)
        traceback = traceback.tb_next
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        entry.tb_next = following
    return entries[0] if entries else None


def print_plainly(traceback: TracebackType | None) -> None:
    """Let the interpreter, which the exception will reach, print this traceback instead of the exception's own."""
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

    sys.excepthook = show


def _print_failure(failure: BaseException, error: BaseException) -> None:
    """Print what Python prints if an excepthook raises."""
    print("Error in sys.excepthook:", file=sys.stderr)
    failure.__traceback__ = without_frames_of((__file__,), failure.__traceback__)
    sys.__excepthook__(type(failure), failure, failure.__traceback__)
    print("\nOriginal exception was:", file=sys.stderr)
    sys.__excepthook__(type(error), error, error.__traceback__)
