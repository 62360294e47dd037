"""What leaves pass to functions of the program: parameters whose wrappers are restored when such a function is entered.

A leaf gets plain values. It may call functions of the program with them: a special method, a callback, the `__init__`
of a subclass. A parameter that *is* one of the leaf's values has its metadata. One that the leaf has made, such as the
text that `print` writes, is computed of the leaf's values.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.tagging.computed_metadata import call_computed, metadata_in
from cassette_import.runtime.tagging.leaf_call import PassingCall
from cassette_import.runtime.tagging.lost_metadata import lose
from cassette_import.runtime.tagging.recognised_values import may_be_shared
from cassette_import.runtime.tagging.rewritten_code import tidy
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import active_store, store_of
from cassette_import.runtime.tagging.tags import NO_METADATA, Metas
from cassette_import.runtime.tagging.thread_state import LEAVES
from cassette_import.runtime.tagging.wrappers import Tagged, plain

_CONTAINERS: Final = frozenset(map(id, (list, tuple, dict)))
_MADE_BY_LEAVES: Final = frozenset(map(id, (str, bytes, bytearray, float, complex, Fraction, Decimal)))
"""Types, by identity, of values that a leaf computes for a callback."""

_DEPTH: Final = 4
_MOST: Final = 1_000
"""How many containers among the arguments of a leaf are searched, and how deep they may be nested."""


@hidden
def entered(*values: Any) -> tuple[Any, ...]:
    """The parameters of a function that has been entered, wrapped where they have metadata."""
    activation = ACTIVE.get()
    store = store_of(activation)
    if store is None:
        return values
    call = LEAVES.get(get_ident()) if LEAVES else None
    if type(call) is PassingCall and call.parameters:
        values, call = call.passed_on(values), None
    slots = store.recognised.slots
    if slots and not slots.keys().isdisjoint(map(id, values)):
        values = tuple(map(store.recognised.wrapped, values))
    if call is not None:
        if call.operands is not None:
            values = _as_operands(call.operands, values)
        values = tuple([_of_leaf(activation, store, call, value) for value in values])
    for value in values if slots else ():
        if id(value) in slots:
            store.recognised.lose_watched(value, "an argument" if call is None else call.function)
    return values


@hidden
def _as_operands(operands: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parameters of a special method that an operator calls: they are its operands, whatever is known of these."""
    for left, right in (operands, operands[::-1]):
        if len(values) > 1 and values[0] is plain(left) and values[1] is plain(right):
            return (left, right, *values[2:])
    return values


@hidden
def entered_with(value: Any) -> Any:
    """The same for one parameter."""
    return entered(value)[0]


@hidden
def entered_rest(container: Any) -> Any:
    """The `*args` or `**kwargs` of a function that has been entered: a new container without wrappers."""
    if not FLAGS[METADATA_EXISTS]:
        return container
    store = active_store()
    container = tidy(container)
    if store is None or not container:
        return container
    if type(container) is tuple:
        return store.bind_items(container, entered(*store.wrapped_items(container)))
    slots = store.slots_by_key(container)
    values = [Tagged(*slots[name]) if name in slots else value for name, value in container.items()]
    return store.bind_pairs(container, zip(list(container), entered(*values), strict=True))


@hidden
def resumed(*values: Any) -> tuple[Any, ...]:
    """The same for a generator or coroutine, which starts when it is resumed first: the leaf has returned."""
    store = store_of(ACTIVE.get())
    if store is None or store.recognised.slots.keys().isdisjoint(map(id, values)):
        return values
    return tuple(map(store.recognised.wrapped, values))


@hidden
def _of_leaf(activation: Activation, store: Store, call: Any, value: Any) -> Any:
    """A value that a leaf passes: one that it was given, or one that it has computed."""
    kind = id(type(value))
    if kind in _CONTAINERS:
        store.recognise_parts(value)
        if not value or store.items.of(value) is not None:
            return value
    elif type(value) is Tagged:
        return value
    for given in _given_values(call, store):
        if plain(given) is value:
            return _as_it_was_given(activation, call, given) if type(given) is Tagged else value
    return _computed(activation, call, value) if kind in _MADE_BY_LEAVES or kind in _CONTAINERS else value


@hidden
def _given_values(call: Any, store: Store) -> Iterator[Any]:
    """The arguments of a leaf and the parts of containers among them, wrapped where they have metadata."""
    work = [(value, 0) for value in (*call.arguments, *call.keywords.values())]
    number = 0
    while work:
        value, depth = work.pop()
        yield value
        bare = plain(value)
        if id(type(bare)) in _CONTAINERS and depth < _DEPTH and number < _MOST:
            number += 1
            work += [(part, depth + 1) for part in _parts(store, bare)]


@hidden
def _parts(store: Store, container: Any) -> list[Any]:
    if type(container) is not dict:
        return store.wrapped_items(container)
    # By identity: to look up a key calls its `__hash__`, which may be the function that is entered.
    entry = store.items.of(container)
    slots = {id(slot[0]): slot for slot in entry.slots.values()} if entry is not None else {}
    values = [Tagged(*slots[id(value)]) if id(value) in slots else value for value in container.values()]
    return [*container, *values]


@hidden
def _as_it_was_given(activation: Activation, call: Any, given: Tagged) -> Any:
    """A value that a leaf was given and hands on; one that may be another one of the same identity loses metadata."""
    if not may_be_shared(given._tagged_value):
        return given
    for level, tag in enumerate(activation.tags):
        if tag is not None and tag in given._tagged_metas and tag.lost != "ignore":
            lose(activation.contexts[level], call.function)
    return given._tagged_value


@hidden
def _computed(activation: Activation, call: Any, value: Any) -> Any:
    """A value that a leaf has made for a callback, with the metadata that contexts compute of the leaf's arguments."""
    metas: Metas = {}
    given = (*call.arguments, *call.keywords.values())
    for level, tag in enumerate(activation.tags):
        if tag is None or next(metadata_in(given, tag), None) is None:
            continue
        if tag.computed is None:
            if tag.lost != "ignore":
                lose(activation.contexts[level], call.function)
            continue
        found = call_computed(activation, level, tag, call.function, call.arguments, call.keywords, value)
        if found is not NO_METADATA:
            metas[tag] = found
    return Tagged(value, metas) if metas else value


NAMES.update({symbols.ENTERED: entered, symbols.ENTERED_WITH: entered_with, symbols.RESUMED: resumed})
NAMES[symbols.ENTERED_REST] = DISPATCH.unless_tagged(entered_rest)
