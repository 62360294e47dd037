"""Boxes, clusters and edges of a graph as SVG elements."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from cassette_import.contexts.common.graphs.costs import Costs
from cassette_import.contexts.common.graphs.formats import escaped
from cassette_import.contexts.common.graphs.graph import Function, Graph
from cassette_import.contexts.common.graphs.layout import Box, Cluster, Layout

__all__ = ["STYLE", "Drawing", "size_of_box"]

_CHARACTER_WIDTH: Final = 7.3  # in the font below
_BOX_HEIGHT: Final = 40
_LONGEST_NAME: Final = 40
_COLUMN_GAP: Final = 110
_LABELS: Final = 40
"""How many edges have their number of calls beside them, if there are more of them; the costliest do."""

STYLE: Final = """
  .picture { --paper: #fff; --ink: #1c2733; --faint: #5b6778; --box: #f8fafc; --line: #94a3b8; --hot: #d9480f;
    --tint: 60% 94%; }
  @media (prefers-color-scheme: dark) {
    .picture { --paper: #17191d; --ink: #eef1f5; --faint: #aab4c2; --box: #23272e; --line: #5d6979; --hot: #ff7a33;
      --tint: 35% 16%; }
  }
  .picture text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink); }
  .picture .paper { fill: var(--paper); }
  .picture .module { fill: var(--faint); font-size: 10px; }
  .picture .cost { fill: var(--ink); font-weight: 600; }
  .picture .box { fill: var(--box); stroke: var(--line); }
  .picture .heat { fill: var(--hot); pointer-events: none; }
  .picture .leaf .box { stroke-dasharray: 3 2; }
  .picture .hot .box, .picture .box.hot { stroke: var(--hot); stroke-width: 2.5px; }
  .picture .function:hover .box { stroke: var(--hot); }
  .picture .line { fill: none; stroke: var(--line); }
  .picture .edge.hot .line, .picture .edge:hover .line { stroke: var(--hot); stroke-opacity: 1; }
  .picture .count { font-size: 10px; text-anchor: middle; fill: var(--faint); paint-order: stroke; stroke: var(--paper);
    stroke-width: 3px; }
  .picture .hot .count, .picture .edge:hover .count { fill: var(--hot); font-weight: 600; }
  .picture .cluster { stroke: none; }
  .picture .note { fill: var(--faint); }
"""


class Drawing:
    """Draws the parts of a laid out graph."""

    def __init__(
        self, graph: Graph, costs: Costs, path: Sequence[Function], layout: Layout, *, downwards: bool
    ) -> None:
        self._graph = graph
        self._costs = costs
        self._layout = layout
        self._path_functions = frozenset(path)
        self._path_edges = frozenset(itertools.pairwise(path))
        self._route = _downward_route if downwards else _rightward_route
        self._incoming: dict[Function, int] = dict.fromkeys(graph.functions, 0)
        for (_, callee), count in graph.calls.items():
            self._incoming[callee] += count
        ranked = sorted(graph.calls, key=lambda edge: (edge not in self._path_edges, -costs.edges.get(edge, 0.0), edge))
        self._ranked = ranked
        self._labelled = frozenset(ranked[:_LABELS] if len(ranked) > 2 * _LABELS else ranked)

    def clusters(self) -> Iterator[str]:
        """The rectangles behind the functions of each module."""
        for cluster in self._layout.clusters:
            yield _cluster(cluster)

    def edges(self, identifiers: dict[Function, int] | None = None) -> Iterator[str]:
        """The edges, those on the costliest path last, on top of the others."""
        for edge in reversed(self._ranked):
            caller, callee = edge
            count, share = self._graph.calls[edge], self._costs.share(self._costs.edges.get(edge, 0.0))
            path, x, y = self._route(self._layout.boxes[caller], self._layout.boxes[callee])
            kind = "edge hot" if edge in self._path_edges else "edge"
            data = "" if identifiers is None else f' data-from="{identifiers[caller]}" data-to="{identifiers[callee]}"'
            about = f"{caller.title} → {callee.title}: {self._cost(self._costs.edges.get(edge, 0.0), count)}"
            label = ""
            if edge in self._labelled or identifiers is not None:
                minor = "" if edge in self._labelled else " minor"
                label = f'<text class="count{minor}" x="{x:.1f}" y="{y:.1f}">{count}</text>'
            head = "hothead" if edge in self._path_edges else "head"
            yield (
                f'<g class="{kind}"{data}><title>{escaped(about)}</title><path class="line" d="{path}" '
                f'stroke-width="{1 + 5 * math.sqrt(share):.1f}" stroke-opacity="{0.3 + 0.6 * math.sqrt(share):.2f}" '
                f'marker-end="url(#{head})"/>{label}</g>'
            )

    def functions(self, identifiers: dict[Function, int] | None = None) -> Iterator[str]:
        """The boxes with the names of functions."""
        for function, box in self._layout.boxes.items():
            yield self._function(function, box, identifiers)

    def _function(self, function: Function, box: Box, identifiers: dict[Function, int] | None) -> str:
        cost = self._costs.functions.get(function, 0.0)
        share = self._costs.share(cost)
        calls = self._incoming[function]
        about = "\n".join(filter(None, (function.title, function.place, self._cost(cost, calls) if calls else "")))
        title = "&#10;".join(map(escaped, about.splitlines()))
        module = escaped(_cut(function.module))
        separator = " · " if module else ""
        data = ""
        if identifiers is not None:
            data = f' data-id="{identifiers[function]}" tabindex="0" role="button" aria-label="{title}"'
        on_path = " hot" if function in self._path_functions else ""
        kind = "function" if function.place else "function leaf"
        return (
            f'<g class="{kind}"{data}><title>{title}</title>'
            f'<rect class="box"{_STROKE if on_path else ""} x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
            f'height="{_BOX_HEIGHT}" rx="5"/>'
            f'<rect class="heat" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{_BOX_HEIGHT}" rx="5" '
            f'fill-opacity="{0.5 * share:.3f}"/>'
            f'<text x="{box.x + 10:.1f}" y="{box.y + 17:.1f}">{escaped(_cut(function.name))}</text>'
            f'<text class="module" x="{box.x + 10:.1f}" y="{box.y + 31:.1f}">{module}'
            f'<tspan class="cost">{separator}{share:.0%}</tspan></text></g>'
        )

    def _cost(self, cost: float, calls: int) -> str:
        counted = f"{calls} call{'' if calls == 1 else 's'}"
        if self._costs.are_seconds:
            return f"{counted}, {self._costs.text(cost)} ({self._costs.share(cost):.1%})"
        return counted if round(cost) <= calls else f"{counted}, with all below about {self._costs.text(cost)}"


_STROKE: Final = ' style="stroke: var(--hot); stroke-width: 2.5px"'


def size_of_box(function: Function) -> tuple[float, float]:
    """The width and the height of a function's box."""
    name, module = _cut(function.name), f"{_cut(function.module)} · 100%"
    return max(len(name) * _CHARACTER_WIDTH, len(module) * _CHARACTER_WIDTH * 10 / 12) + 20, _BOX_HEIGHT


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"…{text[1 - _LONGEST_NAME :]}"


