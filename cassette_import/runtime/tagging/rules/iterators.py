"""Rules for what iterates: `iter`, `next`, and the functions that hand items on, lazily or at once.

An iterator is a real one, of C. If its source has metadata, a cursor goes along with it; what takes items from several
sources, or hands them to functions, takes them through steppers of ours. Steppers give wrapped items only while the
program itself asks for the next one: a leaf that advances the iterator gets plain items.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterator
from types import FunctionType, GeneratorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.computed_values import flows, items_of
from cassette_import.runtime.tagging.fast_path import always, are_whole, claiming, steps_plainly
from cassette_import.runtime.tagging.overdubbed_calls import runs_overdubbed
from cassette_import.runtime.tagging.propagation import Call, rule, store_of, tidy
from cassette_import.runtime.tagging.shadow_store import SEQUENCES, Store, size_of
from cassette_import.runtime.tagging.wrappers import LOCAL, Metas, Tagged, plain

LAZY_TYPES: Final = tuple(
    kind
    for kind in (
        GeneratorType, map, filter, zip, enumerate, itertools.chain, itertools.islice, itertools.starmap,
        itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.accumulate, itertools.compress,
        itertools.zip_longest, itertools.pairwise, itertools.groupby, getattr(itertools, "batched", None),
    )
    if kind is not None
)  # fmt: skip
"""Types of iterators that hand on what others give."""
_LAZY: Final = frozenset(map(id, LAZY_TYPES))

# ---- cursors


def _forward(store: Store, owner: Any, numbers: Iterator[int]) -> Callable[[Any], Metas | None]:
    def metas(value: Any) -> Metas | None:
        entry, number = store.items.of(owner), next(numbers, -1)
        slot = entry.slots.get(number) if entry is not None else None
        return slot[1] if slot is not None and slot[0] is value else None

    return metas


def _by_key(store: Store, owner: Any, keys: Iterator[Any]) -> Callable[[Any], Metas | None]:
    def metas(value: Any) -> Metas | None:
        entry, key = store.items.of(owner), next(keys, None)
        slot = entry.slots.get(key) if entry is not None else None
        return slot[1] if slot is not None and slot[0] is value else None

    return metas


def _elements(store: Store, owner: Any) -> Callable[[Any], Metas | None]:
    def metas(value: Any) -> Metas | None:
        slot = store.keyed(owner).get(value)
        return slot[1] if slot is not None and slot[0] is value else None

    return metas


@hidden
def start(store: Store, source: Any) -> Any:
    """An iterator, and a cursor if its source has metadata."""
    given, source = source, plain(source)
    iterator = iter(source)
    cursor: Any = None
    view = store.views.of(source)
    if view is not None:
        owner, kind = view.extra
        own = type(lookup(type(owner), "__iter__")) is FunctionType
        keys = iter(list(dict.keys(owner) if own else owner))
        by_key = _by_key(store, owner, keys)
        cursor = by_key if kind == "values" else (lambda pair: by_key(pair[1]))
    elif iterator is not source and store.items.of(source) is not None:
        if id(type(iterator)) in _SEQUENCE_ITERATORS:
            cursor = _forward(store, source, itertools.count())
        elif is_a(source, (set, frozenset)):
            cursor = _elements(store, source)
    if cursor is None and id(type(source)) in CURSORS:
        cursor = CURSORS[id(type(source))](given)
    elif cursor is None and flows(given):
        cursor = items_of(given)
    if cursor is not None:
        store.iterators.make(iterator).extra = cursor
    return iterator


CURSORS: Final[dict[int, Callable[[Any], Callable[[Any], Metas | None] | None]]] = {}
"""For sources of further types, by identity, what makes a cursor: it gets each item, and gives its metadata."""

_SEQUENCE_ITERATORS: Final = frozenset(map(id, (type(iter([])), type(iter(())), type(iter(deque())))))


@hidden
def step(store: Store, iterator: Any, take: Callable[[], Any] | None = None) -> Any:
    """The next item, or what else `take` gives when it advances the iterator; wrapped if it has metadata."""
    before = LOCAL.observed
    LOCAL.returned, LOCAL.observed = None, type(iterator) is not GeneratorType or not runs_overdubbed(iterator)
    try:
        value = next(iterator) if take is None else take()
    finally:
        LOCAL.observed = before
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found
    if type(value) is tuple:
        value = tidy(value)
    entry = store.iterators.of(iterator)
    if entry is None or type(value) is Tagged:
        return value
    metas = entry.extra(value)
    if metas is None:
        return value
    if type(value) is tuple and store.items.of(value) is None and len(value) == 2:
        slot = _pair_metas(store, iterator, value, metas)
        if slot:
            return value
    return Tagged(value, metas)


_ITEMS_ITERATORS: Final = frozenset(map(id, (type(iter({}.items())), type(reversed({}.items())))))


def _pair_metas(store: Store, iterator: Any, pair: tuple[Any, Any], metas: Metas) -> bool:
    """The metadata of a dict's value, which is the second of a pair."""
    if id(type(iterator)) not in _ITEMS_ITERATORS:
        return False
    store.set_parts(pair, [None, metas])
    return True


class Stepper:
    """An iterator for C code to take items from."""

    __slots__ = ("_iterator", "_store")

    def __init__(self, store: Store, iterator: Any) -> None:
        self._store = store
        self._iterator = iterator

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        if LOCAL.observed:
            return step(self._store, self._iterator)
        return plain(next(self._iterator))


