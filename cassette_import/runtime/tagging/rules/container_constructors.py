"""Rules for new containers: displays such as `[a, b]`, and `list(x)`, `tuple(x)`, `set(x)`, `dict(x)`.

Subclasses call the `__new__` or `__init__` of these classes, which have rules, too.
"""

from __future__ import annotations

import gc
import operator
from collections import deque
from types import MappingProxyType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import primitives
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.c_callers import HashedStepper
from cassette_import.runtime.tagging.fast_path import SIMPLE, are_iterated_by_c
from cassette_import.runtime.tagging.held_metadata import size_of
from cassette_import.runtime.tagging.iterator_metadata import (
    item_taken,
    iterate_wrapped,
    may_have_tagged_items,
    next_item,
)
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.lost_metadata import lose_key
from cassette_import.runtime.tagging.rewritten_code import is_python_mapping
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.watched_calls import ComparedRest, RecordedRest, rest_of, watch
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- rules for displays: `[a, b]`, `(a, b)`, `{a, b}`, `{a: b}`


@rule(primitives.build_list)
@hidden
def build_list(call: LeafCall) -> Any:
    return call.store.bind_items(list(map(plain, call.given)), call.given)


@rule(primitives.build_tuple)
@hidden
def build_tuple(call: LeafCall) -> Any:
    return call.store.bind_items(tuple(map(plain, call.given)), call.given)


@rule(primitives.build_set)
@hidden
def build_set(call: LeafCall) -> Any:
    call.compare(*call.given)
    return call.store.bind_elements(set(map(plain, call.given)), call.given)


@rule(primitives.build_dict)
@hidden
def build_dict(call: LeafCall) -> Any:
    call.compare(*call.given[::2])
    pairs = list(zip(call.given[::2], call.given[1::2], strict=True))
    for key, _ in pairs:
        if type(key) is Tagged:
            lose_key(key._tagged_value, key._tagged_metas)
            call.store.recognised.note(key._tagged_value, key._tagged_metas)
    return call.store.bind_pairs({plain(key): plain(value) for key, value in pairs}, pairs)


# ---- rules for the classes of containers: `list(x)`, `tuple(x)`, `set(x)`, `frozenset(x)`, `deque(x)`, `dict(x)`


@rule(list, tuple, set, frozenset, deque, plain_if=are_iterated_by_c)
@hidden
def from_items(call: LeafCall) -> Any:
    kind: Any = call.function
    is_compared = kind in (set, frozenset) and call.is_watched
    if not call.given or not (is_compared or may_have_tagged_items(call.store, call.given[0])):
        return call.native()
    source = call.given[0]
    if type(plain(source)) is kind and kind in (tuple, frozenset):
        return call.callee(plain(source))
    if kind in (set, frozenset):
        stepper = HashedStepper(call, source)
        made = kind(stepper, *map(plain, call.given[1:]), **call.plain_keywords)
        return call.store.bind_elements(made, stepper.items)
    items = list(iterate_wrapped(call, source))
    if not FLAGS[METADATA_EXISTS]:
        return items if kind is list else kind(items, *call.given[1:], **call.keywords)
    made = kind(map(plain, items), *map(plain, call.given[1:]), **call.plain_keywords)
    return call.store.bind_items(made, items[len(items) - len(made) :])


@hidden
def _with_items(call: LeafCall, watched: tuple[Any, ...], made: Any) -> Any:
    rest = rest_of(watched[0])
    if rest is None:
        return made
    taken = len(rest.items)
    return call.store.bind_items(made, [*list(made)[: len(made) - taken], *rest.items])


@hidden
def _with_elements(call: LeafCall, watched: tuple[Any, ...], made: Any) -> Any:
    rest = rest_of(watched[0])
    return made if rest is None else call.store.bind_elements(made, rest.items)


watch(list, tuple, deque, source=RecordedRest, end=_with_items)
watch(set, frozenset, source=ComparedRest, end=_with_elements)


# ---- the methods that subclasses call


