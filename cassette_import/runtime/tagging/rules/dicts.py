"""Rules for the methods of dicts, and for `|=` with a dict on the left.

Knows which method moves which key and value; must not know how the shadow store keeps metadata.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.computed_metadata import is_computed_from
from cassette_import.runtime.tagging.container_contents import has
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.rules.container_constructors import add_pairs
from cassette_import.runtime.tagging.rules.operators import operate
from cassette_import.runtime.tagging.rules.sets import combine
from cassette_import.runtime.tagging.wrappers import Tagged, plain

_DICT_ITER: Final = dict.__dict__["__iter__"]


@rule(dict.get, dict.pop, dict.setdefault)
@hidden
def take_by_key(call: LeafCall) -> Any:
    _, key, *default = call.arguments
    owner = call.owner
    slot = call.store.slots_by_key(owner).get(plain(key))
    had = has(owner, plain(key))
    value = call.native()
    name = call.function.__name__
    if not had:
        if default and name == "setdefault":
            call.store.store_part(call.store.items, owner, plain(key), default[0])
        return default[0] if default else value
    if name == "pop":
        call.store.store_part(call.store.items, owner, plain(key), None)
    return Tagged(value, slot[1]) if slot is not None and slot[0] is value else value


@rule(dict.popitem)
@hidden
def take_last(call: LeafCall) -> Any:
    slots = dict(call.store.slots_by_key(call.owner))
    key, value = pair = call.native()
    slot = slots.get(key)
    if slot is not None and slot[0] is value:
        call.store.slots_by_key(call.owner)
        call.store.set_item_metas(pair, [None, slot[1]])
    return pair


@hidden
def _takes_dict(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether nothing is put into a dict but another dict."""
    return not is_a(arguments[0], dict) or type(arguments[1]) is dict


@rule(operator.ior, plain_if=_takes_dict, returns_method_result=True)
@rule(dict.update)
@hidden
def update(call: LeafCall) -> Any:
    owner = call.owner
    if is_a(owner, (set, frozenset)):
        return combine(call)
    if not is_a(owner, dict):
        return operate(call)
    pairs: list[Any] = []
    try:
        for source in map(plain, call.arguments[1:]):
            if is_a(source, dict) and lookup(type(source), "__iter__") is _DICT_ITER:
                slots = call.store.slots_by_key(source)
                pairs += [(key, Tagged(*slots[key]) if key in slots else value) for key, value in dict.items(source)]
            elif hasattr(source, "keys"):
                for key in source.keys():  # noqa: SIM118
                    pairs.append((key, call.event(operator.getitem, source, key)))
            else:
                add_pairs(call, source, pairs)
        pairs += call.keywords.items()
    finally:  # the pairs before an error are added
        call.function(owner, dict([tuple(map(plain, pair)) for pair in pairs]))
        call.store.bind_pairs(owner, pairs)
    return call.given[0] if call.function is operator.ior else None


@rule(dict.keys)
@hidden
def keys(call: LeafCall) -> Any:
    """Keys have no metadata; that of a dict that is tagged as a whole is computed for its keys."""
    return call.with_computed_metadata(call.native()) if is_computed_from(call.arguments[0]) else call.native()


@rule(dict.values, dict.items)
@hidden
def view(call: LeafCall) -> Any:
    made = call.native()
    owner = call.owner
    if call.store.slots_by_key(owner):
        call.store.views.make(made).extra = owner, call.function.__name__
    return made


@rule(dict.clear)
@hidden
def clear(call: LeafCall) -> None:
    call.native()
    call.store.items.drop(call.owner)
