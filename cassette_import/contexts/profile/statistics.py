"""Statistics of a profile: calls, self time and cumulative time of each function, caller and call site.

Self time and cumulative time are what `pstats` calls them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias, TypeVar

from cassette_import.contexts.profile.call_tree import (
    BODY,
    CALLED_IN_PYTHON,
    CREATION,
    CallTrees,
    Node,
    SiteTotals,
    ThreadTree,
)
from cassette_import.contexts.profile.event_costs import ANNOUNCED, CALLING, INDIRECT, NO_COST, Costs
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.function_names import Label
from cassette_import.runtime.dispatch.call_sites import characters_before

__all__ = [
    "CallSite",
    "CallStatistics",
    "Callers",
    "NodeTime",
    "NodeTimes",
    "Statistics",
    "SummedStatistics",
    "ThreadTimes",
]


# ---- subtraction of a profile's overhead: the time of each node without the time that profiling took
#
# The clock of a thread omits a part of the overhead already. The rest is estimated from what events cost by kind, and
# may be estimated too high: so each node keeps a share of what was measured.

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


# ---- statistics of a profile: calls, self time and cumulative time of each function, caller and call site


class CallStatistics:
    """Calls and times of a function, of a function as called by one caller, or of a call site.

    `primitive` calls are those that were not made from within the function itself. `in_progress` is used while a tree
    is added: how many calls the node at hand is inside of.
    """

    __slots__ = ("calls", "cumulative", "in_progress", "primitive", "self_time")

    def __init__(self) -> None:
        self.calls = self.primitive = self.in_progress = 0
        self.self_time = self.cumulative = 0.0

    def add(self, thread: ThreadTimes, position: int, *, is_outermost: bool) -> None:
        """Count a path. The cumulative time of a recursive call is part of that of the outermost call."""
        calls = thread.calls[position]
        self.calls += calls
        self.self_time += thread.self_time[position]
        if is_outermost:
            self.primitive += calls
            self.cumulative += thread.cumulative[position]


Callers: TypeAlias = dict[Label, CallStatistics]
_Steps: TypeAlias = dict[tuple[Label, Label], CallStatistics]
"""The statistics of the calls of a function by one caller: the keys are the labels of the caller and the function."""


class CallSite(NamedTuple):
    """Where calls are made, and the label of the callee."""

    filename: str
    line: int
    column: int
    caller: str
    label: Label


class Statistics:
    """A profile at one moment. Calls in progress count as if they ended now."""

    def __init__(self, profile: CallTrees) -> None:
        self._times = NodeTimes(profile)
        self.threads = [thread.thread for thread in self._times.threads]
        self._drop_creations()
        self.overhead = self._times.overhead
        """The seconds of overhead that were subtracted."""
        self.specialised = sum(thread.specialised for thread in self.threads)
        """How many functions were compiled meanwhile."""
        self.specialising = sum(thread.specialising for thread in self.threads)
        """The seconds for that, which are part of the overhead."""

    def _drop_creations(self) -> None:
        """Count no call that creates a generator or coroutine whose body is in the tree: as in `pstats`, its
        resumptions are the calls."""
        resumed = {node.label for thread in self._times.threads for node in thread.nodes if node.kind == BODY}
        for thread in self._times.threads:
            for position, node in enumerate(thread.nodes):
                if node.kind == CREATION and node.label in resumed:
                    thread.calls[position] = 0

    def time_of(self, node: Node) -> NodeTime:
        """The time of a node, overhead subtracted."""
        return self._times.of(node)

    def functions(self) -> dict[Label, tuple[CallStatistics, Callers]]:
        """The statistics of each function, in all and by caller."""
        steps: _Steps = {}
        functions: dict[Label, tuple[CallStatistics, Callers]] = {
            label: (found, {}) for label, found in self.totals(steps).items()
        }
        roots = self.roots()
        for (caller, label), found in steps.items():
            if caller not in roots and label in functions:
                functions[label][1][caller] = found
        return functions

    def totals(self, steps: _Steps | None = None) -> dict[Label, CallStatistics]:
        """The statistics of each function. Those by caller and function are added to `steps`, if given."""
        functions: dict[Label, CallStatistics] = {}
        for thread in self._times.threads:
            _add_tree(thread, functions, steps)
            _add_folded(thread, functions, steps)
        for found in functions.values():
            found.cumulative = max(found.cumulative, found.self_time)  # the order of summing changes the last digit
        return {label: found for label, found in functions.items() if found.calls}

    def roots(self) -> set[Label]:
        """The labels of a thread's code outside all calls."""
        return {thread.root.label for thread in self.threads}

    def call_sites(self) -> dict[CallSite, CallStatistics]:
        """Calls and cumulative time of each call site, if the profile records call sites.

        Cumulative time is that of the outermost calls: what a call makes from the same place is part of it.
        """
        found: dict[CallSite, CallStatistics] = {}
        for thread in self._times.threads:
            for position, node in enumerate(thread.nodes):
                for key, site in list(node.sites.items()):
                    if type(key) is tuple and site.calls:
                        statistics = found.setdefault(_call_site(site, node.label), CallStatistics())
                        statistics.calls += site.calls
                        statistics.cumulative += thread.of_site(site, position)
        totals = self.totals()
        for key, statistics in found.items():  # what is subtracted from the calls of one path is an average
            if key.label in totals:
                statistics.cumulative = min(statistics.cumulative, totals[key.label].cumulative)
        return found


