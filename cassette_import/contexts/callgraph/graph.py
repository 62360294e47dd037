"""The call graph: functions, and how often one calls another.

Knows names and files of functions; must not know hooks, or how the graph is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cassette_import.contexts.common.text import search_folders, short_path

__all__ = ["NOT_PYTHON", "Function", "Graph"]

NOT_PYTHON: Final = "~"
"""The file name of functions that are not written in Python."""


class Function(NamedTuple):
    """A function of the graph, with its file, line and module."""

    filename: str
    line: int
    module: str
    name: str

    @property
    def title(self) -> str:
        """The name with its module; functions of the script itself have no module."""
        return self.name if self.module in ("", "__main__") else f"{self.module}.{self.name}"

    @property
    def place(self) -> str:
        """The file, relative to a folder of `sys.path` if possible, and the line; empty if there is no file."""
        if self.filename == NOT_PYTHON:
            return ""
        return f"{short_path(self.filename, search_folders())}:{self.line}"


class Graph(NamedTuple):
    """The functions, sorted, and the number of calls of each pair of caller and callee."""

    functions: tuple[Function, ...]
    calls: Mapping[tuple[Function, Function], int]

    def by_calls(self) -> list[tuple[Function, Function, int]]:
        """Caller, callee and number of calls; the largest number first."""
        edges = [(caller, callee, count) for (caller, callee), count in self.calls.items()]
        return sorted(edges, key=lambda edge: (-edge[2], edge[0], edge[1]))

    def numbered(self) -> dict[Function, str]:
        """A short identifier for each function, for formats that need one."""
        return {function: f"f{number}" for number, function in enumerate(self.functions)}
