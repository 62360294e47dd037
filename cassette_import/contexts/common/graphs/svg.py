"""A graph of functions as a self-contained SVG picture, with callers on the left of their callees."""

from __future__ import annotations

from typing import Final

from cassette_import.contexts.common.graphs.costs import costliest, costliest_path, costs_of
from cassette_import.contexts.common.graphs.drawing import STYLE, Drawing, size_of_box
from cassette_import.contexts.common.graphs.graph import Graph
from cassette_import.contexts.common.graphs.layout import columns

__all__ = ["MARKERS", "svg"]

_LONGEST_COLUMN: Final = 1200
MARKERS: Final = "".join(
    f'<marker id="{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" style="fill: var(--{colour})"/></marker>'
    for name, colour in (("head", "line"), ("hothead", "hot"))
)
"""The heads of edges."""


def svg(graph: Graph, count: int = 0) -> str:
    """The picture of a graph, or of its `count` costliest functions."""
    costs = costs_of(graph)
    shown = costliest(graph, costs, count)
    path = costliest_path(shown, costs)
    layout = columns(shown, costs, path, size_of_box, _LONGEST_COLUMN)
    drawing = Drawing(shown, costs, path, layout, downwards=False)
    note = ""
    height = layout.height
    if len(shown.functions) < len(graph.functions):
        height += 20
        text = f"the {len(shown.functions)} costliest of {len(graph.functions)} functions; top=0 draws all"
        note = f'<text class="note" x="26" y="{height - 12:.0f}">{text}</text>'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" width="{layout.width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {layout.width:.0f} {height:.0f}">',
        f"<title>Calls between {len(shown.functions)} functions</title>",
        f"<style>{STYLE}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        f"<defs>{MARKERS}</defs>",
        *drawing.clusters(),
        *drawing.edges(),
        *drawing.functions(),
        note,
    ]
    return "\n".join([*filter(None, lines), "</svg>"])
