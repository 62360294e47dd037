"""Memory of intermediate arrays: freed memory stays in the process, for the arrays of the next operation.

An operation makes an array and frees others. The allocator of the C library on Linux gives large pieces that are freed
back to the system at once, and the system clears each page when it is used again: this takes longer than the
arithmetic. The allocator keeps more if the program has freed a large piece before.
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

__all__ = ["keep_freed_memory"]

_MOST: Final = 31 * 2**20
"""The size in bytes of the piece that is freed: the allocator learns from pieces below 32 MB, and keeps twice that."""


@functools.cache
def keep_freed_memory() -> None:
    """Have the allocator keep freed memory, once for the process: memory that is allocated here is never touched.

    Other allocators, and one whose limits are set in the environment, go on as before.
    """
    np.empty(_MOST, np.uint8)
