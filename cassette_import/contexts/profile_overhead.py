"""What measuring one call costs, so that it can be left out of a profile; found out once per process, when asked for.

Part of the cost lies within the measured time of the call, the rest in that of its caller. Both depend on what is
called: the events of functions, methods, builtins and classes take different paths. Knows how a profile is read; must
not know how it is shown.
"""

from __future__ import annotations

import contextvars
import inspect
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cassette_import import overdub

from . import profile_workloads

if TYPE_CHECKING:
    from .profile import Profile
    from .profile_tree import Node

__all__ = ["NOTHING", "Cost", "Costs", "costs"]

_COUNT: Final = 1000
_ELSEWHERE: Final = "<what calls cost>"
_ROUNDS: Final = 9


class Cost(NamedTuple):
    """Seconds that an event adds to the measured time of its own call, and to that of the caller."""

    inside: float = 0.0
    outside: float = 0.0


class Costs:
    """The cost of an event by the kind of what is called."""

    def __init__(self, known: Mapping[str, Cost]) -> None:
        self._known = known

    def of(self, node: Node) -> Cost:
        """The cost of one call of this node."""
        return self._known.get(node.kind, _NO_COST)


_NO_COST: Final = Cost()
NOTHING: Final = Costs({})
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
        loop = min(programs["no_calls"](numbers) for _ in range(_ROUNDS))
        workloads: Mapping[str, Callable[[Sequence[int]], float]] = programs["WORKLOADS"]
        return Costs({kind: _measured(profile_type, workload, numbers, loop) for kind, workload in workloads.items()})


@contextmanager
def _programs() -> Iterator[dict[str, Any]]:
    """The workloads in a file that is not ours: what belongs to us is never overdubbed."""
    source = inspect.getsource(profile_workloads)
    linecache.cache[_ELSEWHERE] = (len(source), None, source.splitlines(keepends=True), _ELSEWHERE)
    try:
        namespace: dict[str, Any] = {"__name__": _ELSEWHERE}
        exec(compile(source, _ELSEWHERE, "exec", dont_inherit=True), namespace)
        namespace["perf_counter"] = profile_workloads.perf_counter  # the clock that holds now
        yield namespace
    finally:
        linecache.cache.pop(_ELSEWHERE, None)


def _measured(
    profile_type: type[Profile], workload: Callable[[Sequence[int]], float], numbers: Sequence[int], loop: float
) -> Cost:
    """The cost of the calls that a workload makes. The least of several tries is the one that was disturbed least."""
    plain = min(workload(numbers) for _ in range(_ROUNDS))
    inner, whole = [], []
    for _ in range(_ROUNDS):
        profile = profile_type()
        whole.append(overdub(profile, workload, numbers))
        inner.append(sum(node.total for thread in profile.threads() for node in thread.root.below() if node.calls > 1))
    inside = max(0.0, min(inner) - max(0.0, plain - loop))
    outside = max(0.0, min(whole) - plain - inside)
    return Cost(inside / len(numbers), outside / len(numbers))
