"""Statistics of a profile: what events cost, times without that, sums for several processes, and the table.

Self time and cumulative time are what `pstats` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from cassette_import.contexts.profile.call_tree import (
    BODY,
    CALLBACK,
    CALLED_IN_PYTHON,
    CREATION,
    MeasuredThreads,
    Node,
    SiteTotals,
    ThreadTree,
)
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.calls.trees import (
    CallStatistics,
    CallTrees,
    FoldedPath,
    SiteRow,
    Tree,
    label_text,
    table_lines,
)
from cassette_import.kits.events import characters_before
from cassette_import.kits.function_names import Label
from cassette_import.kits.text import plural, search_folders, short_path

__all__ = [
    "ANNOUNCED",
    "CALLING",
    "INDIRECT",
    "LEAST_SHARE",
    "ORDERS",
    "CallSite",
    "Cost",
    "Costs",
    "Statistics",
    "SummedStatistics",
    "ThreadTimes",
    "costs_of",
    "forget_measurements",
    "pair_of",
    "table",
]

# ---- what events add to the measured times, by kind of callee
#
# The clock of a thread omits what it can: making nodes, compiling, and with hooks in Python the hooks themselves. The
# way to a hook and back, and the rest of the hooks in C, fall partly into the measured time of the call, and partly
# into that of its caller. So does the way of the call itself, which the time of the call has and the plain caller pays:
# what is `inside` has it too, and what is `outside` lacks it.
#
# The table has these costs as `benchmarks/profile_costs.py` finds them: by least squares over the functions of twenty
# programs, from their measured times and from samples of the plain programs, on CPython 3.11 to 3.13. The unit is the
# time of a pair of hooks that is called directly, which is measured in each process, so that costs follow the speed of
# the machine. It is the least of what is measured at several moments: beside other programs a machine is two or three
# times slower for some milliseconds, and with a unit from such a moment more would be subtracted than events have cost.

ProfileType: TypeAlias = Callable[[], Any]
"""Makes a profile."""


class Cost(NamedTuple):
    """What an event adds to the measured time of its call, and to that of the caller."""

    inside: float = 0.0
    outside: float = 0.0


Costs: TypeAlias = Mapping[str, Cost]
"""The cost of an event by kind of callee, in seconds."""

_NO_COST: Final = Cost()

CALLING: Final = "calling"
"""What is added for a call of a function in Python that makes calls itself: its entry looks up the active context."""

ANNOUNCED: Final = "announced"
"""What is added for a call of a function that is handed over as a value, too: its body asks if a call announced it."""

INDIRECT: Final = "indirect"
"""What is added for an event that looks up the active context, as in bodies that can be suspended."""

_COSTS: Final = {
    "function": (Cost(1.0, 0.45), Cost(0.3, 0.3)),
    "method": (Cost(1.3, 1.5), Cost(0.3, 0.45)),
    "packing": (Cost(1.9, 0.1), Cost(0.45, 0.1)),
    "builtin": (Cost(0.21, 1.45), Cost(0.1, 0.4)),
    "method in C": (Cost(0.21, 2.3), Cost(0.1, 1.2)),
    "class": (Cost(0.21, 1.6), Cost(0.1, 0.4)),
    "class in Python": (Cost(9.0, -2.0), Cost(1.5, -0.5)),
    CREATION: (Cost(1.8, 5.3), Cost(0.4, 1.5)),
    BODY: (Cost(0.7, 0.6), Cost(0.5, 0.5)),
    CALLBACK: (Cost(2.0, 5.3), Cost(0.8, 2.5)),
    CALLING: (Cost(1.05, 0.0), Cost(0.7, 0.0)),
    ANNOUNCED: (Cost(2.2, 0.0), Cost(0.5, 0.0)),
    INDIRECT: (Cost(0.1, 2.75), Cost(0.5, 1.7)),
}
"""The costs of hooks in C, and of those in Python, whose own time the clock omits, in pairs of hooks."""

_ROUNDS: Final = 10
_CALLED: Final = (len,) * 60
_MOMENTS: Final = 8

_PAIRS: Final[dict[ProfileType, list[float]]] = {}
"""The seconds for a pair of hooks, as they were measured at the first moments."""


def costs_of(profile_type: ProfileType, is_in_c: bool) -> Costs:
    """The costs of events in this process."""
    pair = pair_of(profile_type)
    found = {kind: in_c if is_in_c else in_python for kind, (in_c, in_python) in _COSTS.items()}
    return {kind: Cost(inside * pair, outside * pair) for kind, (inside, outside) in found.items()}


def pair_of(profile_type: ProfileType) -> float:
    """The seconds of a pair of hooks. The first calls measure, each in less than a millisecond."""
    pairs = _PAIRS.setdefault(profile_type, [])
    if len(pairs) < _MOMENTS:
        pairs.append(_seconds_of_pair(profile_type()))
    return min(pairs)


def forget_measurements() -> None:
    """Measure the unit again: the clock is another one."""
    _PAIRS.clear()


def _seconds_of_pair(profile: Any) -> float:
    """The seconds for a call of two hooks: the least of some rounds, since a disturbance makes a round longer."""
    enter, leave = profile.direct_hooks()
    rounds = []
    for _ in range(_ROUNDS):
        began = perf_counter()
        for function in _CALLED:
            enter(function)
            leave(None, function)
        rounds.append(perf_counter() - began)
    return max(0.0, min(rounds)) / len(_CALLED)


# ---- subtraction of a profile's overhead: the time of each node without the time that profiling took
#
# The clock of a thread omits a part of the overhead already. The rest is estimated from what events cost by kind, and
# may be estimated too high: so each node keeps a share of what was measured.

LEAST_SHARE: Final = 0.1
"""The share of its measured time that a node keeps at least. In a function that does next to nothing but call others,
what it does itself is about a tenth of that; a function that is shown with no time at all would mislead."""


class ThreadTimes(Tree):
    """Calls and seconds of the paths of one thread."""

    def __init__(self, thread: ThreadTree, now: float) -> None:
        folded = [
            FoldedPath(node, caller, recursive, recursive_step)
            for (caller, _, recursive, recursive_step), nodes in list(thread.folded.items())
            for node in list(nodes)
        ]
        super().__init__(thread.name, thread.root, folded)
        self.thread = thread
        in_progress, folded_in_progress = self._calls_in_progress(now - thread.measured_overhead)
        self.calls = [node.calls + (node in in_progress) for node in self.nodes]
        self._folded_time = [node.folded_time + folded_in_progress.get(node, 0.0) for node in self.nodes]
        self._totals = [node.total + in_progress.get(node, 0.0) for node in self.nodes]
        self.shows_root = self._totals[0] > 0.0
        self.calls[0] = int(self.shows_root)

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
        """Find self times and cumulative times; return how many seconds were subtracted."""
        # There is one more place than there are nodes, which collects what nodes without a parent add: parent -1.
        below, cost = [0.0] * (len(self.nodes) + 1), [0.0] * (len(self.nodes) + 1)
        calling, announced = costs.get(CALLING, _NO_COST), costs.get(ANNOUNCED, _NO_COST)
        indirect = costs.get(INDIRECT, _NO_COST)
        for position in range(len(self.nodes) - 1, 0, -1):
            parent, calls, node = self.parents[position], self.calls[position], self.nodes[position]
            inside, outside = costs.get(node.kind, _NO_COST)
            if below[position] and node.kind in CALLED_IN_PYTHON:
                inside += calling.inside
            if node.announces:
                inside += announced.inside
            below[parent] += self._totals[position]
            cost[parent] += calls * outside + node.indirect * indirect.outside
            cost[position] += calls * inside + node.indirect * indirect.inside
        measured: list[float] = [
            max(0.0, total - folded - called)
            for total, folded, called in zip(self._totals, self._folded_time, below, strict=False)
        ]
        own = [max(seconds - cost, LEAST_SHARE * seconds) for seconds, cost in zip(measured, cost, strict=False)]
        self.weigh(own, self._folded_time)
        return sum(measured) - sum(own)

    def of_site(self, site: SiteTotals, position: int) -> float:
        """The cumulative seconds of a call site: the share of the node's time that it has without the subtraction."""
        whole = self._totals[position]
        return self.cumulative[position] * min(1.0, site.total / whole) if whole > 0.0 else 0.0