class Conveyor:
    """A function that C code calls with items: the call is an event, and wrappers go through it."""

    __slots__ = ("_function",)

    def __init__(self, function: Any) -> None:
        self._function = function

    @hidden
    def __call__(self, *arguments: Any) -> Any:
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self._function(*map(plain, arguments))
        observed, LOCAL.observed = LOCAL.observed, False
        try:
            result = variant.runners[int(Events.CALLS)].event(self._function, *arguments)
        finally:
            LOCAL.observed = observed
        return result if observed else plain(result)


_hidden = hidden(Stepper.__init__), hidden(Conveyor.__init__)


def may_carry(store: Store, source: Any) -> bool:
    """Whether items of a source may have metadata."""
    if type(source) is Tagged:
        given, source = source, source._tagged_value
        if flows(given) and lookup(type(source), "__iter__") is not None:
            return True
    if id(type(source)) in _LAZY or id(type(source)) in CURSORS:
        return True
    if id(source) in store.items.entries or id(source) in store.iterators.entries or id(source) in store.views.entries:
        return True
    return type(lookup(type(source), "__iter__")) is FunctionType


@hidden
def carried(call: Call, source: Any) -> Any:
    """A source for C code to take items from."""
    return Stepper(call.store, start(call.store, source)) if may_carry(call.store, source) else plain(source)


@hidden
def observed(call: Call, source: Any) -> Iterator[Any]:
    """The items of a source, one after the other, wrapped where they have metadata."""
    if not may_carry(call.store, source):
        return iter(plain(source))
    iterator = start(call.store, source)
    return itertools.starmap(step, itertools.repeat((call.store, iterator)))


@hidden
def items_outside(source: Any) -> list[Any]:
    """The items of an iterable that an overload was given, as the program would have got them: wrapped."""
    here = ACTIVE.get()
    activation = here.suspended or here
    store = store_of(activation)
    if store is None:
        return list(source)
    token = ACTIVE.set(activation)
    try:
        return list(observed(Call(activation, store, list, list, (), (source,), {}), source))
    finally:
        ACTIVE.reset(token)


@hidden
def callback(function: Any) -> Any:
    """A function that was given to a leaf, without what makes an event of its call: the call is one anyway, and
    wrappers are to go through it."""
    function = plain(function)
    return function.args[0] if type(function) is Callee else function


@hidden
def _conveyed(function: Any) -> Any:
    function = callback(function)
    return (
        Conveyor(function)
        if (callable(function) and not is_a(function, type)) or function in (float, int)
        else function
    )


# ---- one at a time


@rule(builtins.iter)
@hidden
def begin(call: Call) -> Any:
    return call.native() if len(call.arguments) != 1 or call.keywords else start(call.store, call.arguments[0])


@hidden
def next_steps_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """The same of `next`."""
    return bool(arguments) and steps_plainly(arguments[0])


@claiming(next, idle=next_steps_plainly)
@rule(next)
@hidden
def advance(call: Call) -> Any:
    if not 1 <= len(call.arguments) <= 2 or call.keywords:
        return call.native()
    try:
        iterator = call.arguments[0]
        if type(iterator) is Tagged:
            iterator = start(call.store, iterator) if flows(iterator) else plain(iterator)
        return step(call.store, iterator)
    except StopIteration:
        if len(call.arguments) == 2:
            return call.arguments[1]
        raise


@rule(reversed)
@hidden
def backward(call: Call) -> Any:
    source = plain(call.given[0])
    iterator = call.native()
    if is_a(source, SEQUENCES) and call.store.items.of(source) is not None:
        call.store.iterators.make(iterator).extra = _forward(
            call.store, source, iter(range(size_of(source) - 1, -1, -1))
        )
    elif flows(call.given[0]):
        call.store.iterators.make(iterator).extra = items_of(call.given[0])
    return iterator


# ---- lazily


@always(map, filter)
@always(zip, enumerate, idle=are_whole)
@rule(zip, enumerate, itertools.chain, itertools.islice, itertools.zip_longest, itertools.pairwise, itertools.compress)
@hidden
def hand_on(call: Call) -> Any:
    """Functions all of whose iterable arguments are sources."""
    given = [carried(call, item) if _is_source(item) else plain(item) for item in call.given]
    keywords = {
        name: carried(call, item) if name == "iterable" else plain(item) for name, item in call.keywords.items()
    }
    return call.callee(*given, **keywords)


def _is_source(item: Any) -> bool:
    return not is_a(item, (str, bytes, int)) and lookup(type(plain(item)), "__iter__") is not None


if hasattr(itertools, "batched"):
    rule(itertools.batched)(hand_on)


@rule(vars(itertools.chain)["from_iterable"])
@hidden
def chain_all(call: Call) -> Any:
    return call.callee(map(functools.partial(carried, call), observed(call, call.given[0])))


class _Spreader(Stepper):
    """A stepper whose items are arguments."""

    __slots__ = ()

    @hidden
    def __next__(self) -> Any:
        item = Stepper.__next__(self)
        return tuple(self._store.items_of(plain(item))) if LOCAL.observed and type(plain(item)) in SEQUENCES else item


@rule(itertools.starmap)
@hidden
def spread(call: Call) -> Any:
    """A function, and a source of its arguments."""
    function, source = call.given
    return call.callee(_conveyed(function), _Spreader(call.store, start(call.store, source)))


@rule(map, filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse)
@hidden
def convey(call: Call) -> Any:
    """A function, and sources of its arguments."""
    if len(call.given) < 2:
        return call.native()
    function, *sources = call.given
    return call.callee(_conveyed(function), *map(functools.partial(carried, call), sources), **call.options)


@rule(itertools.accumulate)
@hidden
def accumulate(call: Call) -> Any:
    source, *more = call.given
    function = _conveyed(more[0] if more else call.keywords.get("func")) or Conveyor(operator.add)
    return call.callee(carried(call, source), function, initial=plain(call.keywords.get("initial")))
