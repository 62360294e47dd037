"""What one event costs beyond the time inside the hooks, by kind of callee.

A profile measures the time inside its hooks with the first events of a thread. It cannot measure the way into the hooks
and back: part of it falls into the measured time of the call, the rest into that of its caller. This cost depends on
the kind of callee, because functions, methods, builtins and classes are called in different ways. Like the time inside
the hooks, it depends on the state of the machine, its caches and its branch prediction. So costs are expressed as
multiples of the time inside the hooks: what slows down the one slows down the other. Hooks in C read the clock once
each, and measure nothing of themselves: there the unit is the time of a pair of them.

The costs are estimated here from direct calls of the hooks; `overhead_calibration` measures them. Knows how to call the
hooks of a profile; must not know how code is overdubbed, or how statistics are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.contexts.profile.call_tree import BODY, CALLBACK, CREATION, Node

__all__ = ["IN_BODIES", "NO_COST", "NO_COSTS", "UNMEASURED", "Cost", "Costs", "ProfileType", "estimated"]

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
    "function": (-0.27, -0.15),
    "method": (-0.2, 0.3),
    "builtin": (-0.18, 0.52),
    "method in C": (-0.13, 3.0),
    "class": (-0.35, 0.28),
    "class in Python": (-0.27, 0.33),
    CREATION: (-0.27, -0.15),
    BODY: (-0.27, -0.25),
    CALLBACK: (1.4, 6.5),
}
"""By how much the calibration finds larger costs inside and outside a call, by kind of callee, than direct calls of the
hooks have. The unit is the time of two calls of an empty function. The numbers hold for profiles with and without call
sites, for slow and for fast clocks, and for CPython 3.11, 3.12 and 3.13. A callback makes an object that follows its
body; its numbers are the least of seven rounds with `sorted(key=)` and `map`, compared with the plain calls."""

_TYPICAL_OF_RECORDERS: Final = {
    "function": (-0.27, -0.15),
    "method": (-0.2, 0.0),
    "builtin": (-0.18, -0.15),
    "method in C": (-0.18, -0.1),
    "class": (-0.35, -0.1),
    "class in Python": (-0.27, -0.1),
    CREATION: (-0.27, -0.15),
    BODY: (-0.27, -0.25),
    CALLBACK: (1.4, 6.5),
}
"""The same for call sites that call `Recorder`: it finds the function of a callee while its time is measured."""

_TYPICAL_IN_C: Final = {
    "function": (0.0, 0.4),
    "method": (0.0, 0.5),
    "builtin": (0.0, 0.4),
    "method in C": (0.0, 0.6),
    "class": (0.0, 0.4),
    "class in Python": (0.0, 0.4),
    CREATION: (0.0, 0.4),
    BODY: (0.0, 0.4),
    CALLBACK: (1.4, 6.5),
}
"""The same for hooks in C (see `contexts.common.accelerator`), whose time is not measured."""

IN_BODIES: Final = Cost(0.6, 2.5)
"""What an event costs in addition in a body that can be suspended, where the call site looks up the active context."""

UNMEASURED: Final = Cost(0.09, 0.15)
"""What an event costs in addition where the time inside its hooks is not measured, as a share of this time in the
events where it was. It is so little, because these events read the clock twice and not four times: a call of a function
took 558 ns with 275 ns of it measured, and 347 ns without (CPython 3.12)."""

_IN_PROGRAMS: Final = 1.05
"""How much more an event costs in an ordinary program than in a loop, times the share of it that is subtracted."""

_TYPICAL_HOOKS: Final = 1.4
"""The time inside the hooks in an ordinary program, as a multiple of that in a loop of direct calls."""


def estimated(profile_type: ProfileType) -> Costs:
    """The cost of events in this process, under a profile of this type, estimated in less than a millisecond."""
    profile = profile_type()
    rounds = sorted(_rounds_of_direct_calls(profile))
    hooks, inside, outside, plain = rounds[len(rounds) // 2]
    typical, in_programs = (_TYPICAL, _TYPICAL_HOOKS) if profile.measures_hooks else (_TYPICAL_IN_C, 1.0)
    if typical is _TYPICAL and "_accelerated_hooks" in vars(type(profile)):
        typical = _TYPICAL_OF_RECORDERS
    if not profile.measures_hooks:
        hooks = inside + outside
    if not hooks:
        return NO_COSTS
    by_kind = {
        kind: Cost(
            max(0.0, inside + more_inside * plain) / hooks * _IN_PROGRAMS,
            max(0.0, outside + more_outside * plain) / hooks * _IN_PROGRAMS,
        )
        for kind, (more_inside, more_outside) in typical.items()
    }
    return Costs(by_kind, hooks * in_programs, is_calibrated=False)


def _rounds_of_direct_calls(profile: Any) -> Iterator[tuple[float, float, float, float]]:
    """Seconds for one event of a loop that calls the hooks directly: in the hooks, in the calls, in the loop.

    The last one is the time of the same loop with empty functions instead of the hooks. The profile itself measures all
    of it, for callees that do not run at all.
    """
    _call_hooks(profile)  # makes the nodes
    _call_empty_functions(profile)
    thread = profile.current_thread()
    loop, empty = thread.root.child_nodes()
    calls = list(loop.child_nodes())
    before = (0.0, 0.0, 0.0, 0.0)
    for number in range(_ROUNDS + 1):
        called = sum(node.total for node in calls)
        now = (thread.measured_overhead - thread.one_off, called, loop.total - called, empty.total)
        if number:
            hooks, inside, outside, plain = (max(0.0, now[i] - before[i]) / len(_CALLED) for i in range(4))
            yield hooks, inside, outside, plain
        before = now
        _call_hooks(profile)
        _call_empty_functions(profile)


def _call_hooks(profile: Any) -> None:
    prehook, posthook = profile.direct_hooks()
    prehook(_call_hooks)
    for function in _CALLED:
        prehook(function)
        posthook(None, function)
    posthook(None, _call_hooks)


def _call_empty_functions(profile: Any) -> None:
    profile.prehook(_call_empty_functions)
    for function in _CALLED:
        _empty(function)
        _empty(None, function)
    profile.posthook(None, _call_empty_functions)


def _empty(*arguments: Any, **keywords: Any) -> None:
    pass
