"""Functions whose result is a size, a position or a count, as data: their integers are no numbers of a computation."""

from __future__ import annotations

import bisect
import operator
import sys
from collections import deque
from typing import Final

__all__ = ["COUNTS", "SIZES"]

_SIZED: Final = (list, tuple, dict, set, frozenset, str, bytes, bytearray, deque, range)

SIZES: Final = frozenset(
    map(
        id,
        (
            *(len, operator.length_hint, sys.getsizeof),
            *(getattr(kind, name) for kind in _SIZED for name in ("__len__", "__sizeof__") if hasattr(kind, name)),
        ),
    )
)
"""Functions whose result is a size, whatever numbers a container holds."""

COUNTS: Final = SIZES | frozenset(
    map(
        id,
        (
            *(hash, range, operator.countOf, operator.indexOf, bisect.bisect_left, bisect.bisect_right),
            *(float.__hash__, int.__hash__, int.bit_length, int.bit_count),
            *(
                getattr(kind, name)
                for kind in _SIZED
                for name in ("count", "find", "index", "rfind", "rindex")
                if hasattr(kind, name)
            ),
        ),
    )
)
"""Functions whose result is a size, a position or a count: an integer that is no float's value, and is never rounded.
The floats decide on it, as on a branch."""
