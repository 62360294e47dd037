"""Subtraction of a profile's overhead: the time of each node without the time that profiling took.

Overhead has two parts. The time inside the hooks is measured with each event; a thread's clock omits it already. The
time of the way into the hooks and back cannot be measured per event; it is estimated from the costs that
`overhead_calibration` finds. Knows call trees and calibrated costs; must not know functions, tables or files.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

from cassette_import.contexts.profile.call_tree import CallTrees, Node, SiteTotals, ThreadTree, walk
from cassette_import.contexts.profile.overhead_calibration import NO_COSTS, Costs, costs
from cassette_import.interpreter.clock import perf_counter

__all__ = ["NodeTime", "NodeTimes"]

_ENOUGH_CALLS: Final = 300
"""With this many calls, the variation of single calls averages out."""

_ENOUGH_EVENTS: Final = 1000
"""With this many events, the slower first ones no longer matter."""

_LARGEST_DEVIATION: Final = 10.0
"""The largest factor by which a program and the machine may make events slower or faster than calibrated."""

_OVERESTIMATED_SHARE: Final = 0.05
"""The share of all costs that may be estimated too high before all estimates are lowered."""


class NodeTime(NamedTuple):
    """Calls and seconds of one call path, overhead subtracted."""

    calls: int
    self_time: float
    cumulative: float


class _Measured(NamedTuple):
    """A node as it was measured. `cost` is the estimated overhead in `self_time`, in hook times (see `_hook_time`)."""

    node: Node
    calls: int
    total: float
    self_time: float
    folded_time: float
    cost: float
    children: list[Node]


class NodeTimes:
    """The time of every node at one moment. Calls in progress count as if they ended now."""

    def __init__(self, profile: CallTrees) -> None:
        self.threads = [thread for thread in profile.threads() if thread.root.children or thread.folded]
        self.overhead = 0.0
        """The seconds that were subtracted."""
        self._now = perf_counter()
        self._costs: Costs = _costs_for(profile) if profile.subtracts_overhead and self.threads else NO_COSTS
        self._measured: dict[int, _Measured] = {}
        for thread in self.threads:
            self.overhead += thread.measured_overhead
            self._measure_thread(thread)
        self._unit = self._limited(self._hook_time())
        self._times: dict[int, NodeTime] = {}
        for measured in self._measured.values():
            self._subtract_overhead(measured)

    def knows(self, node: Node) -> bool:
        """Whether the node is older than these times."""
        return id(node) in self._times

    def of(self, node: Node) -> NodeTime:
        """The time of a node."""
        return self._times[id(node)]

    def of_site(self, site: SiteTotals, node: Node) -> float:
        """The cumulative seconds of a call site."""
        return max(0.0, site.total - site.calls * self._unit * self._costs.of(node).inside)

    def _measure_thread(self, thread: ThreadTree) -> None:
        now, in_progress = self._now - thread.measured_overhead, {}
        folded_time: dict[int, float] = defaultdict(float)
        node = thread.node
        while node is not thread.root:
            in_progress[id(node)] = now - node.start
            if node.parent.children.get(node.label) is not node:
                folded_time[id(node.parent)] += now - node.start
            node = node.parent
        if thread.entered:
            in_progress[id(thread.root)] = now - thread.root.start
        for nodes in list(thread.folded.values()):
            for node in nodes:
                self._measure(node, in_progress, folded_time[id(node)])
        for node, leaving in walk(thread):
            if leaving:
                self._measure(node, in_progress, folded_time[id(node)])

    def _measure(self, node: Node, in_progress: dict[int, float], folded_time: float) -> None:
        """Add a node whose children are measured already; `folded_time` is that of its call in progress."""
        total = node.total + in_progress.get(id(node), 0.0)
        calls = node.calls + (id(node) in in_progress) if node.parent is not None else int(total > 0.0)
        # A child that was not measured was made after this began.
        children = [child for child in node.child_nodes() if id(child) in self._measured]
        self_time = total - node.folded_time - folded_time - sum(self._measured[id(child)].total for child in children)
        cost = sum(self._measured[id(child)].calls * self._costs.of(child).outside for child in children)
        if node.parent is not None:
            cost += calls * self._costs.of(node).inside
        self._measured[id(node)] = _Measured(
            node, calls, total, max(0.0, self_time), node.folded_time + folded_time, cost, children
        )

    def _hook_time(self) -> float:
        """The seconds that the hooks take for one event, which is the unit of all estimated costs.

        The first events are not representative: with few events, this is the calibrated time.
        """
        events = sum(measured.calls for measured in self._measured.values() if measured.node.parent is not None)
        calibrated = self._costs.hooks
        if events < _ENOUGH_EVENTS:
            return calibrated
        hooks = sum(thread.measured_overhead - thread.one_off for thread in self.threads)
        return min(max(hooks / events, calibrated / _LARGEST_DEVIATION), calibrated * _LARGEST_DEVIATION)

    def _limited(self, unit: float) -> float:
        """The unit, lowered if functions took less time than their estimated overhead.

        A few functions whose calls happen to cost less do not lower it.
        """
        ratios = sorted(
            (measured.self_time / measured.cost, measured.cost)
            for measured in self._measured.values()
            if measured.cost
            and max([measured.calls, *(self._measured[id(child)].calls for child in measured.children)])
            >= _ENOUGH_CALLS
        )
        allowed = _OVERESTIMATED_SHARE * sum(cost for _, cost in ratios)
        for ratio, cost in ratios:
            allowed -= cost
            if allowed < 0.0:
                return min(unit, ratio)
        return unit

    def _subtract_overhead(self, measured: _Measured) -> None:
        cost = min(measured.cost * self._unit, measured.self_time)
        self.overhead += cost
        self_time = measured.self_time - cost
        below = measured.folded_time + sum(self._times[id(child)].cumulative for child in measured.children)
        self._times[id(measured.node)] = NodeTime(measured.calls, self_time, self_time + below)


def _costs_for(profile: CallTrees) -> Costs:
    """The cost of events. The profile may be active here: compiling the calibration's workloads is none of its time."""
    here = profile.current_thread()
    if here is None:
        return costs(type(profile))
    before = here.measured_overhead, here.one_off, here.specialised, here.specialising
    found = costs(type(profile))
    here.measured_overhead, here.one_off, here.specialised, here.specialising = before
    return found
