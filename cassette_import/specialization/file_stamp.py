"""The stamp of a source file, by which a change of the file is noticed."""

from __future__ import annotations

import os
import time
from typing import Final

STARTED: Final = time.time_ns()
"""Files that were written before have not changed since their modules were executed."""


def stamp_of(filename: str) -> tuple[int, int] | None:
    """The time of the last change of a file, and its size; None if there is no such file."""
    try:
        status = os.stat(filename)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size
