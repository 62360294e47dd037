"""The cost of tagging: ``python -m benchmarks.tagging`` prints tables, as JSON with `--json`.

A context with tagging that tags no values is compared with one without tagging that intercepts the same events, and
first derivatives by `autodiff` with autograd's of the same functions. The minimum of some repetitions counts; seconds
are those of the CPU.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import cassette_import
from benchmarks import derivatives as programs
from benchmarks.growth import least
from cassette_import import Context, Events
from cassette_import.contexts.autodiff import derivative, gradient

_EVENTS = Events.ALL & ~(Events.TRUTH | Events.CONTROL)  # those that tagging needs

WORKLOADS = ("attributes", "closures", "fib", "matrices", "pipelines", "records", "shapes", "tokens")


class Looking(Context, events=_EVENTS):
    """Hooks for all events that tagging needs; they hold their arguments until they return."""

    def prehook(self, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Read the arguments."""
        len(arguments)

    def posthook(self, result: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Read the arguments."""
        len(arguments)


class Tagging(Looking, tagging=True):
    """The same, and values could be tagged."""


class Alone(Context, tagging=True):
    """Values could be tagged, and nothing else happens."""


Row = tuple[str, ...]


def nothing_tagged(times: int, names: tuple[str, ...] = WORKLOADS) -> Iterator[Row]:
    """Each workload plain, in a context that reads all events, in the same with tagging, and with tagging alone."""
    for name in names:
        full = f"benchmarks.workloads.{name}"
        module = importlib.import_module(full)
        seconds = {"plain": least(module.main, times)}
        with cassette_import.install([full]):
            for kind in (Looking, Tagging, Alone):
                with kind():
                    module.main()
                    seconds[kind.__name__] = least(module.main, times)
        plain, looking = seconds["plain"], seconds["Looking"]
        ratios = [looking / plain, seconds["Tagging"] / plain, seconds["Alone"] / plain]
        ratios += [seconds["Tagging"] / looking, seconds["Alone"] / looking]
        yield name, *(f"{ratio:.1f}" for ratio in ratios[:3]), *(f"{ratio:.2f}" for ratio in ratios[3:])


# ---- derivatives


def derivatives(times: int) -> Iterator[Row]:
    """Measure each function plain, by `autodiff`, and by autograd if it is installed."""
    try:
        grad: Any = importlib.import_module("autograd").grad
        numpy: ModuleType | None = importlib.import_module("autograd.numpy")
    except ImportError:
        grad = numpy = None
    cases: list[tuple[str, Callable[..., Any], Any, Callable[[], Any]]] = [
        (f"{f.__name__}, one number", f, 1.5, lambda f=f: derivative(f, 1.5))
        for f in (programs.polynomial, programs.chain, programs.newton)
    ]
    many = [1.0 + n / 10 for n in range(10)]
    cases.append(("rosenbrock, ten numbers", programs.rosenbrock, many, lambda: gradient(programs.rosenbrock, many)))
    for name, f, point, by_autodiff in cases:
        row = [least(lambda f=f, point=point: [f(point) for _ in range(20)], times) / 20, _each(by_autodiff, times)]
        if grad is not None:
            theirs = grad(lambda x, f=f: f(x, numpy))
            row.append(_each(lambda theirs=theirs, point=point: theirs(point), times))
        shown = [f"{seconds * 1e6:.0f} µs" for seconds in row]
        yield name, *shown, *([f"{row[1] / row[2]:.2f}"] if len(row) > 2 else ["autograd is not installed", ""])


def _each(work: Callable[[], Any], times: int) -> float:
    work()
    return least(lambda: [work() for _ in range(20)], times) / 20


def measure(quick: bool) -> dict[str, list[Row]]:
    """Measure everything."""
    times = 2 if quick else 7
    names = ("fib", "records", "tokens") if quick else WORKLOADS
    return {"nothing": list(nothing_tagged(times, names)), "derivatives": list(derivatives(times))}


_HEADS = {
    "nothing": ("workload", "hooks", "hooks, tagging", "tagging alone", "second / first", "third / first"),
    "derivatives": ("function", "its value", "autodiff", "autograd", "autodiff / autograd"),
}


def table(found: dict[str, list[Row]]) -> str:
    """As Markdown."""
    parts = []
    for name, head in _HEADS.items():
        lines = [f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
        parts.append("\n".join([*lines, *(f"| {' | '.join(row)} |" for row in found[name])]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    measured = measure("--quick" in sys.argv)
    print(json.dumps(measured) if "--json" in sys.argv else table(measured))
