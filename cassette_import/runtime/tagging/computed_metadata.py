"""Metadata of values that a leaf computes: the context type's method `computed` returns it.

A context type that defines the method is called for each value that a leaf computes of tagged ones:

    def computed(self, value, f, *arguments, **keywords): ...

The arguments are wrapped where they have metadata. The method returns the metadata of the value, or `NO_METADATA`. An
exception that it raises is raised in the program.
"""

from __future__ import annotations

import array
import io
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import (
    BuiltinFunctionType,
    BuiltinMethodType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.state import ACTIVE, Activation, call_as_hook, hook_activation
from cassette_import.runtime.tagging.classification import MOVES, UNCLASSIFIED, classification, is_output
from cassette_import.runtime.tagging.fast_path import RETURN_METHOD_RESULT
from cassette_import.runtime.tagging.held_metadata import (
    CONTAINERS,
    SEQUENCES,
    buffer_of,
    holds_metadata,
    items_in,
    size_of,
    wrapped_values_in,
)
from cassette_import.runtime.tagging.lost_metadata import cannot_lose, lose
from cassette_import.runtime.tagging.recognised_values import WATCHED_TYPES
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.tags import NO_METADATA, Metas, Tag, text_tag
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

_PLAIN_TYPES: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, BuiltinMethodType, MethodType)
_DEPTH: Final = 6
_MOST: Final = 10_000
"""How many containers in an argument are searched for parts with metadata, and how deep they may be nested."""

BOUND_METHODS: Final = (MethodType, BuiltinMethodType, MethodWrapperType)

CONTENTS: Final = "the contents"
"""The key for the metadata of what was written into a buffer. Other keys are names of attributes."""


_BUFFERS: Final = (io.StringIO, io.BytesIO, bytearray, array.array)


def has_contents(store: Store, owner: Any) -> bool:
    """Whether values with metadata were written into a buffer."""
    entry = store.attributes.of(buffer_of(owner)) if store.attributes.entries else None
    return entry is not None and CONTENTS in entry.slots


@hidden
def add_to_contents(call: Any, owner: Any) -> None:
    """Add the metadata that is computed of a leaf's arguments to that of the contents of a buffer."""
    found = metas_of(call.with_computed_metadata(owner))
    if found is not None:
        owner = buffer_of(owner)
        slots = call.store.attributes.make(owner).slots
        slots[CONTENTS] = owner, {**slots.get(CONTENTS, (owner, {}))[1], **found}


@hidden
def add_to_buffers(call: Any) -> None:
    """The same for all buffers among the arguments of a leaf that returns nothing, and may have written into them."""
    for argument in (*call.arguments, *call.keywords.values()):
        if is_a(plain(argument), _BUFFERS):
            add_to_contents(call, plain(argument))


def is_computed_from(value: Any) -> bool:
    """Whether values computed from a value may get metadata: a context that tagged it has a method `computed`."""
    return type(value) is Tagged and any(tag.computed is not None for tag in value._tagged_metas)


def metadata_in(values: Any, own: Tag) -> Iterator[Any]:
    """The metadata that an activation gave to values and, where they are containers, to their parts."""
    for value in values:
        if type(value) is Tagged:
            found = value._tagged_metas.get(own, NO_METADATA)
            if found is NO_METADATA and own not in value._tagged_metas:
                found = _metadata_of_other_thread(value._tagged_metas, own)
            if found is not NO_METADATA:
                yield found
                continue
            value = value._tagged_value
        if own.store is not None and own.store.attributes.entries:
            entry = own.store.attributes.of(buffer_of(value))
            metas = entry.slots.get(CONTENTS) if entry is not None else None
            if metas is not None and own in metas[1]:
                yield metas[1][own]
        if is_a(value, BaseException):
            value = value.args
            if own.store is not None:
                own.store.recognise_parts(value)
        if own.store is None or not own.store:
            continue
        if is_a(value, CONTAINERS):
            yield from _metadata_of_parts(own.store, value, own)
        elif id(type(value)) in _SHOWN_WITH_PARTS:
            held = wrapped_values_in((value,), own.store)
            yield from [part._tagged_metas[own] for part in held if own in part._tagged_metas]


_SHOWN_WITH_PARTS: Final = frozenset(
    map(id, (SimpleNamespace, partial, MappingProxyType, type({}.values()), type({}.items())))
)
"""Types of objects in C, by identity, that are no containers, and whose text has that of what they hold."""


def _metadata_of_other_thread(metas: Metas, own: Tag) -> Any:
    """The metadata that an activation of the same context gives in another thread, which has made a closure."""
    context = own.context
    for tag, found in metas.items():
        if tag.depth and context is not None and tag.context is context and context.inherit:
            return found
    return NO_METADATA


