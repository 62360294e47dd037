"""Rules for named tuples and dataclasses as wholes: `_replace`, `_asdict`, `_make`, `asdict`, `astuple`."""

from __future__ import annotations

import dataclasses
from types import FunctionType
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.container_contents import SEQUENCES, items_in
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule_of_code
from cassette_import.runtime.tagging.rules.construction import read_attribute
from cassette_import.runtime.tagging.rules.copies import copy_metas
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- named tuples


@rule_of_code("collections", "namedtuple.<locals>._replace")
@hidden
def replace_fields(call: LeafCall) -> Any:
    made = call.native()
    items = call.store.wrapped_items(call.owner)
    names = getattr(type(made), "_fields", ())
    return call.store.bind_items(made, [call.keywords.get(*pair) for pair in zip(names, items, strict=True)])


@rule_of_code("collections", "namedtuple.<locals>._make")
@hidden
def make_of_items(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or call.keywords:
        return call.native()
    items = list(iterate_wrapped(call, call.arguments[1]))
    made = call.function(plain(call.arguments[0]), list(map(plain, items)))
    return call.store.bind_items(made, items)


@rule_of_code("collections", "namedtuple.<locals>._asdict")
@hidden
def make_dict_of_fields(call: LeafCall) -> Any:
    made = call.native()
    return call.store.bind_pairs(made, zip(made, call.store.wrapped_items(call.owner), strict=True))


def is_new_of_named_tuple(function: FunctionType) -> bool:
    """Whether a function is the `__new__` that `namedtuple` has generated."""
    return function.__name__ == "__new__" and function.__globals__.get("_tuple_new") is tuple.__new__


@hidden
def new_named_tuple(call: LeafCall) -> Any:
    """The rule function of the `__new__` of named tuples."""
    made = call.native()
    given = call.arguments[1:]
    names = call.function.__code__.co_varnames[1 + len(given) : call.function.__code__.co_argcount]
    return call.store.bind_items(made, [*given, *map(call.keywords.get, names)])


# ---- dataclasses


@rule_of_code("dataclasses", "asdict", "astuple")
@hidden
def convert_fields(call: LeafCall) -> Any:
    made = call.native()
    _follow(call.store, call.owner, made)
    return made


@hidden
def _follow(store: Store, source: Any, made: Any) -> None:
    """Copy the metadata of a value's parts to what `asdict` or `astuple` made of it, in parallel."""
    if dataclasses.is_dataclass(source) and not is_a(source, type):
        names = [field.name for field in dataclasses.fields(source)]
        values = [store.load_part(store.attributes, source, name, read_attribute(source, name)) for name in names]
        if is_a(made, dict) and list(made) == names:
            parts = items_in(made)
            store.bind_pairs(made, zip(names, map(_moved, values, parts), strict=True))
        elif is_a(made, tuple) and len(made) == len(names):
            parts = items_in(made)
            store.bind_items(made, list(map(_moved, values, parts)))
        else:
            return
    elif is_a(source, SEQUENCES) and type(source) is type(made) and len(source) == len(made):
        values, parts = store.wrapped_items(source), items_in(made)
        store.bind_items(made, list(map(_moved, values, parts)))
    elif is_a(source, dict) and is_a(made, dict) and len(source) == len(made):
        slots = store.slots_by_key(source)
        values, parts = items_in(source), items_in(made)
        wrapped = [Tagged(*slots[key]) if key in slots else value for key, value in dict.items(source)]
        store.bind_pairs(made, zip(dict.keys(made), map(_moved, wrapped, parts), strict=True))
    else:
        copy_metas(store, source, made)
        return
    for value, part in zip(values, parts, strict=True):
        _follow(store, plain(value), part)


@hidden
def _moved(value: Any, part: Any) -> Any:
    """A part of the result with the metadata of the value that it is, or is a copy of."""
    return Tagged(part, value._tagged_metas) if type(value) is Tagged and type(part) is type(plain(value)) else part
