"""The clock that contexts measure with: Python's own, while a program's tests freeze or move theirs.

freezegun replaces the functions of `time` wherever a module has them by name. Must not know what is measured.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

__all__ = ["perf_counter"]

perf_counter: Final = partial(time.perf_counter)  # which takes no longer than the function itself
