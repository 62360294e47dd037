"""A graph as one HTML page that works offline: functions are frames around their operations, which collapse."""

from __future__ import annotations

import html
import json
from typing import Any, Final, Protocol

from cassette_import.contexts.graph.nodes import Guard, Node, critical_path, shown, widths
from cassette_import.kits.calls.graphs.page import page_of
from cassette_import.kits.text import search_folders, short_path

__all__ = ["page"]

_MOST: Final = 20_000
"""So many nodes are in a page, so that a browser opens it."""
_LONGEST: Final = 300


class Graph(Protocol):
    """What a page shows: the lists of a graph."""

    nodes: list[Node]
    inputs: list[Node]
    outputs: list[Node]
    guards: list[Guard]


def page(graph: Graph, title: str) -> str:
    """The page of a graph.

    Parameters
    ----------
    graph:
        The graph.
    title:
        The heading.
    """
    # A text with "</script>" in it would end the element that holds the data.
    data = json.dumps(_data(graph), separators=(",", ":")).replace("<", "\\u003c")
    return page_of(__package__, {"@title@": html.escape(title), "@data@": data})


def _data(graph: Graph) -> dict[str, Any]:
    """What the page's script reads. Nodes and functions are named by their places in the lists."""
    drawn = graph.nodes[:_MOST]
    places = {node.number: place for place, node in enumerate(drawn)}
    functions: dict[tuple[str, str], int] = {}
    outputs = {node.number for node in graph.outputs}
    folders = search_folders()
    nodes = [_node(node, places, functions, node.number in outputs, folders) for node in drawn]
    steps = widths(graph.nodes)
    return {
        "nodes": nodes,
        "functions": [{"file": file, "name": name} for file, name in functions],
        "guards": [(places.get(guard.node.number, -1), str(guard)) for guard in graph.guards[:_MOST]],
        "critical": [places[node.number] for node in critical_path(graph.nodes) if node.number in places],
        "operations": sum(node.function is not None for node in graph.nodes),
        "shown": sum(node.function is not None for node in drawn),
        "steps": len(steps),
        "parallelism": sum(steps) / max(1, len(steps)),
    }


def _node(
    node: Node, places: dict[int, int], functions: dict[tuple[str, str], int], is_output: bool, folders: Any
) -> dict[str, Any]:
    site = node.site
    file = "" if site is None else short_path(site.filename, folders)
    function = functions.setdefault((file, "inputs" if site is None else site.function), len(functions))
    kind = node.type.__name__ + ("" if node.shape is None else str(node.shape))
    return {
        "label": node.label,
        "about": f"{kind} · line {site.lineno}" if site is not None else kind,
        "type": kind,
        "function": function,
        "place": f"{file}:{site.lineno}" if site is not None else "",
        "source": "" if site is None else site.source[:_LONGEST],
        "operands": ", ".join(map(shown, node.operands)),
        "sources": [places[source.number] for source in node.sources],
        "input": node.function is None,
        "output": is_output,
    }
