"""A trace that is a tree in a file, whose lines the accelerator writes.

Calls that the hooks in C show do not come here; those that the context shows do, and notes. Both share the lines, so
that each call completes the line that it began.
"""

from __future__ import annotations

import os
import stat
from typing import Any, Final

from cassette_import.contexts.common.accelerator import ACCELERATOR
from cassette_import.contexts.trace.bounded_repr import Shortener
from cassette_import.contexts.trace.output import WORDS, TracedThread, Tree
from cassette_import.contexts.trace.rest_file import SUFFIX
from cassette_import.contexts.trace.secret_masking import Secrets

__all__ = ["TreeInC", "is_block_file"]

_WRITING: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def is_block_file(path: str) -> bool:
    """Whether the accelerator can write the file: it is a regular one, or there is none yet.

    >>> is_block_file(os.devnull)
    False
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True


class TreeInC(Tree):
    """A tree in a file of its own."""

    def __init__(self, path: str, *, show: Shortener, secrets: Secrets) -> None:
        file: Any = ACCELERATOR.BlockFile(os.open(path, _WRITING, 0o666), path + SUFFIX)
        super().__init__(file, show=show, secrets=secrets)
        self.lines = ACCELERATOR.TreeLines(file)
        """The lines, for the hooks in C."""

    def _start_line(self, thread: TracedThread, level: int, call: str) -> None:
        if self._works:
            self.lines.begin(thread, level, call)

    def write_outcome(
        self, thread: TracedThread, level: int, name: str, kind: str, text: str, at: float | None = None
    ) -> None:
        """Complete the line of the call, or write a new one."""
        if self._works:
            self.lines.end(thread, level, f"{WORDS[kind]} {text}")

    def note(self, text: str) -> None:
        """Write a line."""
        if self._works:
            self.lines.note(f"… {text}")

    def finish(self) -> None:
        """Complete the line that was started."""
        if self._works:
            self.lines.finish()
