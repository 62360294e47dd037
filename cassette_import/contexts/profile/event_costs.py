"""What one event costs beyond the time inside the hooks, by kind of callee.

A profile measures the time inside its hooks with each event. It cannot measure the way into the hooks and back: part of
it falls into the measured time of the call, the rest into that of its caller. This cost depends on the kind of callee,
because functions, methods, builtins and classes are called in different ways. Like the time inside the hooks, it
depends on the state of the machine, its caches and its branch prediction. So costs are expressed as multiples of the
time inside the hooks: what slows down the one slows down the other.

The costs are estimated here from direct calls of the hooks; `overhead_calibration` measures them. Knows how to call the
hooks of a profile; must not know how code is overdubbed, or how statistics are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.contexts.profile.call_tree import Node

__all__ = ["NO_COST", "NO_COSTS", "Cost", "Costs", "ProfileType", "estimated"]

_ROUNDS: Final = 5
_CALLS: Final = 20
_CALLED: Final = (len, abs, max) * _CALLS

ProfileType: TypeAlias = Callable[[], Any]
"""Makes a profile: a context that is a `CallTrees`."""


class Cost(NamedTuple):
    """What an event adds to the measured time of its call, and to that of the caller, in hook times."""

    inside: float = 0.0
    outside: float = 0.0


class Costs:
    """The cost of an event by kind of callee. `hooks` is the time inside the hooks for one event, in seconds."""

    __slots__ = ("by_kind", "hooks", "is_calibrated")

    def __init__(self, by_kind: Mapping[str, Cost], hooks: float, *, is_calibrated: bool = True) -> None:
        self.by_kind = by_kind
        self.hooks = hooks
        self.is_calibrated = is_calibrated

    def of(self, node: Node) -> Cost:
        """The cost of one call of this node."""
        return self.by_kind.get(node.kind, NO_COST)


NO_COST: Final = Cost()
NO_COSTS: Final = Costs({}, 0.0)

_TYPICAL: Final = {
    "function": Cost(0.73, 0.76),
    "method": Cost(0.81, 1.46),
    "builtin": Cost(0.83, 1.62),
    "method in C": Cost(0.92, 4.3),
    "class": Cost(0.69, 1.4),
    "class in Python": Cost(0.74, 1.46),
}
"""What the calibration finds, by kind of callee, as multiples of what direct calls of the hooks cost. It varies less
between CPython 3.11, 3.12 and 3.13 than from one calibration to the next."""

_TYPICAL_WITH_SITES: Final = {
    "function": Cost(0.83, 0.8),
    "method": Cost(0.87, 1.05),
    "builtin": Cost(0.87, 1.2),
    "method in C": Cost(0.87, 2.8),
    "class": Cost(0.83, 1.1),
    "class in Python": Cost(0.83, 1.05),
}
"""The same for a profile that records call sites, whose hooks take longer."""

_TYPICAL_HOOKS: Final = 1.4
"""The time inside the hooks in an ordinary program, as a multiple of that in a loop of direct calls."""


def estimated(profile_type: ProfileType) -> Costs:
    """The cost of events in this process, under a profile of this type, estimated in less than a millisecond."""
    profile = profile_type()
    typical_costs = _TYPICAL_WITH_SITES if profile.records_sites else _TYPICAL
    rounds = sorted(_rounds_of_direct_calls(profile))
    hooks, inside, outside = rounds[len(rounds) // 2]
    if not hooks:
        return NO_COSTS
    by_kind = {
        kind: Cost(typical.inside * inside / hooks, typical.outside * outside / hooks)
        for kind, typical in typical_costs.items()
    }
    return Costs(by_kind, hooks * _TYPICAL_HOOKS, is_calibrated=False)


def _rounds_of_direct_calls(profile: Any) -> Iterator[tuple[float, float, float]]:
    """Seconds of a loop that calls the hooks directly: inside the hooks, in the calls, and in the loop, for one event.

    The profile itself measures them, for callees that do not run at all.
    """
    _call_hooks(profile)  # makes the nodes
    thread = profile.current_thread()
    loop = next(iter(thread.root.child_nodes()))
    calls = list(loop.child_nodes())
    events = _CALLS * len(calls)
    before = (0.0, 0.0, 0.0)
    for number in range(_ROUNDS + 1):
        called = sum(node.total for node in calls)
        now = (thread.measured_overhead - thread.one_off, called, loop.total - called)
        if number:
            hooks, inside, outside = (end - start for start, end in zip(before, now, strict=True))
            yield hooks / events, max(0.0, inside) / events, max(0.0, outside) / events
        before = now
        _call_hooks(profile)


def _call_hooks(profile: Any) -> None:
    prehook, posthook = profile.prehook, profile.posthook
    prehook(_call_hooks)
    for function in _CALLED:
        prehook(function)
        posthook(None, function)
    posthook(None, _call_hooks)
