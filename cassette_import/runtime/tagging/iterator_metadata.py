"""How the items of an iterator get their metadata.

An iterator is the interpreter's own. If its source has metadata, a cursor goes along with it: a function that gets
each item and returns its metadata.
"""

from __future__ import annotations

import functools
import gc
import itertools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from types import FunctionType, GeneratorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.tagging.computed_metadata import cursor_of_whole, has_contents, is_computed_from
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, size_of
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.overdubbed_calls import runs_overdubbed
from cassette_import.runtime.tagging.plain_bodies import lose_held_items, note_resumption
from cassette_import.runtime.tagging.rewritten_code import tidy
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- what the interpreter's views and iterators read: the container behind one, and the place of the item taken last
#
# A view or an iterator may be older than the metadata of what it reads. So nothing is kept when it is made: the item
# that it has given is looked up in its source, at the place where the iterator stands.

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


# ---- how the items of an iterator get their metadata

_GROUP: Final = type(next(itertools.groupby("a"))[1])

STEPS: Final[dict[int, Callable[[Store, Any], Callable[[], Any] | None]]] = {}
"""By the identity of an iterator's type: how it is advanced if it was made as plain code. `c_callers` adds them."""

_KEEPING: Final = frozenset(
    map(
        id,
        (
            itertools.accumulate, itertools.groupby, _GROUP, itertools.zip_longest,
            itertools.cycle, type(itertools.tee(())[0]),
        ),
    )
)  # fmt: skip
"""Types of iterators, by identity, whose items cannot be found in their sources if they were made as plain code."""

Cursor = Callable[[Any], Metas | None]

CURSORS: Final[dict[int, Callable[[Any], Cursor | None]]] = {}
"""For sources of further types, by the identity of the type: a function that makes a cursor, or returns None.
Contexts in which arrays have metadata add arrays; this table is empty otherwise."""


CURSORS_HELD: Final[dict[int, Callable[[Store, Any], Cursor | None]]] = {}
"""By the identity of an iterator's type: a function that makes a cursor of what the iterator itself holds."""


class _Indexed:
    """An object of the old protocol of sequences, which has no `__iter__`."""

    def __getitem__(self, index: int) -> Any: ...

    def __len__(self) -> int: ...  # type: ignore[empty-body]  # of a protocol


LAZY_TYPES: Final = tuple(
    kind
    for kind in (
        GeneratorType, map, filter, zip, enumerate, itertools.chain, itertools.islice, itertools.starmap,
        itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.accumulate, itertools.compress,
        itertools.zip_longest, itertools.pairwise, itertools.groupby, getattr(itertools, "batched", None),
        itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement,
        itertools.cycle, itertools.repeat, _GROUP, type(iter(int, 1)), type(iter(_Indexed())), reversed,
    )
    if kind is not None
)  # fmt: skip
"""Types of iterators that hand on the items of other iterators."""
_LAZY: Final = frozenset(map(id, LAZY_TYPES))

# ---- cursors


@hidden
def _cursor_of_ordered_view(store: Store, view: Any, iterator: Any) -> Cursor:
    """A cursor over `values()` or `items()` of an `OrderedDict`, whose iterator does not say where it stands."""
    owner = source_of(view)
    start = lookup(type(owner), "__iter__")
    keys = iter(list(OrderedDict.__iter__(owner) if type(start) is FunctionType else start(owner)))

    @hidden
    def metas(value: Any) -> Metas | None:
        key, pair = next(keys, None), type(view) is _ORDERED_ITEMS
        slot = store.slots_by_key(owner).get(key)
        found = slot[1] if slot is not None and slot[0] is (value[1] if pair else value) else None
        if pair:
            add_to_pair(store, value, found)
        return None if pair else found

    return metas


_ORDERED_ITEMS: Final[type] = type(OrderedDict().items())
ORDERED_VIEWS: Final = frozenset(map(id, (_ORDERED_ITEMS, type(OrderedDict().values()))))
"""Types of views, by identity, whose iterators need a cursor."""


# ---- iteration


def has_iterator_of_c(source: Any) -> bool:
    """Whether no class of the program defines the iterator of a container."""
    return type(lookup(type(source), "__iter__")) is WrapperDescriptorType


@hidden
def start_iterator(store: Store, source: Any, start: Callable[[Any], Any] = iter) -> Any:
    """An iterator over a source, with a cursor if the source has metadata."""
    given, source = source, plain(source)
    iterator = start(source)
    cursor: Any = None
    if id(type(source)) in ORDERED_VIEWS:
        cursor = _cursor_of_ordered_view(store, source, iterator)
    if cursor is None and id(type(source)) in CURSORS:
        cursor = CURSORS[id(type(source))](given)
    elif cursor is None and (is_computed_from(given) or has_contents(store, source)):
        cursor = cursor_of_whole(given)
    if cursor is not None:
        store.iterators.make(iterator).extra = cursor
    return iterator


