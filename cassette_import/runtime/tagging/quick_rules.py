"""Quick rules: what the rules of frequent primitives do for the usual operands, with fewer steps.

A quick rule is made of the function that runs any event of a primitive, and passes all unusual operands to it. Usual
ones run no code of the program: items of lists, tuples and dicts by numbers and texts, attributes that an object of a
Python class has itself, global names, comparisons of numbers and texts. Only primitives that no context overloads have
quick rules.
"""

from __future__ import annotations

import builtins
import operator
from collections import deque
from collections.abc import Callable
from types import (
    BuiltinMethodType,
    FunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE
from cassette_import.rewriting import primitives
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.bound_names import DEFAULTS
from cassette_import.runtime.tagging.computed_metadata import CONTENTS
from cassette_import.runtime.tagging.fast_path import SIMPLE
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, namespace_in_use
from cassette_import.runtime.tagging.live_metadata import refresh_sometimes, token_of_module
from cassette_import.runtime.tagging.shadow_store import drop_latest_unused
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged

__all__ = ["QUICK_RULES"]

Event = Callable[..., Any]
QuickRule = Callable[[Event], Event]

QUICK_RULES: Final[dict[int, QuickRule]] = {}
"""What makes the quick rule of a primitive, by identity."""

_MISSING: Final[Any] = object()
_get: Final = ACTIVE.get
_new: Final = object.__new__
_TOKEN: Final = token_of_module()


def _quick(*functions: Any) -> Callable[[QuickRule], QuickRule]:
    def register(make: QuickRule) -> QuickRule:
        QUICK_RULES.update((id(function), make) for function in functions)
        return make

    return register


@hidden
def _may_be_recognised(slots: dict[int, Any], value: Any) -> bool:
    """Whether a value that was read is one that is recognised, or a method of one."""
    if id(value) in slots:
        return True
    kind = type(value)
    return (kind is BuiltinMethodType or kind is MethodWrapperType) and id(value.__self__) in slots


@hidden
def _wrapped(slot: tuple[Any, Any]) -> Tagged:
    """The wrapper of a part, made without `__init__`: there is metadata, since the store has an entry."""
    made = _new(Tagged)
    made._tagged_token = _TOKEN
    made._tagged_value, made._tagged_metas = slot
    return made


# ---- global names

_BUILTINS: Final = vars(builtins)


@_quick(primitives.load_global)
def _load_global(general: Event) -> Event:
    @hidden
    def load_global(namespace: Any, name: str) -> Any:
        value = _MISSING
        if type(namespace) is dict:
            value = namespace.get(name, _MISSING)
            if value is _MISSING:
                found = namespace.get("__builtins__")
                if found is _BUILTINS or found is builtins:
                    value = _BUILTINS.get(name, _MISSING)
        tags = _get().tags
        tag = tags[-1] if tags else None
        if value is _MISSING or tag is None:
            return general(namespace, name)
        store = tag.store
        slots = store.recognised.slots
        if id(namespace) in store.items.entries or (slots and _may_be_recognised(slots, value)):
            return general(namespace, name)
        if LOCAL.held:
            drop_latest_unused()
        return value

    return load_global


# ---- attributes

_GETATTRIBUTE: Final[Any] = object.__getattribute__
_SETATTR: Final[Any] = object.__setattr__
_FOUND_IN_CLASS: Final = frozenset(map(id, (FunctionType, int, float, str, bool, type(None), MemberDescriptorType)))
"""Types of what a class has under the name of an attribute, with which a load runs no code of the program."""


_BUILTIN: Final = frozenset(map(id, (list, tuple, dict, set, frozenset, deque, str, bytes)))
"""Types whose methods a load binds to the object itself."""


@hidden
def _stores_plainly(kind: Any, name: str) -> bool:
    """Whether an attribute is stored in the object itself, for an instance of a Python class."""
    if type(kind) is not type or kind.__setattr__ is not _SETATTR or kind is Tagged:
        return False
    for base in kind.__mro__:
        if base is object:
            break
        if name in base.__dict__:
            return False
    return True


@hidden
def _is_plain_entry(entry: Any, owner: Any, kind: Any) -> bool:
    """Whether the entry of an object has metadata of attributes alone, which no `__dict__` shares."""
    is_own = entry.pinned or entry.anchor() is owner
    return is_own and entry.extra is None and CONTENTS not in entry.slots and not issubclass(kind, SEQUENCES)


@hidden
def _is_watched(tags: Any, name: str) -> bool:
    """Whether a context watches an attribute. Each one is asked at each load, since it may learn of modules by that."""
    asked = [name in tag.watched for tag in tags if tag is not None and tag.watched is not None]
    return True in asked


@_quick(getattr)
def _load_attribute(general: Event) -> Event:
    # All is in one function, because each further function costs a frame per load.
    @hidden
    def load_attribute(owner: Any, name: Any) -> Any:
        kind, tags = type(owner), _get().tags
        tag = tags[-1] if tags else None
        if tag is None or type(name) is not str or name[:2] == "__" or DEFAULTS:
            return general(owner, name)
        if (tag.watched is not None or len(tags) > 1) and _is_watched(tags, name):
            return general(owner, name)
        store = tag.store
        entries, slots = store.attributes.entries, store.recognised.slots
        if kind is ModuleType:
            if id(owner) in entries or name not in owner.__dict__:
                return general(owner, name)
            value = getattr(owner, name)
        elif type(kind) is type and kind.__getattribute__ is _GETATTRIBUTE and not kind.__flags__ & IMMUTABLE:
            for base in kind.__mro__:
                if base is object:  # it has special names alone
                    if getattr(kind, "__getattr__", _MISSING) is not _MISSING:
                        return general(owner, name)
                    break
                found = base.__dict__.get(name, _MISSING)
                if found is not _MISSING:
                    if id(type(found)) not in _FOUND_IN_CLASS:
                        return general(owner, name)
                    break
            if entries:
                for base in kind.__mro__:
                    if id(base) in entries:
                        return general(owner, name)
                entry = entries.get(id(owner))
                if entry is not None:
                    if not _is_plain_entry(entry, owner, kind):
                        return general(owner, name)
                    slot = entry.slots.get(name)
                    if slot is not None:
                        value = getattr(owner, name)
                        if slot[0] is not value:
                            return general(owner, name)
                        if LOCAL.held:
                            drop_latest_unused()
                        return _wrapped(slot)
            if store.items.entries and issubclass(kind, tuple):
                return general(owner, name)
            value = getattr(owner, name)
        elif id(kind) in _BUILTIN:
            if type(kind.__dict__.get(name)) is not MethodDescriptorType or id(kind) in store.recognised.types:
                return general(owner, name)
            return getattr(owner, name)
        else:
            return general(owner, name)
        if slots and _may_be_recognised(slots, value):
            return general(owner, name)
        if LOCAL.held:
            drop_latest_unused()
        return value

    return load_attribute


@_quick(setattr)
def _store_attribute(general: Event) -> Event:
    @hidden
    def store_attribute(owner: Any, name: Any, value: Any) -> Any:
        kind, tags = type(owner), _get().tags
        tag = tags[-1] if tags else None
        if tag is None or type(name) is not str or name[:2] == "__" or not _stores_plainly(kind, name):
            return general(owner, name, value)
        store = tag.store
        if type(value) is Tagged:
            bare, metas = value._tagged_value, value._tagged_metas
            if store.recognised.types:
                store.recognised.note(bare, metas)
            setattr(owner, name, bare)
            entry = store.attributes.entries.get(id(owner))
            if entry is None and not issubclass(kind, SEQUENCES) and namespace_in_use(owner) is None:
                store.attributes.make(owner).slots[name] = bare, metas
            elif entry is None or not _is_plain_entry(entry, owner, kind):
                store.store_part(store.attributes, owner, name, value)
            else:
                entry.slots[name] = bare, metas
        else:
            entry = store.attributes.entries.get(id(owner))
            if entry is not None and not _is_plain_entry(entry, owner, kind):
                return general(owner, name, value)
            setattr(owner, name, value)
            if entry is not None:
                entry.slots.pop(name, None)
        if LOCAL.held:
            drop_latest_unused()
        return None

    return store_attribute


# ---- items


@_quick(operator.getitem)
def quick_item(general: Event) -> Event:
    """The quick rule for subscripts."""

    @hidden
    def load_item(owner: Any, key: Any) -> Any:
        kind, tags = type(owner), _get().tags
        tag = tags[-1] if tags else None
        of_key: Any = type(key)
        if tag is not None and (
            (of_key is int and (kind is list or kind is tuple or kind is dict)) or (of_key is str and kind is dict)
        ):
            store = tag.store
            value = owner[key]
            entry = store.items.entries.get(id(owner))
            if entry is not None:
                if not (entry.pinned or entry.anchor() is owner) or (kind is not dict and len(owner) != entry.size):
                    return general(owner, key)
                slot = entry.slots.get(key + len(owner) if kind is not dict and key < 0 else key)
                if slot is not None:
                    return _wrapped(slot) if slot[0] is value else general(owner, key)
            slots = store.recognised.slots
            if not slots or not _may_be_recognised(slots, value):
                if LOCAL.held:
                    drop_latest_unused()
                return value
        return general(owner, key)

    return load_item


# ---- displays


def _quick_display(kind: Any) -> QuickRule:
    def make(general: Event) -> Event:
        @hidden
        def build(*items: Any) -> Any:
            if Tagged not in map(type, items):
                return kind(items)
            tags = _get().tags
            tag = tags[-1] if tags else None
            if tag is None:
                return general(*items)
            if LOCAL.held:
                drop_latest_unused()
            store = tag.store
            recognised = store.recognised if store.recognised.types else None
            made, slots = [], {}
            for number, item in enumerate(items):
                if type(item) is Tagged:
                    value, metas = item._tagged_value, item._tagged_metas
                    if recognised is not None:
                        recognised.note(value, metas)
                    slots[number] = value, metas
                    made.append(value)
                else:
                    made.append(item)
            result = made if kind is list else tuple(made)
            entry = store.items.make(result)
            entry.slots, entry.size = slots, len(made)
            return result

        return build

    return make


QUICK_RULES[id(primitives.build_list)] = _quick_display(list)
QUICK_RULES[id(primitives.build_tuple)] = _quick_display(tuple)


# ---- comparisons


def _quick_comparison(function: Any) -> QuickRule:
    def make(general: Event) -> Event:
        key = id(function)

        @hidden
        def compare(left: Any, right: Any) -> Any:
            is_tagged = False
            if type(left) is Tagged:
                left, is_tagged, first = left._tagged_value, True, left
            else:
                first = left
            second = right
            if type(right) is Tagged:
                right, is_tagged = right._tagged_value, True
            if id(type(left)) in SIMPLE and id(type(right)) in SIMPLE:
                if not is_tagged:
                    refresh_sometimes()
                    return function(left, right)
                tags = _get().tags
                if len(tags) == 1 and tags[0] is not None and key in tags[0].exempt:
                    return function(left, right)
            return general(first, second)

        return compare

    return make


_COMPARISONS: Final[tuple[Any, ...]] = (
    operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge,
)  # fmt: skip
for _function in _COMPARISONS:
    QUICK_RULES[id(_function)] = _quick_comparison(_function)


# ---- operators of values without metadata


def _quick_operator(function: Any) -> QuickRule:
    def make(general: Event) -> Event:
        @hidden
        def operate(*operands: Any) -> Any:
            for operand in operands:
                if id(type(operand)) not in SIMPLE:
                    return general(*operands)
            refresh_sometimes()
            return function(*operands)

        return operate

    return make


_NAMES: Final = "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"
_OPERATORS: Final = [getattr(operator, name) for one in _NAMES for name in (one, f"i{one.strip('_')}")]
for _function in (*_OPERATORS, operator.neg, operator.pos, operator.invert):
    QUICK_RULES[id(_function)] = _quick_operator(_function)
