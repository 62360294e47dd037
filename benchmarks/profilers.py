"""Profilers that run a module as its program: `python -m benchmarks.profilers count|cprofile -m MODULE`.

One in Python that only counts, and `cProfile`, whose own `-m` is the main module while the program runs.
"""

from __future__ import annotations

import cProfile
import runpy
import sys
import threading
from typing import Any


class Counter:
    """Adds one to a counter at each call and return, of Python functions and of those in C."""

    def __init__(self) -> None:
        self.before = 0
        self.after = 0

    def profile(self, frame: Any, event: str, argument: Any) -> None:
        """The function for `sys.setprofile`."""
        if event == "call" or event == "c_call":
            self.before += 1
        else:
            self.after += 1


if __name__ == "__main__":
    which, module = sys.argv[1], sys.argv[3]
    del sys.argv[:3]
    if which == "cprofile":
        cProfile.Profile().enable()
    else:
        profile = Counter().profile
        threading.setprofile(profile)
        sys.setprofile(profile)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
