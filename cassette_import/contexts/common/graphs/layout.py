"""The layout of a graph: functions in layers, callers before callees, those of one module side by side.

The costliest path is the first line of all layers, so it is straight. A layer that is too long is broken into several
lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cassette_import.contexts.common.graphs.costs import Costs, callees_by_cost, downward_order
from cassette_import.contexts.common.graphs.graph import Function, Graph
from cassette_import.interpreter.records import Record

__all__ = ["Box", "Cluster", "Layout", "columns", "rows"]

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
