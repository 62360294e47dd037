"""A graph of functions as a self-contained SVG picture, with callers on the left of their callees."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cassette_import.interpreter.records import Record
from cassette_import.kits.calls.graphs.formats import escaped
from cassette_import.kits.calls.graphs.graph import (
    Costs,
    Function,
    Graph,
    callees_by_cost,
    costliest,
    costliest_path,
    costs_of,
    downward_order,
)

__all__ = ["MARKERS", "STYLE", "Drawing", "columns", "rows", "size_of_box", "svg"]

# ---- the layout of a graph: functions in layers, callers before callees, those of one module side by side
#
# The costliest path is the first line of all layers, so it is straight. A layer that is too long is broken into several
# lines.

_SWEEPS: Final = 8
"""How often the layers are sorted again by the positions of their neighbours."""
_GAP: Final = 18
_MODULE_GAP: Final = 30
"""Between the boxes of two modules."""
_LINE_GAP: Final = 34
"""Between the lines of one layer."""
_MARGIN: Final = 26
_AROUND: Final = 8
"""How far a cluster reaches beyond its boxes."""


class Box(Record):
    """The position of a function in the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


class Cluster(Record):
    """Functions of one module side by side, and the rectangle around their boxes."""

    module: str
    functions: Sequence[Function]
    box: Box


class Layout(Record):
    """The positions of all functions, the clusters, and the size of the picture."""

    boxes: Mapping[Function, Box]
    clusters: Sequence[Cluster]
    width: float
    height: float


_Size: TypeAlias = Callable[[Function], tuple[float, float]]
"""The width and the height of a function's box."""
_Lines: TypeAlias = list[list[list[Function]]]
"""The layers, each with its lines."""


def rows(
    graph: Graph,
    costs: Costs,
    path: Sequence[Function],
    size: Callable[[Function], tuple[float, float]],
    longest: float,
) -> Layout:
    """The layers from the top to the bottom; no line is longer than `longest`, unless it is one box."""
    width = {function: size(function)[0] for function in graph.functions}
    boxes: dict[Function, Box] = {}
    clusters: list[Cluster] = []
    y = float(_MARGIN)
    for layer in _lines_from(graph, costs, path, width, longest):
        for line, x in layer:
            _place_row(line, x, y, size, boxes)
            clusters += _clusters(line, boxes)
            y += max(size(function)[1] for function in line) + _LINE_GAP
        y += _GAP * 1.5
    return _sized(boxes, clusters)


def columns(
    graph: Graph,
    costs: Costs,
    path: Sequence[Function],
    size: Callable[[Function], tuple[float, float]],
    longest: float,
) -> Layout:
    """The layers from the left to the right; no line is longer than `longest`, unless it is one box."""
    height = {function: size(function)[1] for function in graph.functions}
    boxes: dict[Function, Box] = {}
    clusters: list[Cluster] = []
    x = float(_MARGIN)
    for layer in _lines_from(graph, costs, path, height, longest):
        for line, y in layer:
            widest = max(size(function)[0] for function in line)
            for function, gap in zip(line, _gaps(line), strict=True):
                y += gap
                boxes[function] = Box(x, y, widest, height[function])
                y += height[function]
            clusters += _clusters(line, boxes)
            x += widest + _LINE_GAP
        x += 110 - _LINE_GAP
    return _sized(boxes, clusters)


def _lines_from(
    graph: Graph, costs: Costs, path: Sequence[Function], length: Mapping[Function, float], longest: float
) -> Iterator[list[tuple[list[Function], float]]]:
    """The lines of each layer, and where each begins: the path has the left or upper edge for itself."""
    layers = _layers(graph, costs, path)
    on_path, deepest, lane = _lane(layers, path, length)
    for number, layer in enumerate(_broken(layers, length, longest - 2 * _MARGIN)):
        yield [
            (line, lane if number < deepest and not on_path.intersection(line) else float(_MARGIN)) for line in layer
        ]


def _lane(
    layers: Sequence[Sequence[Function]], path: Sequence[Function], length: Mapping[Function, float]
) -> tuple[frozenset[Function], int, float]:
    """The functions of the path, its last layer, and where boxes beside it begin in the layers that it only crosses."""
    on_path = frozenset(path)
    deepest = max((number for number, layer in enumerate(layers) if on_path.intersection(layer)), default=0)
    return on_path, deepest, _MARGIN + max((length[function] for function in path), default=0.0) + _MODULE_GAP