def _cluster(cluster: Cluster) -> str:
    box = cluster.box
    hue = zlib.crc32(cluster.module.encode("utf-8", "backslashreplace")) % 360
    return (
        f'<g class="clustered" data-module="{escaped(cluster.module)}"><title>{escaped(cluster.module)}</title>'
        f'<rect class="cluster" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="9" style="fill: hsl({hue} var(--tint))"/></g>'
    )


# ---- routes of edges: the path, and the position of the number


def _rightward_route(start: Box, end: Box) -> tuple[str, float, float]:
    if start == end:
        return _loop(start)
    if end.x > start.right:
        x1, (_, y1), x2, (_, y2) = start.right, start.middle, end.x, end.middle
        bend = (x2 - x1) / 2
        path = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        # The number is in the gap after the caller: boxes of later columns may hide the rest of the curve.
        at = min(0.5, _COLUMN_GAP / (x2 - x1) * 0.6)
        return path, *_on_curve(at, (x1, y1), (x1 + bend, y1), (x2 - bend, y2), (x2, y2 - 3))
    # An edge to the left or within a column leaves on the left side and enters on the right side.
    x1, x2, bend = start.x, end.right, 40 + abs(start.middle[1] - end.middle[1]) / 4
    y1, y2 = start.middle[1] + 8, end.middle[1] + 8
    path = f"M{x1:.1f} {y1:.1f}C{x1 - bend:.1f} {y1 + bend:.1f} {x2 + bend:.1f} {y2 + bend:.1f} {x2:.1f} {y2:.1f}"
    return path, (x1 + x2) / 2, (y1 + y2) / 2 + bend * 0.75 - 3


def _downward_route(start: Box, end: Box) -> tuple[str, float, float]:
    if start == end:
        return _loop(start)
    if end.y > start.bottom:
        (x1, _), y1, (x2, _), y2 = start.middle, start.bottom, end.middle, end.y
        bend = min(80.0, (y2 - y1) / 2)
        path = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
        return path, *_on_curve(min(0.5, 40 / (y2 - y1)), (x1, y1), (x1, y1 + bend), (x2, y2 - bend), (x2, y2))
    # An edge upwards or within a line leaves and enters on the right side.
    x1, y1, x2, y2 = start.right, start.middle[1], end.right, end.middle[1]
    bend = 30 + abs(y1 - y2) / 8
    path = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 + bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    return path, *_on_curve(0.3, (x1, y1), (x1 + bend, y1), (x2 + bend, y2), (x2, y2))


def _loop(box: Box) -> tuple[str, float, float]:
    """The edge of a function to itself, at its upper right corner."""
    x, y = box.right, box.y
    path = f"M{x - 14:.1f} {y:.1f}C{x - 10:.1f} {y - 26:.1f} {x + 30:.1f} {y - 4:.1f} {x:.1f} {y + 12:.1f}"
    return path, x + 12, y - 6


def _on_curve(at: float, *points: tuple[float, float]) -> tuple[float, float]:
    """A point of a cubic Bézier curve, by de Casteljau's construction."""
    while len(points) > 1:
        points = tuple((x1 + (x2 - x1) * at, y1 + (y2 - y1) * at) for (x1, y1), (x2, y2) in itertools.pairwise(points))
    return points[0]
