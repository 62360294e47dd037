"""Calibration: what one event costs beyond the time inside the hooks, measured with overdubbed workloads.

It is more precise than the estimate of `event_costs`, and compiles the workloads for the profile. Knows workloads, and
how to run them under a profile; must not know how statistics are computed or shown.
"""

from __future__ import annotations

import contextvars
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.activation.verbs import overdub
from cassette_import.contexts.profile import overhead_workloads
from cassette_import.contexts.profile.call_tree import BODY, CALLBACK, CREATION, CallTrees, walk
from cassette_import.contexts.profile.event_costs import NO_COST, Cost, Costs, ProfileType, estimated
from cassette_import.specialization.progress import PROGRESS

__all__ = ["calibrated"]

_CALLS: Final = 500
_CALLS_OF_MIXED: Final = 200
_FILENAME: Final = "<what calls cost>"
_ROUNDS: Final = 9

_LARGEST: Final = 3.0
"""A larger factor is no measurement: other programs used the processor most of the time."""

_CAUTION: Final = 0.9
"""The share of the measured costs that is subtracted. A function shown with no time at all would mislead more than one
with a little overhead left."""

_Workload: TypeAlias = Callable[[Sequence[int]], float]


def calibrated(profile_type: ProfileType) -> Costs:
    """The cost of events in this process, under a profile of this type. Takes some tenths of a second."""
    # A fresh contextvars.Context: the profile that asks may be active here.
    with PROGRESS.not_counting():
        return contextvars.Context().run(_calibrated, profile_type)


def _calibrated(profile_type: ProfileType) -> Costs:
    with _workloads() as namespace:
        numbers = namespace["order"](_CALLS)
        workloads: Mapping[str, _Workload] = namespace["WORKLOADS"]
        known = {
            kind: _cost_in(workload, profile_type, numbers, namespace["no_calls"])
            for kind, workload in workloads.items()
        }
        known[CREATION] = known[BODY] = known["function"]
        known[CALLBACK] = _cost_of_callback(profile_type, known["function"])
        # A loop around a few calls is cheaper than a program, whose branches are harder to predict.
        factor, hooks = _mixed_factor(profile_type, namespace["mixed"], numbers[:_CALLS_OF_MIXED], known)
        factor *= _CAUTION
        return Costs({kind: Cost(one.inside * factor, one.outside * factor) for kind, one in known.items()}, hooks)


def _cost_of_callback(profile_type: ProfileType, function: Cost) -> Cost:
    """The cost of a function that C code calls: what it costs more than a call of it is estimated."""
    typical = estimated(profile_type).by_kind
    more, less = typical.get(CALLBACK, NO_COST), typical.get("function", NO_COST)
    return Cost(function.inside + more.inside - less.inside, function.outside + more.outside - less.outside)


@contextmanager
def _workloads() -> Iterator[dict[str, Any]]:
    """The workloads as a program's module: cassette_import's own modules are never overdubbed."""
    source = inspect.getsource(overhead_workloads)
    linecache.cache[_FILENAME] = (len(source), None, source.splitlines(keepends=True), _FILENAME)
    try:
        namespace: dict[str, Any] = {"__name__": _FILENAME}
        exec(compile(source, _FILENAME, "exec", dont_inherit=True), namespace)
        namespace["perf_counter"] = overhead_workloads.perf_counter  # the clock in use now
        yield namespace
    finally:
        linecache.cache.pop(_FILENAME, None)


class _Round(NamedTuple):
    """Seconds of a workload without a profile and with one, one right after the other, so under equal conditions."""

    profile: CallTrees
    plain: float
    profiled: float
    """By the clock of the profile's thread."""
    hooks: float


def _rounds(profile_type: ProfileType, workload: _Workload, numbers: Sequence[int]) -> Iterator[_Round]:
    overdub(profile_type(), workload, numbers)  # compiles everything
    pair = 0.0 if profile_type().measures_hooks else estimated(profile_type).hooks
    for _ in range(_ROUNDS):
        profile = profile_type()
        plain = workload(numbers)
        took = overdub(profile, workload, numbers)
        hooks = sum(thread.measured_overhead - thread.one_off for thread in profile.threads())
        if pair:
            hooks = pair * sum(node.calls for thread in profile.threads() for node, leaving in walk(thread) if leaving)
        one_off = sum(thread.one_off for thread in profile.threads())
        yield _Round(profile, plain, took - (0.0 if pair else hooks) - one_off, hooks)


def _cost_in(workload: _Workload, profile_type: ProfileType, numbers: Sequence[int], no_calls: _Workload) -> Cost:
    """The cost of the calls that a workload makes; `no_calls` is the same loop without calls."""
    inside, outside = [], []
    for one in _rounds(profile_type, workload, numbers):
        loop = no_calls(numbers)
        called = sum(
            node.total for thread in one.profile.threads() for node in thread.root.child_nodes() if node.calls > 1
        ) - max(0.0, one.plain - loop)
        if one.hooks:
            inside.append(called / one.hooks)
            outside.append((one.profiled - one.plain - called) / one.hooks)
    return Cost(*(min(max(0.0, median(part)), _LARGEST) for part in (inside, outside))) if inside else NO_COST


def _mixed_factor(
    profile_type: ProfileType, workload: _Workload, numbers: Sequence[int], known: Mapping[str, Cost]
) -> tuple[float, float]:
    """By which factor events cost more in an ordinary program, and the seconds inside its hooks for one event."""
    factors, hooks = [], []
    for one in _rounds(profile_type, workload, numbers):
        nodes = [node for thread in one.profile.threads() for node, leaving in walk(thread) if leaving]
        events = sum(node.calls for node in nodes)
        expected = sum(node.calls * sum(known.get(node.kind, NO_COST)) for node in nodes)
        if one.hooks and expected:
            hooks.append(one.hooks / events)
            factors.append((one.profiled - one.plain) / hooks[-1] / expected)
    return (min(max(1.0, median(factors)), _LARGEST), median(hooks)) if factors else (1.0, 0.0)
