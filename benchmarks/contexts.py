"""The contexts that are measured. Each does as little as its name allows: the cost of dispatch is measured."""

from __future__ import annotations

import atexit
import functools
import math
import os
import shutil
import tempfile
import time
from typing import Any

from cassette_import import Context, Events
from cassette_import.contexts import Profile, Trace
from cassette_import.kits.calls.accelerator import ACCELERATOR

__all__ = [
    "Count",
    "CountOperators",
    "Look",
    "Nothing",
    "Outer",
    "Profile",
    "Tagging",
    "Three",
    "profile_in_python",
    "traced",
]


class Tagging(Context, tagging=True):
    """Values could be tagged, and nothing else happens."""


class Nothing(Context):
    """Replaces a function that no workload calls."""


@Nothing.overdub.register(time.ctime)
def _ctime(ctx: Any, f: Any, *arguments: Any) -> Any:
    return time.ctime(*arguments)


class Three(Context):
    """Replaces three functions by overloads that call them."""


@Three.overdub.register(time.time)
def _time(ctx: Any, f: Any) -> Any:
    return time.time()


@Three.overdub.register(math.sin)
def _sin(ctx: Any, f: Any, x: Any) -> Any:
    return math.sin(x)


@Three.overdub.register(list.append)
def _append(ctx: Any, f: Any, items: Any, item: Any) -> Any:
    return items.append(item)


class Count(Context, events=Events.CALLS):
    """Adds one to a counter before each call, and one after it."""

    def __init__(self) -> None:
        super().__init__()
        self.before = 0  # not in the class: CPython is slow to add to an attribute that the class has as well
        self.after = 0

    def prehook(self, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Count."""
        self.before += 1

    def posthook(self, result: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Count."""
        self.after += 1


class CountOperators(Count, events=Events.CALLS | Events.OPERATORS):
    """The same at each call, operator and subscript."""


class Look(Context, events=Events.CALLS):
    """Its hooks read their arguments: they store the last callee with its arguments, then its result."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Any = None
        self.result: Any = None

    def prehook(self, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Keep the call."""
        self.last = f, arguments, keywords

    def posthook(self, result: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Keep the result."""
        self.result = result


class Outer(Look):
    """A second context type that does the same."""


def profile_in_python() -> Profile:
    """A profile whose hooks are in Python, as where the accelerator could not be built."""
    is_used = ACCELERATOR.is_used
    ACCELERATOR.is_used = False
    try:
        return Profile()
    finally:
        ACCELERATOR.is_used = is_used


def traced() -> Trace:
    """A trace of all calls, to a file that is removed at the end."""
    trace = Trace(limit=0)
    trace.stream(os.path.join(_folder(), "trace.txt"))
    return trace


@functools.cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="benchmarks")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