@hidden
def next_item(store: Store, iterator: Any, take: Callable[[], Any] | None = None, given: tuple[Any, ...] = ()) -> Any:
    """The next item, wrapped if it has metadata.

    `take` advances the iterator in another way than `next` does, with the values `given`.
    """
    if FLAGS[METADATA_EXISTS]:
        if type(iterator) is GeneratorType:
            if id(iterator) not in store.iterators.entries:  # a rule has made no cursor
                note_resumption(iterator, *given)
        elif id(type(iterator)) in STEPS and take is None and store:
            take = STEPS[id(type(iterator))](store, iterator)
    before = LOCAL.wants_wrapped
    LOCAL.returned, LOCAL.wants_wrapped = None, type(iterator) is not GeneratorType or not runs_overdubbed(iterator)
    try:
        value = next(iterator) if take is None else take()
    except StopIteration as stop:
        _keep_value_of(stop, store, iterator)
        raise
    finally:
        LOCAL.wants_wrapped = before
    return item_taken(store, iterator, value)


@hidden
def item_taken(store: Store, iterator: Any, value: Any) -> Any:
    """An item that an iterator has just given, wrapped if it has metadata."""
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found
    if type(value) is tuple:
        value = tidy(value)
    entry = store.iterators.of(iterator)
    if type(value) is Tagged:
        return value
    find = CURSORS_HELD.get(id(type(iterator))) if entry is None else None
    cursor = entry.extra if entry is not None else None if find is None else find(store, iterator)
    if cursor is not None:
        metas = cursor(value)
    else:
        may_have_some = store.items.entries or id(type(iterator)) in _OF_WATCHED
        metas = metas_of_taken(store, iterator, value) if may_have_some else None
    if metas is not None:
        return Tagged(value, metas)
    value = store.recognised.read(value, type(iterator))
    if cursor is None and id(type(iterator)) in _KEEPING and type(value) is not Tagged:
        if type(value) is tuple:
            store.recognise_parts(value)
        if store.items.of(value) is None:
            lose_held_items(iterator, value)
    return value


@hidden
def claimed_item(value: Any, iterator: Any) -> Any:
    """An item of a plain step during which the first value was tagged."""
    store = store_of(ACTIVE.get())
    item = value if store is None else item_taken(store, iterator, value)
    LOCAL.returned = None
    return item


@hidden
def claimed_stop(stop: StopIteration, iterator: Any) -> None:
    """Keep the value with which an iterator has ended in a plain step during which the first value was tagged."""
    store = store_of(ACTIVE.get())
    if store is not None:
        _keep_value_of(stop, store, iterator)


@hidden
def _keep_value_of(stop: StopIteration, store: Store, iterator: Any) -> None:
    """Keep the metadata of the value with which an iterator has ended."""
    if type(iterator) is GeneratorType and runs_overdubbed(iterator):
        keep_returned_value(store, stop)
    elif stop.value is not None:
        LOCAL.stopped = _wrapped_value(store, stop)


@hidden
def item_of_plain_iterator(value: Any, iterator: Any) -> Any:
    """An item that the interpreter took from an iterator without a cursor, wrapped if it has metadata by now."""
    if type(value) is Tagged:
        return value
    LOCAL.returned = None
    store = store_of(ACTIVE.get())
    if store is None:
        return value
    metas = None
    if store.items.entries and type(iterator) is not _RANGE_ITERATOR:
        metas = metas_of_taken(store, iterator, value)
    if metas is None:
        return store.recognised.read(value, type(iterator)) if store.recognised.slots else value
    return Tagged(value, metas)


_TAKING: Final = (
    zip, enumerate, filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.chain,
    itertools.islice, itertools.compress, itertools.pairwise, getattr(itertools, "batched", itertools.pairwise),
)  # fmt: skip
_OF_WATCHED: Final = frozenset(() if DISPATCH.reason else map(id, _TAKING))
"""Types of iterators, by identity, that may take items from proxies in C, which know the item that they gave last."""

_RANGE_ITERATOR: Final = type(iter(range(0)))


@hidden
def items_to_unpack(sequence: Any) -> tuple[Any, ...]:
    """The items of a tuple or list that the interpreter is about to unpack, wrapped where they have metadata."""
    LOCAL.returned = None
    store = store_of(ACTIVE.get())
    if store is None:
        return tuple(sequence)
    metas = store.item_metas(sequence) if store.items.entries else None
    if metas is None:
        if not store.recognised.slots:
            return tuple(sequence)
        return tuple([store.recognised.read(item, type(sequence)) for item in sequence])
    return tuple(
        [
            store.recognised.read(item, type(sequence)) if found is None else Tagged(item, found)
            for item, found in zip(sequence, metas, strict=True)
        ]
    )


@hidden
def _wrapped_value(store: Store, stop: StopIteration) -> Any:
    """The value with which an iterator has ended that is no overdubbed generator: None if it has no metadata."""
    found = LOCAL.returned
    if found is not None and found._tagged_value is stop.value:
        return found  # the `__await__` of an overdubbed coroutine, for example
    entry = store.items.of(stop.args)  # an overdubbed `__next__` has raised the exception
    slot = entry.slots.get(0) if entry is not None else None
    return Tagged(*slot) if slot is not None and slot[0] is stop.value else None


