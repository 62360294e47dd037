"""Rules for copies: `copy.copy`, `list.copy` and the like; named tuples and dataclasses as wholes; `pickle`."""

from __future__ import annotations

import _pickle
import copy
import dataclasses
import io
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.computed_metadata import add_to_contents
from cassette_import.runtime.tagging.container_contents import SEQUENCES, has, items_in, size_of
from cassette_import.runtime.tagging.held_metadata import wrapped_values_in
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.construction import read_attribute
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped

# ---- rules for `pickle`: what it writes is computed of all values that an object leads to


@rule(_pickle.dumps)
@hidden
def dump_to_bytes(call: LeafCall) -> Any:
    _add_held_values(call)
    return without_rule(call)


@rule(_pickle.dump)
@hidden
def dump_to_file(call: LeafCall) -> Any:
    file = plain(call.arguments[1]) if len(call.arguments) > 1 else plain(call.keywords.get("file"))
    if not is_a(file, _BUFFERS):
        _add_held_values(call)
        return without_rule(call)
    call.native()
    _add_held_values(call)
    add_to_contents(call, file)
    return None


_BUFFERS: Final = (io.BytesIO, io.BufferedIOBase)


@hidden
def _add_held_values(call: LeafCall) -> None:
    """Let the values that the object leads to count as arguments."""
    call.arguments = (*call.arguments, *wrapped_values_in(call.arguments[:1], call.store))


# ---- rules for copies: `copy.copy`, `copy.deepcopy`, `list.copy` and the like


@rule(
    copy.copy, copy.deepcopy, list.copy, dict.copy, set.copy, frozenset.copy, deque.copy, OrderedDict.copy,
    defaultdict.copy, defaultdict.__copy__, deque.__copy__,
)  # fmt: skip
@hidden
def copy_with_metadata(call: LeafCall) -> Any:
    source = call.arguments[0]
    made = call.native()
    _copy_metas(call.store, plain(source), made, call.function is copy.deepcopy, set())
    if call.function not in (copy.copy, copy.deepcopy):
        return made
    return wrapped(made, metas_of(source)) if type(source) is Tagged else call.store.recognised.wrapped(made)


@hidden
def copy_metas(store: Store, source: Any, made: Any) -> None:
    """Copy the metadata of an object's parts, and of their parts, to a deep copy of it."""
    _copy_metas(store, source, made, True, set())


@hidden
def _copy_metas(store: Store, source: Any, made: Any, deep: bool, seen: set[int]) -> None:
    """Copy the metadata of an object's parts to the parts of its copy; for a deep copy, also that of their parts."""
    if source is made or type(source) is not type(made) or id(source) in seen:
        return
    seen.add(id(source))
    _copy_attribute_metas(store, source, made)
    if is_a(source, SEQUENCES):
        metas = store.item_metas(source)
        if metas is not None and size_of(made) == len(metas):
            pairs = zip(metas, items_in(source), items_in(made), strict=True)
            store.set_item_metas(made, [_metas_of_copy(*pair) for pair in pairs])
    elif is_a(source, dict):
        slots = store.slots_by_key(source)
        if slots:
            found = {key: dict.get(made, key) for key in list(slots) if has(made, key)}
            copied = {key: _metas_of_copy(slots[key][1], slots[key][0], value) for key, value in found.items()}
            store.set_slots(made, {key: (found[key], metas) for key, metas in copied.items() if metas is not None})
    elif is_a(source, (set, frozenset)):
        store.set_slots(made, dict(store.slots_by_key(source)))
    if deep:
        for before, after in _pairs_of_parts(source, made):
            _copy_metas(store, before, after, deep, seen)


@hidden
def _metas_of_copy(metas: Metas | None, part: Any, copied: Any) -> Metas | None:
    """The metadata of the copy of a part; None if the program has put something else in its place.

    A class may copy its objects in its own way (`__copy__`, `__deepcopy__`, `__reduce__`, `__setstate__`). A number
    that it computes for the copy loses its metadata, because the module `copy` calls the methods, which is no event.
    """
    if metas is None or part is copied:
        return metas
    kind = type(part)
    if kind is type(copied) and (kind not in _COMPARED or part == copied or (part != part and copied != copied)):
        return metas
    lose_number(metas, "a class that copies its objects in its own way")
    return None


_COMPARED: Final = frozenset({int, float, complex, bool, str, bytes, Fraction, Decimal})
"""The types of which a copy is the same object, or an equal one."""


@hidden
def _copy_attribute_metas(store: Store, source: Any, made: Any) -> None:
    entry = store.attributes.of(source)
    if entry is not None:
        for name, (value, metas) in list(entry.slots.items()):
            if read_attribute(source, name) is value:
                copied = read_attribute(made, name)
                found = _metas_of_copy(metas, value, copied)
                if found is not None:
                    store.attributes.make(made).slots[name] = copied, found


@hidden
def _pairs_of_parts(source: Any, made: Any) -> list[tuple[Any, Any]]:
    """The parts of an object, each with its counterpart in a deep copy."""
    pairs = []
    if is_a(source, (*SEQUENCES, dict)):
        pairs = list(zip(items_in(source), items_in(made), strict=False))
    own, other = getattr(source, "__dict__", None), getattr(made, "__dict__", None)
    if type(own) is dict and type(other) is dict:
        pairs += [(value, other[name]) for name, value in own.items() if name in other]
    return pairs


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
