"""Rules for functions that keep another one with its arguments, and call it later in the same thread.

These are schedulers, finalizers, exit functions, and `Context.run`, which calls it at once in other context variables.
"""

from __future__ import annotations

import atexit
import contextvars
import weakref
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.parcels import arrived
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.concurrency import Later, given_to_target
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@hidden
def _keep(call: LeafCall, place: int) -> Any:
    """The function at some place is called with the arguments that follow: it gets those wrapped."""
    before, given = call.arguments[:place], call.arguments[place + 1 :]
    has_metadata = any(type(one) is Tagged for one in (*given, *call.keywords.values()))
    if not has_metadata or any(type(one) is Tagged for one in before):
        return without_rule(call)
    arguments = (*before, Later(call.arguments[place], given, call.keywords), *given)[len(call.leading) :]
    return call.callee(*map(plain, arguments), **call.plain_keywords)


@rule(weakref.finalize)
@hidden
def make_finalizer(call: LeafCall) -> Any:
    return _keep(call, 1)


@rule(atexit.register)
@rule_of_code("contextlib", "AsyncExitStack.push_async_callback")
@hidden
def register_function(call: LeafCall) -> Any:
    place = len(call.arguments) > 1 and call.function is not atexit.register
    found = _keep(call, int(place))
    return call.arguments[int(place)] if type(found) is Later else found


@rule(contextvars.Context.run)
@hidden
def run_in_context(call: LeafCall) -> Any:
    LOCAL.returned = None
    value = _keep(call, 1)
    found = LOCAL.returned
    return found if found is not None and found._tagged_value is value else arrived(value)


_OF_EVENTS = ("time", "priority", "action", "argument", "kwargs")


@rule_of_code("sched", "scheduler.enterabs", "scheduler.enter")
@hidden
def schedule(call: LeafCall) -> Any:
    names: tuple[str, ...] = _OF_EVENTS
    if call.function.__name__ == "enter":
        names = ("delay", *names[1:])
    if not call.leading:  # `scheduler.enter(s, ...)`
        names = ("self", *names)
    given = (*call.given, *call.keywords.values())
    if len(call.given) > len(names) or any(type(one) is Tagged for one in given):
        return without_rule(call)
    found = given_to_target(call, names, arguments="argument")
    return call.callee(**{name: plain(value) for name, value in found.items()})
