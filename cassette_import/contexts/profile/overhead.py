"""What measuring one call costs, so that it can be left out of a profile; found out once per process, when asked for.

The time that the hooks take is measured with each event, and skipped. What they cannot see is the way to them and
back: part of it lies within the measured time of the call, the rest in that of its caller. It depends on what is
called, since the events of functions, methods, builtins and classes take different paths; and, like the time of the
hooks, on the state of the machine, on caches, and on how well the processor foresees what comes next. So it is told in
hooks' times: what makes the one slow makes the other slow. Knows how a profile is read; must not know how it is shown.
"""

from __future__ import annotations

import contextvars
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cassette_import import overdub
from cassette_import.contexts.profile import overhead_workloads
from cassette_import.contexts.profile.call_tree import walk

if TYPE_CHECKING:
    from cassette_import.contexts.profile.call_tree import Node
    from cassette_import.contexts.profile.context import Profile

__all__ = ["NOTHING", "Cost", "Costs", "costs"]

_COUNT: Final = 500
_COUNT_IN_A_PROGRAM: Final = 200
_ELSEWHERE: Final = "<what calls cost>"
_ROUNDS: Final = 9

_MOST: Final = 3.0
"""More than this is no measurement: other programs had the processor most of the time."""

_CAREFUL: Final = 0.9
"""Rather too little is taken off than too much: a function that is shown with no time at all misleads."""


class Cost(NamedTuple):
    """What an event adds to the measured time of its own call, and to that of the caller, in hooks' times."""

    inside: float = 0.0
    outside: float = 0.0


class Costs:
    """The cost of an event by the kind of what is called; `hooks` is what the hooks took for one, in seconds."""

    def __init__(self, known: Mapping[str, Cost], hooks: float) -> None:
        self._known = known
        self.hooks = hooks

    def of(self, node: Node) -> Cost:
        """The cost of one call of this node."""
        return self._known.get(node.kind, _NO_COST)


_NO_COST: Final = Cost()
NOTHING: Final = Costs({}, 0.0)
_KNOWN: Final[dict[type, Costs]] = {}


def costs(profile_type: type[Profile]) -> Costs:
    """What events cost in this process, under a profile of this type."""
    if profile_type not in _KNOWN:
        # In a context of its own: the profile that asks may be active here.
        _KNOWN[profile_type] = contextvars.Context().run(_calibrated, profile_type)
    return _KNOWN[profile_type]


def _calibrated(profile_type: type[Profile]) -> Costs:
    with _programs() as programs:
        numbers = programs["order"](_COUNT)
        workloads: Mapping[str, Callable[[Sequence[int]], float]] = programs["WORKLOADS"]
        known = {
            kind: _measured(profile_type, workload, numbers, programs["no_calls"])
            for kind, workload in workloads.items()
        }
        # A loop around a few calls is cheaper than a program, in which the processor foresees less.
        factor, hooks = _in_a_program(profile_type, programs["mixed"], numbers[:_COUNT_IN_A_PROGRAM], known)
        factor *= _CAREFUL
        return Costs({kind: Cost(one.inside * factor, one.outside * factor) for kind, one in known.items()}, hooks)


@contextmanager
def _programs() -> Iterator[dict[str, Any]]:
    """The workloads in a file that is not ours: what belongs to us is never overdubbed."""
    source = inspect.getsource(overhead_workloads)
    linecache.cache[_ELSEWHERE] = (len(source), None, source.splitlines(keepends=True), _ELSEWHERE)
    try:
        namespace: dict[str, Any] = {"__name__": _ELSEWHERE}
        exec(compile(source, _ELSEWHERE, "exec", dont_inherit=True), namespace)
        namespace["perf_counter"] = overhead_workloads.perf_counter  # the clock that holds now
        yield namespace
    finally:
        linecache.cache.pop(_ELSEWHERE, None)


class _Round(NamedTuple):
    """A workload without a profile and with one, right after each other: the machine was in one state for both."""

    profile: Profile
    plain: float
    whole: float
    """By the profile's clock."""
    hooks: float


def _rounds(
    profile_type: type[Profile], workload: Callable[[Sequence[int]], float], numbers: Sequence[int]
) -> Iterator[_Round]:
    overdub(profile_type(), workload, numbers)  # everything is compiled then
    for _ in range(_ROUNDS):
        profile = profile_type()
        plain = workload(numbers)
        took = overdub(profile, workload, numbers)
        hooks = sum(thread.skipped - thread.aside for thread in profile.threads())
        aside = sum(thread.aside for thread in profile.threads())
        yield _Round(profile, plain, took - hooks - aside, hooks)


def _measured(
    profile_type: type[Profile],
    workload: Callable[[Sequence[int]], float],
    numbers: Sequence[int],
    no_calls: Callable[[Sequence[int]], float],
) -> Cost:
    """The cost of the calls that a workload makes."""
    inside, outside = [], []
    for one in _rounds(profile_type, workload, numbers):
        loop = no_calls(numbers)
        called = sum(
            node.total for thread in one.profile.threads() for node in thread.root.below() if node.calls > 1
        ) - max(0.0, one.plain - loop)
        if one.hooks:
            inside.append(called / one.hooks)
            outside.append((one.whole - one.plain - called) / one.hooks)
    return Cost(*(min(max(0.0, median(part)), _MOST) for part in (inside, outside))) if inside else _NO_COST


def _in_a_program(
    profile_type: type[Profile],
    program: Callable[[Sequence[int]], float],
    numbers: Sequence[int],
    known: Mapping[str, Cost],
) -> tuple[float, float]:
    """By how much events cost more in an ordinary program, and what the hooks take there for one, in seconds."""
    factors, hooks = [], []
    for one in _rounds(profile_type, program, numbers):
        nodes = [node for thread in one.profile.threads() for node, leaving in walk(thread) if leaving]
        events = sum(node.calls for node in nodes)
        expected = sum(node.calls * sum(known.get(node.kind, _NO_COST)) for node in nodes)
        if one.hooks and expected:
            hooks.append(one.hooks / events)
            factors.append((one.whole - one.plain) / hooks[-1] / expected)
    return (min(max(1.0, median(factors)), _MOST), median(hooks)) if factors else (1.0, 0.0)
