"""A graph of functions: which calls which, how often, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from cassette_import.contexts.common.text import search_folders, short_path
from cassette_import.interpreter.records import Record

__all__ = ["NOT_PYTHON", "Edge", "Function", "Graph", "Seconds"]

NOT_PYTHON: Final = "~"
"""The file name of functions that are not written in Python."""


class Function(Record):
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


Edge: TypeAlias = tuple[Function, Function]
"""A caller and its callee."""


class Seconds(Record):
    """Measured times: cumulative ones of functions and edges, and self times of functions."""

    cumulative: Mapping[Function, float]
    edges: Mapping[Edge, float]
    own: Mapping[Function, float]


class Graph(Record):
    """The functions, sorted, the number of calls of each pair of caller and callee, and times if they were measured."""

    functions: tuple[Function, ...]
    calls: Mapping[Edge, int]
    seconds: Seconds | None = None

    def by_calls(self) -> list[tuple[Function, Function, int]]:
        """Caller, callee and number of calls; the largest number first."""
        edges = [(caller, callee, count) for (caller, callee), count in self.calls.items()]
        return sorted(edges, key=lambda edge: (-edge[2], edge[0], edge[1]))

    def numbered(self) -> dict[Function, str]:
        """A short identifier for each function, for formats that need one."""
        return {function: f"f{number}" for number, function in enumerate(self.functions)}