def _metadata_of_parts(store: Store, container: Any, own: Tag) -> Iterator[Any]:
    """The metadata that an activation gave to the parts of a container, and of the containers in it."""
    work, seen = [(container, 0)], {id(container)}
    while work and len(seen) < _MOST:
        item, depth = work.pop()
        if store.items.of(item) is not None:
            store.drop_stale(item)
        entry = store.items.of(item)
        for _, metas in list(entry.slots.values()) if entry is not None else ():
            if own in metas:
                yield metas[own]
        if is_a(item, dict) and store.recognised.has_part(dict.keys(item)):
            for key in dict.keys(item):
                metas = metas_of(store.recognised.wrapped(key)) or {}
                if own in metas:
                    yield metas[own]
        if depth < _DEPTH:
            for part in items_in(item):
                if id(type(part)) in _SHOWN_WITH_PARTS:
                    held = wrapped_values_in((part,), store)
                    yield from [one._tagged_metas[own] for one in held if own in one._tagged_metas]
                elif is_a(part, CONTAINERS) and id(part) not in seen:
                    seen.add(id(part))
                    work.append((part, depth + 1))


@hidden
def with_computed_metadata(
    activation: Activation, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any
) -> Any:
    """A value that a leaf computed of arguments, with the metadata that the contexts' methods `computed` return.

    A context without the method loses the metadata, and says by its attribute `lost` what that means. A context for
    which a loss is an error gets all values, those included that carry no metadata, such as None.
    """
    if type(value) is Tagged:
        return value
    is_plain = value is None or is_a(value, _PLAIN_TYPES)
    if is_plain and id(function) in HIGHER_ORDER.keepers:
        return value  # the functions that it keeps get their arguments as they are
    metas: dict[Tag, Any] = {}
    for level, tag in enumerate(activation.tags):
        if tag is None or id(function) in tag.exempt:
            continue
        is_error = tag.lost == "error"
        given = (*arguments, *keywords.values()) if keywords else arguments
        if tag.computed is None or (is_plain and not is_error):
            if (
                tag.lost != "ignore"
                and not cannot_lose(function)
                and (
                    _is_given_metadata(function, given, tag, is_error)
                    or _is_read_from_object(function, given, tag, value)
                )
            ):
                lose(activation.contexts[level], function)
            if tag.computed is None and tag.lost != "ignore":
                _follow_text(activation.contexts[level], tag, function, given, value, metas)
            continue
        if is_plain and cannot_lose(function):
            continue
        read: tuple[Tagged, ...] = ()
        if next(metadata_in(given, tag), None) is None and not (
            is_error and not (is_plain or calls_special_method(function)) and holds_metadata(given, tag)
        ):
            read = _read_by_callbacks(function, given, tag, value)
            if not read and tag.lost == "report" and _is_read_from_object(function, given, tag, value):
                lose(activation.contexts[level], function)
            if not read:
                continue
        found = call_computed(activation, level, tag, function, (*arguments, *read), keywords, value)
        if found is not NO_METADATA:
            metas[tag] = found
    return Tagged(value, metas) if metas else value


@hidden
def notify_of_error(
    activation: Activation, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], error: Exception
) -> None:
    """Call the method `raised` of the contexts that have one and that have metadata of the arguments.

    The method is called with the exception, the leaf and the arguments, and may raise another exception.
    """
    given = (*arguments, *keywords.values())
    for level, tag in enumerate(activation.tags):
        if tag is None:
            continue
        context = activation.contexts[level]
        raised = getattr(context, "raised", None)
        if raised is not None and next(metadata_in(given, tag), None) is not None:
            call_as_hook(activation, level, raised, error, function, *arguments)


@hidden
def _is_given_metadata(function: Any, values: Any, tag: Tag, thoroughly: bool) -> bool:
    """Whether values, or the items of containers among them, have metadata; `thoroughly` searches nested ones too."""
    if thoroughly:
        return next(metadata_in(values, tag), None) is not None or (
            not calls_special_method(function) and holds_metadata(values, tag)
        )
    if tag.computed is not None:
        return next(metadata_in(values, tag), None) is not None
    items = tag.store.items if tag.store.items.entries else None
    for value in values:
        if type(value) is Tagged:
            if value._tagged_metas.get(tag, NO_METADATA) is not NO_METADATA:
                return True
        elif items is not None and id(value) in items.entries:
            entry = items.of(value)
            if entry is not None and any(tag in metas for _, metas in list(entry.slots.values())):
                return True
    return False


