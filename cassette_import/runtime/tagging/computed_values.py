"""What becomes of metadata when a leaf computes a new value: the context type's method `computed` says.

A context type that defines it is asked for each value that code out of sight makes of tagged ones:

    def computed(self, value, f, *arguments, **keywords): ...

The arguments are wrapped where they have metadata. What it returns is the metadata of the value, `NO_METADATA` if it
has none; what it raises is raised in the program. Knows wrappers and the shadow store; must not know rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.state import ACTIVE, Activation, hook_activation
from cassette_import.runtime.tagging.shadow_store import SEQUENCES, Store
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import NO_METADATA, Metas, Tag, Tagged, metas_of, plain

_CONTAINERS: Final = (*SEQUENCES, dict, set, frozenset)
_PLAIN_TYPES: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, BuiltinMethodType, MethodType)
_DEPTH: Final = 6
_MOST: Final = 10_000
"""How many parts of an argument are looked at where none of the outermost has metadata."""

BOUND: Final = (MethodType, BuiltinMethodType, MethodWrapperType)


CONTENTS: Final = "the contents"
"""No attribute: the metadata of what was written into a buffer stands under it."""


def flows(value: Any) -> bool:
    """Whether a value is wrapped, and what is computed from it may get metadata."""
    return type(value) is Tagged and any(tag.computed is not None for tag in value._tagged_metas)


def sources(values: Any, own: Tag) -> Iterator[Any]:
    """The metadata that an activation gave to values and, where they are containers, to their parts."""
    for value in values:
        if type(value) is Tagged:
            found = value._tagged_metas.get(own, NO_METADATA)
            if found is not NO_METADATA:
                yield found
                continue
            value = value._tagged_value
        if own.store is not None and own.store.attributes.entries:
            entry = own.store.attributes.of(value)
            metas = entry.slots.get(CONTENTS) if entry is not None else None
            if metas is not None and own in metas[1]:
                yield metas[1][own]
        if is_a(value, _CONTAINERS) and own.store is not None and own.store.items.entries:
            yield from _parts(own.store, value, own)


def _parts(store: Store, container: Any, own: Tag) -> Iterator[Any]:
    work, seen = [(container, 0)], {id(container)}
    while work and len(seen) < _MOST:
        item, depth = work.pop()
        if store.items.of(item) is not None:
            store.verify(item)
        entry = store.items.of(item)
        for _, metas in list(entry.slots.values()) if entry is not None else ():
            if own in metas:
                yield metas[own]
        if depth < _DEPTH:
            for part in item.values() if is_a(item, dict) else item:
                if is_a(part, _CONTAINERS) and id(part) not in seen:
                    seen.add(id(part))
                    work.append((part, depth + 1))


@hidden
def computed(
    activation: Activation, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any
) -> Any:
    """A value that was computed of arguments, with the metadata that the contexts say it has."""
    if value is None or type(value) is Tagged or is_a(value, _PLAIN_TYPES):
        return value
    metas: dict[Tag, Any] = {}
    for level, tag in enumerate(activation.tags):
        if tag is None or tag.computed is None:
            continue
        given = (*arguments, *keywords.values()) if keywords else arguments
        if next(sources(given, tag), None) is None:
            continue
        found = _asked(activation, level, tag, function, arguments, keywords, value)
        if found is not NO_METADATA:
            metas[tag] = found
    return Tagged(value, metas) if metas else value


def asked(activation: Activation) -> bool:
    """Whether a context wants to say what becomes of metadata."""
    return any(tag is not None and tag.computed is not None for tag in activation.tags)


@hidden
def _asked(
    activation: Activation, level: int, tag: Tag, function: Any, arguments: Any, keywords: Any, value: Any
) -> Any:
    """What a context says of a value."""
    token = ACTIVE.set(hook_activation(activation, level))
    try:
        context = activation.contexts[level]
        if not is_a(value, _CONTAINERS):
            return tag.computed(context, value, function, *arguments, **keywords)

        @hidden
        def say(part: Any) -> Any:
            return tag.computed(context, part, function, *arguments, **keywords)

        return spread(tag, value, say)
    finally:
        ACTIVE.reset(token)


@hidden
def loaded(activation: Activation, level: int, value: Any, owner: Any, name: str) -> Any:
    """What a context makes of an attribute that it watches: its `watched` holds the name, and its `loaded` says."""
    token = ACTIVE.set(hook_activation(activation, level))
    try:
        return activation.contexts[level].loaded(value, owner, name)
    finally:
        ACTIVE.reset(token)


@hidden
def introduced(context: Any, value: Any, say: Callable[[Any], Any]) -> Any:
    """A value that a context tags with all its parts: `say` gives the metadata of the value and of each part."""
    bare = plain(value)
    if bare is None or is_a(bare, _PLAIN_TYPES):
        return value
    tag: Any = tag_of(context, create=True)
    found = spread(tag, bare, say)
    if found is NO_METADATA:
        return value
    return Tagged(bare, {**(metas_of(value) or {}), tag: found})


@hidden
def spread(tag: Tag, value: Any, say: Callable[[Any], Any]) -> Any:
    """The metadata of a value, and that of its parts put into the store; of parts, once for each type of them."""
    if is_a(value, _CONTAINERS):
        known: dict[int, Any] = {}
        work, seen = [value], {id(value)}
        while work and len(seen) < _MOST:
            container = work.pop()
            slots: dict[Any, tuple[Any, Metas]] = {}
            for key, part in _pairs(container):
                kind = id(type(part))
                if is_a(part, _CONTAINERS):
                    if id(part) not in seen:
                        seen.add(id(part))
                        work.append(part)
                    continue
                if kind not in known:
                    known[kind] = NO_METADATA if part is None or is_a(part, _PLAIN_TYPES) else say(part)
                if known[kind] is not NO_METADATA:
                    slots[key] = part, {tag: known[kind]}
            if slots:
                _keep(tag.store, container, slots)
    return say(value)


def _pairs(container: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of a container and what they are kept by."""
    if is_a(container, dict):
        return container.items()  # type: ignore[no-any-return]
    return enumerate(container) if is_a(container, SEQUENCES) else zip(container, container, strict=True)


def _keep(store: Store, container: Any, slots: dict[Any, tuple[Any, Metas]]) -> None:
    entry = store.items.make(container)
    for key, (part, metas) in slots.items():
        old = entry.slots.get(key)
        entry.slots[key] = part, {**old[1], **metas} if old is not None and old[0] is part else metas
    entry.size = len(container)


@hidden
def computed_here(function: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    """The same for what rewritten code asks for: what is active is the innermost activation."""
    activation = ACTIVE.get()
    return computed(activation, function, arguments, {}, value) if activation.tags else value


def items_of(source: Tagged) -> Any:
    """A cursor that gives the metadata of each item of an iterable that is tagged as a whole."""

    def metas(item: Any) -> Metas | None:
        found = computed_here(next, (source,), item)
        return found._tagged_metas if type(found) is Tagged else None

    return metas


__all__ = ["BOUND", "computed", "computed_here", "flows", "items_of", "plain", "sources"]