# ---- statistics of a profile: calls, self time and cumulative time of each function, caller and call site


class CallSite(NamedTuple):
    """Where calls are made, and the label of the callee."""

    filename: str
    line: int
    column: int
    caller: str
    label: Label


class Statistics(CallTrees):
    """A profile at one moment. Calls in progress count as if they ended now."""

    name = "profile"
    unit = "seconds"
    parts = 1e6
    own_title = "self time"
    site_title = "time"

    def __init__(self, profile: MeasuredThreads) -> None:
        now = perf_counter()
        self.trees: list[ThreadTimes] = [
            ThreadTimes(thread, now) for thread in profile.threads() if thread.root.children or thread.folded
        ]
        costs: Costs = profile.event_costs() if profile.subtracts_overhead and self.trees else {}
        self.overhead = sum(tree.thread.measured_overhead + tree.subtract_overhead(costs) for tree in self.trees)
        """The seconds of overhead that were subtracted."""
        self.specialised = sum(tree.thread.specialised for tree in self.trees)
        """How many functions were compiled meanwhile."""
        self.specialising = sum(tree.thread.specialising for tree in self.trees)
        """The seconds for that, which are part of the overhead."""
        self._drop_creations()

    def _drop_creations(self) -> None:
        """Count no call that creates a generator or coroutine whose body is in the tree: as in `pstats`, its
        resumptions are the calls."""
        resumed = {node.label for tree in self.trees for node in tree.nodes if node.kind == BODY}
        for thread in self.trees:
            for position, node in enumerate(thread.nodes):
                if node.kind == CREATION and node.label in resumed:
                    thread.calls[position] = 0

    def headline(self, totals: Mapping[Label, CallStatistics], own: float) -> str:
        """The line above the flame graph, from the statistics of the functions and the sum of the weights."""
        roots = self.roots()
        calls = sum(found.calls for label, found in totals.items() if label not in roots)
        subtracted = f" (overhead subtracted: {self.overhead:.3f} s)" if self.overhead else ""
        return f"{calls} calls, {own:.3f} s{subtracted}"

    def site_rows(self, folders: list[str]) -> list[SiteRow]:
        """The call sites, with paths relative to the folders."""
        return [
            (found.calls, found.cumulative, _site_text(site, folders), site.label[2])
            for site, found in self.call_sites().items()
        ]

    def totals(self) -> dict[Label, CallStatistics]:
        """The statistics of each function that was called."""
        functions = super().totals()
        for found in functions.values():
            found.cumulative = max(found.cumulative, found.own)  # the order of summing changes the last digit
        return {label: found for label, found in functions.items() if found.calls}

    def call_sites(self) -> dict[CallSite, CallStatistics]:
        """Calls and cumulative time of each call site, if the profile records call sites.

        Cumulative time is that of the outermost calls: what a call makes from the same place is part of it.
        """
        found: dict[CallSite, CallStatistics] = {}
        for thread in self.trees:
            for position, node in enumerate(thread.nodes):
                for key, site in list(node.sites.items()):
                    if type(key) is tuple and site.calls:
                        statistics = found.setdefault(_call_site(site, node.label), CallStatistics())
                        statistics.calls += site.calls
                        statistics.cumulative += thread.of_site(site, position)
        totals = self.totals() if found else {}
        for key, statistics in found.items():  # what is subtracted from the calls of one path is an average
            if key.label in totals:
                statistics.cumulative = min(statistics.cumulative, totals[key.label].cumulative)
        return found


