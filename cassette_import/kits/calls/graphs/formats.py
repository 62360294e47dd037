"""Call graphs as text: a list, Graphviz, Mermaid and GraphML."""

from __future__ import annotations

import html
from collections.abc import Iterator

from cassette_import.kits.calls.graphs.graph import Function, Graph
from cassette_import.kits.text import plural

__all__ = ["dot", "escaped", "graphml", "mermaid", "table"]


def table(graph: Graph, limit: int | None = None) -> str:
    """The edges, one on each line, those with the most calls first; at most `limit` of them."""
    if not graph.calls:
        return "callgraph: no function called another"
    edges = graph.by_calls()
    calls = sum(graph.calls.values())
    lines = [
        f"callgraph: {plural(len(graph.functions), 'function')}, {plural(len(edges), 'edge')}, {plural(calls, 'call')}",
        "",
        f"{'calls':>12}  caller -> callee",
    ]
    shown = edges if limit is None else edges[:limit]
    lines += [f"{count:>12}  {caller.title} -> {callee.title}" for caller, callee, count in shown]
    if len(shown) < len(edges):
        lines.append(f"{'…':>12}  {plural(len(edges) - len(shown), 'further edge')}")
    return "\n".join(lines)


def dot(graph: Graph) -> str:
    """The graph for Graphviz, with a cluster for each module."""
    names = graph.numbered()
    lines = ["digraph calls {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for number, (module, functions) in enumerate(_by_module(graph)):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_quoted(module)};")
        lines += [
            f"    {names[it]} [label={_quoted(it.name)}, tooltip={_quoted(it.place or it.title)}];" for it in functions
        ]
        lines.append("  }")
    lines += [f"  {names[caller]} -> {names[callee]} [label={count}];" for caller, callee, count in graph.by_calls()]
    return "\n".join([*lines, "}"])


def _by_module(graph: Graph) -> Iterator[tuple[str, list[Function]]]:
    modules: dict[str, list[Function]] = {}
    for function in graph.functions:
        modules.setdefault(function.module or "not in Python", []).append(function)
    yield from sorted(modules.items())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def mermaid(graph: Graph) -> str:
    """The graph for Mermaid, which Markdown viewers show."""
    names = graph.numbered()
    lines = ["flowchart LR"]
    lines += [f'  {name}["{_entities(function.title)}"]' for function, name in names.items()]
    lines += [f"  {names[caller]} -->|{count}| {names[callee]}" for caller, callee, count in graph.by_calls()]
    return "\n".join(lines)


def _entities(text: str) -> str:
    """Text for quotes in Mermaid: special characters as numbered entities."""
    return "".join(
        character if character.isalnum() or character in "_. " else f"#{ord(character)};" for character in text
    )


def graphml(graph: Graph) -> str:
    """The graph for yEd, Gephi and networkx."""
    names = graph.numbered()
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(
            f'  <key id="{key}" for="node" attr.name="{key}" attr.type="string"/>'
            for key in ("label", "module", "file")
        ),
        '  <key id="line" for="node" attr.name="line" attr.type="int"/>',
        '  <key id="calls" for="edge" attr.name="calls" attr.type="int"/>',
        '  <graph id="calls" edgedefault="directed">',
    ]
    for function, name in names.items():
        data = {"label": function.title, "module": function.module, "file": function.filename, "line": function.line}
        fields = "".join(f'<data key="{key}">{escaped(str(value))}</data>' for key, value in data.items())
        lines.append(f'    <node id="{name}">{fields}</node>')
    for caller, callee, count in graph.by_calls():
        ends = f'source="{names[caller]}" target="{names[callee]}"'
        lines.append(f'    <edge {ends}><data key="calls">{count}</data></edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>"])


def escaped(text: str) -> str:
    """Text for XML: unprintable characters are replaced, the others escaped.

    >>> escaped("<lambda>\\x00")
    '&lt;lambda&gt;?'
    """
    return html.escape("".join(it if it.isprintable() else "?" for it in text))
