"""Subtraction of a profile's overhead: the time of each node without the time that profiling took.

The clock of a thread omits a part of the overhead already. The rest is estimated from what events cost by kind, and
may be estimated too high: so each node keeps a share of what was measured.
"""

from __future__ import annotations

import functools
import operator
from typing import Final, NamedTuple

from cassette_import.contexts.profile.call_tree import CALLED_IN_PYTHON, CallTrees, Node, SiteTotals, ThreadTree
from cassette_import.contexts.profile.event_costs import ANNOUNCED, CALLING, INDIRECT, NO_COST, Costs
from cassette_import.interpreter.clock import perf_counter

__all__ = ["NodeTime", "NodeTimes", "ThreadTimes"]

LEAST_SHARE: Final = 0.15
"""The share of its measured time that a node keeps at least. In a function that does next to nothing but call others,
what it does itself is about a sixth of that; a function that is shown with no time at all would mislead."""


class NodeTime(NamedTuple):
    """Calls and seconds of one call path, overhead subtracted."""

    calls: int
    self_time: float
    cumulative: float


class ThreadTimes:
    """Calls and seconds of the nodes of one thread: lists that have the same position for the same node.

    The tree comes first, `tree_size` nodes, level by level. So parents are before their children, and the children of
    the node at a position are those from `first_child[position]` to `first_child[position + 1]`. Folded nodes follow,
    which have no children. What other threads add to the tree meanwhile is not seen.
    """

    def __init__(self, thread: ThreadTree, now: float) -> None:
        self.thread = thread
        self.nodes: list[Node] = [thread.root]
        self.parents = [-1]
        self.first_child: list[int] = []
        self._collect_tree()
        self.tree_size = len(self.nodes)
        self.folded = [
            (node, caller, recursive, recursive_step)
            for (caller, _, recursive, recursive_step), nodes in list(thread.folded.items())
            for node in list(nodes)
        ]
        """The folded nodes with their callers, and whether the function and the step to it were in progress."""
        self.nodes += [entry[0] for entry in self.folded]
        self.parents += [-1] * len(self.folded)
        in_progress, folded_in_progress = self._calls_in_progress(now - thread.measured_overhead)
        self.calls = [node.calls + (node in in_progress) for node in self.nodes]
        self.folded_time = [node.folded_time + folded_in_progress.get(node, 0.0) for node in self.nodes]
        self._totals = [node.total + in_progress.get(node, 0.0) for node in self.nodes]
        self.calls[0] = int(self._totals[0] > 0.0)
        self.events = sum(self.calls) - self.calls[0]
        self.self_time: list[float] = []
        self.cumulative: list[float] = []

    def _collect_tree(self) -> None:
        nodes, parents, first_child = self.nodes, self.parents, self.first_child
        for position, node in enumerate(nodes):  # which grows meanwhile
            first_child.append(len(nodes))
            if node.children:
                nodes.extend(node.child_nodes())
                parents.extend([position] * (len(nodes) - len(parents)))
        first_child.append(len(nodes))

    def _calls_in_progress(self, now: float) -> tuple[dict[Node, float], dict[Node, float]]:
        """The seconds of the calls in progress by node, and those of folded nodes by the node that called these."""
        in_progress: dict[Node, float] = {}
        folded: dict[Node, float] = {}
        node = self.thread.node
        while node is not self.thread.root:
            in_progress[node] = now - node.start
            if node.parent.children.get(node.place) is not node:
                folded[node.parent] = folded.get(node.parent, 0.0) + now - node.start
            node = node.parent
        if self.thread.entered:
            in_progress[node] = now - node.start
        return in_progress, folded

    def subtract_overhead(self, costs: Costs) -> float:
        """Find self times and cumulative times.

        Returns
        -------
        float
            How many seconds were subtracted.
        """
        # There is one more place than there are nodes, which collects what nodes without a parent add: parent -1.
        below, cost = [0.0] * (len(self.nodes) + 1), [0.0] * (len(self.nodes) + 1)
        calling, announced = costs.get(CALLING, NO_COST), costs.get(ANNOUNCED, NO_COST)
        indirect = costs.get(INDIRECT, NO_COST)
        for position in range(len(self.nodes) - 1, 0, -1):
            parent, calls, node = self.parents[position], self.calls[position], self.nodes[position]
            inside, outside = costs.get(node.kind, NO_COST)
            if below[position] and node.kind in CALLED_IN_PYTHON:
                inside += calling.inside
            if node.announces:
                inside += announced.inside
            below[parent] += self._totals[position]
            cost[parent] += calls * outside + node.indirect * indirect.outside
            cost[position] += calls * inside + node.indirect * indirect.inside
        measured = [
            max(0.0, total - folded - called)
            for total, folded, called in zip(self._totals, self.folded_time, below, strict=False)
        ]
        self.self_time = [
            max(seconds - cost, LEAST_SHARE * seconds) for seconds, cost in zip(measured, cost, strict=False)
        ]
        self.cumulative = list(map(operator.add, self.self_time, self.folded_time))
        cumulative, parents = self.cumulative, self.parents
        for position in range(self.tree_size - 1, 0, -1):
            cumulative[parents[position]] += cumulative[position]
        return sum(measured) - sum(self.self_time)

    def of_site(self, site: SiteTotals, position: int) -> float:
        """The cumulative seconds of a call site: the share of the node's time that it has without the subtraction."""
        whole = self._totals[position]
        return self.cumulative[position] * min(1.0, site.total / whole) if whole > 0.0 else 0.0


class NodeTimes:
    """The time of every node at one moment. Calls in progress count as if they ended now."""

    def __init__(self, profile: CallTrees) -> None:
        now = perf_counter()
        self.threads = [
            ThreadTimes(thread, now) for thread in profile.threads() if thread.root.children or thread.folded
        ]
        costs: Costs = profile.event_costs() if profile.subtracts_overhead and self.threads else {}
        self.overhead = sum(
            thread.thread.measured_overhead + thread.subtract_overhead(costs) for thread in self.threads
        )
        """The seconds that were subtracted."""

    @functools.cached_property
    def _times(self) -> dict[Node, NodeTime]:
        return {
            node: NodeTime(calls, self_time, cumulative)
            for thread in self.threads
            for node, calls, self_time, cumulative in zip(
                thread.nodes, thread.calls, thread.self_time, thread.cumulative, strict=True
            )
        }

    def of(self, node: Node) -> NodeTime:
        """The time of a node."""
        return self._times[node]
