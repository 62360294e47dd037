"""One page for the pages of several processes: two flame graphs, of all together and by process, and tables
with sums.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from cassette_import.kits.calls.flamegraph import page_of
from cassette_import.kits.text import plural

__all__ = ["merged_page"]

_DATA: Final = re.compile(r'<script id="data" type="application/json">(.*?)</script>', re.DOTALL)
_ALL_THREADS: Final = "<all threads>"

_Frame: TypeAlias = tuple[str, ...]
"""The name of a function, its place and its module."""


class _Tree:
    """A path of calls with its numbers, and what was called there."""

    def __init__(self) -> None:
        self.calls = 0
        self.own: float = 0
        self.below: dict[_Frame, _Tree] = {}

    def add(self, other: _Tree) -> None:
        """Add the numbers of another tree, path by path."""
        work = [(self, other)]
        while work:
            here, there = work.pop()
            here.calls += there.calls
            here.own += there.own
            work += [(here.below.setdefault(frame, _Tree()), below) for frame, below in there.below.items()]

    def paths(self, frame: _Frame) -> Iterator[tuple[_Frame, int, _Tree]]:
        """The frame, the depth and the numbers of each path, parents first."""
        work = [(frame, 0, self)]
        while work:
            name, depth, here = work.pop()
            yield name, depth, here
            work += [(below, depth + 1, tree) for below, tree in reversed(here.below.items())]


def merged_page(pages: Mapping[str, str], title: str) -> str | None:
    """The page of all processes.

    Parameters
    ----------
    pages:
        The page of each process, by its name.
    title:
        The heading.

    Returns
    -------
    The page; None if one of the pages has no flame graph.

    Example
    -------
    >>> merged_page({"one": "<p>no flame graph"}, "all") is None
    True
    """
    found = {name: _DATA.search(page) for name, page in pages.items()}
    parts = {name: json.loads(match[1]) for name, match in found.items() if match is not None}
    if len(parts) < len(pages):
        return None
    first = next(iter(parts.values()))
    together, by_process = _Tree(), _Tree()
    for name, part in parts.items():
        tree = _tree(part)
        together.add(_without_threads(tree))
        by_process.below[name, "", ""] = tree
    together.calls = by_process.calls = len(parts)
    number = plural(len(parts), "process", "processes")
    views = {"together": ((f"<{number} together>", "", ""), together)}
    views["by process"] = (f"<{number}>", "", ""), by_process
    data = {
        **{key: first[key] for key in ("unit", "own", "of_site")},
        "summary": number,
        **_written(views),
        "functions": _sums(row for part in parts.values() for row in part["functions"]),
        "sites": _sums(row for part in parts.values() for row in part["sites"]),
    }
    return page_of(data, title)


def _tree(part: Mapping[str, Any]) -> _Tree:
    """The paths of a page, below one root."""
    root = _Tree()
    stack = [root]
    frames = [tuple(frame) for frame in part["frames"]]
    for frame, depth, calls, own in zip(part["frame"], part["depth"], part["calls"], part["self"], strict=True):
        del stack[depth + 1 :]
        here = stack[-1].below.setdefault(frames[frame], _Tree())
        here.calls += calls
        here.own += own
        stack.append(here)
    return root


def _without_threads(root: _Tree) -> _Tree:
    """The paths below those of the threads, whose names differ from process to process."""
    threads = [
        thread
        for (name, *_), tree in root.below.items()
        for thread in (tree.below.values() if name == _ALL_THREADS else [tree])
    ]
    made = _Tree()
    for thread in threads:
        made.add(thread)
    return made


def _written(views: Mapping[str, tuple[_Frame, _Tree]]) -> dict[str, Any]:
    """The paths of trees, one tree after the other, and where each begins."""
    frames: dict[_Frame, int] = {}
    made: dict[str, Any] = {"frame": [], "depth": [], "calls": [], "self": [], "views": {}}
    for title, (root, tree) in views.items():
        made["views"][title] = len(made["frame"])
        for frame, depth, here in tree.paths(root):
            made["frame"].append(frames.setdefault(frame, len(frames)))
            made["depth"].append(depth)
            made["calls"].append(here.calls)
            made["self"].append(round(here.own, 9))
    return {"frames": list(frames), **made}


def _sums(rows: Iterable[list[Any]]) -> list[list[Any]]:
    """Rows of numbers and texts: the numbers of rows with equal texts are added up."""
    sums: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        numbers = [one for one in row if not isinstance(one, str)]
        key = tuple(one for one in row if isinstance(one, str))
        sums[key] = [one + other for one, other in zip(sums.get(key, [0] * len(numbers)), numbers, strict=True)]
    return [[*numbers, *key] for key, numbers in sums.items()]
