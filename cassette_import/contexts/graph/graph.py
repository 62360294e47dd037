"""`graph`, and the `Graph` that it returns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from cassette_import.contexts.graph import formats, nodes
from cassette_import.contexts.graph.nodes import Guard, Node, evaluated, nodes_in, run_steps
from cassette_import.contexts.graph.tracing import Trace, marked, trace

__all__ = ["Graph", "graph"]


class Graph:
    """The dataflow graph of one run of a function. `graph` makes it.

    Attributes
    ----------
    nodes:
        The inputs and operations, in the order of the run.
    inputs, outputs:
        The nodes of the unknown parts of the arguments, and those whose results the function returned.
    guards:
        The decisions of the run that depend on the inputs, in their order.

    Example
    -------
    >>> found = graph(lambda x, y: (x + y) * (x - y), 5.0, 3.0)
    >>> found.run(2.0, 1.0), found.widths()
    (3.0, [2, 1])
    """

    def __init__(self, found: Trace) -> None:
        self._trace = found
        self.inputs: list[Node] = list(found.inputs)
        self.nodes: list[Node] = [*found.inputs, *(step for step in found.steps if isinstance(step, Node))]
        self.guards: list[Guard] = [step for step in found.steps if isinstance(step, Guard)]
        self.outputs: list[Node] = list(nodes_in(found.result))

    def run(self, *args: Any) -> Any:
        """Compute the result again.

        Parameters
        ----------
        args:
            The arguments; if some were marked by `unknown`, only those.

        Returns
        -------
        The result, in the structure of the function's.

        Raises
        ------
        GuardFailed
            If a decision differs from that of the traced run, or an argument has another structure or type.
        """
        arguments = self._trace.arguments
        if len(args) != len(arguments):
            raise TypeError(f"the graph has {len(arguments)} arguments, not {len(args)}")
        results: dict[int, Any] = {}
        for argument, value in zip(arguments, args, strict=True):
            argument.read(value, results)
        run_steps(self._trace.steps, results)
        return evaluated(self._trace.result, results)

    def common_subexpressions(self) -> list[list[Node]]:
        """Groups of nodes that compute the same from the same operands."""
        return nodes.common_subexpressions(self.nodes)

    def dead_nodes(self) -> list[Node]:
        """The nodes on which neither an output nor a guard depends."""
        return nodes.dead_nodes(self.nodes, [*self.outputs, *(guard.node for guard in self.guards)])

    def critical_path(self) -> list[Node]:
        """The longest chain of operations of which each needs the result of the one before."""
        return nodes.critical_path(self.nodes)

    def widths(self) -> list[int]:
        """How many operations can run at the same time, for each step along the critical path."""
        return nodes.widths(self.nodes)

    @property
    def parallelism(self) -> float:
        """The number of operations divided by the length of the critical path."""
        return sum(self.widths()) / max(1, len(self.widths()))

    def networkx(self) -> Any:
        """The graph as a `MultiDiGraph` of networkx: an edge for each use of a result."""
        return formats.networkx(self)

    def dot(self) -> str:
        """The graph for Graphviz, with a cluster for each function of the program."""
        return formats.dot(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file: `.dot`, `.graphml`, `.json`, `.svg`, or `.html` for a page to zoom and search.

        Parameters
        ----------
        path:
            The file; its suffix is the format.

        Raises
        ------
        ValueError
            If there is no format with the suffix.
        """
        formats.write(self, path)

    def __repr__(self) -> str:
        return f"<Graph of {len(self.nodes)} nodes and {len(self.guards)} guards>"


def graph(f: Callable[..., Any], *args: Any) -> Graph:
    """The dataflow graph of a run of an unmodified function: a node for each operation or leaf that computes.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    args:
        The arguments. Each is an input, or, if some are marked by `unknown`, only those are. Numbers, texts, arrays of
        NumPy and the parts of lists, tuples, dicts and simple objects are inputs.

    Returns
    -------
    The graph.

    Raises
    ------
    NotRepresentable
        If the function does something that a graph cannot represent exactly.
    NotOverdubbable
        If the function has no Python source.

    >>> import math
    >>> def area(radius):
    ...     return math.pi * radius**2
    >>> found = graph(area, 2.0)
    >>> [node.label for node in found.nodes]
    ['radius', 'pow', 'mul']
    >>> found.run(1.0)
    3.141592653589793
    """
    return Graph(trace(f, marked(f, args)))
