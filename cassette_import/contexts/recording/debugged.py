"""Whether it is a debugger that looks at something, and not the program that uses it.

Knows `bdb`; must not know what is looked at.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["is_looked_at"]


def is_looked_at() -> bool:
    """Whether it is a debugger that uses a stand-in, and not the program."""
    bdb: Any = sys.modules.get("bdb")
    if bdb is None:
        return False
    looking = bdb.Bdb.trace_dispatch.__code__
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is looking:
            return True
        frame = frame.f_back
    return False
