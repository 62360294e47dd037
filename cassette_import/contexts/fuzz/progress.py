"""The line that shows the progress of a search: on a terminal, each one takes the place of the one before."""

from __future__ import annotations

import time
from typing import Final, TextIO

__all__ = ["Progress"]

_SECONDS: Final = 0.5


class Progress:
    """Shows a line now and then.

    Parameters
    ----------
    stream:
        Where it is shown; None for nowhere.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._shown = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the last line was shown long enough ago."""
        return self._stream is not None and time.monotonic() - self._shown > _SECONDS

    def show(self, line: str, at_end: bool) -> None:
        """Show a line; the one at the end stays."""
        if self._stream is None:
            return
        self._shown = time.monotonic()
        is_terminal = self._stream.isatty()
        end = "\n" if at_end or not is_terminal else ""
        self._stream.write(f"\r\x1b[K{line}{end}" if is_terminal else f"{line}{end}")
        self._stream.flush()
