"""Rules for names: attributes, `itemgetter` and `attrgetter`, global names of modules, `sys._getframe`."""

from __future__ import annotations

import operator
import sys
from functools import cached_property
from types import CellType, FunctionType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE, flags_of, is_a
from cassette_import.rewriting import primitives
from cassette_import.runtime.tagging.bound_names import DEFAULTS, note_assigned_defaults
from cassette_import.runtime.tagging.computed_metadata import (
    BOUND_METHODS,
    add_to_contents,
    call_loaded,
    has_contents,
    is_computed_from,
)
from cassette_import.runtime.tagging.fast_path import nothing_watched
from cassette_import.runtime.tagging.held_metadata import attributes_of
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.rule_table import rule, rule_of_type
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import RECEIVER
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, bound, plain

# ---- the rule for `sys._getframe`


@rule(sys._getframe)
@hidden
def frame(call: LeafCall) -> Any:
    """The frame of the program; `sys._getframe(0)` would be the one that calls it, hidden or not."""
    given = [plain(argument) for argument in call.given]
    if call.keywords or len(given) > 1 or (given and type(given[0]) is not int):
        return call.native()
    return sys._getframe(max(given[0], 0) + 1 if given else 1)


# ---- rules for the global names of modules


@rule(primitives.load_global)
@hidden
def load_global(call: LeafCall) -> Any:
    value = call.native()
    namespace, name = call.arguments
    if call.store.items.entries:
        value = call.store.load_part(call.store.items, namespace, name, value)
    return value if type(value) is Tagged else call.store.recognised.wrapped(value)


@rule(primitives.store_global)
@hidden
def store_global(call: LeafCall) -> None:
    call.native()
    namespace, name, value = call.arguments
    call.store.store_part(call.store.items, namespace, name, value)


@rule(primitives.delete_global)
@hidden
def delete_global(call: LeafCall) -> None:
    call.native()
    call.store.store_part(call.store.items, call.arguments[0], call.arguments[1], None)


# ---- rules for `operator.itemgetter` and `operator.attrgetter` objects: each load is an event


@rule_of_type(operator.itemgetter)
@hidden
def load_items(call: LeafCall) -> Any:
    _, keys = call.callee.__reduce__()
    found = [call.event(operator.getitem, call.given[0], key) for key in keys]
    return found[0] if len(found) == 1 else call.store.bind_items(tuple(map(plain, found)), found)


@rule_of_type(operator.attrgetter)
@hidden
def load_attributes(call: LeafCall) -> Any:
    _, names = call.callee.__reduce__()
    found = []
    for name in names:
        value = call.given[0]
        for part in name.split("."):
            value = call.event(getattr, value, part)
        found.append(value)
    return found[0] if len(found) == 1 else call.store.bind_items(tuple(map(plain, found)), found)


# ---- rules for attributes: `getattr`, `setattr`, `delattr`


@rule(getattr, plain_if=nothing_watched, returns_method_result=True)
@rule(object.__getattribute__, type.__getattribute__, super.__getattribute__)
@hidden
def load_attribute(call: LeafCall) -> Any:
    owner = call.arguments[0]
    if (
        type(owner) is ModuleType
        and id(owner) not in call.store.attributes.entries
        and not call.keywords
        and plain(call.arguments[1]) in owner.__dict__  # so no `__getattr__` is called
    ):
        value = call.store.recognised.wrapped(call.callee(*map(plain, call.given)))
    else:
        value = _load_with_metadata(call)
    for level, tag in enumerate(call.activation.tags):
        if tag is not None and tag.watched is not None and plain(call.arguments[1]) in tag.watched:
            value = call_loaded(call.activation, level, value, *map(plain, call.arguments[:2]))
    return value


_NOTHING: Final = object()


