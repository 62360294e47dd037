"""Graphs as DOT, GraphML, JSON, SVG and HTML, and as graphs of networkx.

The SVG picture is that of a call graph.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from cassette_import.contexts.graph.nodes import Guard, Node, critical_path, shown, widths
from cassette_import.interpreter.installed_packages import needs
from cassette_import.kits.calls.graphs import graph as pictures
from cassette_import.kits.calls.graphs.formats import escaped
from cassette_import.kits.calls.graphs.page import page_of
from cassette_import.kits.text import search_folders, short_path

__all__ = ["WRITERS", "dot", "page", "write"]

# ---- a graph as one HTML page that works offline: functions are frames around their operations, which collapse

_MOST: Final = 20_000
"""So many nodes are in a page, so that a browser opens it."""
_LONGEST: Final = 300


def page(graph: Graph, title: str) -> str:
    """The page of a graph.

    Parameters
    ----------
    graph:
        The graph.
    title:
        The heading.
    """
    return page_of(__package__, title, _data(graph))


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


# ---- graphs as DOT, GraphML, JSON, SVG and HTML, and as graphs of networkx


class Graph(Protocol):
    """What is written: the lists of a graph."""

    nodes: list[Node]
    inputs: list[Node]
    outputs: list[Node]
    guards: list[Guard]


def _edges(graph: Graph) -> Counter[tuple[Node, Node]]:
    return Counter((source, node) for node in graph.nodes for source in node.sources)


def attributes(node: Node) -> dict[str, Any]:
    """What is known of a node, as texts and numbers."""
    site = node.site
    return {
        "label": node.label,
        "operands": ", ".join(map(shown, node.operands)),
        "type": node.type.__name__,
        "shape": "" if node.shape is None else str(node.shape),
        "file": "" if site is None else site.filename,
        "line": 0 if site is None else site.lineno,
        "function": "" if site is None else site.function,
        "source": "" if site is None else site.source,
    }


def dot(graph: Graph) -> str:
    """The graph for Graphviz, with a cluster for each function of the program."""
    clusters: dict[str, list[Node]] = {}
    for node in graph.nodes:
        clusters.setdefault("" if node.site is None else node.site.function, []).append(node)
    lines = ["digraph operations {", '  node [shape=box, fontname="sans-serif"];']
    outputs = {node.number for node in graph.outputs}
    for number, (function, nodes) in enumerate(clusters.items()):
        indent = "    " if function else "  "
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(function)};"] if function else []
        for node in nodes:
            shape = ", shape=ellipse" if node.function is None else ""
            bold = ", style=bold" if node.number in outputs else ""
            tip = "" if node.site is None else f", tooltip={_quoted(f'{node.site}: {node.site.source}')}"
            lines.append(f"{indent}n{node.number} [label={_quoted(node.label)}{shape}{bold}{tip}];")
        lines += ["  }"] if function else []
    lines += [f"  n{one.number} -> n{other.number};" for one, other in _edges(graph)]
    for number, guard in enumerate(graph.guards):
        lines.append(f"  g{number} [label={_quoted(f'{guard.test}: {guard.expected!r}')}, shape=diamond];")
        lines.append(f"  n{guard.node.number} -> g{number} [style=dashed];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


def networkx(graph: Graph) -> Any:
    """The graph as a `MultiDiGraph` of networkx: an edge for each use of a result."""
    try:
        import networkx as nx
    except ImportError as error:
        raise ModuleNotFoundError(needs("networkx()", "networkx", "graph"), name="networkx") from error

    made = nx.MultiDiGraph()
    for node in graph.nodes:
        made.add_node(node.number, **attributes(node))
    for node in graph.nodes:
        made.add_edges_from((source.number, node.number) for source in node.sources)
    return made


def graphml(graph: Graph) -> str:
    """The graph for yEd, Gephi and networkx."""
    keys = {"label": "string", "operands": "string", "type": "string", "shape": "string", "file": "string"}
    keys |= {"line": "int", "function": "string", "source": "string"}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f'  <key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>' for key, kind in keys.items()]
    lines.append('  <graph id="operations" edgedefault="directed">')
    for node in graph.nodes:
        fields = "".join(f'<data key="{key}">{escaped(str(value))}</data>' for key, value in attributes(node).items())
        lines.append(f'    <node id="n{node.number}">{fields}</node>')
    for one, other in _edges(graph).elements():
        lines.append(f'    <edge source="n{one.number}" target="n{other.number}"/>')
    return "\n".join([*lines, "  </graph>", "</graphml>"])


def as_json(graph: Graph) -> str:
    """The nodes, guards, inputs and outputs as JSON."""
    nodes = [{"number": node.number, **attributes(node), "sources": [one.number for one in node.sources]}
             for node in graph.nodes]  # fmt: skip
    guards = [{"test": guard.test, "node": guard.node.number, "expected": repr(guard.expected),
               "site": str(guard.site)} for guard in graph.guards]  # fmt: skip
    ends = {name: [node.number for node in getattr(graph, name)] for name in ("inputs", "outputs")}
    return json.dumps({"nodes": nodes, "guards": guards, **ends}, indent=1)


def _picture(graph: Graph) -> pictures.Graph:
    """The graph as the pictures of call graphs have it: the functions of the program are its modules."""
    boxes: dict[int, pictures.Function] = {}
    for node in graph.nodes:
        site, name = node.site, f"{node.label} %{node.number}"
        place = (pictures.NOT_PYTHON, 0, "inputs") if site is None else (site.filename, site.lineno, site.function)
        boxes[node.number] = pictures.Function(*place, name)
    calls = {(boxes[one.number], boxes[other.number]): count for (one, other), count in _edges(graph).items()}
    return pictures.Graph(tuple(sorted(boxes.values())), calls)


def _svg(graph: Graph) -> str:
    from cassette_import.kits.calls.graphs.svg import svg  # only pictures need it

    return svg(_picture(graph), _MOST_DRAWN)


_MOST_DRAWN: Final = 200

WRITERS: Final[Mapping[str, Callable[[Graph], str]]] = {
    ".dot": dot,
    ".gv": dot,
    ".graphml": graphml,
    ".json": as_json,
    ".svg": _svg,
}
"""The formats by suffix, `.html` excepted."""


def write(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph to a file, in the format that the suffix says."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix != ".html" and suffix not in WRITERS:
        raise ValueError(f"no format for {suffix!r}: the suffix is one of {', '.join([*WRITERS, '.html'])}")
    title = os.path.splitext(os.path.basename(name))[0]
    text = page(graph, title) if suffix == ".html" else WRITERS[suffix](graph)
    with open(name, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text + "\n")