_TEXTS: Final = frozenset(map(id, (str, bytes, bytearray, io.StringIO, io.BytesIO, re.Match)))
_READERS: Final = "_csv"
"""The module of types of iterators that give lists of texts. It is not imported for them."""

_NUMBERS: Final = frozenset(map(id, (float, complex, Fraction, Decimal)))


@hidden
def _follow_text(context: Any, tag: Tag, function: Any, given: Any, value: Any, metas: Metas) -> None:
    """Mark a text that a leaf has made of values with metadata: it may be printed, but a number read from it is a loss.

    This is for contexts without a method `computed`. Others give metadata to texts.
    """
    is_of_text = tag.text is not None and next(metadata_in(given, tag.text), None) is not None
    kind = id(type(value))
    if kind in _TEXTS or type(value).__module__ == _READERS:
        if is_of_text or (cannot_lose(function) and next(metadata_in(given, tag), None) is not None):
            metas[text_tag(tag)] = True
    elif is_of_text and tag.text is not None:
        if getattr(function, "__objclass__", None) in (str, bytes):
            if is_a(value, CONTAINERS):
                tag_parts(tag.text, value, lambda part: True)
        elif (kind in _NUMBERS or is_a(value, CONTAINERS) or function is int) and not cannot_lose(function):
            lose(context, function)


COMPUTED_TYPES: Final = frozenset(map(id, (*WATCHED_TYPES, *CONTAINERS, *_BUFFERS)))
"""Types of values, by identity, that a leaf may compute of objects whose attributes or special methods it uses."""


@hidden
def _is_read_from_object(function: Any, values: Any, tag: Tag, result: Any) -> bool:
    """Whether an unknown leaf has made a value, and was given an object whose attributes have metadata."""
    attributes = tag.store.attributes
    if not attributes.entries or id(type(result)) not in COMPUTED_TYPES or classification(function) != UNCLASSIFIED:
        return False
    for entry in [attributes.of(value) for value in values if id(value) in attributes.entries]:
        if entry is None:
            continue
        slots = entry.slots if entry.extra is None else tag.store.slots_by_key(entry.extra)
        if any(tag in metas for _, metas in list(slots.values())):
            return True
    return False


_GETTERS: Final = (operator.attrgetter, operator.methodcaller)


@hidden
def _read_by_callbacks(function: Any, values: Any, tag: Tag, result: Any) -> tuple[Tagged, ...]:
    """What a leaf may have read of objects by a callback that is a leaf too, as does `json.dumps(x, default=vars)`."""
    if not tag.store.attributes.entries or id(type(result)) not in COMPUTED_TYPES:
        return ()
    if not (is_output(function) or classification(function) == UNCLASSIFIED):
        return ()
    given = [*map(plain, values)]
    objects = [value for value in given if not _reads_objects(value)]
    if len(objects) == len(given):
        return ()
    return tuple([held for held in wrapped_values_in(objects, tag.store) if tag in held._tagged_metas])


def _reads_objects(function: Any) -> bool:
    """Whether an argument is a function that reads the attributes of objects, and that no context follows."""
    if is_a(function, type) or not callable(function):
        return False
    return function is vars or is_a(function, _GETTERS) or classification(function) == MOVES


_SPECIAL: Final = (int, float, complex, bool, bytes, hash, next, iter, reversed, sum, aiter, anext)
_CALL_SPECIAL_METHODS: Final = frozenset(map(id, _SPECIAL))


def calls_special_method(function: Any) -> bool:
    """Whether a leaf gets at the attributes of an object by special methods only, which are overdubbed themselves."""
    return id(function) in RETURN_METHOD_RESULT or id(function) in _CALL_SPECIAL_METHODS


SUSPENDED: Final = (GeneratorType, CoroutineType)


@hidden
def _has_tagged_variables(generator: Any, tag: Tag) -> bool:
    """Whether the variables of a generator or coroutine have metadata, or the iterator that it takes items from."""
    frame = generator.gi_frame if is_a(generator, GeneratorType) else generator.cr_frame
    for value in dict(frame.f_locals).values() if frame is not None else ():
        if type(value) is Tagged and tag in value._tagged_metas:
            return True
        if tag.store.items.of(value) is not None or tag.store.iterators.of(value) is not None:
            return True
    return False


@hidden
def lose_suspended(activation: Activation, function: Any, given: tuple[Any, ...]) -> None:
    """A leaf without a rule is about to run generators or coroutines: what their variables hold would be lost."""
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag.lost == "error" and not (id(function) in tag.exempt or cannot_lose(function)):
            for value in given:
                if is_a(value, SUSPENDED) and _has_tagged_variables(value, tag):
                    try:
                        lose(activation.contexts[level], function)
                    except Exception:
                        value.close()  # it will never be awaited
                        raise


