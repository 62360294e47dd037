"""What the interpreter's views and iterators read: the container behind one, and the place of the item taken last.

A view or an iterator may be older than the metadata of what it reads. So nothing is kept when it is made: the item
that it has given is looked up in its source, at the place where the iterator stands.
"""

from __future__ import annotations

import gc
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.container_contents import SEQUENCES, size_of
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Metas

Place = Callable[[Store, Any, Any, int], Metas | None]
"""The metadata of an item that an iterator has given: of the last one, or of the one `back` items ago.

For a tuple that the iterator has made, the metadata of its parts is put into the store."""

_OF_VIEWS: Final = frozenset(map(id, (*map(type, ({}.keys(), {}.values(), {}.items())),
    type(OrderedDict().keys()), type(OrderedDict().values()), type(OrderedDict().items()))))  # fmt: skip
"""Types of views, by identity."""


def _held(iterator: Any) -> list[Any]:
    """The objects that an iterator refers to, its type excepted, in the order of its fields."""
    return [part for part in gc.get_referents(iterator) if part is not type(iterator)]


@hidden
def source_of(value: Any) -> Any:
    """The container that a view or an iterator reads; None for any other object, and at the end of an iterator."""
    if id(type(value)) in _OF_VIEWS or id(type(value)) in _OF_CONTAINERS:
        held = _held(value)
        return held[0] if held else None
    return None


@hidden
def is_live(source: Any) -> bool:
    """Whether items may get metadata in a source after an iterator over it has been made."""
    kind = id(type(source))
    return kind in _OF_VIEWS or kind in PLACES or is_a(source, (list, dict, set, deque))


# ---- iterators over containers


def _slot(store: Store, owner: Any, key: Any, value: Any) -> Metas | None:
    entry = store.items.of(owner)
    slot = entry.slots.get(key) if entry is not None else None
    return slot[1] if slot is not None and slot[0] is value else None


@hidden
def _forward(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    """An iterator over a sequence."""
    owner = source_of(iterator)
    if owner is None or id(owner) not in store.items.entries:
        return None
    return _slot(store, owner, size_of(owner) - iterator.__length_hint__() - back, value)


@hidden
def _backward(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    """A reversed sequence."""
    owner = source_of(iterator)
    if owner is None or id(owner) not in store.items.entries or not is_a(owner, SEQUENCES):
        return None
    return _slot(store, owner, iterator.__length_hint__() - 1 + back, value)


@hidden
def _at_key(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    """An iterator over the values of a dict, in either direction."""
    owner = source_of(iterator)
    if owner is None or id(owner) not in store.items.entries:
        return None
    known = store.views.make(iterator)
    if known.extra is None:
        known.extra = list(dict.keys(owner))
    keys, left = known.extra, iterator.__length_hint__()
    index = left - 1 + back if type(iterator) is _REVERSED_VALUES else len(keys) - left - back
    return _slot(store, owner, keys[index], value) if 0 <= index < len(keys) else None


@hidden
def _at_own_key(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    """An iterator over the pairs of a dict's keys and values."""
    owner = source_of(iterator)
    if owner is not None and id(owner) in store.items.entries:
        add_to_pair(store, value, _slot(store, owner, value[0], value[1]))
    return None


@hidden
def _element(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    """An iterator over a set."""
    owner = source_of(iterator)
    if owner is None or id(owner) not in store.items.entries:
        return None
    slot = store.slots_by_key(owner).get(value)
    return slot[1] if slot is not None and slot[0] is value else None


@hidden
def add_to_pair(store: Store, pair: tuple[Any, Any], metas: Metas | None) -> None:
    """Give metadata to the second part of a pair that has none."""
    if metas is not None and store.items.of(pair) is None:
        store.set_item_metas(pair, [None, metas])


# ---- iterators over other iterators, which were made without their metadata


@hidden
def _last(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    """An iterator that hands on the item which the first iterator that it holds has given last."""
    return metas_of_taken(store, _held(iterator)[0], value) if back == 1 else None


@hidden
def _last_of_chain(store: Store, iterator: Any, value: Any, back: int) -> Metas | None:
    return metas_of_taken(store, _held(iterator)[-1], value, back)


@hidden
def _tuple_of(store: Store, value: tuple[Any, ...], sources: Any) -> None:
    """A tuple whose parts are items of iterators: for each part, the iterator and how many items ago it gave it."""
    found = store.item_metas(value) or [None] * len(value)
    for number, (iterator, back) in enumerate(sources):
        if found[number] is None:
            found[number] = metas_of_taken(store, iterator, value[number], back)
    store.set_item_metas(value, found)


@hidden
def _one_of_each(store: Store, iterator: Any, value: Any, back: int) -> None:
    if back == 1:
        _tuple_of(store, value, zip(iterator.__reduce__()[1], itertools.repeat(1)))


@hidden
def _after_number(store: Store, iterator: Any, value: Any, back: int) -> None:
    _tuple_of(store, value, ((None, back), (_held(iterator)[0], back)))


@hidden
def _latest(store: Store, iterator: Any, value: Any, back: int) -> None:
    if back == 1:
        _tuple_of(store, value, zip(itertools.repeat(_held(iterator)[0]), range(len(value), 0, -1)))


_REVERSED_VALUES: Final[type] = type(reversed({}.values()))
_OF_CONTAINERS: Final[dict[int, Place]] = {
    **dict.fromkeys(map(id, (type(iter([])), type(iter(())), type(iter(deque())))), _forward),
    **dict.fromkeys(map(id, (type(reversed([])), type(reversed(())), type(reversed(deque())))), _backward),
    **dict.fromkeys(map(id, (type(iter({}.values())), _REVERSED_VALUES)), _at_key),
    **dict.fromkeys(map(id, (type(iter({}.items())), type(reversed({}.items())))), _at_own_key),
    id(type(iter(set()))): _element,
}
PLACES: Final[dict[int, Place]] = {
    **_OF_CONTAINERS,
    **dict.fromkeys(
        map(
            id,
            (
                filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.islice,
                itertools.compress,
            ),
        ),
        _last,
    ),
    id(itertools.chain): _last_of_chain,
    id(zip): _one_of_each,
    id(enumerate): _after_number,
    **dict.fromkeys(map(id, (itertools.pairwise, getattr(itertools, "batched", itertools.pairwise))), _latest),
}  # fmt: skip
"""By the identity of an iterator's type: how the metadata of its items is found in the sources."""


@hidden
def metas_of_taken(store: Store, iterator: Any, value: Any, back: int = 1) -> Metas | None:
    """The metadata of an item that an iterator has given, according to what the iterator reads."""
    place = PLACES.get(id(type(iterator)))
    return place(store, iterator, value, back) if place is not None else None
