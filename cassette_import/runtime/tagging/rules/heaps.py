"""Rules for `heapq` and `bisect.insort`.

The functions that change a heap are carried out step by step, as `heapq` in C does, so that each item's metadata moves
with it: a heap may hold one object several times. Knows where these functions move items; must not know how the shadow
store keeps metadata.
"""

from __future__ import annotations

import bisect
import heapq
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.c_callers import KeyCallback, keywords_with_key
from cassette_import.runtime.tagging.container_contents import SEQUENCES, items_in, size_of
from cassette_import.runtime.tagging.fast_path import RULED_WHILE_TAGGED
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.recorded_iterators import Feed
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain


class _Heap:
    """A list whose items are exchanged together with their metadata."""

    __slots__ = ("_slots", "items")

    def __init__(self, store: Store, items: list[Any]) -> None:
        self.items = items
        store.item_metas(items)  # drops the metadata of a list that a leaf has changed
        self._slots = store.items.make(items).slots

    @hidden
    def exchange(self, one: int, other: int) -> None:
        items, slots = self.items, self._slots
        items[one], items[other] = items[other], items[one]
        before, after = slots.pop(one, None), slots.pop(other, None)
        if before is not None:
            slots[other] = before
        if after is not None:
            slots[one] = after

    @hidden
    def rise(self, start: int, position: int) -> None:
        """Move an item towards the root until its parent is not greater."""
        items = self.items
        item = items[position]
        while position > start:
            parent = (position - 1) >> 1
            if not item < items[parent]:
                break
            self.exchange(parent, position)
            position = parent

    @hidden
    def sink(self, position: int) -> None:
        """Move the smaller children up until a leaf of the tree is reached, then let the item rise."""
        items, start = self.items, position
        end = len(items)
        while position < end >> 1:
            child = 2 * position + 1
            if child + 1 < end and not items[child] < items[child + 1]:
                child += 1
            self.exchange(child, position)
            position = child
        self.rise(start, position)


@hidden
def _has_items(call: LeafCall) -> bool:
    """Whether the first argument is a list with items; other arguments are left to the function."""
    return is_a(call.owner, list) and size_of(call.owner) > 0 and not call.keywords


@hidden
def _compare(call: LeafCall, *more: Any) -> None:
    """The items of a heap are compared with each other, and with a further one."""
    items = call.store.wrapped_items(call.owner)
    if len(items) + len(more) > 1:
        call.compare(*items, *more)


@hidden
def _replace_root(call: LeafCall, value: Any) -> Any:
    """Put a value at the root, and let it sink; the result is the former root."""
    store, items = call.store, call.owner
    former = store.load_part(store.items, items, 0, items[0])
    list.__setitem__(items, 0, plain(value))
    store.store_part(store.items, items, 0, value)
    _Heap(store, items).sink(0)
    return former


