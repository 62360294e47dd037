"""A graph of functions: which calls which, how often, and what that costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from cassette_import.interpreter.records import Record
from cassette_import.kits.text import search_folders, short_path

__all__ = [
    "NOT_PYTHON",
    "Costs",
    "Edge",
    "Function",
    "Graph",
    "Seconds",
    "callees_by_cost",
    "costliest",
    "costliest_path",
    "costs_of",
    "downward_order",
]

# ---- a graph of functions: which calls which, how often, and what that costs

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


# ---- what functions and edges of a graph cost, which are the costliest, and the costliest path
#
# The cost is time if it was measured. Else it is the number of calls of a function and of all that it calls; it is
# estimated as gprof does: what a function with several callers causes is divided among them by their numbers of calls.

_WORTH_FOLLOWING: Final = 0.005
"""The costliest path ends where less than this share of the whole goes on."""


class Costs(Record):
    """The costs of functions and edges, each with all that happens below, and the cost of the whole program."""

    functions: Mapping[Function, float]
    edges: Mapping[Edge, float]
    total: float
    are_seconds: bool

    def share(self, cost: float) -> float:
        """A part of the whole program, from 0 to 1."""
        return min(1.0, cost / self.total) if self.total else 0.0

    def text(self, cost: float) -> str:
        """A cost with its unit.

        >>> Costs({}, {}, 1, True).text(0.0123), Costs({}, {}, 1, False).text(1234.4)
        ('12.3 ms', '1,234 calls')
        """
        if not self.are_seconds:
            return f"{round(cost):,} call{'' if round(cost) == 1 else 's'}"
        return f"{cost:.2f} s" if cost >= 1 else f"{cost * 1e3:.1f} ms"


def costs_of(graph: Graph) -> Costs:
    """The costs of a graph."""
    if graph.seconds is not None:
        functions, edges, _ = graph.seconds
        return Costs(functions, edges, max(functions.values(), default=0.0), are_seconds=True)
    return _estimated(graph)


def _estimated(graph: Graph) -> Costs:
    """The costs in calls, from the callees upwards. Functions that call one another in a cycle are taken together."""
    incoming: Counter[Function] = Counter()
    for (_, callee), count in graph.calls.items():
        incoming[callee] += count
    callees = callees_by_cost(graph, graph.calls)
    place = {function: number for number, function in enumerate(downward_order(graph, callees))}
    estimate = _Estimate(graph, incoming, callees, place)
    for cycle in _cycles(graph.functions, callees):
        estimate.add(cycle)
    total = float(sum(graph.calls.values()))
    functions = {function: min(cost, total) for function, cost in estimate.functions.items()}
    return Costs(functions, estimate.edges, total, are_seconds=False)


class _Estimate:
    """The costs of the functions and edges so far."""

    def __init__(
        self,
        graph: Graph,
        incoming: Mapping[Function, int],
        callees: Mapping[Function, list[Function]],
        place: Mapping[Function, int],
    ) -> None:
        self._calls = graph.calls
        self._incoming = incoming
        self._callees = callees
        self._place = place
        self._per_call: dict[Function, float] = {}
        self.functions: dict[Function, float] = {}
        self.edges: dict[Edge, float] = {}

    def add(self, cycle: list[Function]) -> None:
        """Add the functions of a cycle, or a single function, whose other callees were added before.

        Within a cycle, the costs are first those without the edges that close it. They are then enlarged: the calls
        from outside cost what all calls in the cycle and below cost, and the costliest function in it as well.
        """
        inside = set(cycle)
        below: dict[Function, float] = {}
        whole = 0.0
        for function in sorted(cycle, key=self._place.__getitem__, reverse=True):
            cost = float(self._incoming[function])
            whole += cost
            for callee in self._callees[function]:
                count = self._calls[function, callee]
                if callee not in inside:
                    self.edges[function, callee] = caused = count * self._per_call[callee]
                    whole += caused
                    cost += caused
                elif self._place[callee] > self._place[function]:
                    cost += count * below[callee] / self._incoming[callee]
            below[function] = cost
        calls_inside = dict.fromkeys(cycle, 0)
        for function in cycle:
            for callee in self._callees[function]:
                if callee in inside:
                    calls_inside[callee] += self._calls[function, callee]
        begun = {it: self._incoming[it] - calls_inside[it] for it in cycle}
        entered = sum(below[it] * begun[it] / self._incoming[it] for it in cycle if begun[it])
        factor = whole / entered if entered else 1.0
        highest = max(below.values())
        for function in cycle:
            # Of calls from outside; they may begin the whole cycle.
            self._per_call[function] = below[function] * factor / max(1, self._incoming[function])
            within = whole * below[function] / highest if highest else 0.0
            self.functions[function] = max(within, self._per_call[function] * begun[function])
            for callee in self._callees[function]:
                if callee in inside:
                    count = self._calls[function, callee]
                    self.edges[function, callee] = whole * below[callee] / highest * count / self._incoming[callee]


def _cycles(functions: Iterable[Function], callees: Mapping[Function, list[Function]]) -> Iterator[list[Function]]:
    """The functions, those together that call one another in a cycle; callees before callers.

    This is Tarjan's algorithm for strongly connected components, without recursion.
    """
    number: dict[Function, int] = {}
    lowest: dict[Function, int] = {}
    stack: list[Function] = []
    on_stack: set[Function] = set()
    for start in functions:
        work = [] if start in number else [(start, iter(callees[start]))]
        while work:
            function, rest = work[-1]
            if function not in number:
                number[function] = lowest[function] = len(number)
                stack.append(function)
                on_stack.add(function)
            for callee in rest:
                if callee not in number:
                    work.append((callee, iter(callees[callee])))
                    break
                if callee in on_stack:
                    lowest[function] = min(lowest[function], number[callee])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[function])
                if lowest[function] == number[function]:
                    cycle = [stack.pop()]
                    while cycle[-1] != function:
                        cycle.append(stack.pop())
                    on_stack.difference_update(cycle)
                    yield cycle


def callees_by_cost(graph: Graph, costs: Mapping[Edge, float]) -> dict[Function, list[Function]]:
    """The callees of each function, the costliest first."""
    callees: dict[Function, list[Function]] = {function: [] for function in graph.functions}
    for caller, callee in sorted(graph.calls, key=lambda edge: (-costs.get(edge, 0.0), edge)):
        callees[caller].append(callee)
    return callees


def downward_order(
    graph: Graph, callees: Mapping[Function, Iterable[Function]], first: Iterable[Function] = ()
) -> list[Function]:
    """The functions in topological order: callers before callees, except in a cycle.

    This is a depth-first search without recursion, as call chains may be long. It begins with the functions `first`.
    """
    called = {callee for caller, callee in graph.calls if caller != callee}
    visited: set[Function] = set()
    finished: list[Function] = []
    for start in (*first, *(function for function in graph.functions if function not in called), *graph.functions):
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


def costliest_path(graph: Graph, costs: Costs) -> list[Function]:
    """The path that follows the costliest edge from each function on, from the costliest function that none calls."""
    called = {callee for caller, callee in graph.calls if caller != callee}
    starts = [function for function in graph.functions if function not in called] or list(graph.functions)
    if not starts:
        return []
    callees = callees_by_cost(graph, costs.edges)
    path = [max(starts, key=lambda function: costs.functions.get(function, 0.0))]
    on_path = set(path)
    while True:
        caller = path[-1]
        following = next((callee for callee in callees[caller] if callee not in on_path), None)
        if following is None or costs.share(costs.edges.get((caller, following), 0.0)) < _WORTH_FOLLOWING:
            return path
        path.append(following)
        on_path.add(following)


def costliest(graph: Graph, costs: Costs, count: int) -> Graph:
    """The graph of the costliest functions, those on the costliest path first; the whole graph if `count` is 0."""
    if not count or count >= len(graph.functions):
        return graph
    ranked = sorted(graph.functions, key=lambda function: (-costs.functions.get(function, 0.0), function))
    chosen = set(list(dict.fromkeys([*costliest_path(graph, costs), *ranked]))[:count])
    calls = {edge: number for edge, number in graph.calls.items() if chosen.issuperset(edge)}
    return graph._replace(functions=tuple(function for function in graph.functions if function in chosen), calls=calls)