def _add_tree(thread: ThreadTimes, functions: dict[Label, CallStatistics], steps: _Steps | None) -> None:
    """Add each node of the tree, parents first. A negative position is that of a node whose children were added.

    There is no recursion here, because a tree is as deep as the program's own recursion was.
    """
    nodes, parents, first_child = thread.nodes, thread.parents, thread.first_child
    if thread.calls[0]:
        functions.setdefault(nodes[0].label, CallStatistics()).add(thread, 0, is_outermost=True)
    work = list(range(first_child[1] - 1, 0, -1))
    while work:
        position = work.pop()
        leaving = position < 0
        if leaving:
            position = ~position
        label = nodes[position].label
        found = functions.get(label)
        if found is None:
            found = functions[label] = CallStatistics()
        by_caller = None if steps is None else _of_step(steps, nodes[parents[position]].label, label)
        if not leaving:
            found.add(thread, position, is_outermost=not found.in_progress)
            if by_caller is not None:
                by_caller.add(thread, position, is_outermost=not by_caller.in_progress)
            begin, end = first_child[position : position + 2]
            if begin == end:
                continue
            work.append(~position)
            work.extend(range(end - 1, begin - 1, -1))
        change = -1 if leaving else 1
        found.in_progress += change
        if by_caller is not None:
            by_caller.in_progress += change


def _add_folded(thread: ThreadTimes, functions: dict[Label, CallStatistics], steps: _Steps | None) -> None:
    for position, (node, caller, recursive, recursive_step) in enumerate(thread.folded, thread.tree_size):
        functions.setdefault(node.label, CallStatistics()).add(thread, position, is_outermost=not recursive)
        if steps is not None:
            _of_step(steps, caller, node.label).add(thread, position, is_outermost=not recursive_step)


def _of_step(steps: _Steps, caller: Label, label: Label) -> CallStatistics:
    found = steps.get((caller, label))
    if found is None:
        found = steps[caller, label] = CallStatistics()
    return found


def _call_site(site: SiteTotals, label: Label) -> CallSite:
    positions = list(site.code.co_positions())
    line, _, offset, _ = positions[site.offset // 2]
    column = characters_before(site.code.co_filename, line or 0, offset)
    return CallSite(site.code.co_filename, line or 0, column or 0, site.code.co_qualname, label)


# ---- the statistics of profiles of several processes, added up for one table

_Key = TypeVar("_Key")


class SummedStatistics:
    """What the table of a profile shows, of one process or of several; it can be pickled.

    Attributes
    ----------
    overhead, specialised, specialising:
        See `Statistics`.
    """

    def __init__(self, statistics: Statistics | None = None) -> None:
        self.overhead = statistics.overhead if statistics else 0.0
        self.specialised = statistics.specialised if statistics else 0
        self.specialising = statistics.specialising if statistics else 0.0
        self._totals = statistics.totals() if statistics else {}
        self._roots = statistics.roots() if statistics else set()
        self._call_sites = statistics.call_sites() if statistics else {}

    def add(self, other: SummedStatistics) -> None:
        """Add the statistics of another process. No call of one process is inside a call of another one."""
        self.overhead += other.overhead
        self.specialised += other.specialised
        self.specialising += other.specialising
        self._roots |= other._roots
        _add(self._totals, other._totals)
        _add(self._call_sites, other._call_sites)

    def totals(self) -> dict[Label, CallStatistics]:
        """See `Statistics.totals`."""
        return self._totals

    def roots(self) -> set[Label]:
        """See `Statistics.roots`."""
        return self._roots

    def call_sites(self) -> dict[CallSite, CallStatistics]:
        """See `Statistics.call_sites`."""
        return self._call_sites


def _add(sums: dict[_Key, CallStatistics], others: Mapping[_Key, CallStatistics]) -> None:
    for key, other in others.items():
        found = sums.setdefault(key, CallStatistics())
        found.calls += other.calls
        found.primitive += other.primitive
        found.self_time += other.self_time
        found.cumulative += other.cumulative
