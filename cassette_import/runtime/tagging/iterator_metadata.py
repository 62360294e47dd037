"""How the items of an iterator get their metadata.

An iterator is the interpreter's own. If its source has metadata, a cursor goes along with it: a function that gets each
item and returns its metadata. Knows iterators and the shadow store; must not know functions that make iterators.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from types import FunctionType, GeneratorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.computed_metadata import cursor_of_whole, has_contents, is_computed_from
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.overdubbed_calls import runs_overdubbed
from cassette_import.runtime.tagging.rewritten_code import tidy
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

Cursor = Callable[[Any], Metas | None]

CURSORS: Final[dict[int, Callable[[Any], Cursor | None]]] = {}
"""For sources of further types, by the identity of the type: a function that makes a cursor, or returns None.
`contexts.autodiff.arrays.modes` adds arrays; this table is empty otherwise."""


class _Indexed:
    """An object of the old protocol of sequences, which has no `__iter__`."""

    def __getitem__(self, index: int) -> Any: ...

    def __len__(self) -> int: ...  # type: ignore[empty-body]


LAZY_TYPES: Final = tuple(
    kind
    for kind in (
        GeneratorType, map, filter, zip, enumerate, itertools.chain, itertools.islice, itertools.starmap,
        itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.accumulate, itertools.compress,
        itertools.zip_longest, itertools.pairwise, itertools.groupby, getattr(itertools, "batched", None),
        itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement,
        itertools.cycle, itertools.repeat, type(iter(int, 1)), type(iter(_Indexed())), reversed,
    )
    if kind is not None
)  # fmt: skip
"""Types of iterators that hand on the items of other iterators."""
_LAZY: Final = frozenset(map(id, LAZY_TYPES))
_SEQUENCE_ITERATORS: Final = frozenset(map(id, (type(iter([])), type(iter(())), type(iter(deque())))))
_ITEMS_ITERATORS: Final = frozenset(
    map(id, (type(iter({}.items())), type(reversed({}.items())), type(iter(OrderedDict().items()))))
)

# ---- cursors


def cursor_by_index(store: Store, owner: Any, numbers: Iterator[int]) -> Cursor:
    """A cursor over the items of a sequence at some indices."""

    def metas(value: Any) -> Metas | None:
        entry, number = store.items.of(owner), next(numbers, -1)
        slot = entry.slots.get(number) if entry is not None else None
        return slot[1] if slot is not None and slot[0] is value else None

    return metas


def _cursor_by_key(store: Store, owner: Any, keys: Iterator[Any]) -> Cursor:
    """A cursor over the values of a dict at some keys."""

    def metas(value: Any) -> Metas | None:
        entry, key = store.items.of(owner), next(keys, None)
        slot = entry.slots.get(key) if entry is not None else None
        return slot[1] if slot is not None and slot[0] is value else None

    return metas


def _cursor_of_elements(store: Store, owner: Any) -> Cursor:
    """A cursor over the elements of a set."""

    def metas(value: Any) -> Metas | None:
        slot = store.slots_by_key(owner).get(value)
        return slot[1] if slot is not None and slot[0] is value else None

    return metas


def _cursor_of_view(store: Store, owner: Any, kind: str) -> Cursor:
    """A cursor over `values()` or `items()` of a dict."""
    start = lookup(type(owner), "__iter__")  # that of an `OrderedDict` has an order of its own
    by_key = _cursor_by_key(store, owner, iter(list(dict.keys(owner) if type(start) is FunctionType else start(owner))))
    return by_key if kind == "values" else (lambda pair: by_key(pair[1]))


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
    view = store.views.of(source)
    if view is not None:
        cursor = _cursor_of_view(store, *view.extra)
    elif (
        iterator is not source
        and store.items.of(source) is not None
        and (start is not iter or has_iterator_of_c(source))
    ):
        if id(type(iterator)) in _SEQUENCE_ITERATORS:
            cursor = cursor_by_index(store, source, itertools.count())
        elif is_a(source, (set, frozenset)):
            cursor = _cursor_of_elements(store, source)
    if cursor is None and id(type(source)) in CURSORS:
        cursor = CURSORS[id(type(source))](given)
    elif cursor is None and (is_computed_from(given) or has_contents(store, source)):
        cursor = cursor_of_whole(given)
    if cursor is not None:
        store.iterators.make(iterator).extra = cursor
    return iterator


@hidden
def next_item(store: Store, iterator: Any, take: Callable[[], Any] | None = None) -> Any:
    """The next item, wrapped if it has metadata. `take` advances the iterator in another way than `next` does."""
    before = LOCAL.wants_wrapped
    LOCAL.returned, LOCAL.wants_wrapped = None, type(iterator) is not GeneratorType or not runs_overdubbed(iterator)
    try:
        value = next(iterator) if take is None else take()
    except StopIteration as stop:
        if type(iterator) is GeneratorType and runs_overdubbed(iterator):
            keep_returned_value(store, stop)
        elif stop.value is not None:
            LOCAL.stopped = _wrapped_value(store, stop)
        raise
    finally:
        LOCAL.wants_wrapped = before
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found
    if type(value) is tuple:
        value = tidy(value)
    entry = store.iterators.of(iterator)
    if type(value) is Tagged:
        return value
    metas = entry.extra(value) if entry is not None else None
    if metas is None:
        return store.recognised.wrapped(value)
    if type(value) is tuple and _is_item_of_dict(store, iterator, value):
        store.set_item_metas(value, [None, metas])  # the metadata is that of the dict's value
        return value
    return Tagged(value, metas)


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
def _is_item_of_dict(store: Store, iterator: Any, value: tuple[Any, ...]) -> bool:
    """Whether a tuple is a pair of a dict's key and value, without metadata of its items."""
    return id(type(iterator)) in _ITEMS_ITERATORS and len(value) == 2 and store.items.of(value) is None


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
    if id(source) in store.items.entries or id(source) in store.iterators.entries or id(source) in store.views.entries:
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
    return itertools.starmap(next_item, itertools.repeat((call.store, iterator)))


@hidden
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