@hidden
def keep_returned_value(store: Store, stop: StopIteration) -> None:
    """Keep the metadata of the value that an overdubbed body has returned, as that of the attribute `value`."""
    found = LOCAL.returned
    if found is not None and found._tagged_value is stop.value:
        store.store_part(store.attributes, stop, "value", found)
        store.bind_items(stop.args, (found,))


@hidden
def is_iterable(source: Any) -> bool:
    """Whether an object has `__iter__`, or `__getitem__` of the old protocol of sequences."""
    kind = type(source)
    return lookup(kind, "__iter__") is not None or lookup(kind, "__getitem__") is not None


def may_have_tagged_items(store: Store, source: Any) -> bool:
    """Whether items of a source may have metadata."""
    if type(source) is Tagged:
        given, source = source, source._tagged_value
        if is_computed_from(given) and lookup(type(source), "__iter__") is not None:
            return True
    if id(type(source)) in _LAZY or id(type(source)) in CURSORS:
        return True
    if id(source) in store.items.entries or id(source) in store.iterators.entries or id(type(source)) in ORDERED_VIEWS:
        return True
    if store.items.entries and (read := source_of(source)) is not None and id(read) in store.items.entries:
        return True
    if type(source) is dict and store.recognised.has_part(source):
        return True
    method = lookup(type(source), "__iter__") or lookup(type(source), "__getitem__")
    return type(method) is FunctionType or has_contents(store, source)


@hidden
def iterate_wrapped(call: LeafCall, source: Any) -> Iterator[Any]:
    """The items of a source one after the other, wrapped where they have metadata."""
    if not may_have_tagged_items(call.store, source):
        return iter(plain(source))
    iterator = start_iterator(call.store, source)
    leaves_wrappers = LEAVING_WRAPPERS.get(id(type(iterator)))
    if _STEPS_IN_C is not None and leaves_wrappers is not None and leaves_wrappers(iterator):
        steps: Iterator[Any] | None = _STEPS_IN_C.steps(iterator, None)
        if steps is not None:
            return steps
    return itertools.starmap(next_item, itertools.repeat((call.store, iterator)))


# ---- iterators that keep the wrapper of an item until it is asked for: while nothing is tagged, C takes the items

LEAVING_WRAPPERS: Final[dict[int, Callable[[Any], bool]]] = {id(GeneratorType): runs_overdubbed}
"""By the identity of an iterator's type, whether an iterator does so. `c_callers` adds some."""


@hidden
def _kinds_of(variant: Any) -> Any:
    """What the extension asks of a variant: whether values may be tagged; it need not know more iterators."""
    return (_NO_TYPES, _NO_TYPES, None) if variant.tagging else None


@hidden
def _later_steps(iterator: Any) -> tuple[object, Callable[[], Any]]:
    """What takes the items as soon as there is metadata; it raises the exception at the end."""
    return _NO_TYPES, functools.partial(_next_here, iterator)


@hidden
def _next_here(iterator: Any) -> Any:
    store = store_of(ACTIVE.get())
    return next(iterator) if store is None else next_item(store, iterator)


_NO_TYPES: Final[frozenset[int]] = frozenset()
_STEPS_IN_C: Final[Any] = (
    None if DISPATCH.reason else DISPATCH.Loop(next_item, _kinds_of, "events", _later_steps, None, claimed_item)
)


@hidden
def iterate_outside(source: Any) -> Iterator[Any]:
    """An iterator over what an overload got, which gives the items wrapped as the program would have got them."""
    here = ACTIVE.get()
    activation = here.suspended or here
    store = store_of(activation)
    return iter(source) if store is None else _IteratorOutside(activation, store, source)


class _IteratorOutside:
    """Advances an iterator in the activation of the program."""

    @hidden
    def __init__(self, activation: Activation, store: Any, source: Any) -> None:
        self._activation = activation
        token = ACTIVE.set(activation)
        try:
            self._items = iter(iterate_wrapped(LeafCall(activation, store, iter, iter, (), (source,), {}), source))
        finally:
            ACTIVE.reset(token)

    @hidden
    def __iter__(self) -> _IteratorOutside:
        return self

    @hidden
    def __next__(self) -> Any:
        token = ACTIVE.set(self._activation)
        try:
            return next(self._items)
        finally:
            ACTIVE.reset(token)


def items_outside(source: Any) -> list[Any]:
    """The items of an iterable that an overload got, wrapped as the program would have got them."""
    here = ACTIVE.get()
    activation = here.suspended or here
    store = store_of(activation)
    if store is None:
        return list(source)
    token = ACTIVE.set(activation)
    try:
        return list(iterate_wrapped(LeafCall(activation, store, list, list, (), (source,), {}), source))
    finally:
        ACTIVE.reset(token)
