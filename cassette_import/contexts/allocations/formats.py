"""The file formats of allocations: a flame graph by bytes, collapsed stacks, speedscope, and the table."""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cassette_import.contexts.allocations.call_tree import Node, walk
from cassette_import.contexts.allocations.memory import Memory
from cassette_import.contexts.allocations.statistics import peak_of, roots_of, sites_of
from cassette_import.contexts.allocations.table import site_text
from cassette_import.contexts.common.flamegraph import page_of
from cassette_import.contexts.common.function_names import Label, modules_by_file
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.text import file_size, search_folders, short_path, text_writer

__all__ = ["writers"]


def writers(memory: Memory, table: Callable[[], str]) -> Mapping[str, Writer]:
    """The writers, by suffix."""
    return {
        ".json": functools.partial(_write, memory, _speedscope),
        ".speedscope.json": functools.partial(_write, memory, _speedscope),
        ".collapsed": functools.partial(_write, memory, _collapsed),
        ".folded": functools.partial(_write, memory, _collapsed),
        ".html": functools.partial(_write, memory, _page),
        ".txt": text_writer(table),
    }


def _write(memory: Memory, make: Callable[[Memory, str], str], path: str) -> None:
    text = make(memory, os.path.basename(path))
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _collapsed(memory: Memory, name: str) -> str:
    """A line for each path: `function;function;… bytes`."""
    folders = search_folders()
    found: Counter[str] = Counter()
    for root in roots_of(memory):
        stack: list[str] = []
        for node, leaving in walk(root):
            if leaving:
                stack.pop()
                continue
            stack.append(" ".join(_text(node.label, folders).replace(";", ",").split()))
            found[";".join(stack)] += node.own
    return "".join(f"{stack} {size}\n" for stack, size in found.items() if size)


def _speedscope(memory: Memory, name: str) -> str:
    """What https://www.speedscope.app reads: each path once, as wide as its bytes."""
    frames: dict[Label, int] = {}
    profiles = []
    for root in roots_of(memory):
        at = 0
        events: list[dict[str, Any]] = []
        for node, leaving in walk(root):
            at += node.own if leaving else 0
            frame = frames.setdefault(node.label, len(frames))
            events.append({"type": "C" if leaving else "O", "frame": frame, "at": at})
        profiles.append(
            {
                "type": "evented",
                "name": root.label[2],
                "unit": "bytes",
                "startValue": 0,
                "endValue": at,
                "events": events,
            }
        )
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "cassette_import",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": label[2]} | ({} if label[0] == "~" else {"file": label[0], "line": label[1]})
                for label in frames
            ]
        },
        "profiles": profiles,
    }
    return json.dumps(document)


def _page(memory: Memory, name: str) -> str:
    """The interactive flame graph, with tables of functions and call sites."""
    folders, modules = search_folders(), modules_by_file()
    labels: dict[Label, int] = {}
    paths = list(_paths(memory))
    for label, _, _, _ in paths:
        labels.setdefault(label, len(labels))
    sites = sites_of(memory)
    kept = sum(site.kept for site in sites.values())
    data = {
        "unit": "bytes",
        "own": "bytes",
        "of_site": "kept",
        "summary": f"{file_size(sum(row[3] for row in paths))} allocated, peak {file_size(peak_of(memory).bytes)}, "
        f"kept at the end: {file_size(kept)}",
        "frames": [(label[2], _place(label, folders), modules.get(label[0], "")) for label in labels],
        "frame": [labels[row[0]] for row in paths],
        "depth": [row[1] for row in paths],
        "calls": [row[2] for row in paths],
        "self": [row[3] for row in paths],
        "functions": _functions(memory, folders),
        "sites": [
            (found.calls, found.kept, site_text(site, found, folders), found.function)
            for site, found in sites.items()
            if found.kept
        ],
    }
    return page_of(data, name.removesuffix(".html") or "allocations")


def _paths(memory: Memory) -> Iterator[tuple[Label, int, int, int]]:
    """Function, depth, calls and own bytes of each path, parents first. Several threads share one root."""
    roots = roots_of(memory)
    several = len(roots) > 1
    if several:
        yield ("~", 0, "<all threads>"), 0, len(roots), 0
    for root in roots:
        depth = int(several)
        for node, leaving in walk(root):
            depth -= leaving
            if not leaving:
                yield node.label, depth, max(1, node.calls), node.own
            depth += not leaving


def _functions(memory: Memory, folders: list[str]) -> list[tuple[int, int, int, str, str]]:
    """Calls, own and cumulative bytes of each function. A recursive call is part of the outermost one."""
    calls: Counter[Label] = Counter()
    own: Counter[Label] = Counter()
    cumulative: Counter[Label] = Counter()
    in_progress: Counter[Label] = Counter()
    for root in roots_of(memory):
        below = [0]
        for node, leaving in walk(root):
            if not leaving:
                in_progress[node.label] += 1
                below.append(0)
                continue
            in_progress[node.label] -= 1
            inside = node.own + below.pop()
            below[-1] += inside
            _add(node, calls, own)
            if not in_progress[node.label]:
                cumulative[node.label] += inside
    return [
        (calls[label], size, cumulative[label], f"{label[2]}  {_place(label, folders)}".rstrip(), label[2])
        for label, size in own.items()
    ]


def _add(node: Node, calls: Counter[Label], own: Counter[Label]) -> None:
    calls[node.label] += node.calls
    own[node.label] += node.own


def _place(label: Label, folders: list[str]) -> str:
    return "" if label[0] == "~" else f"{short_path(label[0], folders)}:{label[1]}"


def _text(label: Label, folders: list[str]) -> str:
    return label[2] if label[0] == "~" else f"{short_path(label[0], folders)}:{label[1]}({label[2]})"
