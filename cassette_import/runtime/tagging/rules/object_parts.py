"""Rules for parts of objects: attributes, subscripts, names of modules, displays, construction, copies.

Knows which functions store and load parts; must not know how a call got here.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections import deque
from types import FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import primitives
from cassette_import.runtime.tagging import computed_values
from cassette_import.runtime.tagging.fast_path import claiming, nobody_watches
from cassette_import.runtime.tagging.propagation import CONSTRUCTED, TYPE_RULES, Call, leaf, rule
from cassette_import.runtime.tagging.shadow_store import SEQUENCES, Store, has, items_in, size_of
from cassette_import.runtime.tagging.wrappers import LOCAL, Tagged, bound, metas_of, plain, wrapped

# ---- attributes


@claiming(getattr, idle=nobody_watches)
@rule(getattr, object.__getattribute__)
@hidden
def load_attribute(call: Call) -> Any:
    owner = call.arguments[0]
    if type(owner) is ModuleType and id(owner) not in call.store.attributes.entries and not call.keywords:
        value = call.callee(*map(plain, call.given))
    else:
        value = _load_attribute(call)
    for level, tag in enumerate(call.activation.tags):
        if tag is not None and tag.watched is not None and plain(call.arguments[1]) in tag.watched:
            value = computed_values.loaded(call.activation, level, value, *map(plain, call.arguments[:2]))
    return value


@hidden
def _load_attribute(call: Call) -> Any:
    store, owner = call.store, plain(call.arguments[0])
    if type(owner) is super and type(owner.__self__) is Tagged:  # type: ignore[attr-defined]
        owner = super(owner.__thisclass__, owner.__self__._tagged_value)  # type: ignore[attr-defined]
        call.given = (owner, *call.given[1:])
    LOCAL.returned = None
    value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a property
    if type(call.arguments[0]) is Tagged and type(owner) is not super:
        if type(value) in computed_values.BOUND:
            return bound(value, call.arguments[0]) if value.__self__ is owner else value
        if computed_values.flows(call.arguments[0]) and not (store.attributes.entries or is_a(owner, tuple)):
            return call.computed(value)
    if store.attributes.entries:
        name = plain(call.arguments[1])
        got = store.get(store.attributes, owner, name, value)
        if got is value:
            for kind in getattr(type(owner), "__mro__", ()) if not is_a(owner, type) else type.mro(owner)[1:]:
                if id(kind) in store.attributes.entries:
                    got = store.get(store.attributes, kind, name, value)
                    break
        value = got
    if store.items.entries and is_a(owner, tuple) and type(value) is not Tagged:
        fields = getattr(type(owner), "_fields", ())
        if call.arguments[1] in fields:
            return store.get(store.items, owner, fields.index(call.arguments[1]), value)
    return call.computed(value) if type(value) is not Tagged and computed_values.flows(call.arguments[0]) else value


@rule(setattr, object.__setattr__)
@hidden
def store_attribute(call: Call) -> Any:
    owner, name, value = plain(call.arguments[0]), plain(call.arguments[1]), call.arguments[2]
    if type(value) is Tagged and call.function is setattr:
        method, descriptor = lookup(type(owner), "__setattr__"), lookup(type(owner), name)
        if type(method) is FunctionType:
            return call.enter(method, owner, name, value)
        if is_a(descriptor, property) and type(descriptor.fset) is FunctionType:
            return call.enter(descriptor.fset, owner, value)
    call.native()
    call.store.put(call.store.attributes, owner, name, value)
    return None


@rule(delattr, object.__delattr__)
@hidden
def delete_attribute(call: Call) -> Any:
    call.native()
    call.store.put(call.store.attributes, plain(call.arguments[0]), plain(call.arguments[1]), None)


# ---- names of modules


@rule(primitives.load_global)
@hidden
def load_global(call: Call) -> Any:
    value = call.native()
    namespace, name = call.arguments
    return call.store.get(call.store.items, namespace, name, value) if call.store.items.entries else value


@rule(primitives.store_global)
@hidden
def store_global(call: Call) -> None:
    call.native()
    namespace, name, value = call.arguments
    call.store.put(call.store.items, namespace, name, value)


@rule(primitives.delete_global)
@hidden
def delete_global(call: Call) -> None:
    call.native()
    call.store.put(call.store.items, call.arguments[0], call.arguments[1], None)


# ---- subscripts


@hidden
def position(owner: Any, index: Any) -> int:
    """An index that counts from the start."""
    number = operator.index(index)
    return number + size_of(owner) if number < 0 else number


@claiming(operator.getitem)
@rule(operator.getitem, list.__getitem__, tuple.__getitem__, dict.__getitem__)
@hidden
def load_item(call: Call) -> Any:
    store, owner, key = call.store, plain(call.arguments[0]), plain(call.arguments[1])
    LOCAL.returned = None
    value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a `__getitem__` of the program
    if computed_values.flows(call.arguments[0]) and (store.items.of(owner) is None or _subscripts_by_itself(owner)):
        return call.computed(value)
    if not store.items.entries or _subscripts_by_itself(owner):
        return value
    if is_a(owner, SEQUENCES):
        if is_a(key, slice):
            parts = store.parts(owner)
            if parts is not None and is_a(value, (list, tuple)) and value is not owner:
                store.set_parts(value, parts[key])
            return value
        return store.get(store.items, owner, position(owner, key), value)
    return store.get(store.items, owner, key, value) if is_a(owner, dict) else value


@hidden
def _subscripts_by_itself(owner: Any) -> bool:
    return type(lookup(type(owner), "__getitem__")) is FunctionType


@rule(operator.setitem, list.__setitem__, dict.__setitem__)
@hidden
def store_item(call: Call) -> Any:
    owner, key, value = call.arguments
    owner, key, store = plain(owner), plain(key), call.store
    method = lookup(type(owner), "__setitem__")
    if type(method) is FunctionType and call.function is operator.setitem:
        return call.enter(method, owner, key, value)
    if is_a(key, slice) and is_a(owner, list):
        parts = store.parts(owner) or [None] * size_of(owner)
        items = gather(call, value)
        operator.setitem(owner, key, [plain(item) for item in items])
        parts[key] = [metas_of(item) for item in items]
        store.set_parts(owner, parts)
        return None
    if is_a(owner, SEQUENCES):
        call.native()
        store.put(store.items, owner, position(owner, key), value)
    else:
        call.native()
        if is_a(owner, dict):
            store.put(store.items, owner, key, value)
    return None


@rule(operator.delitem, list.__delitem__, dict.__delitem__)
@hidden
def delete_item(call: Call) -> Any:
    owner, key, store = plain(call.arguments[0]), plain(call.arguments[1]), call.store
    if type(lookup(type(owner), "__delitem__")) is FunctionType:
        return call.native()
    parts = store.parts(owner) if is_a(owner, (list, deque)) else None
    call.native()
    if parts is not None:
        del parts[key]
        store.set_parts(owner, parts)
    elif is_a(owner, dict):
        store.put(store.items, owner, key, None)
    return None


@hidden
def gather(call: Call, iterable: Any) -> list[Any]:
    """The items of an iterable, wrapped where they have metadata."""
    from cassette_import.runtime.tagging.rules.iterators import observed

    return list(observed(call, iterable))


# ---- displays


@rule(primitives.build_list)
@hidden
def build_list(call: Call) -> Any:
    return call.store.bind(list(map(plain, call.given)), call.given)


@rule(primitives.build_tuple)
@hidden
def build_tuple(call: Call) -> Any:
    return call.store.bind(tuple(map(plain, call.given)), call.given)


@rule(primitives.build_set)
@hidden
def build_set(call: Call) -> Any:
    made = set(map(plain, call.given))
    return keep_elements(call.store, made, call.given)


@hidden
def keep_elements(store: Store, made: Any, items: Any) -> Any:
    """Say which elements went into a set: of equal ones, the first."""
    slots: dict[Any, Any] = {}
    for item in items:
        if type(item) is Tagged and has(made, plain(item)):
            slots.setdefault(plain(item), (plain(item), item._tagged_metas))
    store.set_keyed(made, slots)
    return made


@rule(primitives.build_dict)
@hidden
def build_dict(call: Call) -> Any:
    pairs = list(zip(call.given[::2], call.given[1::2], strict=True))
    return keep_pairs(call.store, {plain(key): plain(value) for key, value in pairs}, pairs)


@hidden
def keep_pairs(store: Store, made: Any, pairs: Any) -> Any:
    """Say which values went into a dict."""
    slots = dict(store.keyed(made))
    for key, value in pairs:
        slots.pop(plain(key), None)
        if type(value) is Tagged:
            slots[plain(key)] = plain(value), value._tagged_metas
    store.set_keyed(made, slots)
    return made


# ---- construction


@hidden
def construct(call: Call) -> Any:
    """An instance of a class that is not overdubbed: a dataclass, a named tuple, a namespace."""
    names = _parameters(call.function)
    if names is None:
        return leaf(call)
    made = call.checked()
    if names and is_a(made, tuple):
        call.store.bind(made, [*call.given, *(call.keywords.get(name) for name in names[len(call.given) :])])
        return made
    given = dict(call.keywords)
    given.update(zip(names, call.given, strict=False))
    for name, value in given.items():
        if type(value) is Tagged and _read(made, name) is plain(value):
            call.store.put(call.store.attributes, made, name, value)
    return made


def _parameters(kind: Any) -> list[str] | None:
    if issubclass(kind, tuple):
        return list(getattr(kind, "_fields", ()))
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.init]
    return [] if issubclass(kind, SimpleNamespace) else None


@hidden
def _read(owner: Any, name: str) -> Any:
    """An attribute, unless code of the program would run for it."""
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    return getattr(owner, name) if is_a(lookup(type(owner), name), MemberDescriptorType) else None


CONSTRUCTED.append(construct)


@claiming(str, repr, format, ascii)
@rule(int, float, complex, str, bytes, bytearray, bool, repr, format, ascii)
@hidden
def convert(call: Call) -> Any:
    """A conversion that gives the same object keeps its metadata; so does int to float, whose metadata is converted."""
    from cassette_import.runtime.tagging.metadata_types import converted

    LOCAL.returned = None
    value = call.native()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found  # a special method of the program
    if len(call.given) != 1 or type(call.given[0]) is not Tagged:
        return call.computed(value)
    metas, before = call.given[0]._tagged_metas, plain(call.given[0])
    if value is before:
        return wrapped(value, metas)
    if is_a(before, (int, float)) and type(value) in (float, complex):
        return wrapped(value, converted(metas, type(value)))
    return call.computed(value)


# ---- copies


@rule(copy.copy, copy.deepcopy, list.copy, dict.copy, set.copy, frozenset.copy, deque.copy)
@hidden
def copy_of(call: Call) -> Any:
    source = call.arguments[0]
    made = call.native()
    _copy_parts(call.store, plain(source), made, call.function is copy.deepcopy, set())
    return wrapped(made, metas_of(source)) if call.function in (copy.copy, copy.deepcopy) else made


@hidden
def _copy_parts(store: Store, source: Any, made: Any, deep: bool, seen: set[int]) -> None:
    if source is made or type(source) is not type(made) or id(source) in seen:
        return
    seen.add(id(source))
    entry = store.attributes.of(source)
    own, other = getattr(source, "__dict__", None), getattr(made, "__dict__", None)
    if entry is not None:
        for name, (value, metas) in list(entry.slots.items()):
            if _read(source, name) is value:
                store.attributes.make(made).slots[name] = _read(made, name), metas
    if is_a(source, SEQUENCES):
        parts = store.parts(source)
        if parts is not None and size_of(made) == len(parts):
            store.set_parts(made, parts)
        pairs = list(zip(items_in(source), items_in(made), strict=False)) if deep else []
    elif is_a(source, dict):
        slots = store.keyed(source)
        if slots:
            found = {key: dict.get(made, key) for key in slots if has(made, key)}
            store.set_keyed(made, {key: (value, slots[key][1]) for key, value in found.items()})
        pairs = list(zip(items_in(source), items_in(made), strict=False)) if deep else []
    else:
        pairs = []
        if is_a(source, (set, frozenset)):
            store.set_keyed(made, dict(store.keyed(source)))
    if deep and type(own) is dict and type(other) is dict:
        pairs += [(value, other[name]) for name, value in own.items() if name in other]
    for before, after in pairs:
        _copy_parts(store, before, after, deep, seen)


@rule(dataclasses.replace, getattr(copy, "replace", dataclasses.replace))
@hidden
def replace(call: Call) -> Any:
    made = call.native()
    source = plain(call.arguments[0])
    for name in _parameters(type(made)) or ():
        value = call.keywords.get(name)
        if name not in call.keywords:
            value = call.store.get(call.store.attributes, source, name, _read(source, name))
        if type(value) is Tagged and _read(made, name) is plain(value):
            call.store.put(call.store.attributes, made, name, value)
    return made


# ---- movers that are objects


@hidden
def _items_by_key(call: Call) -> Any:
    _, keys = call.callee.__reduce__()
    found = [call.event(operator.getitem, call.given[0], key) for key in keys]
    return found[0] if len(found) == 1 else call.store.bind(tuple(map(plain, found)), found)


@hidden
def _attributes_by_name(call: Call) -> Any:
    _, names = call.callee.__reduce__()
    found = []
    for name in names:
        value = call.given[0]
        for part in name.split("."):
            value = call.event(getattr, value, part)
        found.append(value)
    return found[0] if len(found) == 1 else call.store.bind(tuple(map(plain, found)), found)


TYPE_RULES[id(operator.itemgetter)] = _items_by_key
TYPE_RULES[id(operator.attrgetter)] = _attributes_by_name
