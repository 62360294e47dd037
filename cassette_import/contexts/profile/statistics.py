"""Statistics of a profile: calls, self time and cumulative time of each function, caller and call site.

Self time and cumulative time are what `pstats` calls them. Knows call trees and the corrected times of their nodes;
must not know how overhead is subtracted, or how statistics are shown.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TypeAlias

from cassette_import.contexts.common.function_names import Label
from cassette_import.contexts.profile.call_tree import CallTrees, Node, SiteTotals, ThreadTree, walk
from cassette_import.contexts.profile.overhead_subtraction import NodeTime, NodeTimes

__all__ = ["CallSite", "CallStatistics", "Callers", "Statistics"]


class CallStatistics:
    """Calls and times of a function, of a function as called by one caller, or of a call site.

    `primitive` calls are those that were not made from within the function itself.
    """

    __slots__ = ("calls", "cumulative", "primitive", "self_time")

    def __init__(self) -> None:
        self.calls = self.primitive = 0
        self.self_time = self.cumulative = 0.0

    def add(self, time: NodeTime, *, is_outermost: bool) -> None:
        """Count a path. The cumulative time of a recursive call is part of that of the outermost call."""
        self.calls += time.calls
        self.self_time += time.self_time
        if is_outermost:
            self.primitive += time.calls
            self.cumulative += time.cumulative


Callers: TypeAlias = dict[Label, CallStatistics]


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
        self.threads = self._times.threads
        self.overhead = self._times.overhead
        """The seconds of overhead that were subtracted."""
        self.specialised = sum(thread.specialised for thread in self.threads)
        """How many functions were compiled meanwhile."""
        self.specialising = sum(thread.specialising for thread in self.threads)
        """The seconds for that, which are part of the overhead."""

    def time_of(self, node: Node) -> NodeTime:
        """The time of a node, overhead subtracted."""
        return self._times.of(node)

    def functions(self) -> dict[Label, tuple[CallStatistics, Callers]]:
        """The statistics of each function, in all and by caller."""
        functions: dict[Label, tuple[CallStatistics, Callers]] = {}
        for thread in self.threads:
            self._add_tree(thread, functions)
            self._add_folded(thread, functions)
        for found, _ in functions.values():
            found.cumulative = max(found.cumulative, found.self_time)  # the order of summing changes the last digit
        return {label: entry for label, entry in functions.items() if entry[0].calls}

    def _add_tree(self, thread: ThreadTree, functions: dict[Label, tuple[CallStatistics, Callers]]) -> None:
        in_progress: Counter[Label] = Counter()
        steps: Counter[tuple[Label, Label]] = Counter()
        for node, leaving in walk(thread):
            if not self._times.knows(node):
                continue
            label = node.label
            if node.parent is None:
                if not leaving and self.time_of(node).calls:
                    functions.setdefault(label, (CallStatistics(), {}))[0].add(self.time_of(node), is_outermost=True)
                continue
            caller = node.parent.label
            if not leaving:
                self._add(functions, thread, node, caller, not in_progress[label], not steps[caller, label])
            in_progress[label] += -1 if leaving else 1
            steps[caller, label] += -1 if leaving else 1

    def _add_folded(self, thread: ThreadTree, functions: dict[Label, tuple[CallStatistics, Callers]]) -> None:
        for (caller, _, recursive, recursive_step), nodes in list(thread.folded.items()):
            for node in nodes:
                if self._times.knows(node):
                    self._add(functions, thread, node, caller, not recursive, not recursive_step)

    def _add(
        self,
        functions: dict[Label, tuple[CallStatistics, Callers]],
        thread: ThreadTree,
        node: Node,
        caller: Label,
        is_outermost: bool,
        is_first_step: bool,
    ) -> None:
        found, callers = functions.setdefault(node.label, (CallStatistics(), {}))
        time = self.time_of(node)
        found.add(time, is_outermost=is_outermost)
        if caller != thread.root.label:
            callers.setdefault(caller, CallStatistics()).add(time, is_outermost=is_first_step)

    def roots(self) -> set[Label]:
        """The labels of a thread's code outside all calls."""
        return {thread.root.label for thread in self.threads}

    def call_sites(self) -> dict[CallSite, CallStatistics]:
        """Calls and cumulative time of each call site, if the profile records call sites."""
        found: dict[CallSite, CallStatistics] = {}
        for thread in self.threads:
            nodes = [node for node, leaving in walk(thread) if not leaving]
            nodes += [node for pool in list(thread.folded.values()) for node in pool]
            for node in nodes:
                for key, site in list(node.sites.items()):
                    if type(key) is tuple and site.calls:
                        statistics = found.setdefault(_call_site(site, node.label), CallStatistics())
                        statistics.calls += site.calls
                        statistics.cumulative += self._times.of_site(site, node)
        return found


def _call_site(site: SiteTotals, label: Label) -> CallSite:
    positions = list(site.code.co_positions())
    line, _, column, _ = positions[site.offset // 2]
    return CallSite(site.code.co_filename, line or 0, column or 0, site.code.co_qualname, label)
