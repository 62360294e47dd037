"""Rules for what wakes up other threads: a thread that has begun outside of the contexts runs plain code.

It reads queues, variables and containers without their metadata, and no rule is called there. So what it could read is
searched where it is woken up.
"""

from __future__ import annotations

import _thread
import sys
import threading
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import THREADS_IN_CONTEXTS
from cassette_import.runtime.tagging.held_metadata import holds_metadata, leads_to
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.lost_metadata import lose
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.tags import Tag
from cassette_import.runtime.tagging.wrappers import Tagged, plain

_DEPTH = 4
_MOST_OBJECTS = 300


@hidden
def _variables_of_other_threads() -> list[Any]:
    """The values of the variables of all threads that run plain code, those that are wrapped as they are."""
    found: list[Any] = []
    own = _thread.get_ident()
    for identity, innermost in sys._current_frames().items():
        frame: Any = innermost
        while frame is not None and identity != own and identity not in THREADS_IN_CONTEXTS:
            found += dict(frame.f_locals).values()
            frame = frame.f_back
    return found


@hidden
def note_wake_up(call: LeafCall) -> None:
    """A call is about to wake up other threads; what it is given, they may read."""
    tags = [(level, tag) for level, tag in enumerate(call.activation.tags) if tag is not None and tag.lost != "ignore"]
    given = [one for one in (*call.arguments[1:], *call.keywords.values()) if type(one) is Tagged]
    if not tags or not (given or call.store) or threading.active_count() == 1:
        return
    variables = _variables_of_other_threads()
    for level, tag in tags:
        if variables and _may_be_read(call, variables, given, tag):
            lose(call.activation.contexts[level], "a thread that has begun as plain code")


@hidden
def _may_be_read(call: LeafCall, variables: list[Any], given: list[Tagged], tag: Tag) -> bool:
    if any(tag in one._tagged_metas for one in given) and leads_to(variables, call.owner, _DEPTH, _MOST_OBJECTS):
        return True
    if any(type(value) is Tagged and tag in value._tagged_metas for value in variables):
        return True
    return holds_metadata(variables, tag, _DEPTH, _MOST_OBJECTS)


@rule_of_code("threading", "Event.set", "Condition.notify", "Condition.notify_all", "Semaphore.release")
@rule_of_code("threading", "BoundedSemaphore.release", "Barrier.wait")
@rule(type(threading.Lock()).release, type(threading.RLock()).release)
@hidden
def wake_up(call: LeafCall) -> Any:
    note_wake_up(call)
    return plain(call.native())
