"""Rules for `list.sort`, `sorted`, `heapq` and `bisect.insort`: the metadata moves with the items."""

from __future__ import annotations

import bisect
import functools
import heapq
import operator
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.c_callers import keywords_with_key
from cassette_import.runtime.tagging.compared_items import Compared, compared, key_of_compared, keywords_for_compared
from cassette_import.runtime.tagging.fast_path import RULED_WHILE_TAGGED, are_iterated_by_c
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, items_in, size_of
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.rules.iteration import Feed
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.watched_calls import RecordedRest, RestOfKey, rest_of, watch
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

# ---- rules for `heapq` and `bisect.insort`
#
# The functions that change a heap are carried out step by step, as `heapq` in C does, so that each item's metadata
# moves with it: a heap may hold one object several times.


class _Heap:
    """A list whose items are exchanged together with their metadata."""

    __slots__ = ("_call", "_slots", "items")

    def __init__(self, call: LeafCall, items: list[Any]) -> None:
        self._call = call
        self.items = items
        store = call.store
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
    def is_less(self, one: int, other: int) -> Any:
        return self._call.decided(operator.lt, self._wrapped(one), self._wrapped(other))

    @hidden
    def _wrapped(self, position: int) -> Any:
        slot = self._slots.get(position)
        return self.items[position] if slot is None else Tagged(*slot)

    @hidden
    def rise(self, start: int, position: int) -> None:
        """Move an item towards the root until its parent is not greater."""
        while position > start:
            parent = (position - 1) >> 1
            if not self.is_less(position, parent):
                break
            self.exchange(parent, position)
            position = parent

    @hidden
    def sink(self, position: int) -> None:
        """Move the smaller children up until a leaf of the tree is reached, then let the item rise."""
        start, end = position, len(self.items)
        while position < end >> 1:
            child = 2 * position + 1
            if child + 1 < end and not self.is_less(child, child + 1):
                child += 1
            self.exchange(child, position)
            position = child
        self.rise(start, position)


@hidden
def _has_items(call: LeafCall) -> bool:
    """Whether the first argument is a list with items; other arguments are left to the function."""
    return is_a(call.owner, list) and size_of(call.owner) > 0 and not call.keywords


@hidden
def _replace_root(call: LeafCall, value: Any) -> Any:
    """Put a value at the root, and let it sink; the result is the former root."""
    store, items = call.store, call.owner
    former = store.load_part(store.items, items, 0, items[0])
    list.__setitem__(items, 0, plain(value))
    store.store_part(store.items, items, 0, value)
    _Heap(call, items).sink(0)
    return former


