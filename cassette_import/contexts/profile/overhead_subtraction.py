"""Subtraction of a profile's overhead: the time of each node without the time that profiling took.

Overhead has two parts. The time inside the hooks is measured with the first events of a thread, whose clock omits it
already; later events read the clock less often, and what they take is estimated from that (`UNMEASURED`). The time of
the way into the hooks and back cannot be measured per event; it is estimated from the costs that `event_costs` finds.
Knows call trees and calibrated costs; must not know functions, tables or files.
"""

from __future__ import annotations

import functools
import operator
from typing import Final, NamedTuple

from cassette_import.contexts.profile.call_tree import BODY, MEASURED_EVENTS, CallTrees, Node, SiteTotals, ThreadTree
from cassette_import.contexts.profile.event_costs import IN_BODIES, NO_COST, NO_COSTS, UNMEASURED, Costs
from cassette_import.contexts.profile.known_costs import costs_for
from cassette_import.interpreter.clock import perf_counter

__all__ = ["NodeTime", "NodeTimes", "ThreadTimes"]

_ENOUGH_CALLS: Final = 300
"""With this many calls, the variation of single calls averages out."""

_ENOUGH_EVENTS: Final = 1000
"""With this many events, the slower first ones no longer matter."""

_LARGEST_DEVIATION: Final = 10.0
"""The largest factor by which a program and the machine may make events slower or faster than `event_costs` finds."""

_OVERESTIMATED_SHARE: Final = 0.05
"""The share of all costs that may be estimated too high before all estimates are lowered."""


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
        self._costs: list[float] = []
        self.omitted = 0.0
        """The seconds inside the hooks of events in which these were not measured: as long as in those before."""

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

    def estimate_overhead(self, costs: Costs, measures_hooks: bool) -> list[tuple[float, float]]:
        """Find self times, and the estimated overhead in them, in hook times (see `NodeTimes._hook_time`).

        Parameters
        ----------
        costs:
            What events cost.
        measures_hooks:
            Whether hooks measure their own time, at least in the first events.

        Returns
        -------
        list
            The self time for each hook time of overhead, and this overhead, for each node with enough calls.
        """
        # There is one more place than there are nodes, which collects what nodes without a parent add: parent -1.
        totals_below, costs_below = [0.0] * (len(self.nodes) + 1), [0.0] * (len(self.nodes) + 1)
        most_calls = [*self.calls, 0]
        calls_of, totals, parents, by_kind = self.calls, self._totals, self.parents, costs.by_kind
        nodes = self.nodes
        omitted = [0.0] * (len(self.nodes) + 1)
        hook = self.thread.hook_seconds / MEASURED_EVENTS if measures_hooks and not self.thread.measures_hooks else 0.0
        own_costs = [by_kind.get(node.kind, NO_COST) for node in self.nodes]
        for position in range(len(self.nodes) - 1, 0, -1):
            parent, calls = parents[position], calls_of[position]
            inside, outside = own_costs[position]
            if nodes[parent].kind == BODY and parent >= 0 and by_kind:
                inside += IN_BODIES.inside
                outside += IN_BODIES.outside
            totals_below[parent] += totals[position]
            costs_below[parent] += calls * outside
            costs_below[position] += calls * inside
            if hook:
                unmeasured = calls - nodes[position].measured_calls
                omitted[parent] += unmeasured * UNMEASURED.outside * hook
                omitted[position] += unmeasured * UNMEASURED.inside * hook
            if calls > most_calls[parent]:
                most_calls[parent] = calls
        self._costs = costs_below[:-1]
        self.omitted = sum(omitted[:-1])
        self.self_time = [
            max(0.0, total - folded - below - unmeasured)
            for total, folded, below, unmeasured in zip(totals, self.folded_time, totals_below, omitted, strict=False)
        ]
        return [
            (self_time / cost, cost)
            for self_time, cost, most in zip(self.self_time, self._costs, most_calls, strict=False)
            if most >= _ENOUGH_CALLS and cost
        ]

    def measured_hooks(self) -> tuple[float, int]:
        """The seconds inside the hooks of the events where these were measured, and how many events these are."""
        thread = self.thread
        if thread.measures_hooks:
            return thread.measured_overhead - thread.one_off, self.events
        return thread.hook_seconds, MEASURED_EVENTS

    def subtract_overhead(self, unit: float) -> float:
        """Subtract the estimated overhead from the self times, and find the cumulative times.

        Returns
        -------
        float
            How many seconds were subtracted.
        """
        before = sum(self.self_time)
        self.self_time = [
            self_time - min(cost * unit, self_time) for self_time, cost in zip(self.self_time, self._costs, strict=True)
        ]
        self.cumulative = list(map(operator.add, self.self_time, self.folded_time))
        cumulative, parents = self.cumulative, self.parents
        for position in range(self.tree_size - 1, 0, -1):
            cumulative[parents[position]] += cumulative[position]
        return before - sum(self.self_time)

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
        self._measures_hooks = profile.measures_hooks
        self._events = sum(thread.events for thread in self.threads)
        has_costs = profile.subtracts_overhead and self.threads
        self._costs: Costs = costs_for(profile, self._events) if has_costs else NO_COSTS
        ratios = [
            ratio for thread in self.threads for ratio in thread.estimate_overhead(self._costs, self._measures_hooks)
        ]
        self._unit = _limited(self._hook_time(), ratios)
        self.overhead = sum(
            thread.thread.measured_overhead + thread.omitted + thread.subtract_overhead(self._unit)
            for thread in self.threads
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

    def _hook_time(self) -> float:
        """The seconds that the hooks take for one event, which is the unit of all estimated costs.

        The first events are not representative: with few events, this is the time that `event_costs` finds.
        """
        known = self._costs.hooks
        if self._events < _ENOUGH_EVENTS or not self._measures_hooks:
            return known
        hooks = events = 0.0
        for thread in self.threads:
            seconds, measured = thread.measured_hooks()
            hooks += seconds
            events += measured
        return min(max(hooks / events, known / _LARGEST_DEVIATION), known * _LARGEST_DEVIATION)


def _limited(unit: float, ratios: list[tuple[float, float]]) -> float:
    """The unit, lowered if functions took less time than their estimated overhead.

    A few functions whose calls happen to cost less do not lower it.
    """
    allowed = _OVERESTIMATED_SHARE * sum(cost for _, cost in ratios)
    for ratio, cost in sorted(ratios):
        allowed -= cost
        if allowed < 0.0:
            return min(unit, ratio)
    return unit
