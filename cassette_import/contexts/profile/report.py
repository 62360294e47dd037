"""What a profile shows: the table, and the files for `pstats`, for speedscope and for makers of flame graphs.

Knows the figures of a profile; must not know how they were measured.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from cassette_import.contexts.common.function_names import Label
from cassette_import.contexts.common.reporting import short_path
from cassette_import.contexts.profile.call_tree import walk
from cassette_import.contexts.profile.statistics import Figures, Reading

if TYPE_CHECKING:
    from cassette_import.contexts.profile.call_tree import Thread
    from cassette_import.contexts.profile.context import Profile

__all__ = ["ORDERS", "table", "write_collapsed", "write_pstats", "write_speedscope", "write_table"]

ORDERS: Final[dict[str, Callable[[Figures], float]]] = {
    "own": lambda figures: figures.own,
    "cumulative": lambda figures: figures.cumulative,
    "calls": lambda figures: figures.calls,
}


def table(profile: Profile, sort: str, limit: int | None = None) -> str:
    """The functions, one a line; the most expensive ones first. Then the call sites, if they were looked at."""
    reading = Reading(profile)
    functions = [(figures, label) for label, (figures, _) in reading.functions().items()]
    roots = reading.roots()
    called = [figures for figures, label in functions if label not in roots]
    if not called:
        return "profile: nothing was called"
    functions.sort(key=lambda row: (-ORDERS[sort](row[0]), row[1]))
    calls = sum(figures.calls for figures in called)
    primitive = sum(figures.primitive for figures in called)
    seconds = sum(figures.own for figures, _ in functions)
    left_out = f"; measuring took {reading.left_out:.3f} more" if reading.left_out else ""
    folders = [os.path.abspath(folder) for folder in (*sys.path, os.curdir)]
    lines = [
        f"profile: {_plural(calls, 'call')} ({primitive} primitive) of {_plural(len(called), 'function')} "
        f"in {seconds:.3f} seconds, sorted by {sort}{left_out}",
        "",
        f"{'calls':>12} {'own':>10} {'per call':>10} {'cumulative':>10} {'per call':>10}  function",
    ]
    lines += [_row(figures, _shown(label, folders)) for figures, label in functions[:limit]]
    if limit is not None and limit < len(functions):
        lines.append(f"{'…':>12} {_plural(len(functions) - limit, 'further function')}")
    return "\n".join(lines + _call_sites(reading, folders, limit))


def _row(figures: Figures, name: str) -> str:
    count = str(figures.calls)
    if figures.calls != figures.primitive:
        count += f"/{figures.primitive}"
    return (
        f"{count:>12} {figures.own:10.6f} {figures.own / figures.calls:10.6f} {figures.cumulative:10.6f} "
        f"{figures.cumulative / max(1, figures.primitive):10.6f}  {name}"
    )


def _call_sites(reading: Reading, folders: list[str], limit: int | None) -> list[str]:
    sites = sorted(reading.call_sites().items(), key=lambda entry: (-entry[1].cumulative, entry[0]))
    if not sites:
        return []
    lines = ["", f"{'calls':>12} {'time':>10} {'per call':>10}  call site"]
    for site, figures in sites[:limit]:
        place = f"{short_path(site.filename, folders)}:{site.line}:{site.column + 1} in {site.caller}"
        per_call = figures.cumulative / figures.calls
        lines.append(f"{figures.calls:>12} {figures.cumulative:10.6f} {per_call:10.6f}  {place}: {site.label[2]}")
    if limit is not None and limit < len(sites):
        lines.append(f"{'…':>12} {_plural(len(sites) - limit, 'further call site')}")
    return lines


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
        for label, (figures, callers) in Reading(profile).functions().items()
    }
    # An empty file is one that `pstats` takes for broken.
    with open(path, "wb") as file:
        marshal.dump(stats or {("~", 0, "<nothing was called>"): (0, 0, 0.0, 0.0, {})}, file)


def write_collapsed(profile: Profile, path: str) -> None:
    """Write one line per path, `function;function;… microseconds`: what `flamegraph.pl`, inferno and others read."""
    reading = Reading(profile)
    folders = [os.path.abspath(folder) for folder in (*sys.path, os.curdir)]
    own: Counter[str] = Counter()
    for thread in reading.threads:
        stack: list[str] = []
        for node, leaving in walk(thread):
            if leaving:
                stack.pop()
                continue
            name = node.label[2] if node.label[0] == "~" else _shown(node.label, folders)
            stack.append(" ".join(name.replace(";", ",").split()))
            own[";".join(stack)] += round(reading.time_of(node).own * 1e6)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{stack} {microseconds}\n" for stack, microseconds in own.items() if microseconds)


def write_speedscope(profile: Profile, path: str) -> None:
    """Write what https://www.speedscope.app shows: each path of calls once, as long as all its calls."""
    frames: dict[Label, int] = {}
    reading = Reading(profile)
    profiles = [_evented(reading, thread, frames) for thread in reading.threads]
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


def _evented(reading: Reading, thread: Thread, frames: dict[Label, int]) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    at = 0.0
    for node, leaving in walk(thread):
        if leaving:
            at += reading.time_of(node).own
        if node is not thread.root or reading.time_of(node).calls:
            frame = frames.setdefault(node.label, len(frames))
            events.append({"type": "C" if leaving else "O", "frame": frame, "at": at})
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
