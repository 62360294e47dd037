"""How costs grow: ``python -m benchmarks.growth`` prints a table, as JSON with `--json`.

They are measured by the number of call sites of a function, of functions of a package, of contexts in a stack, of
threads, of tasks, and by the depth of calls. The minimum of some repetitions counts; seconds are those of the CPU.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import cassette_import
from benchmarks.contexts import Count, Look, Nothing
from benchmarks.results import side_by_side
from benchmarks.workloads import fib


class Row(NamedTuple):
    """One measurement."""

    what: str
    """What grows."""
    size: str
    cost: str
    """As text."""
    ratio: float | None = None
    """The cost as a ratio to plain Python, for the chart."""


WARM = 20
"""How often a program runs before it is measured."""


def least(work: Callable[[], Any], times: int) -> float:
    """Seconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(times):
        start = process_time()
        work()
        best = min(best, process_time() - start)
    return best


@contextmanager
def module_of(text: str, name: str) -> Iterator[Any]:
    """A module with that text, installed."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{name}.py").write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            with cassette_import.install([name]):
                yield importlib.import_module(name)
        finally:
            sys.path.remove(folder)
            sys.modules.pop(name, None)


@contextmanager
def recursion_limit(limit: int) -> Iterator[None]:
    """Let programs recurse so deeply."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, limit))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def call_sites(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Measure the first call of a function, and a later one, by the number of calls in its body."""
    for size in sizes:
        body = "".join("    x = abs(x)\n" for _ in range(size))
        with module_of(f"def f(x):\n{body}    return x\n", f"sites_{size}") as module:
            plain = least(lambda m=module: [m.f(1) for _ in range(100)], 5) / 100
            start = process_time()
            compile(Path(module.__file__).read_text(encoding="utf-8"), "f", "exec")
            compiled = process_time() - start
            with Look():
                start = process_time()
                module.f(1)
                first = process_time() - start
                later = least(lambda m=module: [m.f(1) for _ in range(100)], 5) / 100
        cost = f"first call {first * 1e3:.2f} ms ({first / compiled:.1f} × compiling it); later {later / plain:.1f}"
        yield Row("call sites in a function", str(size), f"{cost} × plain", later / plain)


def functions(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Measure the first and the second entry of a context, by the number of functions; one of them is called."""
    for size in sizes:
        text = "".join(f"def f{number}(x):\n    return abs(x)\n" for number in range(size))
        with module_of(text, f"functions_{size}") as module:
            start = process_time()
            with Nothing():
                entered = process_time() - start
                module.f0(1)
                called = process_time() - start - entered

            def again() -> None:
                with Nothing():
                    pass

            later = least(again, 20)
        cost = f"first entry {entered * 1e3:.1f} ms, first call {called * 1e3:.1f} ms, entry later {later * 1e6:.1f} µs"
        yield Row("functions in a package", str(size), cost)


def stacks(sizes: tuple[int, ...], times: int) -> Iterator[Row]:
    """Measure running, by the number of active contexts of different types."""
    kinds = [type(f"Look{number}", (Look,), {}) for number in range(max(sizes))]
    with cassette_import.install(["benchmarks.workloads.fib"]):
        plain = least(fib.main, times)
        one = 0.0
        for size in sizes:
            with ExitStack() as stack:
                for kind in kinds[:size]:
                    stack.enter_context(kind())
                fib.main()
                cost = least(fib.main, times) / plain
            one = one or cost
            yield Row("contexts in a stack", str(size), f"{cost:.1f} × plain, {cost / one:.2f} × one", cost)


def threads(sizes: tuple[int, ...], times: int) -> Iterator[Row]:
    """Measure running, by the number of threads that run at once, each in a separate context."""
    with cassette_import.install(["benchmarks.workloads.fib"]):
        plain = least(fib.main, times)

        def work() -> None:
            with Count():
                fib.main()

        def all_at_once(size: int) -> None:
            started = [threading.Thread(target=work) for _ in range(size)]
            for thread in started:
                thread.start()
            for thread in started:
                thread.join()

        for _ in range(WARM):  # a function of this module that is entered first has the next entry search all functions
            least(partial(all_at_once, 1), 1)
        for size in sizes:
            cost = least(partial(all_at_once, size), times) / size / plain
            yield Row("threads", str(size), f"{cost:.2f} × plain for each", cost)


def depth(sizes: tuple[int, ...], times: int) -> Iterator[Row]:
    """Measure calls in calls, by how deep they are."""
    text = "def descend(n):\n    return descend(n - 1) if n else n\n"
    with module_of(text, "deep") as module, recursion_limit(20 * max(sizes)):
        for size in sizes:

            def work(size: int = size) -> None:
                for _ in range(3000 // size):
                    module.descend(size)

            plain = least(work, times)
            with Look():
                work()
                cost = least(work, times) / plain
            yield Row("depth of calls", str(size), f"{cost:.2f} × plain", cost)


def tasks(sizes: tuple[int, ...], times: int) -> Iterator[Row]:
    """Measure chains of awaited calls, by the number of tasks that take turns, each in a separate context."""
    text = (
        "import asyncio\n"
        "async def leaf(n):\n    return n\n"
        "async def chain(n):\n    return await chain(n - 1) if n else await leaf(n)\n"
        "async def work():\n    for _ in range(20):\n        await chain(10)\n        await asyncio.sleep(0)\n"
    )
    with module_of(text, "awaited") as module:

        async def in_context() -> None:
            await cassette_import.overdub(Look(), module.work)

        async def together(work: Callable[[], Any], size: int) -> None:
            await asyncio.gather(*(work() for _ in range(size)))

        def ran(work: Callable[[], Any], size: int) -> float:
            for _ in range(WARM):
                asyncio.run(together(work, size))
            return least(lambda: asyncio.run(together(work, size)), times)

        for size in sizes:
            cost = ran(in_context, size) / ran(module.work, size)
            yield Row("tasks", str(size), f"{cost:.2f} × plain for each", cost)


def entering(times: int) -> Iterator[Row]:
    """Enter and leave `with ctx:`."""
    for kind in (Nothing, Count, Look):
        ctx, rounds = kind(), range(1000)

        def work(ctx: Any = ctx, rounds: range = rounds) -> None:
            for _ in rounds:
                with ctx:
                    pass

        work()
        yield Row("`with ctx:`, in and out", kind.__name__.lower(), f"{least(work, times) * 1e3:.2f} µs")


def measure(quick: bool) -> list[Row]:
    """Measure everything."""
    times = 3 if quick else 15
    return [
        *entering(4 * times),
        *call_sites((10, 100, 1000)),
        *functions((100, 1000) if quick else (100, 1000, 10_000)),
        *stacks((1, 2, 4, 8), times),
        *threads((1, 2, 4, 8), times),
        *tasks((1, 10, 100), times),
        *depth((10, 100, 1000), times),
    ]


def table(found: Mapping[str, Sequence[Row]]) -> str:
    """As Markdown, from the rows of each Python."""
    shown = {python: [row[:3] for row in rows] for python, rows in found.items()}
    return side_by_side(shown, ("", "size", "cost"), keys=2)


if __name__ == "__main__":
    measured = measure("--quick" in sys.argv)
    print(json.dumps(measured) if "--json" in sys.argv else table({"": measured}))
