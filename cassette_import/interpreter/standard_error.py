"""The standard error of the process: lines and a status line for the user, until the program closes or redirects it.

Text is written to the file descriptor in one piece: no buffer, lock or stream of the program takes part.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Final, TextIO

__all__ = ["StandardError"]

_HIDE: Final = "\x1b[K"
"""Erases what is to the right of the cursor."""
_SHOW: Final = "\x1b7\x1b[?7l{}\x1b[?7h\x1b8"
"""Writes to the right of the cursor, at most to the end of the line, and leaves the cursor where it was."""
_HAS_CURSOR: Final = os.environ.get("TERM", "dumb") != "dumb"
"""Whether terminals understand these sequences. The environment is read now: a context may record later readings."""


class StandardError:
    """A file descriptor of the process, by default that of its standard error at present.

    If the program closes or redirects it later, as a daemon does, nothing is written any more: another file may have
    its number then. A program that only assigns to `sys.stderr` has replaced the stream, and not the descriptor.

    With `is_inside_line`, a line is begun first, because something else writes parts of lines.
    """

    def __init__(self, descriptor: int | None = None, *, is_inside_line: bool = False) -> None:
        self._is_inside_line = is_inside_line
        self._stream = sys.__stderr__ if descriptor is None else None
        self._descriptor = _descriptor_of(self._stream) if descriptor is None else descriptor
        self._identity = _identity_of(self._descriptor)
        self.is_terminal: Final = self._identity is not None and os.isatty(self._descriptor)
        self._modes = _terminal_modes() if self.is_terminal else None

    def write_line(self, text: str) -> bool:
        """Write a line; return whether that was possible."""
        return self._write(f"\n{text}\n" if self._is_inside_line else f"{text}\n")

    def show_status(self, text: str) -> bool:
        """Show a status line behind the cursor until `hide_status`, if this is a terminal that can; return whether."""
        return self._can_show_status() and self._write(_SHOW.format(text))

    def hide_status(self) -> None:
        """Erase the status line. What other threads have written meanwhile remains."""
        self._write(_HIDE)

    def _can_show_status(self) -> bool:
        """Whether the terminal is in its usual mode, and shows the output of this process in the foreground."""
        modes = self._modes
        if modes is None or not _HAS_CURSOR:
            return False
        try:
            local_flags: int = modes.tcgetattr(self._descriptor)[3]
            # A program that takes single keys, such as an editor, writes to any place of the screen.
            return bool(local_flags & modes.ICANON) and os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except (OSError, modes.error):
            return False

    def _write(self, text: str) -> bool:
        if self._identity is None or _identity_of(self._descriptor) != self._identity:
            return False
        if self._stream is not None and self._stream.closed:  # Python leaves its descriptor open
            return False
        try:
            os.write(self._descriptor, text.encode())
        except OSError:  # the reader has closed the pipe, or the disk is full
            return False
        return True


def _terminal_modes() -> Any:
    """The module of terminal modes; None on Windows, which has none."""
    try:
        import termios  # few starts write to a terminal
    except ImportError:
        return None
    return termios


def _descriptor_of(stream: TextIO | None) -> int:
    """The descriptor of a stream; -1 if there is none, as under pythonw."""
    try:
        return -1 if stream is None else stream.fileno()
    except (OSError, ValueError):
        return -1


def _identity_of(descriptor: int) -> tuple[int, int, int] | None:
    """What tells a file from others; None if the descriptor is closed."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mode
