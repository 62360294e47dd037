"""Statistics of a profile: calls, self time and cumulative time of each function, caller and call site.

Self time and cumulative time are what `pstats` calls them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from cassette_import.contexts.common.function_names import Label
from cassette_import.contexts.profile.call_tree import BODY, CREATION, CallTrees, Node, SiteTotals
from cassette_import.contexts.profile.overhead_subtraction import NodeTime, NodeTimes, ThreadTimes
from cassette_import.runtime.dispatch.call_sites import characters_before

__all__ = ["CallSite", "CallStatistics", "Callers", "Statistics"]


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
