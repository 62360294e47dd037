"""Rules for functions that take all items of an iterable at once: containers made of them, what is chosen or computed.

Knows which functions do so; must not know how items are advanced.
"""

from __future__ import annotations

import functools
import math
from collections import deque
from typing import Any

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import computed_values
from cassette_import.runtime.tagging.fast_path import always, are_whole
from cassette_import.runtime.tagging.propagation import Call, leaf, rule
from cassette_import.runtime.tagging.rules.iterators import Stepper, callback, may_carry, observed, start, step
from cassette_import.runtime.tagging.rules.object_parts import keep_elements, keep_pairs
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.wrappers import Metas, Tagged, metas_of, plain


@hidden
def are_dicts(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether there is no source but dicts."""
    return not arguments or type(arguments[0]) is dict


@always(functools.reduce)
@always(dict, idle=are_dicts)
@always(list, tuple, set, frozenset, deque, sorted, idle=are_whole)
@rule(list, tuple, set, frozenset, deque)
@hidden
def collect(call: Call) -> Any:
    kind: Any = call.function
    if not call.given or not may_carry(call.store, call.given[0]):
        return call.native()
    source = call.given[0]
    if type(plain(source)) is kind and kind in (tuple, frozenset):
        return call.callee(plain(source))
    items = list(observed(call, source))
    made = kind(map(plain, items), *map(plain, call.given[1:]), **call.options)
    if kind in (set, frozenset):
        return keep_elements(call.store, made, items)
    return call.store.bind(made, items[len(items) - len(made) :])


@rule(dict)
@hidden
def collect_pairs(call: Call) -> Any:
    store = call.store
    source = plain(call.given[0]) if call.given else ()
    pairs: list[Any] = []
    if is_a(source, dict):
        slots = store.keyed(source)
        pairs = [(key, Tagged(*slot)) for key, slot in slots.items()]
        made = call.native()
    elif call.given and not hasattr(source, "keys"):
        take_pairs(call, source, pairs)
        made = dict([tuple(map(plain, pair)) for pair in pairs], **call.options)
    else:
        made = call.native()
    return keep_pairs(store, made, [*pairs, *call.keywords.items()])


@hidden
def take_pairs(call: Call, source: Any, pairs: list[Any]) -> None:
    """Add the keys and values that a dict is made of, wrapped where they have metadata."""
    for number, item in enumerate(observed(call, source)):
        kind = type(plain(item))
        if lookup(kind, "__iter__") is None and lookup(kind, "__getitem__") is None:
            dict([*[((), ())] * number, plain(item)])  # for its error
        pairs.append(tuple(observed(call, item)))


@rule(sorted)
@hidden
def sort_copy(call: Call) -> Any:
    source = call.given[0] if call.given else ()
    if not may_carry(call.store, source):
        return call.native()
    items = list(observed(call, source))
    made = sorted(map(plain, items), **call.options)
    call.store.set_parts(made, in_order(items, made))
    return made


@hidden
def in_order(items: list[Any], moved: list[Any]) -> list[Metas | None]:
    """The metadata of items after a stable rearrangement: the same object keeps its order among itself."""
    waiting: dict[int, deque[Metas | None]] = {}
    for item in items:
        waiting.setdefault(id(plain(item)), deque()).append(metas_of(item))
    return [queue.popleft() if (queue := waiting.get(id(value))) else None for value in moved]


@rule(min, max)
@hidden
def choose(call: Call) -> Any:
    """What is chosen keeps its metadata."""
    if len(call.given) == 1:
        source = call.given[0]
        if not may_carry(call.store, source):
            return call.native()
        items = list(observed(call, source))
        value = call.callee(map(plain, items), **call.options)
        items.append(call.keywords.get("default"))
    else:
        items = list(call.given)
        value = call.native()
    return next((item for item in items if plain(item) is value), value)


class _Gathered(Stepper):
    """A stepper that remembers the items that it handed on."""

    __slots__ = ("items",)

    def __init__(self, store: Store, iterator: Any) -> None:
        super().__init__(store, iterator)
        self.items: list[Any] = []

    @hidden
    def __next__(self) -> Any:
        item = step(self._store, self._iterator)
        self.items.append(item)
        return plain(item)


@always(str.join, bytes.join, bytearray.join, sum, math.fsum, math.prod, idle=are_whole)
@rule(str.join, bytes.join, bytearray.join, sum, math.fsum, math.prod)
@hidden
def use_up(call: Call) -> Any:
    """Functions that compute a value of all items."""
    number = (call.function.__name__ == "join") - len(call.leading)  # it is called as `str.join(separator, items)` too
    if not 0 <= number < len(call.given) or not computed_values.asked(call.activation):
        return leaf(call)
    if not may_carry(call.store, call.given[number]):
        return leaf(call)
    source = _Gathered(call.store, start(call.store, call.given[number]))
    given = list(map(plain, call.given))
    given[number] = source
    value = call.callee(*given, **call.options)
    arguments = [*call.leading, *call.given]
    arguments[number + len(call.leading)] = call.store.bind(list(map(plain, source.items)), source.items)
    return computed_values.computed(call.activation, call.function, tuple(arguments), call.keywords, value)


@rule(functools.reduce)
@hidden
def reduce(call: Call) -> Any:
    if not 2 <= len(call.given) <= 3 or call.keywords:
        return leaf(call)
    function, source = callback(call.given[0]), call.given[1]
    items = observed(call, source)
    if len(call.given) == 3:
        value = call.given[2]
    else:
        try:
            value = next(items)
        except StopIteration:
            return functools.reduce(function, ())  # for its error
    for item in items:
        value = call.event(function, value, item)
    return value
