"""Which costs of events hold for a profile: estimated ones, or for a long run those of the calibration.

Both are found once per process. Knows what both cost; must not know how they are found.
"""

from __future__ import annotations

from typing import Final

from cassette_import.contexts.profile.call_tree import CallTrees
from cassette_import.contexts.profile.event_costs import Costs, ProfileType, estimated

__all__ = ["costs_for"]

_MANY_EVENTS: Final = 5_000_000
"""With this many events, a run takes so long that the calibration takes about a hundredth of its time."""

_KNOWN: Final[dict[ProfileType, Costs]] = {}


def costs_for(profile: CallTrees, events: int) -> Costs:
    """The cost of an event of a profile that had so many events.

    The profile may be active here: compiling the workloads of the calibration is none of its time.
    """
    here = profile.current_thread()
    if here is None:
        return _costs(type(profile), events)
    before = here.measured_overhead, here.one_off, here.specialised, here.specialising
    found = _costs(type(profile), events)
    here.measured_overhead, here.one_off, here.specialised, here.specialising = before
    return found


def _costs(profile_type: ProfileType, events: int) -> Costs:
    known = _KNOWN.get(profile_type)
    if known is None or (events >= _MANY_EVENTS and not known.is_calibrated):
        find = _calibrated if events >= _MANY_EVENTS else estimated
        known = _KNOWN[profile_type] = find(profile_type)
    return known


def _calibrated(profile_type: ProfileType) -> Costs:
    from cassette_import.contexts.profile.overhead_calibration import calibrated  # it needs much that others do not

    return calibrated(profile_type)
