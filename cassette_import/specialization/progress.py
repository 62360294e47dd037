"""Progress of specialising: lines on the terminal while the first run under a context waits for compiled bodies.

Knows terminals, and that bodies are compiled one at a time. Must not know how.
"""

from __future__ import annotations

import os
from typing import IO, Final

from cassette_import.specialization.compilation_listeners import LISTENERS

__all__ = ["show"]

_PATIENCE: Final = 2.0
"""The seconds of specialising before the first line. Each further line comes after twice the time of the last one."""


def show(terminal: IO[str] | None, patience: float = _PATIENCE) -> None:
    """From now on, report the progress of specialising, each time that it has taken twice as long as the last time.

    Parameters
    ----------
    terminal:
        The stream for the lines. Nothing is written to anything but a terminal, because its content may be compared.
    patience:
        The seconds before the first line.
    """
    try:
        if terminal is None or not terminal.isatty():
            return
    except ValueError:  # closed
        return
    progress = _Progress(terminal, patience)
    _shown.append(progress)
    LISTENERS.add(progress)


class _Progress:
    """Counts compiled bodies and their time, and writes lines in the process that began to count."""

    def __init__(self, terminal: IO[str], patience: float) -> None:
        self._terminal = terminal
        self._patience = patience
        self._process = os.getpid()
        self._count = 0
        self._seconds = 0.0

    def body_made(self, seconds: float) -> None:
        """Called by the body compiler."""
        self._count += 1
        self._seconds += seconds
        if self._seconds >= self._patience and os.getpid() == self._process:
            self._patience = 2 * self._seconds
            self._write(f"cassette_import: {self._count} functions specialised in {self._seconds:.0f} seconds, so far")

    def _write(self, text: str) -> None:
        try:
            self._terminal.write(text + "\n")
            self._terminal.flush()
        except (OSError, ValueError):
            pass


_shown: Final[list[_Progress]] = []
"""The body compiler does not keep its listeners alive."""
