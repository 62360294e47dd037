"""Proxies of iterables and callbacks for code of the interpreter, so that wrappers pass through it.

A stepper returns wrapped items only while the program itself asks for the next item: a leaf that advances the iterator
gets plain ones. Knows how items get their metadata; must not know which functions take iterables or callbacks.
"""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.handover import returned
from cassette_import.runtime.tagging.held_metadata import HELD_VALUES
from cassette_import.runtime.tagging.iterator_metadata import may_have_tagged_items, next_item, start_iterator
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import plain


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


class EventCallback:
    """A callback that code of the interpreter calls with items: the call is an event, and wrappers pass through it."""

    __slots__ = ("_function",)

    @hidden
    def __init__(self, function: Any) -> None:
        self._function = function

    @hidden
    def __call__(self, *arguments: Any) -> Any:
        result = self.with_metadata(*arguments)
        return result if LOCAL.wants_wrapped else returned(result)

    @hidden
    def with_metadata(self, *arguments: Any) -> Any:
        """Call the function; the result is wrapped if it has metadata."""
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self._function(*map(plain, arguments))
        wants_wrapped, LOCAL.wants_wrapped = LOCAL.wants_wrapped, False
        try:
            return variant.runners[int(Events.CALLS)].event(self._function, *arguments)
        finally:
            LOCAL.wants_wrapped = wants_wrapped


HELD_VALUES[id(EventCallback)] = lambda callback: (callback._function,)
HELD_VALUES[id(Stepper)] = lambda stepper: (stepper._iterator,)


@hidden
def source_for_c(call: LeafCall, source: Any) -> Any:
    """A source from which code of the interpreter takes items."""
    if may_have_tagged_items(call.store, source):
        return Stepper(call.store, start_iterator(call.store, source))
    return plain(source)


@hidden
def bare_callback(function: Any) -> Any:
    """A callback without the proxy that makes its call an event; it is one anyway, and wrappers pass through it."""
    function = plain(function)
    return function.args[0] if type(function) is Callee else function


@hidden
def callback_for_c(function: Any) -> Any:
    """A callback that code of the interpreter calls."""
    function = bare_callback(function)
    return EventCallback(function) if callable(function) else function
