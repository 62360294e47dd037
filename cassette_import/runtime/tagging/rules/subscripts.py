"""Rules for subscripts and slices: loading, storing, deleting."""

from __future__ import annotations

import gc
import operator
from collections import defaultdict, deque
from functools import partial
from types import FunctionType, MappingProxyType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.computed_metadata import add_to_contents, has_contents, is_computed_from
from cassette_import.runtime.tagging.container_contents import CONTAINERS, SEQUENCES, has, size_of
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.lost_metadata import lose_key
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

METHODS_IN_C = (MethodDescriptorType, WrapperDescriptorType)
"""The types of the methods of containers that a class of the program does not override."""


@hidden
def _position(owner: Any, index: Any) -> int:
    """An index that counts from the start."""
    number = operator.index(index)
    return number + size_of(owner) if number < 0 else number


@rule(operator.getitem, returns_method_result=True)
@rule(list.__getitem__, tuple.__getitem__, dict.__getitem__, deque.__getitem__, MappingProxyType.__getitem__)
@hidden
def load_item(call: LeafCall) -> Any:
    store, owner, key = call.store, plain(call.arguments[0]), plain(call.arguments[1])
    if type(call.arguments[1]) is Tagged or type(key) is tuple:
        call.compare(call.arguments[1])
    if type(owner) is MappingProxyType:
        return call.forward(operator.getitem, gc.get_referents(owner)[0], call.arguments[1])
    own = call.function is operator.getitem and _has_own_getitem(owner)
    has_tagged_key = type(call.arguments[1]) is Tagged or (type(key) is tuple and store.items.of(key) is not None)
    if own and has_tagged_key:
        method, *receiver = _method_of_subscripts(owner)
        if type(method) is FunctionType:
            return call.call_method(method, *receiver, call.arguments[1])
    LOCAL.returned = None
    if type(owner) is defaultdict and type(owner.default_factory) is partial and not has(owner, key):
        made = call.call_back(owner.default_factory)
        return call.forward(defaultdict.setdefault, owner, call.arguments[1], made)
    value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        if is_a(owner, dict) and not _has_own_getitem(owner) and dict.get(owner, key) is value:
            store.store_part(store.items, owner, key, found)  # the factory of a `defaultdict`, or a `__missing__`
        return found  # a `__getitem__` of the program
    if own and has_tagged_key:
        return call.with_computed_metadata(value)
    if is_computed_from(call.arguments[0]) and (store.items.of(owner) is None or own):
        return call.with_computed_metadata(value)
    if has_contents(store, owner):
        return call.with_computed_metadata(value)
    if not store.items.entries or own:
        return store.recognised.wrapped(value)
    if is_a(owner, SEQUENCES):
        if is_a(key, slice):
            metas = store.item_metas(owner)
            if metas is not None and is_a(value, (list, tuple)) and value is not owner:
                store.set_item_metas(value, metas[key])
            return value
        value = store.load_part(store.items, owner, _position(owner, key), value)
    elif is_a(owner, dict):
        value = store.load_part(store.items, owner, key, value)
    return value if type(value) is Tagged else store.recognised.wrapped(value)


@hidden
def _method_of_subscripts(owner: Any) -> tuple[Any, ...]:
    """The function that defines the subscripts of an object or class, and its receiver."""
    method = lookup(type(owner), "__getitem__")
    if method is not None or not is_a(owner, type):
        return method, owner
    method = lookup(owner, "__class_getitem__")
    return (method.__func__ if is_a(method, classmethod) else method), owner


@hidden
def _has_own_getitem(owner: Any) -> bool:
    """Whether a class of the program defines the subscripts of an object."""
    return id(type(owner)) not in _BUILTIN and type(lookup(type(owner), "__getitem__")) not in METHODS_IN_C


_BUILTIN: Final = frozenset(map(id, (list, tuple, dict, deque)))


@rule(operator.setitem, list.__setitem__, dict.__setitem__)
@hidden
def store_item(call: LeafCall) -> Any:
    owner, key, value = call.arguments
    if type(key) is tuple:
        call.compare(key)
    if type(key) is Tagged:
        call.compare(key)
        if type(plain(owner)) is dict:
            lose_key(key._tagged_value, key._tagged_metas)
    owner, key, store = plain(owner), plain(key), call.store
    method = lookup(type(owner), "__setitem__")
    if type(method) is FunctionType and call.function is operator.setitem:
        return call.call_method(method, owner, key, value)
    if call.function is operator.setitem and type(method) not in METHODS_IN_C:
        return call.native_then_drop_stale()
    if is_a(key, slice) and is_a(owner, list):
        metas = store.item_metas(owner) or [None] * size_of(owner)
        items = list(iterate_wrapped(call, value))
        operator.setitem(owner, key, [plain(item) for item in items])
        metas[key] = [metas_of(item) for item in items]
        store.set_item_metas(owner, metas)
        return None
    if is_a(owner, SEQUENCES):
        call.native()
        store.store_part(store.items, owner, _position(owner, key), value)
    else:
        call.native()
        if is_a(owner, dict):
            store.store_part(store.items, owner, key, value)
        elif type(value) is Tagged or is_a(value, CONTAINERS):
            add_to_contents(call, owner)
    return None


@rule(operator.delitem, list.__delitem__, dict.__delitem__)
@hidden
def delete_item(call: LeafCall) -> Any:
    owner, key, store = plain(call.arguments[0]), plain(call.arguments[1]), call.store
    call.compare(call.arguments[1])
    if call.function is operator.delitem and type(lookup(type(owner), "__delitem__")) not in METHODS_IN_C:
        return call.native_then_drop_stale()
    metas = store.item_metas(owner) if is_a(owner, (list, deque)) else None
    call.native()
    if metas is not None:
        del metas[key]
        store.set_item_metas(owner, metas)
    elif is_a(owner, dict):
        store.store_part(store.items, owner, key, None)
    return None
