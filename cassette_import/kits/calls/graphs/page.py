"""A graph of functions as one HTML page that works offline: pictures to zoom, pan and search, and lists."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from importlib import resources
from typing import Any, Final

from cassette_import.kits.calls.graphs.graph import Costs, Function, Graph, costliest, costliest_path, costs_of
from cassette_import.kits.calls.graphs.svg import MARKERS, STYLE, Drawing, rows, size_of_box

__all__ = ["page", "page_of", "write"]

# ---- what pages of graphs share: style, buttons, and the script that zooms, pans, and takes keys and clicks

_ZOOM: Final = """\
  <div id="zoom" role="group" aria-label="zoom">
    <button type="button" id="in" aria-label="zoom in">+</button>
    <button type="button" id="out" aria-label="zoom out">−</button>
    <button type="button" id="fit">everything</button>
  </div>"""


def page_of(package: str, title: str, data: object, **parts: str) -> str:
    """The page of a package's template, `page.html`: a heading, what its script reads, and further parts by name."""
    here = resources.files(__package__)
    shared = {
        "stage_style": here.joinpath("stage.css").read_text(encoding="utf-8").rstrip(),
        "stage_script": here.joinpath("stage.js").read_text(encoding="utf-8").rstrip(),
        "zoom": _ZOOM,
    }
    page = resources.files(package).joinpath("page.html").read_text(encoding="utf-8")
    for mark, text in {"title": html.escape(title), **shared, **parts}.items():
        page = page.replace(f"@{mark}@", text)
    # A name with "</script>" in it would end the element that holds the data. Names may look like another mark.
    return page.replace("@data@", json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


# ---- a graph of functions as one HTML page that works offline: pictures to zoom, pan and search, and lists

_LONGEST_ROW: Final = 1500
_MOST_DRAWN: Final = 1000
"""The most functions of the picture of all functions. The lists and the search have all."""


def page(graph: Graph, count: int, title: str) -> str:
    """The page of a graph.

    Parameters
    ----------
    graph:
        The graph.
    count:
        How many functions the first picture shows, the costliest ones; 0 means all.
    title:
        The heading.
    """
    costs = costs_of(graph)
    identifiers = {function: number for number, function in enumerate(graph.functions)}
    sizes = [min(count or _MOST_DRAWN, len(graph.functions))]
    if sizes[0] < len(graph.functions):
        sizes.append(min(_MOST_DRAWN, len(graph.functions)))
    pictures = [_picture(costliest(graph, costs, size), costs, identifiers) for size in sizes if size]
    return page_of(
        __package__,
        title,
        _data(graph, costs, identifiers),
        style=STYLE,
        markers=MARKERS,
        views="\n".join(_view_buttons(sizes, len(graph.functions))),
        pictures="\n".join(pictures),
    )


def write(graph: Graph, count: int, path: str) -> None:
    """Write the page to a file."""
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(page(graph, count, os.path.basename(path).removesuffix(".html") or "callgraph"))


def _view_buttons(sizes: list[int], total: int) -> list[str]:
    if len(sizes) < 2:
        return []
    everything = f"all {total}" if sizes[1] == total else f"{sizes[1]} of {total}"
    return [
        f'<button type="button" data-view="{number}" aria-pressed="{str(not number).lower()}">{text}</button>'
        for number, text in enumerate((f"{sizes[0]} costliest", everything))
    ]


def _picture(graph: Graph, costs: Costs, identifiers: dict[Function, int]) -> str:
    path = costliest_path(graph, costs)
    layout = rows(graph, costs, path, size_of_box, _LONGEST_ROW)
    drawing = Drawing(graph, costs, path, layout, downwards=True)
    parts = (*drawing.clusters(), *drawing.edges(identifiers), *drawing.functions(identifiers))
    return "\n".join(
        [f'<g class="view" data-width="{layout.width:.0f}" data-height="{layout.height:.0f}">', *parts, "</g>"]
    )


def _data(graph: Graph, costs: Costs, identifiers: dict[Function, int]) -> dict[str, Any]:
    """What the page's script reads."""
    calls: Counter[Function] = Counter()
    for (_, callee), count in graph.calls.items():
        calls[callee] += count
    own = graph.seconds.own if graph.seconds is not None else calls
    return {
        "unit": "seconds" if costs.are_seconds else "calls",
        "total": costs.total,
        "path": [identifiers[function] for function in costliest_path(graph, costs)],
        "functions": [
            (it.name, it.module, it.place, calls[it], round(costs.functions.get(it, 0.0), 6), round(own.get(it, 0), 6))
            for it in graph.functions
        ],
        "edges": [
            (identifiers[caller], identifiers[callee], count, round(costs.edges.get((caller, callee), 0.0), 6))
            for (caller, callee), count in graph.calls.items()
        ],
    }
