"""How costs grow: ``python -m benchmarks.growth`` prints a table, as JSON with `--json`.

They are measured by the number of call sites of a function, of functions of a package, of contexts in a stack, and of
threads. The minimum of some repetitions counts; seconds are those of the CPU.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import cassette_import
from benchmarks.contexts import Count, Look, Nothing
from benchmarks.workloads import fib

Row = tuple[str, str, str]
"""What grows, how large it is, what that costs."""


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
        yield "call sites in a function", str(size), f"{cost} × plain"


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
        yield "functions in a package", str(size), cost


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
            yield "contexts in a stack", str(size), f"{cost:.1f} × plain, {cost / one:.2f} × one"


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

        work()
        for size in sizes:
            cost = least(lambda size=size: all_at_once(size), times) / size / plain
            yield "threads", str(size), f"{cost:.2f} × plain for each"


def entering(times: int) -> Iterator[Row]:
    """Enter and leave `with ctx:`."""
    for kind in (Nothing, Count, Look):
        ctx, rounds = kind(), range(1000)

        def work(ctx: Any = ctx, rounds: range = rounds) -> None:
            for _ in rounds:
                with ctx:
                    pass

        work()
        yield "`with ctx:`, in and out", kind.__name__.lower(), f"{least(work, times) * 1e3:.2f} µs"


def measure(quick: bool) -> list[Row]:
    """Measure everything."""
    times = 3 if quick else 15
    return [
        *entering(4 * times),
        *call_sites((10, 100, 1000)),
        *functions((100, 1000) if quick else (100, 1000, 10_000)),
        *stacks((1, 2, 4, 8), times),
        *threads((1, 2, 4, 8), times),
    ]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    return "\n".join(["| | size | cost |", "|---|--:|---|", *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    measured = measure("--quick" in sys.argv)
    print(json.dumps(measured) if "--json" in sys.argv else table(measured))
