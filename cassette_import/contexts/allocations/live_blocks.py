"""Which memory is alive at a moment, by the line of the program that allocated it.

`tracemalloc` has the innermost frames of each block. Blocks that cassette_import allocated for itself are left out;
frames of it that only pass a call on are looked through.
"""

from __future__ import annotations

import gc
import os
import sysconfig
from _tracemalloc import _get_traces  # a snapshot makes objects of them, which takes ten times as long
from collections.abc import Sequence
from typing import Any, Final

from cassette_import.contexts.allocations.depth import without_lines

__all__ = ["LiveBlocks", "is_own_file"]

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_PASSING_ON: Final = tuple(_PACKAGE + name + os.sep for name in ("activation", "importing", "runtime"))
_STANDARD_LIBRARY: Final = sysconfig.get_path("stdlib") + os.sep
_THIRD_PARTY: Final = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})

Traceback = tuple[tuple[str, int], ...]
"""Files and lines, the innermost frame first."""


class LiveBlocks:
    """The blocks that were alive at some moments; at none to begin with.

    They are put together by line when that is asked for. As long as memory is traced, it takes ten times as long: each
    number that is computed is a new block. The traces are kept as they are: tuples that were freed here would be the
    next ones of the program, as if those allocated nothing.
    """

    def __init__(self) -> None:
        self._parts: list[Sequence[Any]] = []  # domain, size, traceback and depth of each block

    def __len__(self) -> int:
        """How many blocks there are, those of cassette_import included."""
        return sum(map(len, self._parts))

    def add_all(self) -> None:
        """Add all blocks that are alive now."""
        is_enabled = gc.isenabled()
        gc.disable()  # the program's garbage lives as long as it would
        try:
            self._parts.append(_get_traces())
        finally:
            if is_enabled:
                gc.enable()

    def added_to(self, others: LiveBlocks) -> LiveBlocks:
        """These blocks and others."""
        both = LiveBlocks()
        both._parts = others._parts + self._parts
        return both

    def by_line(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Numbers of bytes and blocks that the program has allocated, by file and line."""
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for traces in self._parts:
            lines: dict[int, tuple[str, int] | None] = {}
            for _, size, traceback, _ in traces:
                if id(traceback) not in lines:  # blocks of one traceback share the object
                    lines[id(traceback)] = _program_line(traceback)
                line = lines[id(traceback)]
                if line is not None:
                    total, count = found.get(line, (0, 0))
                    found[line] = total + size, count + 1
        return found


def _program_line(traceback: Traceback) -> tuple[str, int] | None:
    """The line of the program that has allocated a block; None if cassette_import has done it for itself."""
    found = None
    for frame in traceback:
        filename = frame[0]
        if not filename.startswith(_PACKAGE):
            if found is None:
                found = frame
            if not _is_standard_library(filename):
                return found
        elif not filename.startswith(_PASSING_ON):
            return None
    return found


@without_lines
def is_own_file(filename: str) -> bool:
    """Whether a file is one of cassette_import.

    >>> is_own_file(__file__), is_own_file("shop.py")
    (True, False)
    """
    return filename.startswith(_PACKAGE)


def _is_standard_library(filename: str) -> bool:
    is_in_its_folder = filename.startswith(_STANDARD_LIBRARY) and not filename.startswith(_THIRD_PARTY)
    return is_in_its_folder or filename.startswith("<frozen ")
