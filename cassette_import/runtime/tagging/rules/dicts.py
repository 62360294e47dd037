"""Rules for the methods of dicts and of `Counter`, for `MappingProxyType`, and for `|=` with a dict on the left."""

from __future__ import annotations

import gc
import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping
from types import FunctionType, MappingProxyType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import computed_metadata
from cassette_import.runtime.tagging.c_callers import HashedStepper
from cassette_import.runtime.tagging.computed_metadata import is_computed_from
from cassette_import.runtime.tagging.container_contents import has
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.container_constructors import add_pairs
from cassette_import.runtime.tagging.rules.operators import container_whose_method_runs, operate
from cassette_import.runtime.tagging.rules.sets import combine
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

# ---- rules for `collections.Counter`: counts are sums of values, or are computed of the elements that were counted


@rule_of_code("collections", "Counter.__init__", "Counter.update", "Counter.subtract")
@hidden
def count(call: LeafCall) -> Any:
    """A new count is the sum or difference of the old one and the values, or the number of the elements."""
    owner, *sources = call.arguments
    if len(sources) > 1 or not is_a(plain(owner), Counter):
        return without_rule(call)
    counter = plain(owner)
    slots = call.store.slots_by_key(counter)
    values: list[tuple[Any, Any]] = []
    items: list[Any] = []
    bare: list[Any] = []
    try:
        for source in sources:
            given = plain(source)
            if is_a(given, Mapping):
                found = call.store.slots_by_key(given) if is_a(given, dict) else {}
                values += [(key, Tagged(*found[key]) if key in found else value) for key, value in given.items()]
                bare.append(given)
            elif given is not None:
                bare.append([])
                for item in iterate_wrapped(call, source):
                    items.append(item)
                    bare[0].append(plain(item))
    finally:  # the elements before an error are counted
        values += call.keywords.items()
        touched = [*(key for key, _ in values), *map(plain, items)]
        counts = {key: Tagged(*slots[key]) if key in slots else dict.get(counter, key) for key in _hashable(touched)}
        call.function(counter, *bare, **call.plain_keywords)
    call.compare(*items)
    for key, value in values:
        counts[key] = _summed(call, counts[key], value)
    elements: dict[Any, list[Any]] = {}
    for item in items:
        elements.setdefault(plain(item), []).append(item)
    for key, counted in elements.items():
        counts[key] = _counted(call, counts[key], counted, dict.get(counter, key))
    # The objects are those in the counter, which are equal to these.
    pairs = [(key, Tagged(dict.get(counter, key), metas_of(value) or {})) for key, value in counts.items()]
    call.store.bind_pairs(counter, [(key, value if value._tagged_metas else plain(value)) for key, value in pairs])
    return None


def _hashable(keys: list[Any]) -> list[Any]:
    """The keys; none if one of them has no hash, which is an error of the call."""
    try:
        return list(dict.fromkeys(keys))
    except TypeError:
        return []


@hidden
def _summed(call: LeafCall, before: Any, value: Any) -> Any:
    """The new count of a key in a mapping."""
    if type(value) is not Tagged and type(before) is not Tagged:
        return value
    if before is None and call.function.__name__ != "subtract":
        return value
    operate = operator.sub if call.function.__name__ == "subtract" else operator.add
    return call.event(operate, 0 if before is None else before, value)


@hidden
def _counted(call: LeafCall, before: Any, items: list[Any], value: Any) -> Any:
    """The new count of an element."""
    if type(before) is not Tagged and not any(type(item) is Tagged for item in items):
        return value
    arguments = tuple(items) if before is None else (before, *items)
    return computed_metadata.with_computed_metadata(call.activation, call.function, arguments, {}, value)


# ---- rules for `types.MappingProxyType`: a proxy shows the metadata of the mapping behind it


@rule(MappingProxyType.get, MappingProxyType.values, MappingProxyType.items, MappingProxyType.copy)
@hidden
def call_method_of_mapping(call: LeafCall) -> Any:
    source = gc.get_referents(call.owner)[0]  # a proxy refers to nothing else
    return call.forward(getattr(source, call.function.__name__), *call.arguments[1:], **call.keywords)


# ---- rules for the methods of dicts, and for `|=` with a dict on the left

_DICT_ITER: Final = dict.__dict__["__iter__"]


@rule(dict.get, dict.pop, dict.setdefault, OrderedDict.pop, OrderedDict.setdefault)
@hidden
def take_by_key(call: LeafCall) -> Any:
    if len(call.arguments) < 2 or not call.keywords.keys() <= {"default"}:
        return call.native_then_drop_stale()
    _, key, *default = call.arguments
    call.compare(key)
    default += call.keywords.values()
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


@rule(dict.popitem, OrderedDict.popitem)
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
@rule(dict.update, dict.__init__, OrderedDict.update, OrderedDict.__init__)
@hidden
def update(call: LeafCall) -> Any:
    owner = call.owner
    if call.function is operator.ior:
        if container_whose_method_runs(operator.ior, [owner, plain(call.arguments[1])]) is None:
            return operate(call)
    elif len(call.arguments) > 2:
        return call.native_then_drop_stale()
    if _has_own_setitem(owner):
        return call.native_then_drop_stale()
    if is_a(owner, (set, frozenset)):  # `|=` takes nothing but another set
        return combine(call) if is_a(plain(call.arguments[1]), (set, frozenset)) else operate(call)
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


@hidden
def _has_own_setitem(owner: Any) -> bool:
    """Whether a subclass of `OrderedDict` stores its items by its own method."""
    return is_a(owner, OrderedDict) and type(lookup(type(owner), "__setitem__")) is FunctionType


@rule(defaultdict.__init__)
@hidden
def initialise_with_factory(call: LeafCall) -> None:
    """The first argument is the factory, the others are those of a dict."""
    owner, *given = call.arguments
    if len(given) > 2:
        call.native()
    defaultdict.__init__(plain(owner), *map(plain, given[:1]))
    if len(given) > 1 or call.keywords:
        call.forward(dict.update, owner, *given[1:], **call.keywords)


@rule(vars(dict)["fromkeys"], vars(OrderedDict)["fromkeys"])
@hidden
def from_keys(call: LeafCall) -> Any:
    if len(call.arguments) > 1 and (call.is_watched or may_have_tagged_items(call.store, call.arguments[1])):
        place = 1 - len(call.leading)
        given = [*call.given[:place], HashedStepper(call, call.arguments[1]), *call.given[place + 1 :]]
        made = call.callee(*map(plain, given), **call.plain_keywords)
    else:
        made = call.native()
    value = call.arguments[2] if len(call.arguments) > 2 else call.keywords.get("value")
    if type(value) is Tagged and is_a(made, dict):
        bare, metas = plain(value), value._tagged_metas
        call.store.set_slots(made, {key: (bare, metas) for key, item in dict.items(made) if item is bare})
    return made


@rule(dict.keys)
@hidden
def keys(call: LeafCall) -> Any:
    """Keys have no metadata; that of a dict that is tagged as a whole is computed for its keys."""
    return call.with_computed_metadata(call.native()) if is_computed_from(call.arguments[0]) else call.native()


@rule(dict.values, dict.items, OrderedDict.values, OrderedDict.items)
@hidden
def view(call: LeafCall) -> Any:
    """A view shows what the dict holds when the view is read."""
    return call.native()


@rule(dict.clear, OrderedDict.clear)
@hidden
def clear(call: LeafCall) -> None:
    call.native()
    call.store.items.drop(call.owner)
