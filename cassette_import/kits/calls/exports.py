"""Weighted call trees in files: for `pstats`, as collapsed stacks, for speedscope, and as pages with a flame graph or a
call graph.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from cassette_import.kits.calls.trees import CallTrees, Tree, label_text, place_text
from cassette_import.kits.function_names import Label, modules_by_file
from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import search_folders, short_path

__all__ = ["page", "writers"]

_MOST_PATHS: Final = 100_000
"""With more paths than this, those that weigh less than a hundred thousandth of all are left out: their frames would
be too narrow to see."""
_MOST_FUNCTIONS: Final = 50
"""How many functions the first picture of a call graph has. The second one has all."""


def writers(trees: Callable[[], CallTrees], *, of_times: bool = False) -> Mapping[str, Writer]:
    """A writer for each suffix; with those of `pstats` and call graphs if the weights are times.

    `trees` makes the call trees as they are now.
    """
    texts = {
        ".json": _speedscope,
        ".speedscope.json": _speedscope,
        ".collapsed": _collapsed,
        ".folded": _collapsed,
        ".html": lambda trees, name: page(trees, name.removesuffix(".html")),
    }
    if of_times:
        texts |= {".callgraph.html": _call_graph_page}
    writers_of_texts: dict[str, Writer] = {
        suffix: functools.partial(_write, trees, make) for suffix, make in texts.items()
    }
    return {**writers_of_texts, ".prof": functools.partial(_write_pstats, trees)} if of_times else writers_of_texts


def _write(trees: Callable[[], CallTrees], make: Callable[[CallTrees, str], str], path: str) -> None:
    text = make(trees(), os.path.basename(path))
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def _write_pstats(trees: Callable[[], CallTrees], path: str) -> None:
    """Write the file that `pstats.Stats(path)` and snakeviz read, in the format of cProfile."""
    import marshal  # rarely needed, as the modules below

    stats = {
        label: (
            found.primitive,
            found.calls,
            found.own,
            found.cumulative,
            {
                caller: (by_caller.calls, by_caller.primitive, by_caller.own, by_caller.cumulative)
                for caller, by_caller in callers.items()
                if by_caller.calls
            },
        )
        for label, (found, callers) in trees().functions().items()
    }
    # `pstats` refuses a file without entries.
    with open(path, "wb") as file:
        marshal.dump(stats or {("~", 0, "<nothing was called>"): (0, 0, 0.0, 0.0, {})}, file)


def _collapsed(trees: CallTrees, name: str) -> str:
    """Collapsed stacks, which `flamegraph.pl`, inferno and others read: `function;function;… weight` for each path."""
    folders = search_folders()
    weights: Counter[str] = Counter()
    for tree in trees.trees:
        stack: list[str] = []
        for label, depth, own in zip(tree.labels, tree.depths, tree.own, strict=False):
            text = label[2] if label[0] == "~" else label_text(label, folders)
            stack[depth:] = [" ".join(text.replace(";", ",").split())]
            weights[";".join(stack)] += round(own * trees.parts)
    return "".join(f"{stack} {weight}\n" for stack, weight in weights.items() if weight)


def _speedscope(trees: CallTrees, name: str) -> str:
    """What https://www.speedscope.app reads: each path once, as wide as all its calls together weigh."""
    import json

    frames: dict[Label, int] = {}
    profiles = [_speedscope_thread(trees.unit, tree, frames) for tree in trees.trees]
    document = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "cassette_import",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": name} if filename == "~" else {"name": name, "file": filename, "line": line}
                for filename, line, name in frames
            ]
        },
        "profiles": profiles,
    }
    return json.dumps(document)


def _speedscope_thread(unit: str, tree: Tree, frames: dict[Label, int]) -> dict[str, Any]:
    start = at = 0 * tree.own[0]  # zero of the weights' type: bytes are integers
    events: list[dict[str, Any]] = []
    for position, leaving in tree.walk():
        if leaving:
            at += tree.own[position]
        if position or tree.shows_root:
            frame = frames.setdefault(tree.labels[position], len(frames))
            events.append({"type": "C" if leaving else "O", "frame": frame, "at": at})
    return {"type": "evented", "name": tree.name, "unit": unit, "startValue": start, "endValue": at, "events": events}


def page(trees: CallTrees, title: str = "") -> str:
    """The page with an interactive flame graph, and with tables of functions and call sites."""
    from cassette_import.kits.calls.flamegraph import page_of

    folders, modules = search_folders(), modules_by_file()
    paths = list(_paths(trees))
    numbers: dict[Label, int] = {}
    frame = [numbers.setdefault(label, len(numbers)) for label, _, _, _ in paths]
    totals = trees.totals()
    data = {
        "unit": trees.unit,
        "own": trees.own_title,
        "of_site": trees.site_title,
        "summary": trees.headline(totals, sum(own for _, _, _, own in paths)),
        "frames": [
            (label[2], place_text(label, folders), _module(label, modules, folders if trees.names_scripts else None))
            for label in numbers
        ],
        "frame": frame,
        "depth": [depth for _, depth, _, _ in paths],
        "calls": [calls for _, _, calls, _ in paths],
        "self": [own for _, _, _, own in paths],
        "functions": [
            (found.calls, found.own, found.cumulative, f"{label[2]}  {place_text(label, folders)}".rstrip(), label[2])
            for label, found in totals.items()
        ],
        "sites": trees.site_rows(folders),
    }
    return page_of(data, title or trees.name)


def _paths(call_trees: CallTrees) -> Iterator[tuple[Label, int, int, float]]:
    """Function, depth, calls and weight of each path, parents first. Several threads share one root."""
    trees = call_trees.trees
    several = len(trees) > 1
    if several:
        yield ("~", 0, "<all threads>"), 0, len(trees), 0 * trees[0].own[0]
    smallest = 0.0
    if sum(tree.size for tree in trees) > _MOST_PATHS:
        smallest = sum(tree.cumulative[0] for tree in trees) / _MOST_PATHS
    for tree in trees:
        for position, depth in enumerate(tree.depths):
            if tree.cumulative[position] >= smallest:
                own = round(tree.own[position], 9)
                yield tree.labels[position], depth + several, max(1, tree.calls[position]), own


def _module(label: Label, modules: Mapping[str, str], folders: list[str] | None) -> str:
    """The module of a function; for the program's own one its file, if folders are given."""
    if label[0] == "~":
        return ""
    return modules.get(label[0]) or ("" if folders is None else short_path(label[0], folders))


def _call_graph_page(trees: CallTrees, name: str) -> str:
    """The page with a call graph, whose functions and edges have times."""
    from cassette_import.kits.calls.graphs.graph import Edge, Function, Graph, Seconds
    from cassette_import.kits.calls.graphs.page import page as page_of_graph

    modules, folders = modules_by_file(), search_folders()
    totals = trees.totals()
    functions = {label: Function(label[0], label[1], _module(label, modules, folders), label[2]) for label in totals}
    calls: dict[Edge, int] = {}
    by_edge: dict[Edge, float] = {}
    for (caller, label), found in trees.steps().items():
        if found.calls and caller in functions and label in functions:
            edge = functions[caller], functions[label]
            calls[edge], by_edge[edge] = found.calls, found.cumulative
    cumulative = {functions[label]: found.cumulative for label, found in totals.items()}
    own = {functions[label]: found.own for label, found in totals.items()}
    graph = Graph(tuple(sorted(functions.values())), calls, Seconds(cumulative, by_edge, own))
    title = name.removesuffix(".html").removesuffix(".callgraph") or "callgraph"
    return page_of_graph(graph, _MOST_FUNCTIONS, title)
