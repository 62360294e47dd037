"""What a profile shows: the table, the file for `pstats`, and the file for speedscope.

Knows the trees that `profile` builds; must not know how they are built.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from .naming import Label
from .report import short_path

if TYPE_CHECKING:
    from .profile import Node, Profile, Thread

__all__ = ["ORDERS", "table", "write_pstats", "write_speedscope", "write_table"]


class Visit(NamedTuple):
    """A node with what its place in the tree says about it."""

    label: Label
    caller: Label | None
    calls: int
    own: float
    total: float
    is_outermost: bool
    """The function is not under way further up."""
    is_first_step: bool
    """Nor is the step from this caller to it."""


class Figures:
    """Calls and times of a function, or of a function as called by one other."""

    __slots__ = ("calls", "cumulative", "own", "primitive")

    def __init__(self) -> None:
        self.calls = self.primitive = 0
        self.own = self.cumulative = 0.0

    def add(self, visit: Visit, *, is_outermost: bool) -> None:
        """Count a node. What a function spends further down in itself is in its outermost call already."""
        self.calls += visit.calls
        self.own += visit.own
        if is_outermost:
            self.primitive += visit.calls
            self.cumulative += visit.total


Callers: TypeAlias = dict[Label, Figures]

ORDERS: Final[dict[str, Callable[[Figures], float]]] = {
    "own": lambda figures: figures.own,
    "cumulative": lambda figures: figures.cumulative,
    "calls": lambda figures: figures.calls,
}


def _extra(thread: Thread) -> dict[int, tuple[float, float]]:
    """By id(), own and total time so far of the calls that are under way: they count as if they ended now."""
    now = perf_counter()
    extra = {}
    inner = 0.0
    node = thread.node
    while node is not thread.root:
        total = now - node.start
        extra[id(node)] = total - inner, total
        inner = total
        node = node.parent
    return extra


def _measured(node: Node, extra: dict[int, tuple[float, float]]) -> tuple[int, float, float]:
    """Calls, own and total time of a node."""
    own, total = extra.get(id(node), (0.0, 0.0))
    return node.calls + (id(node) in extra), max(0.0, node.total - node.inner + own), node.total + total


def _walk(thread: Thread) -> Iterator[tuple[Node, bool]]:
    """Every node, on the way in and (True) on the way out; a tree may be as deep as a recursion was."""
    work = [(node, False) for node in thread.root.below()]
    work.reverse()
    while work:
        node, leaving = work.pop()
        yield node, leaving
        if not leaving:
            work.append((node, True))
            work.extend([(child, False) for child in node.below()][::-1])


def _visits(profile: Profile) -> Iterator[Visit]:
    for thread in profile.threads():
        extra = _extra(thread)
        under_way: Counter[Label] = Counter()
        steps: Counter[tuple[Label, Label]] = Counter()
        for node, leaving in _walk(thread):
            label, caller = node.label, node.parent.label
            change = -1 if leaving else 1
            if not leaving:
                place = not under_way[label], not steps[caller, label]
                yield Visit(label, _caller(thread, caller), *_measured(node, extra), *place)
            under_way[label] += change
            steps[caller, label] += change
        for (caller, label, recursive, recursive_step), nodes in list(thread.folded.items()):
            for node in nodes:
                yield Visit(label, _caller(thread, caller), *_measured(node, extra), not recursive, not recursive_step)


def _caller(thread: Thread, label: Label) -> Label | None:
    return None if label == thread.root.label else label


def _figures(profile: Profile) -> dict[Label, tuple[Figures, Callers]]:
    functions: dict[Label, tuple[Figures, Callers]] = {}
    for visit in _visits(profile):
        figures, callers = functions.setdefault(visit.label, (Figures(), {}))
        figures.add(visit, is_outermost=visit.is_outermost)
        if visit.caller is not None:
            by_caller = callers.setdefault(visit.caller, Figures())
            by_caller.add(visit, is_outermost=visit.is_first_step)
    return {label: entry for label, entry in functions.items() if entry[0].calls}


def table(profile: Profile, sort: str, limit: int | None = None) -> str:
    """The functions, one a line; the most expensive ones first."""
    functions = [(figures, label) for label, (figures, _) in _figures(profile).items()]
    if not functions:
        return "profile: nothing was called"
    functions.sort(key=lambda row: (-ORDERS[sort](row[0]), row[1]))
    calls = sum(figures.calls for figures, _ in functions)
    primitive = sum(figures.primitive for figures, _ in functions)
    seconds = sum(figures.own for figures, _ in functions)
    lines = [
        f"profile: {_plural(calls, 'call')} ({primitive} primitive) of {_plural(len(functions), 'function')} "
        f"in {seconds:.3f} seconds, sorted by {sort}",
        "",
        f"{'calls':>12} {'own':>10} {'per call':>10} {'cumulative':>10} {'per call':>10}  function",
    ]
    shown = functions if limit is None else functions[:limit]
    folders = [os.path.abspath(folder) for folder in (*sys.path, os.curdir)]
    for figures, label in shown:
        count = str(figures.calls)
        if figures.calls != figures.primitive:
            count += f"/{figures.primitive}"
        lines.append(
            f"{count:>12} {figures.own:10.6f} {figures.own / figures.calls:10.6f} {figures.cumulative:10.6f} "
            f"{figures.cumulative / max(1, figures.primitive):10.6f}  {_shown(label, folders)}"
        )
    if len(shown) < len(functions):
        lines.append(f"{'…':>12} {_plural(len(functions) - len(shown), 'further function')}")
    return "\n".join(lines)


def _shown(label: Label, folders: list[str]) -> str:
    filename, line, name = label
    return f"{short_path(filename, folders)}:{line}({name})"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def write_table(profile: Profile, sort: str, path: str) -> None:
    """Write the whole table."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(table(profile, sort) + "\n")


def write_pstats(profile: Profile, path: str) -> None:
    """Write what `pstats.Stats(path)` and snakeviz read, as cProfile does."""
    stats = {
        label: (
            figures.primitive,
            figures.calls,
            figures.own,
            figures.cumulative,
            {
                caller: (by_caller.calls, by_caller.primitive, by_caller.own, by_caller.cumulative)
                for caller, by_caller in callers.items()
                if by_caller.calls
            },
        )
        for label, (figures, callers) in _figures(profile).items()
    }
    # An empty file is one that `pstats` takes for broken.
    with open(path, "wb") as file:
        marshal.dump(stats or {("~", 0, "<nothing was called>"): (0, 0, 0.0, 0.0, {})}, file)


def write_speedscope(profile: Profile, path: str) -> None:
    """Write what https://www.speedscope.app shows: each path of calls once, as long as all its calls."""
    frames: dict[Label, int] = {}
    profiles = [_evented(thread, frames) for thread in profile.threads()]
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "cassette_import",
        "name": os.path.basename(path),
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(label) for label in frames]},
        "profiles": profiles,
    }
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document))


def _evented(thread: Thread, frames: dict[Label, int]) -> dict[str, Any]:
    extra = _extra(thread)
    events: list[dict[str, Any]] = []
    at = 0.0
    for node, leaving in _walk(thread):
        if leaving:
            at += _measured(node, extra)[1]
        events.append({"type": "C" if leaving else "O", "frame": frames.setdefault(node.label, len(frames)), "at": at})
    return {
        "type": "evented",
        "name": thread.name,
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": at,
        "events": events,
    }


def _frame(label: Label) -> dict[str, Any]:
    filename, line, name = label
    return {"name": name} if filename == "~" else {"name": name, "file": filename, "line": line}
