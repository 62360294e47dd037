"""What measuring one call costs, so that it can be left out of a profile; found out once per process, when asked for.

Part of the cost lies within the measured time of the call, the rest in that of its caller. Both depend on what is
called: the events of functions, methods, builtins and classes take different paths. Knows how a profile is read; must
not know how it is shown.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Mapping
from time import perf_counter
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cassette_import import overdub

from . import profile_workloads

if TYPE_CHECKING:
    from .profile import Profile
    from .profile_tree import Node

__all__ = ["NOTHING", "Cost", "Costs", "costs"]

_COUNT: Final = 1000
_ROUNDS: Final = 7


class Cost(NamedTuple):
    """Seconds that an event adds to the measured time of its own call, and to that of the caller."""

    inside: float = 0.0
    outside: float = 0.0


class Costs:
    """The cost of an event by the kind of what is called."""

    def __init__(self, known: Mapping[Any, Cost], others: Cost) -> None:
        self._known = known
        self._others = others

    def of(self, node: Node) -> Cost:
        """The cost of one call of this node."""
        return self._known.get(node.kind, self._others)


NOTHING: Final = Costs({}, Cost())


_KNOWN: Final[dict[type, Costs]] = {}


def costs(profile_type: type[Profile]) -> Costs:
    """What events cost in this process, under a profile of this type."""
    if profile_type not in _KNOWN:
        # In a context of its own: the profile that asks may be active here.
        _KNOWN[profile_type] = contextvars.Context().run(_calibrated, profile_type)
    return _KNOWN[profile_type]


def _calibrated(profile_type: type[Profile]) -> Costs:
    loop = min(_empty_loop(_COUNT) for _ in range(_ROUNDS))
    method_in_c = _measured(profile_type, profile_workloads.calls_of_methods_in_c, loop)
    known = {
        FunctionType: _measured(profile_type, profile_workloads.calls_of_functions, loop),
        "method": _measured(profile_type, profile_workloads.calls_of_methods, loop),
        BuiltinFunctionType: _measured(profile_type, profile_workloads.calls_to_c, loop),
        type: _measured(profile_type, profile_workloads.calls_of_classes, loop),
    }
    return Costs(known, method_in_c)


def _measured(profile_type: type[Profile], workload: Callable[[int], float], loop: float) -> Cost:
    """The cost of the calls that a workload makes. The least of several tries is the one that was disturbed least."""
    plain = min(workload(_COUNT) for _ in range(_ROUNDS))
    calls, taken = [], []
    for _ in range(_ROUNDS):
        profile = profile_type()
        taken.append(overdub(profile, workload, _COUNT))
        calls += [node.total for thread in profile.threads() for node in thread.root.below() if node.calls == _COUNT]
    inside = max(0.0, min(calls, default=0.0) - (plain - loop))
    outside = max(0.0, min(taken) - plain - inside)
    return Cost(inside / _COUNT, outside / _COUNT)


def _empty_loop(count: int) -> float:
    began = perf_counter()
    for _ in range(count):
        pass
    return perf_counter() - began
