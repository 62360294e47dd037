"""Rules for objects that carry arguments: `functools.partial`, `operator.methodcaller`."""

from __future__ import annotations

import functools
import operator
from typing import Any

from cassette_import.interpreter.callables import PARTIAL
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_type
from cassette_import.runtime.tagging.tag_scopes import active_store
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped

# ---- `functools.partial`


@rule(functools.partial)
@hidden
def make_partial(call: LeafCall) -> Any:
    made = call.native()
    inner = plain(call.given[0])
    before, named = ((), {}) if type(inner) is not functools.partial else (inner.args, inner.keywords)
    arguments = [*call.store.wrapped_items(before), *call.given[1:]]
    if len(arguments) == len(made.args):  # no placeholder was filled
        call.store.bind_items(made.args, arguments)
    slots = call.store.slots_by_key(named)
    call.store.bind_pairs(made.keywords, [*((name, Tagged(*slots[name])) for name in slots), *call.keywords.items()])
    return made


@rule(functools.partial.__call__)
@hidden
def call_partial(call: LeafCall) -> Any:
    return call.forward(call.owner, *call.arguments[1:], **call.keywords)


@hidden
def callee_of_partial(found: Any) -> Any:
    """What a partial object calls: a bound method is wrapped if its receiver has metadata."""
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    return store.recognised.wrapped(found.func) if store is not None else found.func


@hidden
def arguments_of_partial(found: Any) -> tuple[Any, ...]:
    """The arguments of a partial object, wrapped where they have metadata."""
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    return tuple(store.wrapped_items(found.args)) if store is not None and store.items.entries else found.args


@hidden
def keywords_of_partial(found: Any) -> dict[str, Any]:
    """The keyword arguments of a partial object, wrapped where they have metadata."""
    store = active_store() if FLAGS[METADATA_EXISTS] else None
    slots = store.slots_by_key(found.keywords) if store is not None and store.items.entries else None
    return {**found.keywords, **{name: Tagged(*slots[name]) for name in slots}} if slots else found.keywords


PARTIAL.callee, PARTIAL.arguments, PARTIAL.keywords = callee_of_partial, arguments_of_partial, keywords_of_partial

# ---- `operator.methodcaller`


@rule(operator.methodcaller)
@hidden
def make_method_caller(call: LeafCall) -> Any:
    made = call.native()
    metas = [metas_of(value) for value in call.given[1:]]
    metas_by_name = {name: metas_of(value) for name, value in call.keywords.items()}
    if any(metas) or any(metas_by_name.values()):
        call.store.views.make(made).extra = metas, metas_by_name
    return made


@rule_of_type(operator.methodcaller)
@hidden
def call_method(call: LeafCall) -> Any:
    if len(call.given) != 1 or call.keywords:
        return without_rule(call)
    name, arguments, keywords = _state_of(call.callee)
    entry = call.store.views.of(call.callee)
    if entry is not None:
        metas, metas_by_name = entry.extra
        arguments = tuple(map(wrapped, arguments, metas))
        keywords = {name: wrapped(value, metas_by_name[name]) for name, value in keywords.items()}
    return call.forward(call.forward(getattr, call.given[0], name), *arguments, **keywords)


def _state_of(caller: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The name of the method, the arguments and the keyword arguments."""
    made_by, (*state,) = caller.__reduce__()[:2]
    if type(made_by) is functools.partial:  # there are keyword arguments
        return made_by.args[0], (*made_by.args[1:], *state), made_by.keywords
    return state[0], tuple(state[1:]), {}
