"""From the trees that a profile has built to the figures that it shows: calls, own and cumulative time.

Here the cost of measuring is taken off. Knows the trees that a profile builds; must not know how they are shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cassette_import.contexts.common.function_names import Label
from cassette_import.contexts.profile.call_tree import walk
from cassette_import.contexts.profile.overhead import NOTHING, Costs, costs
from cassette_import.interpreter.clock import perf_counter

if TYPE_CHECKING:
    from cassette_import.contexts.profile.call_tree import Node, Site, Thread
    from cassette_import.contexts.profile.context import Profile

__all__ = ["CallSite", "Callers", "Figures", "Reading"]


class Time(NamedTuple):
    """What a path took."""

    calls: int
    own: float
    total: float


class _Raw(NamedTuple):
    """A node as it was measured; `folded` is the time of calls made here whose paths are not kept apart."""

    node: Node
    calls: int
    total: float
    own: float
    folded: float
    cost: float
    children: list[Node]


_ENOUGH: Final = 300
"""So many calls even out what happens to single ones."""

_MANY: Final = 1000
"""So many events even out that the first ones take longer."""

_UNUSUAL: Final = 10.0
"""By how much a program and the machine may make events dearer or cheaper than they usually are."""

_FEW: Final = 0.05
"""The share of all costs that may have been estimated too high without the others being doubted."""


class Figures:
    """Calls and times of a function, or of a function as called by one other."""

    __slots__ = ("calls", "cumulative", "own", "primitive")

    def __init__(self) -> None:
        self.calls = self.primitive = 0
        self.own = self.cumulative = 0.0

    def add(self, time: Time, *, is_outermost: bool) -> None:
        """Count a path. What a function spends further down in itself is in its outermost call already."""
        self.calls += time.calls
        self.own += time.own
        if is_outermost:
            self.primitive += time.calls
            self.cumulative += time.total


Callers: TypeAlias = dict[Label, Figures]


class CallSite(NamedTuple):
    """Where calls come from, and what is called there."""

    filename: str
    line: int
    column: int
    caller: str
    label: Label


class Reading:
    """A profile at one moment: calls that are under way count as if they ended now."""

    def __init__(self, profile: Profile) -> None:
        self.threads = [thread for thread in profile.threads() if thread.root.children or thread.folded]
        self.left_out = 0.0
        self._now = perf_counter()
        self._costs: Costs = _costs_for(profile) if profile.subtracts_overhead and self.threads else NOTHING
        self._raw: dict[int, _Raw] = {}
        for thread in self.threads:
            self.left_out += thread.skipped
            self._read(thread)
        self._unit = self._bounded(self._hooks_time())
        self._times: dict[int, Time] = {}
        for raw in self._raw.values():
            self._take_off(raw)

    def time_of(self, node: Node) -> Time:
        """What a node took, without the cost of measuring."""
        return self._times[id(node)]

    def _read(self, thread: Thread) -> None:
        now, under_way = self._now - thread.skipped, {}
        inner: dict[int, float] = defaultdict(float)
        node = thread.node
        while node is not thread.root:
            under_way[id(node)] = now - node.start
            if node.parent.children.get(node.label) is not node:
                inner[id(node.parent)] += now - node.start
            node = node.parent
        if thread.entered:
            under_way[id(thread.root)] = now - thread.root.start
        for nodes in list(thread.folded.values()):
            for node in nodes:
                self._measure(node, under_way, inner[id(node)])
        for node, leaving in walk(thread):
            if leaving:
                self._measure(node, under_way, inner[id(node)])

    def _measure(self, node: Node, under_way: dict[int, float], inner: float) -> None:
        """What was measured, and what of it is the cost of measuring. The calls made here are known by now."""
        total = node.total + under_way.get(id(node), 0.0)
        calls = node.calls + (id(node) in under_way) if node.parent is not None else int(total > 0.0)
        # A child that is not known is newer than this reading.
        children = [child for child in node.below() if id(child) in self._raw]
        own = total - node.inner - inner - sum(self._raw[id(child)].total for child in children)
        cost = sum(self._raw[id(child)].calls * self._costs.of(child).outside for child in children)
        if node.parent is not None:
            cost += calls * self._costs.of(node).inside
        self._raw[id(node)] = _Raw(node, calls, total, max(0.0, own), node.inner + inner, cost, children)

    def _hooks_time(self) -> float:
        """The seconds that the hooks took for one event: the costs are told in this unit.

        A few calls, the first ones, tell nothing: then it is what was found out with many.
        """
        events = sum(raw.calls for raw in self._raw.values() if raw.node.parent is not None)
        usual = self._costs.hooks
        if events < _MANY:
            return usual
        hooks = sum(thread.skipped - thread.aside for thread in self.threads)
        return min(max(hooks / events, usual / _UNUSUAL), usual * _UNUSUAL)

    def _bounded(self, unit: float) -> float:
        """The unit, less if functions did not even take as long as the estimated costs are.

        A few functions whose calls happen to cost less say nothing about the others.
        """
        ratios = sorted(
            (raw.own / raw.cost, raw.cost)
            for raw in self._raw.values()
            if raw.cost and max([raw.calls, *(self._raw[id(child)].calls for child in raw.children)]) >= _ENOUGH
        )
        few = _FEW * sum(cost for _, cost in ratios)
        for ratio, cost in ratios:
            few -= cost
            if few < 0.0:
                return min(unit, ratio)
        return unit

    def _take_off(self, raw: _Raw) -> None:
        cost = min(raw.cost * self._unit, raw.own)
        self.left_out += cost
        own = raw.own - cost
        below = raw.folded + sum(self._times[id(child)].total for child in raw.children)
        self._times[id(raw.node)] = Time(raw.calls, own, own + below)

    def functions(self) -> dict[Label, tuple[Figures, Callers]]:
        """The figures of each function, and of it by caller."""
        functions: dict[Label, tuple[Figures, Callers]] = {}

        def add(thread: Thread, node: Node, caller: Label, is_outermost: bool, is_first_step: bool) -> None:
            figures, callers = functions.setdefault(node.label, (Figures(), {}))
            time = self.time_of(node)
            figures.add(time, is_outermost=is_outermost)
            if caller != thread.root.label:
                callers.setdefault(caller, Figures()).add(time, is_outermost=is_first_step)

        for thread in self.threads:
            under_way: Counter[Label] = Counter()
            steps: Counter[tuple[Label, Label]] = Counter()
            for node, leaving in walk(thread):
                if id(node) not in self._times:
                    continue
                label = node.label
                if node.parent is None:
                    if not leaving and self.time_of(node).calls:
                        functions.setdefault(label, (Figures(), {}))[0].add(self.time_of(node), is_outermost=True)
                    continue
                caller = node.parent.label
                if not leaving:
                    add(thread, node, caller, not under_way[label], not steps[caller, label])
                under_way[label] += -1 if leaving else 1
                steps[caller, label] += -1 if leaving else 1
            for (caller, _, recursive, recursive_step), nodes in list(thread.folded.items()):
                for node in nodes:
                    if id(node) in self._times:
                        add(thread, node, caller, not recursive, not recursive_step)
        for figures, _ in functions.values():
            figures.cumulative = max(figures.cumulative, figures.own)  # sums in another order differ in the last digit
        return {label: entry for label, entry in functions.items() if entry[0].calls}

    def roots(self) -> set[Label]:
        """The labels that stand for the code of a thread outside all calls."""
        return {thread.root.label for thread in self.threads}

    def call_sites(self) -> dict[CallSite, Figures]:
        """Calls and cumulative time per call site, if the profile looked at them."""
        found: dict[CallSite, Figures] = {}
        for thread in self.threads:
            nodes = [node for node, leaving in walk(thread) if not leaving]
            nodes += [node for pool in list(thread.folded.values()) for node in pool]
            for node in nodes:
                for key, site in list(node.sites.items()):
                    if type(key) is tuple and site.calls:
                        figures = found.setdefault(_call_site(site, node.label), Figures())
                        figures.calls += site.calls
                        figures.cumulative += max(
                            0.0, site.total - site.calls * self._unit * self._costs.of(node).inside
                        )
        return found


def _costs_for(profile: Profile) -> Costs:
    """What events cost; that functions are compiled to find it out is nothing that happened to the program."""
    here = profile.here()
    if here is None:
        return costs(type(profile))
    skipped, aside = here.skipped, here.aside
    found = costs(type(profile))
    here.skipped, here.aside = skipped, aside
    return found


def _call_site(site: Site, label: Label) -> CallSite:
    positions = list(site.code.co_positions())
    line, _, column, _ = positions[site.offset // 2]
    return CallSite(site.code.co_filename, line or 0, column or 0, site.code.co_qualname, label)