@rule(heapq.heappush)
@hidden
def push(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or not is_a(call.owner, list) or call.keywords:
        return call.native()
    items = call.owner
    _compare(call, call.arguments[1])
    call.forward(list.append, items, call.arguments[1])
    _Heap(call.store, items).rise(0, len(items) - 1)
    return None


@rule(heapq.heappop)
@hidden
def take_smallest(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or not _has_items(call):
        return call.native()
    _compare(call)
    last = call.forward(list.pop, call.owner)
    return _replace_root(call, last) if call.owner else last


@rule(heapq.heapreplace)
@hidden
def take_smallest_then_push(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or not _has_items(call):
        return call.native()
    _compare(call, call.arguments[1])
    return _replace_root(call, call.arguments[1])


@rule(heapq.heappushpop)
@hidden
def push_then_take_smallest(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or not is_a(call.owner, list) or call.keywords:
        return call.native()
    items, value = call.owner, call.arguments[1]
    _compare(call, value)
    return _replace_root(call, value) if items and items[0] < plain(value) else value


@rule(heapq.heapify)
@hidden
def make_heap(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or not is_a(call.owner, list) or call.store.item_metas(call.owner) is None:
        return call.native()
    _compare(call)
    heap = _Heap(call.store, call.owner)
    for position in reversed(range(len(call.owner) // 2)):
        heap.sink(position)
    return None


# ---- functions that select


class _Carrier:
    """An item and its metadata, compared as the item is."""

    __slots__ = ("carried", "value")
    __hash__ = None  # type: ignore[assignment]  # as a class with `__eq__`

    def __init__(self, carried: Any) -> None:
        self.carried = carried
        self.value = plain(carried)

    @hidden
    def __lt__(self, other: _Carrier) -> Any:
        return self.value < other.value

    @hidden
    def __eq__(self, other: object) -> Any:
        assert type(other) is _Carrier
        return self.value is other.value or self.value == other.value


@hidden
def _compared(call: LeafCall, items: Any) -> Any:
    """The items of an iterator, which are compared."""

    @hidden
    def compare(item: Any) -> Any:
        call.compare(item)
        return item

    return map(compare, items)


@rule(heapq.nlargest, heapq.nsmallest, while_tagged=True)
@hidden
def select(call: LeafCall) -> Any:
    key = plain(call.given[2] if len(call.given) > 2 else call.keywords.get("key"))
    if not 2 <= len(call.given) <= 3 or not (
        key is not None or call.is_watched or may_have_tagged_items(call.store, call.given[1])
    ):
        return without_rule(call)
    source, keys = call.given[1], KeyCallback(call, key, ())
    has_length = lookup(type(plain(source)), "__len__") is not None
    items = iterate_wrapped(call, source)
    carriers: Any = map(_Carrier, items if key is not None else _compared(call, items))

    @hidden
    def key_of(carrier: _Carrier) -> Any:
        return keys.of_wrapped(carrier.carried)

    made = call.function(
        plain(call.given[0]), list(carriers) if has_length else carriers, key=None if key is None else key_of
    )
    found = [carrier.carried for carrier in made]
    return call.store.bind_items(list(map(plain, found)), found)


RULED_WHILE_TAGGED.add(id(heapq.merge))


@rule_of_code("heapq", "merge")
@hidden
def merge(call: LeafCall) -> Any:
    """An item that the generator yields is the next one of the first source that has it."""
    key, keywords = call.plain_keywords.get("key"), call.plain_keywords
    if not (key or call.is_watched or any(may_have_tagged_items(call.store, source) for source in call.given)):
        return call.native()
    compare = call.compare if len(call.given) > 1 and key is None else None
    feeds = [Feed(call.store, source, recorded=False, compare=compare) for source in call.given]
    if key is not None:
        keys = KeyCallback(call, key, ())

        @hidden
        def key_of(item: Any) -> Any:
            taken = (feed.last for feed in feeds if plain(feed.last) is item)
            return keys.of_wrapped(next(taken, item))

        keywords["key"] = key_of
    made = call.callee(*feeds, **keywords)
    yielded = [0] * len(feeds)

    @hidden
    def metas(value: Any) -> Any:
        for number, feed in enumerate(feeds):
            if feed.step > yielded[number] and plain(feed.last) is value:
                yielded[number] = feed.step
                return metas_of(feed.last)
        return None

    call.store.iterators.make(made).extra = metas
    return made


# ---- `bisect`


@rule(bisect.bisect_left, bisect.bisect_right, while_tagged=True)
@hidden
def find_place(call: LeafCall) -> Any:
    if len(call.arguments) < 2 or not is_a(call.owner, SEQUENCES):
        return without_rule(call)
    return call.callee(*map(plain, call.given), **_keywords_with_key(call))


@hidden
def _keywords_with_key(call: LeafCall) -> dict[str, Any]:
    """The keyword arguments of a function that compares the keys of items with a value, or with its key."""
    items = call.store.wrapped_items(call.owner)
    value = call.arguments[1]
    if call.keywords.get("key") is None:
        if items:
            call.compare(value, *items)
        return call.plain_keywords
    if call.function in _FINDING:
        call.compare(value)
    return keywords_with_key(call, [*items, value])


_FINDING: Final = (bisect.bisect_left, bisect.bisect_right)


@rule(bisect.insort_right, bisect.insort_left, while_tagged=True)
@hidden
def insert_in_order(call: LeafCall) -> Any:
    owner = call.owner
    if len(call.arguments) < 2 or not is_a(owner, SEQUENCES):
        return without_rule(call)
    before, metas = items_in(owner), call.store.changeable_metas(owner)
    result = call.callee(*map(plain, call.given), **_keywords_with_key(call))
    after, value = items_in(owner), call.arguments[1]
    position = next((index for index, item in enumerate(before) if after[index] is not item), len(before))
    while call.function is bisect.insort_left and position and before[position - 1] is plain(value):
        position -= 1
    if len(after) == len(before) + 1 and after[position] is plain(value):
        metas.insert(position, metas_of(value))
        call.store.set_item_metas(owner, metas)
    elif type(value) is Tagged:
        call.store.items.drop(owner)
    return result
