"""A call graph as a self-contained SVG picture, with callers on the left of their callees.

The functions are in columns: each one is right of its callers, unless they are in a cycle. Within a column they are
ordered so that few edges cross. Knows the graph; must not know how it is recorded.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from cassette_import.contexts.callgraph.formats import escaped
from cassette_import.contexts.callgraph.graph import Function, Graph

__all__ = ["svg"]

_CHARACTER_WIDTH: Final = 7.3  # in the font below
_BOX_HEIGHT: Final = 40
_BOX_GAP: Final = 18
_COLUMN_GAP: Final = 110
_MARGIN: Final = 24
_LONGEST_NAME: Final = 48
_SWEEPS: Final = 12
"""How often the columns are sorted again by the positions of their neighbours."""

_STYLE: Final = """
  text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1c2733; }
  .module { fill: #64748b; font-size: 10px; }
  .box { fill: #f8fafc; stroke: #94a3b8; }
  .leaf .box { fill: #fff; stroke-dasharray: 3 2; }
  .function:hover .box { fill: #fef3c7; stroke: #d97706; }
  .line { fill: none; stroke: #64748b; stroke-opacity: .55; }
  .edge:hover .line { stroke: #d97706; stroke-opacity: 1; }
  .count { font-size: 10px; text-anchor: middle; fill: #475569; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
  .edge:hover .count { fill: #b45309; }
  @media (prefers-color-scheme: dark) { svg { background: #fff; } }
"""


class Box(NamedTuple):
    """The position of a function in the picture."""

    x: float
    y: float
    width: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def middle(self) -> float:
        return self.y + _BOX_HEIGHT / 2


def svg(graph: Graph) -> str:
    """The picture of a graph."""
    boxes = _boxes(_ordered(_columns(graph), graph))
    width = max((box.right for box in boxes.values()), default=200) + _MARGIN + 30
    height = max((box.y for box in boxes.values()), default=0) + _BOX_HEIGHT + 2 * _MARGIN
    most = max(graph.calls.values(), default=1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>Calls between {len(graph.functions)} functions</title>",
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#64748b"/></marker></defs>',
    ]
    lines += [
        _edge(caller, callee, count, most, boxes)
        for caller, callee, count in reversed(graph.by_calls())  # the thickest one is drawn last, on top
    ]
    lines += [_function(function, box, graph) for function, box in boxes.items()]
    return "\n".join([*lines, "</svg>"])


# ---- columns


def _columns(graph: Graph) -> list[list[Function]]:
    """Each function in the column after the last of its callers; edges that close a cycle are ignored."""
    callees: dict[Function, list[Function]] = {function: [] for function in graph.functions}
    for caller, callee in sorted(graph.calls):
        if caller != callee:
            callees[caller].append(callee)
    called = {callee for caller, callee in graph.calls if caller != callee}
    starts = [*(function for function in graph.functions if function not in called), *graph.functions]
    order = _topological_order(starts, callees)
    place = {function: number for number, function in enumerate(order)}
    column = dict.fromkeys(order, 0)
    for caller in order:
        for callee in callees[caller]:
            if place[callee] > place[caller]:
                column[callee] = max(column[callee], column[caller] + 1)
    columns: list[list[Function]] = [[] for _ in range(max(column.values(), default=0) + 1)]
    for function in order:
        columns[column[function]].append(function)
    return columns


def _topological_order(starts: Iterable[Function], callees: dict[Function, list[Function]]) -> list[Function]:
    """The functions in topological order: callers before callees, except in a cycle.

    This is a depth-first search without recursion, as call chains may be long.
    """
    visited: set[Function] = set()
    finished: list[Function] = []
    for start in starts:
        if start in visited:
            continue
        visited.add(start)
        work = [(start, iter(callees[start]))]
        while work:
            function, rest = work[-1]
            following = next((callee for callee in rest if callee not in visited), None)
            if following is None:
                finished.append(function)
                work.pop()
            else:
                visited.add(following)
                work.append((following, iter(callees[following])))
    return finished[::-1]


# ---- order within a column


def _ordered(columns: list[list[Function]], graph: Graph) -> list[list[Function]]:
    """The columns, sorted so that each function is near the mean position of its neighbours."""
    neighbours: dict[Function, list[Function]] = {function: [] for function in graph.functions}
    for caller, callee in graph.calls:
        neighbours[caller].append(callee)
        neighbours[callee].append(caller)
    height = {function: float(place) for column in columns for place, function in enumerate(column)}
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 == 0 else reversed(columns):
            middles = {it: sum(height[other] for other in neighbours[it]) / len(neighbours[it]) for it in column}
            column.sort(key=lambda function: middles[function])
            # Columns are centred, so positions are relative to the middle.
            height.update({function: place - (len(column) - 1) / 2 for place, function in enumerate(column)})
    return columns


def _boxes(columns: list[list[Function]]) -> dict[Function, Box]:
    tallest = max(map(len, columns), default=0) * (_BOX_HEIGHT + _BOX_GAP)
    boxes: dict[Function, Box] = {}
    x = float(_MARGIN)
    for column in columns:
        width = max((_width(function) for function in column), default=0)
        y = _MARGIN + (tallest - len(column) * (_BOX_HEIGHT + _BOX_GAP)) / 2
        for function in column:
            boxes[function] = Box(x, y, width)
            y += _BOX_HEIGHT + _BOX_GAP
        x += width + _COLUMN_GAP
    return boxes


def _width(function: Function) -> float:
    return (
        max(len(_cut(function.name)) * _CHARACTER_WIDTH, len(_cut(function.module)) * _CHARACTER_WIDTH * 10 / 12) + 20
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"…{text[1 - _LONGEST_NAME :]}"


# ---- drawing


def _function(function: Function, box: Box, graph: Graph) -> str:
    incoming = sum(count for (_, callee), count in graph.calls.items() if callee == function)
    about = "\n".join(filter(None, (function.title, function.place, f"{incoming} calls" if incoming else "")))
    kind = "function" if function.place else "function leaf"
    name_at = box.y + (17 if function.module else 24)
    module = f'<text class="module" x="{box.x + 10:.1f}" y="{box.y + 31:.1f}">{escaped(_cut(function.module))}</text>'
    return (
        f'<g class="{kind}"><title>{"&#10;".join(map(escaped, about.splitlines()))}</title>'
        f'<rect class="box" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{_BOX_HEIGHT}" rx="5"/>'
        f'<text x="{box.x + 10:.1f}" y="{name_at:.1f}">{escaped(_cut(function.name))}</text>'
        f"{module if function.module else ''}</g>"
    )


def _edge(caller: Function, callee: Function, count: int, most: int, boxes: dict[Function, Box]) -> str:
    path, x, y = _path(boxes[caller], boxes[callee])
    thickness = 1 + 4 * math.log(count + 1) / math.log(most + 1)
    return (
        f'<g class="edge"><title>{escaped(caller.title)} → {escaped(callee.title)}: {count}</title>'
        f'<path class="line" d="{path}" stroke-width="{thickness:.1f}" marker-end="url(#head)"/>'
        f'<text class="count" x="{x:.1f}" y="{y:.1f}">{count}</text></g>'
    )


def _path(start: Box, end: Box) -> tuple[str, float, float]:
    """The curve of an edge, and the position of its number."""
    if start == end:  # a loop at the upper right corner
        x, y = start.right, start.y
        return (
            f"M{x - 14:.1f} {y:.1f}C{x - 10:.1f} {y - 26:.1f} {x + 30:.1f} {y - 4:.1f} {x:.1f} {y + 12:.1f}",
            x + 12,
            y - 6,
        )
    if end.x > start.x:
        x1, y1, x2, y2 = start.right, start.middle, end.x, end.middle
        bend = (x2 - x1) / 2
        path = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        # The number is in the gap after the caller: boxes of later columns may hide the rest of the curve.
        at = min(0.5, _COLUMN_GAP / (x2 - x1) * 0.6)
        return path, *_on_curve(at, (x1, y1), (x1 + bend, y1), (x2 - bend, y2), (x2, y2 - 3))
    # An edge to the left or within a column leaves on the left side and enters on the right side.
    x1, x2, bend = start.x, end.right, 40 + abs(start.middle - end.middle) / 4
    y1, y2 = start.middle + 8, end.middle + 8
    path = f"M{x1:.1f} {y1:.1f}C{x1 - bend:.1f} {y1 + bend:.1f} {x2 + bend:.1f} {y2 + bend:.1f} {x2:.1f} {y2:.1f}"
    return path, (x1 + x2) / 2, (y1 + y2) / 2 + bend * 0.75 - 3


def _on_curve(at: float, *points: tuple[float, float]) -> tuple[float, float]:
    """A point of a cubic Bézier curve, by de Casteljau's construction."""
    while len(points) > 1:
        points = tuple((x1 + (x2 - x1) * at, y1 + (y2 - y1) * at) for (x1, y1), (x2, y2) in itertools.pairwise(points))
    return points[0]
