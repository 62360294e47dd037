"""The progress of tasks: how many have ended of those that were submitted, on a status line of the terminal."""

from __future__ import annotations

from threading import Lock
from time import monotonic
from typing import Final

from cassette_import.interpreter.standard_error import StandardError

__all__ = ["Progress"]

_EVERY: Final = 0.1
"""The least seconds between two changes of the line."""
_CELLS: Final = 20


class Progress:
    """Counts tasks, and shows them while there are some that have not ended, if there is a terminal to show them on."""

    def __init__(self, output: StandardError | None) -> None:
        self._output = output
        self._lock = Lock()
        self._submitted = self._ended = 0
        self._changed = 0.0
        self._is_shown = False

    def submitted(self) -> None:
        """Count a task that was submitted."""
        with self._lock:
            self._submitted += 1
            self._show()

    def waiting(self) -> None:
        """Show the line: a task is waited for now."""
        with self._lock:
            self._show()

    def ended(self, *, failed: bool) -> None:
        """Count a task that has ended, and hide the line: its output follows. No task is left if one has failed."""
        with self._lock:
            self._ended += 1
            self._hide()
            if failed or self._ended >= self._submitted:
                self._submitted = self._ended = 0

    def _show(self) -> None:
        now = monotonic()
        if self._output is not None and self._output.is_terminal and now - self._changed >= _EVERY:
            filled = _CELLS * self._ended // max(1, self._submitted)
            bar = "█" * filled + "░" * (_CELLS - filled)
            self._hide()
            self._is_shown = self._output.show_status(f" parallel: {bar} {self._ended} of {self._submitted} tasks")
            self._changed = now

    def _hide(self) -> None:
        if self._is_shown and self._output is not None:
            self._output.hide_status()
            self._is_shown = False
            self._changed = 0.0
