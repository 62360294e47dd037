"""The cost of tagging: ``python -m benchmarks.tagging`` prints tables, as JSON with `--json`.

A context with tagging that tags no values is compared with one without tagging that intercepts the same events, and
first derivatives by `autodiff` with those of the same functions by autograd and by JAX without `jit`. The minimum of
some repetitions counts; seconds are those of the CPU.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import cassette_import
from benchmarks import derivatives as programs
from benchmarks.contexts import Tagging
from benchmarks.growth import least
from benchmarks.results import side_by_side
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


class LookingWithTagging(Looking, tagging=True):
    """The same, and values could be tagged."""


Row = tuple[str, ...]


def nothing_tagged(times: int, names: tuple[str, ...] = WORKLOADS) -> Iterator[Row]:
    """Each workload plain, in a context that reads all events, in the same with tagging, and with tagging alone."""
    for name in names:
        full = f"benchmarks.workloads.{name}"
        module = importlib.import_module(full)
        seconds = {"plain": least(module.main, times)}
        with cassette_import.install([full]):
            for kind in (Looking, LookingWithTagging, Tagging):
                with kind():
                    module.main()
                    seconds[kind.__name__] = least(module.main, times)
        plain, looking = seconds["plain"], seconds["Looking"]
        ratios = [looking / plain, seconds["LookingWithTagging"] / plain, seconds["Tagging"] / plain]
        yield name, *(f"{ratio:.1f}" for ratio in ratios)


# ---- derivatives


def derivatives(times: int) -> Iterator[Row]:
    """Measure each function plain, and its derivatives by `autodiff`, by autograd and by JAX, in turns."""
    autograd, of_autograd = _optional("autograd"), _optional("autograd.numpy")
    jax, of_jax = _optional("jax"), _optional("jax.numpy")
    with cassette_import.install(["geographiclib"] if _optional("geographiclib") else []):
        for f, point in (*programs.OF_ONE.items(), *programs.OF_MANY.items()):
            if f is programs.geodesic and _optional("geographiclib") is None:
                continue
            ours = gradient if f in programs.OF_MANY else derivative
            ways: list[Callable[[], Any] | None] = [lambda f=f, x=point: f(x), lambda f=f, x=point, d=ours: d(f, x)]
            for peer, module in ((autograd, of_autograd), (jax, of_jax)):
                work = None if peer is None else _slope(peer.grad(lambda x, f=f, m=module: f(x, m)), point)
                ways.append(work if work is not None and _is_possible(work) else None)
            yield _row(f, point, _in_turns(ways, times))


def _slope(grad: Callable[[Any], Any], point: Any) -> Callable[[], Any]:
    return lambda: grad(point)


def _row(f: Callable[..., Any], point: Any, seconds: list[float | None]) -> Row:
    own, ours, *peers = seconds
    count = len(point) if isinstance(point, list) else 1
    shown = ["-" if one is None else f"{one * 1e6:.0f} µs" for one in (own, ours)]
    ratios = ["-" if one is None or ours is None else f"{ours / one:.2f}" for one in peers]
    return f"{f.__name__}, {count} number{'s' if count > 1 else ''}", *shown, *ratios


def _optional(name: str) -> Any:
    """A module, None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _is_possible(work: Callable[[], Any]) -> bool:
    """Whether a peer can differentiate a function: calls of `math` with its numbers raise a `TypeError`."""
    try:
        work()
    except Exception:
        return False
    return True


_EACH: Final = 0.02
"""Seconds that a way runs in each turn, at least."""


def _in_turns(ways: list[Callable[[], Any] | None], times: int) -> list[float | None]:
    """The seconds of a call of each way: the least of some turns, which the ways take one after the other."""
    counts, found = [1] * len(ways), [float("inf")] * len(ways)
    for number, work in enumerate(ways):
        if work is not None:
            work()
            counts[number] = max(1, int(_EACH / max(least(work, 3), 1e-7)))
    for _ in range(times):
        for number, work in enumerate(ways):
            if work is not None:
                found[number] = min(found[number], least(lambda w=work, n=counts[number]: [w() for _ in range(n)], 1))
    return [None if work is None else one / count for work, one, count in zip(ways, found, counts, strict=True)]


def measure(quick: bool) -> dict[str, list[Row]]:
    """Measure everything."""
    times = 2 if quick else 7
    names = ("fib", "records", "tokens") if quick else WORKLOADS
    return {"nothing": list(nothing_tagged(times, names)), "derivatives": list(derivatives(times))}


_HEADS = {
    "nothing": ("workload", "hooks", "hooks and tagging", "tagging alone"),
    "derivatives": ("function", "its value", "autodiff", "/ autograd", "/ JAX"),
}


def table(found: Mapping[str, Mapping[str, list[Row]]]) -> str:
    """As Markdown, from the rows of each Python."""
    return "\n\n".join(
        side_by_side({python: rows[name] for python, rows in found.items()}, head) for name, head in _HEADS.items()
    )


if __name__ == "__main__":
    measured = measure("--quick" in sys.argv)
    print(json.dumps(measured) if "--json" in sys.argv else table({"": measured}))
