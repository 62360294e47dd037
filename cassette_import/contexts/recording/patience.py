"""`Patience`: how long a replay waits for what may never come, such as the call of a thread that needs a lock first."""

from __future__ import annotations

import time
from typing import Final

__all__ = ["Patience"]

_LONGEST: Final = 20.0
_BUSY: Final = 0.1
_monotonic: Final = time.monotonic
_process_time: Final = time.process_time


class Patience:
    """Ends after some seconds in which nothing happened.

    While the process is busy, something may still come: a thread may be compiling functions, for example.

    Parameters
    ----------
    seconds:
        How long to wait.

    >>> Patience(60).is_over()
    False
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begin = self._since = _monotonic()
        self._processed = _process_time()

    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        now = _monotonic()
        elapsed = now - self._since
        if elapsed <= self._seconds:
            return False
        processed = _process_time()
        if processed - self._processed < _BUSY * elapsed or now - self._begin > _LONGEST:
            return True
        self._since, self._processed = now, processed
        return False
