"""Proxies of iterables and callbacks for code of the interpreter, so that wrappers pass through it.

A stepper returns wrapped items only while the program itself asks for the next item: a leaf that advances the iterator
gets plain ones.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Sequence
from functools import partial
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c, rewrapped_result
from cassette_import.runtime.tagging.handover import returned
from cassette_import.runtime.tagging.held_metadata import HELD_VALUES, SEQUENCES
from cassette_import.runtime.tagging.iterator_metadata import (
    LEAVING_WRAPPERS,
    STEPS,
    has_iterator_of_c,
    is_live,
    may_have_tagged_items,
    metas_of_taken,
    next_item,
    start_iterator,
)
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import RECEIVER
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain, wrapped

_intercept: Final = intercept_if_active(Events.CALLS)


class Stepper:
    """An iterator from which code of the interpreter takes items."""

    __slots__ = ("_iterator", "_store")

    @hidden
    def __init__(self, store: Store, iterator: Any) -> None:
        self._store = store
        self._iterator = iterator

    @hidden
    def __iter__(self) -> Any:
        return self

    @hidden
    def __next__(self) -> Any:
        if LOCAL.wants_wrapped:
            return next_item(self._store, self._iterator)
        return plain(next(self._iterator))


class LiveSources:
    """Iterators from which code of the interpreter takes the arguments of a callback, without a stepper."""

    __slots__ = ("_iterators", "_store")

    def __init__(self, store: Store, iterators: Sequence[Any]) -> None:
        self._store = store
        self._iterators = iterators

    @hidden
    def wrapped(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """The items that the iterators have given last, wrapped where they have metadata."""
        if not (self._store.items.entries or any(map(_is_watched, self._iterators))):
            return items
        return tuple(
            [
                item if type(item) is Tagged else wrapped(item, metas_of_taken(self._store, iterator, item))
                for iterator, item in zip(self._iterators, items, strict=False)
            ]
        )


def _is_watched(iterator: Any) -> bool:
    """Whether an iterator is a proxy in C, which knows the item that it has given last."""
    return not DISPATCH.reason and type(iterator) is DISPATCH.WatchedSource


class EventCallback:
    """A callback that code of the interpreter calls with items: the call is an event, and wrappers pass through it."""

    __slots__ = ("_function", "_sources")

    @hidden
    def __init__(self, function: Any, sources: LiveSources | None = None) -> None:
        self._function = function
        self._sources = sources

    @hidden
    def __call__(self, *arguments: Any) -> Any:
        if not (FLAGS[METADATA_EXISTS] or LOCAL.wants_wrapped):
            result = _intercept(self._function)(*arguments)
            return returned(result) if FLAGS[METADATA_EXISTS] else result
        if self._sources is not None and FLAGS[METADATA_EXISTS]:
            arguments = self._sources.wrapped(arguments)
        result = self.with_metadata(*arguments)
        return result if not FLAGS[METADATA_EXISTS] or LOCAL.wants_wrapped else returned(result)

    @hidden
    def with_metadata(self, *arguments: Any) -> Any:
        """Call the function; the result is wrapped if it has metadata."""
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self._function(*map(plain, arguments))
        wants_wrapped, LOCAL.wants_wrapped = LOCAL.wants_wrapped, False
        try:
            if not FLAGS[METADATA_EXISTS]:
                return _intercept(self._function)(*arguments)
            return variant.runners[int(Events.CALLS)].event(self._function, *arguments)
        finally:
            LOCAL.wants_wrapped = wants_wrapped


class TestedCallback(EventCallback):
    """A callback whose results code of the interpreter tests: for their truth, or for their sign.

    Without a function, the argument itself is tested. With a source, the argument is the item that was taken last.
    """

    __slots__ = ("_call", "_source")

    @hidden
    def __init__(
        self, call: LeafCall, function: Any, source: LastStepper | None = None, sources: LiveSources | None = None
    ) -> None:
        EventCallback.__init__(self, function, sources)
        self._call = call
        self._source = source

    @hidden
    def __call__(self, *arguments: Any) -> Any:
        if self._source is not None and plain(self._source.last) is plain(arguments[0]):
            arguments = (self._source.last,)
        elif self._sources is not None and FLAGS[METADATA_EXISTS]:
            arguments = self._sources.wrapped(arguments)
        found = arguments[0] if self._function is None else self.with_metadata(*arguments)
        return self._call.test(found)


class LastStepper(Stepper):
    """An iterator that keeps the item which it has returned last, wrapped if it has metadata."""

    __slots__ = ("last",)

    @hidden
    def __init__(self, store: Store, iterator: Any) -> None:
        Stepper.__init__(self, store, iterator)
        self.last: Any = None

    @hidden
    def __next__(self) -> Any:
        self.last = next_item(self._store, self._iterator)
        return self.last if LOCAL.wants_wrapped else plain(self.last)


class RecordingStepper(Stepper):
    """An iterator that keeps all items that code of the interpreter takes. It is started when that code starts it."""

    __slots__ = ("_source", "items")

    @hidden
    def __init__(self, store: Store, source: Any) -> None:
        Stepper.__init__(self, store, None)
        self._source = source
        self.items: list[Any] = []

    @hidden
    def __iter__(self) -> Any:
        if self._iterator is None:
            self._iterator = start_iterator(self._store, self._source)
        return self

    @hidden
    def __next__(self) -> Any:
        item = next_item(self._store, self._iterator)
        self.items.append(item)
        return plain(item)


class HashedStepper(RecordingStepper):
    """The same, whose items code of the interpreter hashes."""

    __slots__ = ("_call",)

    @hidden
    def __init__(self, call: LeafCall, source: Any) -> None:
        RecordingStepper.__init__(self, call.store, source)
        self._call = call

    @hidden
    def __next__(self) -> Any:
        value = RecordingStepper.__next__(self)
        self._call.compare(self.items[-1])
        return value


class TestedStepper(Stepper):
    """An iterator whose items are tested by code of the interpreter."""

    __slots__ = ("_call",)

    @hidden
    def __init__(self, call: LeafCall, source: Any) -> None:
        Stepper.__init__(self, call.store, start_iterator(call.store, source))
        self._call = call

    @hidden
    def __next__(self) -> Any:
        return self._call.test(next_item(self._store, self._iterator))


COMPARED: Final[list[Any]] = []
"""The class `compared_items.Compared`, whose module imports this one, and adds it."""


class KeyCallback:
    """A key function: it gets items wrapped, and code of the interpreter compares its results."""

    __slots__ = ("_call", "_function", "_is_quick", "_items", "_source")

    @hidden
    def __init__(self, call: LeafCall, function: Any, items: Any) -> None:
        self._call = call
        self._function = plain(function)
        self._is_quick = type(function) is FunctionType
        self._source = items if type(items) is RecordingStepper else None
        self._items = {} if self._source else {id(plain(item)): item for item in items if type(item) is Tagged}

    @hidden
    def __call__(self, item: Any) -> Any:
        if self._is_quick and not FLAGS[METADATA_EXISTS]:
            result = self._function(item)
            if not FLAGS[METADATA_EXISTS]:
                return result
            result = rewrapped_result(self._function, result)  # it has tagged the first value
            self._call.compare(result)
            return plain(result)
        if self._source is not None and plain(self._source.items[-1]) is item:
            return self.of_wrapped(self._source.items[-1])
        return self.of_wrapped(self._items.get(id(item), item))

    @hidden
    def of_wrapped(self, item: Any) -> Any:
        """The key of an item, as code of the interpreter compares it."""
        result = self._function(item) if type(self._function) is Callee else self._call.forward(self._function, item)
        return COMPARED[0](self._call, result) if self._call.is_watched else plain(result)


@hidden
def keywords_with_key(call: LeafCall, items: Any) -> dict[str, Any]:
    """The plain keyword arguments of a leaf that compares items, with a `key` that gets them wrapped.

    No context decides how they compare; else they have the form of `compared_items`.
    """
    keywords = call.plain_keywords
    if keywords.get("key") is not None:
        keywords["key"] = KeyCallback(call, keywords["key"], items)
    return keywords


# ---- iterators that were made as plain code: their callbacks get no wrappers


@hidden
def _step_of_map(store: Store, iterator: Any) -> Any:
    """What advances `map` in the place of the interpreter, if the call of the function would be no event."""
    function, *sources = iterator.__reduce__()[1]
    return None if _passes_wrappers(function) else partial(_call_with_items, store, function, sources)


@hidden
def _call_with_items(store: Store, function: Any, sources: list[Any]) -> Any:
    return EventCallback(function).with_metadata(*[next_item(store, source) for source in sources])


@hidden
def _step_of_starmap(store: Store, iterator: Any) -> Any:
    source, function = [part for part in gc.get_referents(iterator) if part is not type(iterator)]
    return None if _passes_wrappers(function) else partial(_call_with_tuple, store, function, source)


@hidden
def _call_with_tuple(store: Store, function: Any, source: Any) -> Any:
    given = plain(next_item(store, source))
    items = store.wrapped_items(given) if type(given) in SEQUENCES else given
    return EventCallback(function).with_metadata(*items)


@hidden
def _step_of_filter(store: Store, iterator: Any) -> Any:
    function, source = iterator.__reduce__()[1]
    return None if function is None or _passes_wrappers(function) else partial(_next_passing, store, function, source)


@hidden
def _next_passing(store: Store, function: Any, source: Any) -> Any:
    test = EventCallback(function)
    while True:
        item = next_item(store, source)
        if plain(test.with_metadata(item)):
            return item


PASSING: Final = set(map(id, (EventCallback, TestedCallback, KeyCallback)))
"""Types of callbacks that rules have made, by identity. `watched_calls` adds its own."""


def _passes_wrappers(function: Any) -> bool:
    """Whether a rule has made the callback of an iterator."""
    return id(type(function)) in PASSING


@hidden
def _map_leaves_wrappers(iterator: Any) -> bool:
    """Whether `map` calls a callback that leaves the wrapper of its result, with items of iterators of C."""
    function, *sources = iterator.__reduce__()[1]
    leaves_wrapper = type(function) is EventCallback or type(function) is getattr(DISPATCH, "WatchedCallback", None)
    return leaves_wrapper and are_iterated_by_c((*sources,), {})


LEAVING_WRAPPERS[id(map)] = _map_leaves_wrappers
STEPS.update({id(map): _step_of_map, id(itertools.starmap): _step_of_starmap, id(filter): _step_of_filter})
HELD_VALUES[id(EventCallback)] = lambda callback: (callback._function,)
HELD_VALUES[id(TestedCallback)] = lambda callback: (callback._function,)
_STEPPERS: Final = (Stepper, LastStepper, RecordingStepper, HashedStepper, TestedStepper)
HELD_VALUES.update(dict.fromkeys(map(id, _STEPPERS), lambda stepper: (stepper._iterator,)))


@hidden
def source_for_c(call: LeafCall, source: Any) -> Any:
    """A source from which code of the interpreter takes items."""
    if may_have_tagged_items(call.store, source):
        return Stepper(call.store, start_iterator(call.store, source))
    return plain(source)


@hidden
def bare_callback(function: Any) -> Any:
    """A callback without the proxy that makes its call an event; it is one anyway, and wrappers pass through it."""
    if type(function) is Tagged and RECEIVER in function._tagged_metas:
        return function
    function = plain(function)
    return function.args[0] if type(function) is Callee else function


@hidden
def callback_for_c(function: Any, sources: LiveSources | None = None) -> Any:
    """A callback that code of the interpreter calls."""
    function = bare_callback(function)
    return EventCallback(function, sources) if callable(function) else function


@hidden
def live_source(source: Any) -> Any:
    """A source that is not known to have metadata: its iterator, if its items may get metadata later."""
    return iter(source) if is_live(source) and has_iterator_of_c(source) else source


@hidden
def live_sources(store: Store, sources: list[Any]) -> LiveSources | None:
    """The sources of a callback's arguments, if there are some from which no stepper takes the items."""
    return LiveSources(store, sources) if any(map(is_live, sources)) else None