@rule(heapq.heappush)
@hidden
def push(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or not is_a(call.owner, list) or call.keywords:
        return call.native()
    items = call.owner
    call.forward(list.append, items, call.arguments[1])
    _Heap(call, items).rise(0, len(items) - 1)
    return None


@rule(heapq.heappop)
@hidden
def take_smallest(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or not _has_items(call):
        return call.native()
    last = call.forward(list.pop, call.owner)
    return _replace_root(call, last) if call.owner else last


@rule(heapq.heapreplace)
@hidden
def take_smallest_then_push(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or not _has_items(call):
        return call.native()
    return _replace_root(call, call.arguments[1])


@rule(heapq.heappushpop)
@hidden
def push_then_take_smallest(call: LeafCall) -> Any:
    if len(call.arguments) != 2 or not is_a(call.owner, list) or call.keywords:
        return call.native()
    items, value = call.owner, call.arguments[1]
    root = call.store.load_part(call.store.items, items, 0, items[0]) if items else None
    return _replace_root(call, value) if items and call.decided(operator.lt, root, value) else value


@rule(heapq.heapify)
@hidden
def make_heap(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or not _has_items(call):
        return call.native()
    if call.store.item_metas(call.owner) is None and not call.is_watched:
        return call.native()
    heap = _Heap(call, call.owner)
    for position in reversed(range(len(call.owner) // 2)):
        heap.sink(position)
    return None


# ---- functions that select


@rule(heapq.nlargest, heapq.nsmallest, while_tagged=True)
@hidden
def select(call: LeafCall) -> Any:
    if not 2 <= len(call.given) <= 3:
        return without_rule(call)
    key = plain(call.given[2] if len(call.given) > 2 else call.keywords.get("key"))
    source = call.given[1]
    has_length = lookup(type(plain(source)), "__len__") is not None
    carriers: Any = map(functools.partial(Compared, call), iterate_wrapped(call, source))
    key_of = key_of_compared(call, key)
    made = call.function(plain(call.given[0]), list(carriers) if has_length else carriers, key=key_of)
    found = [carrier.carried for carrier in made]
    return call.store.bind_items(list(map(plain, found)), found)


RULED_WHILE_TAGGED.add(id(heapq.merge))


@rule_of_code("heapq", "merge")
@hidden
def merge(call: LeafCall) -> Any:
    """An item that the generator yields is the next one of the first source that has it."""
    keywords = call.plain_keywords
    feeds = [Feed(call.store, source, recorded=False) for source in call.given]
    if "key" in keywords:
        keywords["key"] = key_of_compared(call, call.keywords["key"])
    sources = [map(functools.partial(_last_of, call, feed), feed) for feed in feeds]
    last: list[Any] = [None]
    made = _values(call.callee(*sources, **keywords), last)
    call.store.iterators.make(made).extra = lambda value: metas_of(last[0]) if plain(last[0]) is value else None
    return made


@hidden
def _values(items: Any, last: list[Any]) -> Iterator[Any]:
    """The plain items; the list has the one that was taken last."""
    for item in items:
        last[0] = item.carried
        yield item.value


@hidden
def _last_of(call: LeafCall, feed: Feed, item: Any) -> Compared:
    return Compared(call, feed.last)


# ---- `bisect`


@rule(bisect.bisect_left, bisect.bisect_right, while_tagged=True)
@hidden
def find_place(call: LeafCall) -> Any:
    if len(call.arguments) < 2 or not is_a(call.owner, SEQUENCES):
        return without_rule(call)
    return _place(call, call.function, call.arguments[1])


@hidden
def _place(call: LeafCall, find: Any, value: Any) -> Any:
    items, bounds = call.store.wrapped_items(call.owner), map(plain, call.arguments[2:])
    if call.is_watched:
        return find(compared(call, items), Compared(call, value), *bounds, **keywords_for_compared(call))
    return find(call.owner, plain(value), *bounds, **keywords_with_key(call, [*items, value]))


_FINDING: Final = {bisect.insort_left: bisect.bisect_left, bisect.insort_right: bisect.bisect_right}


@rule(bisect.insort_right, bisect.insort_left, while_tagged=True)
@hidden
def insert_in_order(call: LeafCall) -> Any:
    owner = call.owner
    if len(call.arguments) < 2 or not is_a(owner, (list, deque)):
        return without_rule(call)
    key, value = plain(call.keywords.get("key")), call.arguments[1]
    sought = value if key is None else call.forward(call.keywords["key"], value)
    call.forward(type(owner).insert, owner, _place(call, _FINDING[call.function], sought), value)
    return None


# ---- rules for `list.sort` and `sorted`: the metadata moves with the items


@rule(list.sort, while_tagged=True)
@hidden
def sort_in_place(call: LeafCall) -> None:
    owner = call.owner
    items = call.store.wrapped_items(owner) if len(call.arguments) == 1 else []
    if _is_decided(call, items):
        made = sorted(compared(call, items), **keywords_for_compared(call))
        list.__setitem__(owner, slice(None), [item.value for item in made])
        call.store.set_item_metas(owner, [metas_of(item.carried) for item in made])
        return
    call.callee(*map(plain, call.given), **keywords_with_key(call, items))
    if FLAGS[METADATA_EXISTS]:
        call.store.set_item_metas(owner, _metas_in_order(items, items_in(owner)))


@rule(sorted, plain_if=are_iterated_by_c)
@hidden
def sort_copy(call: LeafCall) -> Any:
    source = call.given[0] if call.given else ()
    is_decided = "key" in call.keywords or call.is_watched
    if len(call.given) != 1 or not (is_decided or may_have_tagged_items(call.store, source)):
        return call.native()
    items = list(iterate_wrapped(call, source))
    if _is_decided(call, items):
        found = [item.carried for item in sorted(compared(call, items), **keywords_for_compared(call))]
        return call.store.bind_items(list(map(plain, found)), found)
    made = sorted(map(plain, items), **keywords_with_key(call, items))
    if FLAGS[METADATA_EXISTS]:
        call.store.set_item_metas(made, _metas_in_order(items, made))
    return made


@hidden
def _is_decided(call: LeafCall, items: list[Any]) -> bool:
    """Whether contexts decide how the items, or their keys, compare."""
    if plain(call.keywords.get("key")) is not None:
        return call.is_watched
    return len(items) > 1 and call.is_decided(*items)


class _SortedRest(RecordedRest):
    """The rest of what is sorted: without a key, the items themselves are compared when all are there."""

    __slots__ = ("_has_key",)

    @hidden
    def __init__(self, watched: Any) -> None:
        RecordedRest.__init__(self, watched)
        self._has_key = watched.has_key

    @hidden
    def __next__(self) -> Any:
        try:
            return RecordedRest.__next__(self)
        except StopIteration:
            self.ended()
            raise

    @hidden
    def ended(self) -> None:
        items = [*self.kept, *self.items]
        if len(items) > 1 and not self._has_key:
            self._call.compare(*items)


@hidden
def _in_order(call: LeafCall, watched: tuple[Any, ...], made: Any) -> Any:
    rest = rest_of(watched[0])
    if rest is not None:
        call.store.set_item_metas(made, _metas_in_order([*rest.kept, *rest.items], made))
    return made


watch(sorted, source=_SortedRest, callback=RestOfKey, end=_in_order, keywords=True, keeps=2)


@hidden
def _metas_in_order(items: list[Any], moved: list[Any]) -> list[Metas | None]:
    """The metadata of items after they have been sorted: several references to one object keep their order."""
    waiting: dict[int, deque[Metas | None]] = {}
    for item in items:
        waiting.setdefault(id(plain(item)), deque()).append(metas_of(item))
    return [queue.popleft() if (queue := waiting.get(id(value))) else None for value in moved]
