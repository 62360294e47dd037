"""The clocks for measurements, which go on while a program's tests freeze or move the time.

freezegun replaces the functions of `time` in all modules that have them as globals. So they are wrapped here.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

__all__ = ["monotonic", "perf_counter", "processor_time"]

# A call of a partial object without arguments takes no longer than a call of the function itself.
monotonic: Final = partial(time.monotonic)
perf_counter: Final = partial(time.perf_counter)

_clock_of: Final = getattr(time, "pthread_getcpuclockid", None)
_time_of: Final = partial(getattr(time, "clock_gettime", float))


def processor_time(ident: int) -> float | None:
    """The processor time of a thread that runs; None where the system does not tell."""
    return None if _clock_of is None else _time_of(_clock_of(ident))
