"""Statistics of a profile: calls, self time and cumulative time of each function, caller and call site.

Self time and cumulative time are what `pstats` calls them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from cassette_import.contexts.profile.call_tree import (
    BODY,
    CALLBACK,
    CALLED_IN_PYTHON,
    CREATION,
    CallTrees,
    Node,
    SiteTotals,
    ThreadTree,
)
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.events import characters_before
from cassette_import.kits.function_names import Label
from cassette_import.kits.text import plural, search_folders, short_path

__all__ = [
    "ANNOUNCED",
    "CALLING",
    "INDIRECT",
    "NO_COST",
    "ORDERS",
    "CallSite",
    "CallStatistics",
    "Callers",
    "Cost",
    "Costs",
    "NodeTime",
    "NodeTimes",
    "ProfileType",
    "Statistics",
    "SummedStatistics",
    "ThreadTimes",
    "costs_of",
    "forget_measurements",
    "label_text",
    "table",
]

# ---- what events add to the measured times, by kind of callee
#
# The clock of a thread omits what it can: making nodes, compiling, and with hooks in Python the hooks themselves. The
# way to a hook and back, and the rest of the hooks in C, fall partly into the measured time of the call, and partly
# into that of its caller. So does the way of the call itself, which the time of the call has and the plain caller pays:
# what is `inside` has it too, and what is `outside` lacks it.
#
# The tables have these costs as they were found with small programs of each kind of event on CPython 3.11 to 3.13, from
# the plain times of their functions and the measured ones. The unit is the time of a pair of hooks that is called
# directly, which is measured in each process, so that costs follow the speed of the machine. It is the least of what is
# measured at several moments: beside other programs a machine is two or three times slower for some milliseconds, and
# with a unit from such a moment more would be subtracted than events have cost.

ProfileType: TypeAlias = Callable[[], Any]
"""Makes a profile."""


class Cost(NamedTuple):
    """What an event adds to the measured time of its call, and to that of the caller."""

    inside: float = 0.0
    outside: float = 0.0


Costs: TypeAlias = Mapping[str, Cost]
"""The cost of an event by kind of callee, in seconds."""

NO_COST: Final = Cost()

CALLING: Final = "calling"
"""What is added for a call of a function in Python that makes calls itself: its entry looks up the active context."""

ANNOUNCED: Final = "announced"
"""What is added for a call of a function that is handed over as a value, too: its body asks if a call announced it."""

INDIRECT: Final = "indirect"
"""What is added for an event that looks up the active context, as in bodies that can be suspended."""

_IN_C: Final = {
    "function": Cost(0.46, 0.54),
    "method": Cost(0.46, 1.3),
    "packing": Cost(0.63, 0.5),
    "builtin": Cost(0.21, 0.84),
    "method in C": Cost(0.21, 1.65),
    "class": Cost(0.21, 0.75),
    "class in Python": Cost(1.5, -0.3),
    CREATION: Cost(0.21, 1.1),
    BODY: Cost(0.52, 0.33),
    CALLBACK: Cost(0.49, 3.3),
    CALLING: Cost(1.0, 0.0),
    ANNOUNCED: Cost(1.7, 0.0),
    INDIRECT: Cost(0.5, 2.0),
}
"""The costs of hooks in C, in pairs of hooks."""

_IN_PYTHON: Final = {
    "function": Cost(0.20, 0.17),
    "method": Cost(0.20, 0.41),
    "packing": Cost(0.40, 0.1),
    "builtin": Cost(0.10, 0.38),
    "method in C": Cost(0.10, 0.68),
    "class": Cost(0.10, 0.27),
    "class in Python": Cost(0.75, 0.06),
    CREATION: Cost(0.10, 0.20),
    BODY: Cost(0.36, 0.16),
    CALLBACK: Cost(0.25, 1.9),
    CALLING: Cost(0.33, 0.0),
    ANNOUNCED: Cost(0.0, 0.0),
    INDIRECT: Cost(0.14, 1.9),
}
"""The same for hooks in Python, whose own time the clock omits."""

_ROUNDS: Final = 10
_CALLED: Final = (len,) * 60
_MOMENTS: Final = 8

_PAIRS: Final[dict[ProfileType, list[float]]] = {}
"""The seconds for a pair of hooks, as they were measured at the first moments."""


def costs_of(profile_type: ProfileType, is_in_c: bool) -> Costs:
    """The costs of events in this process. The first calls measure, each in less than a millisecond."""
    pairs = _PAIRS.setdefault(profile_type, [])
    if len(pairs) < _MOMENTS:
        pairs.append(_seconds_of_pair(profile_type()))
    pair = min(pairs)
    return {
        kind: Cost(inside * pair, outside * pair)
        for kind, (inside, outside) in (_IN_C if is_in_c else _IN_PYTHON).items()
    }


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


# ---- the table of a profile


class _Order(NamedTuple):
    title: str
    key: Callable[[CallStatistics], float]


ORDERS: Final[dict[str, _Order]] = {
    "own": _Order("self time", lambda statistics: statistics.self_time),
    "cumulative": _Order("cumulative time", lambda statistics: statistics.cumulative),
    "calls": _Order("calls", lambda statistics: statistics.calls),
}
"""What the table can be sorted by, by the name that the option `sort` takes."""

_WORTH_SHOWING: Final = 0.5
"""The seconds for module levels and bodies from the cache from which on they are shown."""


def table(statistics: Statistics | SummedStatistics, sort: str, limit: int | None = None) -> str:
    """The functions, one on each line, those with the largest values first; at most `limit` of them."""
    functions = [(found, label) for label, found in statistics.totals().items()]
    roots = statistics.roots()
    if all(label in roots for _, label in functions):
        return "profile: nothing was called"
    order = ORDERS[sort]
    functions.sort(key=lambda row: (-order.key(row[0]), row[1]))
    calls = sum(found.calls for found, _ in functions)
    primitive = sum(found.primitive for found, _ in functions)
    seconds = sum(found.self_time for found, _ in functions)
    subtracted = f"; overhead subtracted: {statistics.overhead:.3f}" if statistics.overhead else ""
    specialising = _specialising(statistics, seconds)
    folders = search_folders()
    lines = [
        f"profile: {plural(calls, 'call')} ({primitive} primitive) of {plural(len(functions), 'function')} "
        f"in {seconds:.3f} seconds, sorted by {order.title}{subtracted}{specialising}",
        "",
        f"{'calls':>12} {'self':>10} {'per call':>10} {'cumulative':>10} {'per call':>10}  function",
    ]
    lines += [_row(found, label_text(label, folders)) for found, label in functions[:limit]]
    if limit is not None and limit < len(functions):
        lines.append(f"{'…':>12} {plural(len(functions) - limit, 'further row')}")
    return "\n".join(lines + _call_sites(statistics, folders, limit))


def _specialising(statistics: Statistics | SummedStatistics, seconds: float) -> str:
    """How much of all time specialising was; empty if no function was compiled, and the rest took little time."""
    whole = seconds + statistics.overhead
    spent = statistics.specialising
    if not statistics.specialised and spent < _WORTH_SHOWING:
        return ""
    share = min(1.0, spent / whole) if whole else 0.0
    begins = ", in it " if statistics.overhead else "; "
    functions = plural(statistics.specialised, "function")
    return f"{begins}specialising: {functions}, {spent:.3f} seconds, {share:.0%} of {whole:.3f} in all"


def _row(found: CallStatistics, name: str) -> str:
    count = str(found.calls)
    if found.calls != found.primitive:
        count += f"/{found.primitive}"
    return (
        f"{count:>12} {found.self_time:10.6f} {found.self_time / found.calls:10.6f} {found.cumulative:10.6f} "
        f"{found.cumulative / max(1, found.primitive):10.6f}  {name}"
    )


def _call_sites(statistics: Statistics | SummedStatistics, folders: list[str], limit: int | None) -> list[str]:
    sites = sorted(statistics.call_sites().items(), key=lambda entry: (-entry[1].cumulative, entry[0]))
    if not sites:
        return []
    lines = ["", f"{'calls':>12} {'time':>10} {'per call':>10}  call site"]
    for site, found in sites[:limit]:
        place = f"{short_path(site.filename, folders)}:{site.line}:{site.column + 1} in {site.caller}"
        per_call = found.cumulative / found.calls
        lines.append(f"{found.calls:>12} {found.cumulative:10.6f} {per_call:10.6f}  {place}: {site.label[2]}")
    if limit is not None and limit < len(sites):
        lines.append(f"{'…':>12} {plural(len(sites) - limit, 'further call site')}")
    return lines


def label_text(label: Label, folders: list[str]) -> str:
    """A label as `pstats` prints it, with a short path."""
    filename, line, name = label
    return f"{short_path(filename, folders)}:{line}({name})"
