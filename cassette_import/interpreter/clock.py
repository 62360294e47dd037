"""The clocks that we measure with: Python's own, while a program's tests freeze or move theirs.

freezegun replaces the functions of `time` wherever a module has them by name. Must not know what is measured.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

__all__ = ["monotonic", "perf_counter"]

# A call of these takes no longer than one of the functions themselves.
monotonic: Final = partial(time.monotonic)
perf_counter: Final = partial(time.perf_counter)
