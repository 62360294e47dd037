"""Which memory is still alive when measuring ends, by the line of the program that allocated it.

`tracemalloc` has the innermost frames of each block. Blocks that cassette_import allocated for itself are left out;
frames of it that only pass a call on are looked through. Knows snapshots and the folders of cassette_import; must not
know call trees.
"""

from __future__ import annotations

import os
import sysconfig
import tracemalloc
from typing import Final

__all__ = ["FRAMES", "KeptBlocks", "is_own_file"]

FRAMES: Final = 4
"""How many frames `tracemalloc` records: enough to see on whose behalf the standard library allocates."""
_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_PASSING_ON: Final = tuple(_PACKAGE + name + os.sep for name in ("activation", "importing", "runtime"))
_STANDARD_LIBRARY: Final = sysconfig.get_path("stdlib") + os.sep
_THIRD_PARTY: Final = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})


class KeptBlocks:
    """Numbers of bytes and blocks that are alive, by file and line.

    Parameters
    ----------
    others:
        Blocks to begin with.
    """

    def __init__(self, others: KeptBlocks | None = None) -> None:
        self.by_line: dict[tuple[str, int], tuple[int, int]] = {} if others is None else dict(others.by_line)

    def add(self, snapshot: tracemalloc.Snapshot) -> None:
        """Add the blocks of a snapshot that the program has allocated."""
        for found in snapshot.statistics("traceback"):
            line = program_line(found.traceback)
            if line is not None:
                size, count = self.by_line.get(line, (0, 0))
                self.by_line[line] = size + found.size, count + found.count


def program_line(traceback: tracemalloc.Traceback) -> tuple[str, int] | None:
    """The line of the program that has allocated a block; None if cassette_import has done it for itself."""
    found = None
    for frame in reversed(traceback):  # the innermost one first
        if not frame.filename.startswith(_PACKAGE):
            if found is None:
                found = frame.filename, frame.lineno
            if not _is_standard_library(frame.filename):
                return found
        elif not frame.filename.startswith(_PASSING_ON):
            return None
    return found


def is_own_file(filename: str) -> bool:
    """Whether a file is one of cassette_import.

    >>> is_own_file(__file__), is_own_file("shop.py")
    (True, False)
    """
    return filename.startswith(_PACKAGE)


def _is_standard_library(filename: str) -> bool:
    is_in_its_folder = filename.startswith(_STANDARD_LIBRARY) and not filename.startswith(_THIRD_PARTY)
    return is_in_its_folder or filename.startswith("<frozen ")
