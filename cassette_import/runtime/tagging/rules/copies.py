"""Rules for copies: `copy.copy`, `copy.deepcopy`, `list.copy` and the like."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.container_contents import SEQUENCES, has, items_in, size_of
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.lost_metadata import lose_number
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.rules.construction import read_attribute
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain, wrapped


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