@rule(list.__init__, deque.__init__, set.__init__)
@hidden
def initialise_from_items(call: LeafCall) -> None:
    owner, *given = call.arguments
    owner, source = plain(owner), given[0] if given else call.keywords.get("iterable", ())
    if not may_have_tagged_items(call.store, source):
        call.native()
        call.store.items.drop(owner)
        return
    items: list[Any] = []
    try:
        items.extend(iterate_wrapped(call, source))
    finally:  # the items before an error are in the container
        keywords = {name: plain(value) for name, value in call.keywords.items() if name != "iterable"}
        call.function(owner, list(map(plain, items)), *map(plain, given[1:]), **keywords)
        if is_a(owner, set):
            call.store.bind_elements(owner, items)
        else:
            call.store.bind_items(owner, items[len(items) - size_of(owner) :])


@rule(tuple.__new__, frozenset.__new__)
@hidden
def new_from_items(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or call.keywords or not may_have_tagged_items(call.store, call.arguments[1]):
        return call.native()
    kind, source = map(plain, call.arguments)
    if type(source) is kind and kind in (tuple, frozenset):
        return call.native()
    items = list(iterate_wrapped(call, call.arguments[1]))
    made = call.function(kind, list(map(plain, items)))
    return call.store.bind_items(made, items) if is_a(made, tuple) else call.store.bind_elements(made, items)


# ---- dicts


_FIRST: Final = operator.itemgetter(0)
_TUPLES: Final = frozenset((id(tuple),))


@hidden
def _is_settled(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether there is no source but a dict, or pairs whose keys have no methods of the program."""
    if not arguments or type(arguments[0]) is dict:
        return True
    if type(arguments[0]) is not list:
        return False
    pairs = arguments[0]
    are_pairs = not pairs or (_TUPLES.issuperset(map(id, map(type, pairs))) and set(map(len, pairs)) == {2})
    return are_pairs and SIMPLE.issuperset(map(id, map(type, map(_FIRST, pairs))))


@rule(dict, plain_if=_is_settled)
@hidden
def from_pairs(call: LeafCall) -> Any:
    store = call.store
    source: Any = plain(call.given[0]) if call.given else ()
    if type(source) is MappingProxyType:
        source = gc.get_referents(source)[0]
    pairs: list[Any] = []
    if is_a(source, dict):
        slots = store.slots_by_key(source)
        pairs = [(key, Tagged(*slot)) for key, slot in list(slots.items())]
        made = call.native()
    elif is_python_mapping(source):
        pairs = [(key, call.event(operator.getitem, source, key)) for key in source.keys()]  # noqa: SIM118
        made = dict([tuple(map(plain, pair)) for pair in pairs], **call.plain_keywords)
    elif call.given and not hasattr(source, "keys"):
        add_pairs(call, source, pairs)
        made = dict([tuple(map(plain, pair)) for pair in pairs], **call.plain_keywords)
    else:
        made = call.native()
    return store.bind_pairs(made, [*pairs, *call.keywords.items()])


@hidden
def add_pairs(call: LeafCall, source: Any, pairs: list[Any]) -> None:
    """Add the keys and values from an iterable of pairs to a list, wrapped where they have metadata."""
    for number, item in enumerate(iterate_wrapped(call, source)):
        kind = type(plain(item))
        if lookup(kind, "__iter__") is None and lookup(kind, "__getitem__") is None:
            dict([*[((), ())] * number, plain(item)])  # for its error
        pair = tuple(iterate_wrapped(call, item))
        if len(pair) != 2:
            dict([*[((), ())] * number, pair])  # for its error
        call.compare(*pair[:1])
        pairs.append(pair)


class _PairsRest(RecordedRest):
    """The rest of an iterable of pairs: the items that are kept are the wrapped pairs."""

    __slots__ = ()

    @hidden
    def first(self, value: Any) -> Any:
        return self._pair(item_taken(self._store, self._iterator, value))

    @hidden
    def __next__(self) -> Any:
        return self._pair(next_item(self._store, self._iterator))

    @hidden
    def _pair(self, item: Any) -> Any:
        kind = type(plain(item))
        if lookup(kind, "__iter__") is None and lookup(kind, "__getitem__") is None:
            return plain(item)  # for its error
        pair = tuple(iterate_wrapped(self._call, item))
        if len(pair) == 2:
            self._call.compare(*pair[:1])
            self.items.append(pair)
        return tuple(map(plain, pair))


@hidden
def _with_pairs(call: LeafCall, watched: tuple[Any, ...], made: Any) -> Any:
    rest = rest_of(watched[0])
    return made if rest is None else call.store.bind_pairs(made, rest.items)


watch(dict, source=_PairsRest, end=_with_pairs, takes_any=False)