@hidden
def _load_with_metadata(call: LeafCall) -> Any:
    # One function for all kinds of owners: each further function would cost a frame per load.
    store, owner = call.store, plain(call.arguments[0])
    if type(owner) is super and type(owner.__self__) is Tagged:  # type: ignore[attr-defined]  # of `super`
        owner = super(owner.__thisclass__, owner.__self__._tagged_value)  # type: ignore[attr-defined]  # of `super`
        call.given = (owner, *call.given[1:])
    if DEFAULTS:
        descriptor = lookup(type(owner), plain(call.arguments[1]))
        if is_a(descriptor, property) and id(descriptor.fget) in DEFAULTS:
            return call.forward(descriptor.fget, call.arguments[0])
    LOCAL.returned = None
    if len(call.arguments) == 3 and type(call.arguments[2]) is Tagged:
        value = call.function(owner, plain(call.arguments[1]), _NOTHING)
        if value is _NOTHING:
            return call.arguments[2]
    else:
        value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        if is_a(lookup(type(owner), plain(call.arguments[1])), cached_property):
            store.store_part(store.attributes, owner, plain(call.arguments[1]), found)
        return found  # a property
    if type(value) is dict and type(owner) is not super:
        name = plain(call.arguments[1])
        if name == "__dict__":
            if type(owner) is not ModuleType:
                store.join_namespace(owner, value)
            return value
        if name == "__kwdefaults__" and type(owner) is FunctionType:
            note_assigned_defaults(owner)  # the program may change them
    if type(call.arguments[0]) is Tagged and type(owner) is not super:
        if type(value) in BOUND_METHODS:
            return bound(value, call.arguments[0]) if value.__self__ is owner else value
        if RECEIVER in call.arguments[0]._tagged_metas and plain(call.arguments[1]) == "__self__":
            return Tagged(value, call.arguments[0]._tagged_metas[RECEIVER])
        if is_computed_from(call.arguments[0]) and not (store.attributes.entries or is_a(owner, tuple)):
            return call.with_computed_metadata(value)
    if store.attributes.entries:
        name = plain(call.arguments[1])
        got = store.load_part(store.attributes, owner, name, value)
        if got is value:
            for kind in getattr(type(owner), "__mro__", ()) if not is_a(owner, type) else type.mro(owner)[1:]:
                if id(kind) in store.attributes.entries:
                    got = store.load_part(store.attributes, kind, name, value)
                    break
        value = got
    if store.items.entries and is_a(owner, tuple) and type(value) is not Tagged:
        fields = getattr(type(owner), "_fields", ())
        if call.arguments[1] in fields:
            value = store.load_part(store.items, owner, fields.index(call.arguments[1]), value)
    if type(value) is not Tagged and (is_computed_from(call.arguments[0]) or has_contents(store, owner)):
        return call.with_computed_metadata(value)
    return (
        recognise(store, owner, plain(call.arguments[1]), value)
        if store.recognised.slots and type(value) is not Tagged
        else value
    )


@hidden
def recognise(store: Store, owner: Any, name: str, value: Any) -> Any:
    """The value of an attribute that has no metadata of its own, wrapped if it is recognised.

    Parts of a container are recognised if code of the interpreter may have made it: `f.__defaults__`, for example.
    """
    kind = type(value)
    if kind in (tuple, list, dict) and (flags_of(type(owner)) & IMMUTABLE or name.startswith("__")):
        store.recognise_parts(value)
        return value
    return store.recognised.wrapped(value)


@rule(setattr, object.__setattr__, type.__setattr__)
@hidden
def store_attribute(call: LeafCall) -> Any:
    owner, name, value = plain(call.arguments[0]), plain(call.arguments[1]), call.arguments[2]
    if type(owner) is CellType and type(value) is Tagged:
        lose_number(value._tagged_metas, "a cell of a closure", is_reported=True)  # which the function reads plain
    if type(value) is Tagged and call.function is setattr:
        method, descriptor = lookup(type(owner), "__setattr__"), lookup(type(owner), name)
        if type(method) is FunctionType:
            return call.call_method(method, owner, name, value)
        if is_a(descriptor, property) and type(descriptor.fset) is FunctionType:
            return call.call_method(descriptor.fset, owner, value)
        setter = lookup(type(descriptor), "__set__")
        if type(setter) is FunctionType:
            return call.call_method(setter, descriptor, owner, value)
        if setter is not None:
            call.native()
            if descriptor.__get__(owner, type(owner)) is plain(value):
                call.store.store_part(call.store.attributes, owner, name, value)
            else:
                add_to_contents(call, owner)  # a part of a C structure, for example
            return None
    call.native()
    if name == "__dict__" and attributes_of(owner) is plain(value):
        call.store.attributes.drop(owner)
        call.store.join_namespace(owner, plain(value))
        return None
    call.store.store_part(call.store.attributes, owner, name, value)
    if name in ("__defaults__", "__kwdefaults__") and type(owner) is FunctionType:
        note_assigned_defaults(owner)
    return None


@rule(delattr, object.__delattr__)
@hidden
def delete_attribute(call: LeafCall) -> Any:
    call.native()
    call.store.store_part(call.store.attributes, plain(call.arguments[0]), plain(call.arguments[1]), None)