def _call_site(site: SiteTotals, label: Label) -> CallSite:
    positions = list(site.code.co_positions())
    line, _, offset, _ = positions[site.offset // 2]
    column = characters_before(site.code.co_filename, line or 0, offset)
    return CallSite(site.code.co_filename, line or 0, column or 0, site.code.co_qualname, label)


def _site_text(site: CallSite, folders: list[str]) -> str:
    place = f"{short_path(site.filename, folders)}:{site.line}:{site.column + 1} in {site.caller}"
    return f"{place}: {site.label[2]}"


# ---- the statistics of profiles of several processes, added up for one table

_Key = TypeVar("_Key")


class SummedStatistics:
    """What the table of a profile shows, of one process or of several; it can be pickled. See `Statistics`."""

    def __init__(self, statistics: Statistics) -> None:
        self.overhead = statistics.overhead
        self.specialised = statistics.specialised
        self.specialising = statistics.specialising
        self.totals = statistics.totals()
        self.roots = statistics.roots()
        self.call_sites = statistics.call_sites()

    def add(self, other: SummedStatistics) -> None:
        """Add the statistics of another process. No call of one process is inside a call of another one."""
        self.overhead += other.overhead
        self.specialised += other.specialised
        self.specialising += other.specialising
        self.roots |= other.roots
        _add(self.totals, other.totals)
        _add(self.call_sites, other.call_sites)


def _add(sums: dict[_Key, CallStatistics], others: Mapping[_Key, CallStatistics]) -> None:
    for key, other in others.items():
        sums.setdefault(key, CallStatistics()).add(other)


# ---- the table of a profile


ORDERS: Final = {"own": "self time", "cumulative": "cumulative time", "calls": "calls"}
"""What the table can be sorted by, and what it calls that."""

_COLUMNS: Final = ("calls", 12), ("self", 10), ("per call", 10), ("cumulative", 10), ("per call", 10)
_COLUMNS_OF_SITES: Final = ("calls", 12), ("time", 10), ("per call", 10)
_WORTH_SHOWING: Final = 0.5
"""The seconds for module levels and bodies from the cache from which on they are shown."""


def table(statistics: SummedStatistics, sort: str, limit: int | None = None) -> str:
    """The functions, one on each line, those with the largest values first; at most `limit` of them."""
    functions = [(found, label) for label, found in statistics.totals.items()]
    if all(label in statistics.roots for _, label in functions):
        return "profile: nothing was called"
    functions.sort(key=lambda row: (-getattr(row[0], sort), row[1]))
    calls = sum(found.calls for found, _ in functions)
    primitive = sum(found.primitive for found, _ in functions)
    seconds = sum(found.own for found, _ in functions)
    subtracted = f"; overhead subtracted: {statistics.overhead:.3f}" if statistics.overhead else ""
    folders = search_folders()

    def row(entry: tuple[CallStatistics, Label]) -> tuple[object, ...]:
        found, label = entry
        count = f"{found.calls}/{found.primitive}" if found.calls != found.primitive else found.calls
        per_call = found.cumulative / max(1, found.primitive)
        return count, found.own, found.own / found.calls, found.cumulative, per_call, label_text(label, folders)

    def row_of_site(entry: tuple[CallSite, CallStatistics]) -> tuple[object, ...]:
        site, found = entry
        return found.calls, found.cumulative, found.cumulative / found.calls, _site_text(site, folders)

    lines = [
        f"profile: {plural(calls, 'call')} ({primitive} primitive) of {plural(len(functions), 'function')} "
        f"in {seconds:.3f} seconds, sorted by {ORDERS[sort]}{subtracted}{_specialising(statistics, seconds)}",
        "",
        *table_lines(_COLUMNS, "function", functions, row, limit),
    ]
    sites = sorted(statistics.call_sites.items(), key=lambda entry: (-entry[1].cumulative, entry[0]))
    if sites:
        lines += ["", *table_lines(_COLUMNS_OF_SITES, "call site", sites, row_of_site, limit, "further call site")]
    return "\n".join(lines)


def _specialising(statistics: SummedStatistics, seconds: float) -> str:
    """How much of all time specialising was; empty if no function was compiled, and the rest took little time."""
    whole = seconds + statistics.overhead
    spent = statistics.specialising
    if not statistics.specialised and spent < _WORTH_SHOWING:
        return ""
    share = min(1.0, spent / whole) if whole else 0.0
    begins = ", in it " if statistics.overhead else "; "
    functions = plural(statistics.specialised, "function")
    return f"{begins}specialising: {functions}, {spent:.3f} seconds, {share:.0%} of {whole:.3f} in all"
