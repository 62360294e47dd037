"""A profile as a page with a call graph, whose functions and edges have times."""

from __future__ import annotations

import os
from typing import Final

from cassette_import.contexts.profile.call_tree import CallTrees
from cassette_import.contexts.profile.statistics import CallStatistics, Statistics
from cassette_import.kits.calls.graphs.graph import Edge, Function, Graph, Seconds
from cassette_import.kits.calls.graphs.page import page
from cassette_import.kits.function_names import Label, modules_by_file
from cassette_import.kits.text import search_folders, short_path

__all__ = ["call_graph", "write"]

_SHOWN: Final = 50
"""How many functions the first picture has. The second one has all."""


def call_graph(profile: CallTrees) -> Graph:
    """The graph of all functions of a profile, with their times."""
    statistics = Statistics(profile)
    modules = modules_by_file()
    folders = search_folders()
    known: dict[Label, Function] = {}

    def function(label: Label) -> Function:
        found = known.get(label)
        if found is None:
            filename, line, name = label
            module = modules.get(filename) or ("" if filename == "~" else short_path(filename, folders))
            found = known[label] = Function(filename, line, module, name)
        return found

    calls: dict[Edge, int] = {}
    by_edge: dict[Edge, float] = {}
    steps: dict[tuple[Label, Label], CallStatistics] = {}
    totals = statistics.totals(steps)
    for (caller, label), found in steps.items():
        if found.calls and caller in totals and label in totals:
            edge = function(caller), function(label)
            calls[edge], by_edge[edge] = found.calls, found.cumulative
    cumulative = {function(label): found.cumulative for label, found in totals.items()}
    own = {function(label): found.self_time for label, found in totals.items()}
    return Graph(tuple(sorted(known.values())), calls, Seconds(cumulative, by_edge, own))


def write(profile: CallTrees, path: str) -> None:
    """Write the page to a file."""
    title = os.path.basename(path).removesuffix(".html").removesuffix(".callgraph") or "callgraph"
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(page(call_graph(profile), _SHOWN, title))
