"""What events add to the measured times, by kind of callee.

The clock of a thread omits what it can: making nodes, compiling, and with hooks in Python the hooks themselves. The way
to a hook and back, and the rest of the hooks in C, fall partly into the measured time of the call, and partly into
that of its caller. So does the way of the call itself, which the time of the call has and the plain caller pays: what
is `inside` has it too, and what is `outside` lacks it.

The tables have these costs as they were found with small programs of each kind of event on CPython 3.11 to 3.13, from
the plain times of their functions and the measured ones. The unit is the time of a pair of hooks that is called
directly, which is measured in each process, so that costs follow the speed of the machine. It is the least of what is
measured at several moments: beside other programs a machine is two or three times slower for some milliseconds, and
with a unit from such a moment more would be subtracted than events have cost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.contexts.profile.call_tree import BODY, CALLBACK, CREATION
from cassette_import.interpreter.clock import perf_counter

__all__ = [
    "ANNOUNCED",
    "CALLING",
    "INDIRECT",
    "NO_COST",
    "Cost",
    "Costs",
    "ProfileType",
    "costs_of",
    "forget_measurements",
]

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
