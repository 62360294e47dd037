"""What is measured: ways to run a program, plain Python first, each with the arguments that run a program so.

The contexts do nothing but what their name says, so that what is measured is the price of being asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from cassette_import import Context, Events


class Nothing(Context):
    """Intercepts a function that no workload calls."""


@Nothing.overdub.register(time.ctime)
def _ctime(ctx: Any, f: Any, *arguments: Any) -> Any:
    return time.ctime(*arguments)


class Three(Context):
    """Replaces three functions, by what they do."""


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

    before = 0
    after = 0

    def prehook(self, f: Any, *arguments: Any, **keywords: Any) -> None:
        self.before += 1

    def posthook(self, result: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
        self.after += 1


class CountOperators(Count, events=Events.CALLS | Events.OPERATORS):
    """The same at each call, operator and subscript."""


class Look(Context, events=Events.CALLS):
    """Looks at what it is handed: keeps the last callee, its arguments and its result."""

    last: Any = None

    def prehook(self, f: Any, *arguments: Any, **keywords: Any) -> None:
        self.last = f, arguments

    def posthook(self, result: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
        self.last = f, result


class Way(NamedTuple):
    """One way to run a program."""

    name: str
    runs: str
    """What runs the program: nothing (`python`), `cassette_import` with a context, or a profiler of Python's."""
    what: str
    """For people."""


WAYS: Final = (
    Way("plain", "", "plain Python"),
    Way("inactive", "none", "installed, no context active"),
    Way("nothing", "benchmarks.variants:Nothing", "a context that intercepts nothing met"),
    Way("three", "benchmarks.variants:Three", "a context that replaces `time.time`, `math.sin`, `list.append`"),
    Way("count", "benchmarks.variants:Count", "`prehook` and `posthook` at every call, each adding one to a counter"),
    Way("count-operators", "benchmarks.variants:CountOperators", "the same at every call, operator and subscript"),
    Way("look", "benchmarks.variants:Look", "`prehook` and `posthook` at every call that keep callee, arguments, result"),
    Way("profile", "profile", "the context `profile`"),
    Way("setprofile", "sys.setprofile", "`sys.setprofile` with a Python function that counts"),
    Way("cprofile", "cProfile", "`cProfile` (in C)"),
)
