"""Profiles in the file formats of other tools: `pstats`, collapsed stacks, speedscope."""

from __future__ import annotations

import json
import marshal
import os
from collections import Counter
from typing import Any

from cassette_import.contexts.profile.call_tree import CallTrees, ThreadTree, walk
from cassette_import.contexts.profile.statistics import Statistics, label_text
from cassette_import.kits.function_names import Label
from cassette_import.kits.text import search_folders

__all__ = ["write_collapsed", "write_pstats", "write_speedscope"]


def write_pstats(profile: CallTrees, path: str) -> None:
    """Write the file that `pstats.Stats(path)` and snakeviz read, in the format of cProfile."""
    stats = {
        label: (
            found.primitive,
            found.calls,
            found.self_time,
            found.cumulative,
            {
                caller: (by_caller.calls, by_caller.primitive, by_caller.self_time, by_caller.cumulative)
                for caller, by_caller in callers.items()
                if by_caller.calls
            },
        )
        for label, (found, callers) in Statistics(profile).functions().items()
    }
    # `pstats` refuses a file without entries.
    with open(path, "wb") as file:
        marshal.dump(stats or {("~", 0, "<nothing was called>"): (0, 0, 0.0, 0.0, {})}, file)


def write_collapsed(profile: CallTrees, path: str) -> None:
    """Write collapsed stacks, which `flamegraph.pl`, inferno and others read.

    Each path has one line: `function;function;… microseconds`.
    """
    statistics = Statistics(profile)
    folders = search_folders()
    self_times: Counter[str] = Counter()
    for thread in statistics.threads:
        stack: list[str] = []
        for node, leaving in walk(thread):
            if leaving:
                stack.pop()
                continue
            name = node.label[2] if node.label[0] == "~" else label_text(node.label, folders)
            stack.append(" ".join(name.replace(";", ",").split()))
            self_times[";".join(stack)] += round(statistics.time_of(node).self_time * 1e6)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{stack} {microseconds}\n" for stack, microseconds in self_times.items() if microseconds)


def write_speedscope(profile: CallTrees, path: str) -> None:
    """Write the file that https://www.speedscope.app reads: each call path once, as long as all its calls together."""
    frames: dict[Label, int] = {}
    statistics = Statistics(profile)
    profiles = [_speedscope_thread(statistics, thread, frames) for thread in statistics.threads]
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "cassette_import",
        "name": os.path.basename(path),
        "activeProfileIndex": 0,
        "shared": {"frames": [_speedscope_frame(label) for label in frames]},
        "profiles": profiles,
    }
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document))


def _speedscope_thread(statistics: Statistics, thread: ThreadTree, frames: dict[Label, int]) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    at = 0.0
    for node, leaving in walk(thread):
        if leaving:
            at += statistics.time_of(node).self_time
        if node is not thread.root or statistics.time_of(node).calls:
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


def _speedscope_frame(label: Label) -> dict[str, Any]:
    filename, line, name = label
    return {"name": name} if filename == "~" else {"name": name, "file": filename, "line": line}