def _sized(boxes: Mapping[Function, Box], clusters: Sequence[Cluster]) -> Layout:
    width = max((box.right for box in boxes.values()), default=200) + _MARGIN + 30
    height = max((box.bottom for box in boxes.values()), default=0) + _MARGIN
    return Layout(boxes, clusters, width, height)


# ---- layers


def _layers(graph: Graph, costs: Costs, path: Sequence[Function]) -> list[list[Function]]:
    """Each function in the layer after the last of its callers; edges that close a cycle are ignored."""
    callees = callees_by_cost(graph, costs.edges)
    order = downward_order(graph, callees, path[:1])  # the search then goes down the whole path first
    place = {function: number for number, function in enumerate(order)}
    layer = dict.fromkeys(order, 0)
    for caller in order:
        for callee in callees[caller]:
            if place[callee] > place[caller]:
                layer[callee] = max(layer[callee], layer[caller] + 1)
    layers: list[list[Function]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for function in order:
        layers[layer[function]].append(function)
    _sort(layers, graph, frozenset(path))
    return layers


def _sort(layers: list[list[Function]], graph: Graph, path: frozenset[Function]) -> None:
    """Sort each layer: the costliest path first, functions of one module together, all near their neighbours."""
    neighbours: dict[Function, list[Function]] = {function: [] for function in graph.functions}
    for caller, callee in graph.calls:
        neighbours[caller].append(callee)
        neighbours[callee].append(caller)
    position = {function: float(number) for layer in layers for number, function in enumerate(layer)}
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            mean = {it: sum(position[other] for other in neighbours[it]) / max(1, len(neighbours[it])) for it in layer}
            modules: dict[str, list[Function]] = {}
            for function in layer:
                modules.setdefault(function.module, []).append(function)
            middle = {name: sum(mean[it] for it in members) / len(members) for name, members in modules.items()}
            first = {function.module for function in layer if function in path}
            layer.sort(key=lambda it: (it.module not in first, middle[it.module], it.module, it not in path, mean[it]))
            # Layers with a function of the path begin with it; others are centred.
            shift = 0.0 if path else (len(layer) - 1) / 2
            position.update({function: number - shift for number, function in enumerate(layer)})


def _gaps(line: Sequence[Function]) -> list[float]:
    """The space before each box of a line: more of it between modules."""
    gaps = [0.0]
    for before, function in itertools.pairwise(line):
        gaps.append(_GAP if before.module == function.module else _MODULE_GAP)
    return gaps[: len(line)]


def _broken(layers: Sequence[list[Function]], length: Mapping[Function, float], longest: float) -> _Lines:
    """The layers, each broken into lines of at most this length."""
    broken: _Lines = []
    for layer in layers:
        lines: list[list[Function]] = [[]]
        so_far = 0.0
        for function in layer:
            so_far += length[function] + _MODULE_GAP
            if lines[-1] and so_far > longest:
                lines.append([])
                so_far = length[function] + _MODULE_GAP
            lines[-1].append(function)
        broken.append(lines)
    return broken


# ---- positions


def _place_row(line: Sequence[Function], x: float, y: float, size: _Size, boxes: dict[Function, Box]) -> None:
    for function, gap in zip(line, _gaps(line), strict=True):
        width, height = size(function)
        x += gap
        boxes[function] = Box(x, y, width, height)
        x += width


def _clusters(line: Sequence[Function], boxes: Mapping[Function, Box]) -> list[Cluster]:
    """The clusters of a line: neighbours of one module."""
    runs: list[list[Function]] = []
    for function in line:
        if runs and runs[-1][-1].module == function.module:
            runs[-1].append(function)
        else:
            runs.append([function])
    return [Cluster(run[0].module, run, _around([boxes[function] for function in run])) for run in runs]


def _around(boxes: Sequence[Box]) -> Box:
    x, y = min(box.x for box in boxes) - _AROUND, min(box.y for box in boxes) - _AROUND
    right, bottom = max(box.right for box in boxes) + _AROUND, max(box.bottom for box in boxes) + _AROUND
    return Box(x, y, right - x, bottom - y)


# ---- boxes, clusters and edges of a graph as SVG elements

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


# ---- a graph of functions as a self-contained SVG picture, with callers on the left of their callees

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