@hidden
def call_computed(
    activation: Activation, level: int, tag: Tag, function: Any, arguments: Any, keywords: Any, value: Any
) -> Any:
    """Call a context's method `computed` for a value, and for its parts if it is a container."""
    token = ACTIVE.set(hook_activation(activation, level))
    try:
        context = activation.contexts[level]
        if not (tag.parts_alike and is_a(value, CONTAINERS)):
            return tag.computed(context, value, function, *arguments, **keywords)

        @hidden
        def metadata_of(part: Any) -> Any:
            return tag.computed(context, part, function, *arguments, **keywords)

        return tag_parts(tag, value, metadata_of)
    finally:
        ACTIVE.reset(token)


@hidden
def call_loaded(activation: Activation, level: int, value: Any, owner: Any, name: str) -> Any:
    """Call a context's method `loaded` for an attribute whose name is in its `watched`; it returns the value to use."""
    return call_as_hook(activation, level, activation.contexts[level].loaded, value, owner, name)


@hidden
def tag_with_parts(context: Any, value: Any, metadata_of: Callable[[Any], Any]) -> Any:
    """Tag a value and all its parts; `metadata_of` returns the metadata of the value and of each part."""
    bare = plain(value)
    if bare is None or is_a(bare, _PLAIN_TYPES):
        return value
    tag: Any = tag_of(context, create=True)
    found = tag_parts(tag, bare, metadata_of)
    if found is NO_METADATA:
        return value
    return Tagged(bare, {**(metas_of(value) or {}), tag: found})


@hidden
def tag_parts(tag: Tag, value: Any, metadata_of: Callable[[Any], Any]) -> Any:
    """The metadata of a value; that of its parts is put into the store. It is the same for all parts of one type."""
    if is_a(value, CONTAINERS):
        known: dict[int, Any] = {}
        work, seen = [value], {id(value)}
        while work and len(seen) < _MOST:
            container = work.pop()
            slots: dict[Any, tuple[Any, Metas]] = {}
            for key, part in _pairs(container):
                kind = id(type(part))
                if is_a(part, CONTAINERS):
                    if id(part) not in seen:
                        seen.add(id(part))
                        work.append(part)
                    continue
                if kind not in known:
                    known[kind] = NO_METADATA if part is None or is_a(part, _PLAIN_TYPES) else metadata_of(part)
                if known[kind] is not NO_METADATA:
                    slots[key] = part, {tag: known[kind]}
            if slots:
                _add_slots(tag.store, container, slots)
    return metadata_of(value)


def _pairs(container: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of a container with their keys in an entry of the store."""
    if is_a(container, dict):
        return list(dict.items(container))
    items = items_in(container)
    return enumerate(items) if is_a(container, SEQUENCES) else zip(items, items, strict=True)


def _add_slots(store: Store, container: Any, slots: dict[Any, tuple[Any, Metas]]) -> None:
    entry = store.items.make(container)
    for key, (part, metas) in slots.items():
        old = entry.slots.get(key)
        entry.slots[key] = part, {**old[1], **metas} if old is not None and old[0] is part else metas
    entry.size = size_of(container)


@hidden
def with_computed_metadata_here(function: Any, arguments: tuple[Any, ...], value: Any) -> Any:
    """The same for the active activation."""
    activation = ACTIVE.get()
    return with_computed_metadata(activation, function, arguments, {}, value) if activation.tags else value


@hidden
def _is_watched_iteration(source: Any) -> bool:
    """Whether a context type that has tagged an iterable has a method `iterated`; the method is called."""
    found = False
    activation = ACTIVE.get()
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag.iterated is not None and type(source) is Tagged and tag in source._tagged_metas:
            found = True
            call_as_hook(activation, level, tag.iterated, activation.contexts[level], source)
    return found


@hidden
def cursor_of_whole(source: Any, step: int = 1) -> Any:
    """A cursor for an iterable that is tagged as a whole: each item is computed from it.

    The method `iterated` of a context type is called, and the type gets the places of items, which begin at the end for
    the step -1.
    """
    places = itertools.count(0 if step > 0 else -1, step) if _is_watched_iteration(source) else None

    def metas(item: Any) -> Metas | None:
        if places is None:
            found = with_computed_metadata_here(next, (source,), item)
        else:
            found = with_computed_metadata_here(operator.getitem, (source, next(places)), item)
        return found._tagged_metas if type(found) is Tagged else None

    return metas
