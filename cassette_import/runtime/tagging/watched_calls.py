"""What is left of the call of a leaf when the first value is tagged: it takes over from the accelerator.

As long as there is no metadata, the interpreter calls leaves that take items or call functions, with proxies in C in
place of these (`watched_calls.c`). At the first value that is tagged, each proxy makes one of the classes here, which
does for the later steps what the rule of the leaf does. When the call ends, the rule's own function puts the metadata
of the items where they have gone.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.tagging.c_callers import (
    PASSING,
    EventCallback,
    KeyCallback,
    LiveSources,
    TestedCallback,
)
from cassette_import.runtime.tagging.callback_metadata import CALLBACKS, keep_metadata_of_error
from cassette_import.runtime.tagging.fast_path import (
    HOW_LEAVES_ARE_WATCHED,
    STEPPED_OR_WATCHED,
    has_computed_method,
)
from cassette_import.runtime.tagging.handover import returned
from cassette_import.runtime.tagging.held_metadata import HELD_VALUES
from cassette_import.runtime.tagging.iterator_metadata import PLACES, item_taken, next_item
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.thread_state import LEAVES, LOCAL
from cassette_import.runtime.tagging.wrappers import metas_of, plain

_NO_STORE: Final = Store()
"""Where no context of the activation tags, nothing is found."""


@hidden
def call_of(watched: Any) -> LeafCall:
    """The call of the leaf that a source or callback belongs to, without its arguments."""
    return _call(watched.activation, watched.callee, (), {})


@hidden
def _call(activation: Any, callee: Any, given: tuple[Any, ...], keywords: dict[str, Any]) -> LeafCall:
    function, *leading = split(callee)
    store = store_of(activation)
    store = _NO_STORE if store is None else store
    return LeafCall(activation, store, callee, function, tuple(leading), given, keywords)


# ---- sources


class Rest:
    """The rest of a source: code of the interpreter gets plain items, or wrapped ones if the program asks for them."""

    __slots__ = ("_iterator", "_store", "last")

    @hidden
    def __init__(self, watched: Any) -> None:
        store = store_of(watched.activation)
        self._store = _NO_STORE if store is None else store
        self._iterator = watched.iterator
        self.last: Any = None

    @hidden
    def first(self, value: Any) -> Any:
        """The item during whose step the first value was tagged. What asks for it began before that."""
        self.last = item_taken(self._store, self._iterator, value)
        return plain(self.last)

    @hidden
    def ended(self) -> None:
        """The source ended in the step during which the first value was tagged."""

    @hidden
    def __next__(self) -> Any:
        self.last, before = None, LOCAL.returned
        try:
            self.last = next_item(self._store, self._iterator)
        except StopIteration:
            if LOCAL.returned is None:  # what the leaf has got last
                LOCAL.returned = before
            raise
        return self.last if LOCAL.wants_wrapped else plain(self.last)


class RecordedRest(Rest):
    """The same, which keeps all items. `kept` are those before, if the accelerator has kept them."""

    __slots__ = ("_call", "items", "kept")

    @hidden
    def __init__(self, watched: Any) -> None:
        Rest.__init__(self, watched)
        self._call = call_of(watched)
        self.items: list[Any] = []
        self.kept: list[Any] = watched.kept or []

    @hidden
    def first(self, value: Any) -> Any:
        self.keep(item_taken(self._store, self._iterator, value))
        return plain(self.items[-1])

    @hidden
    def __next__(self) -> Any:
        self.keep(next_item(self._store, self._iterator))
        return plain(self.items[-1])

    @hidden
    def keep(self, item: Any) -> None:
        """Keep the next item."""
        self.items.append(item)


class ComparedRest(RecordedRest):
    """The same, whose items code of the interpreter hashes."""

    __slots__ = ()

    @hidden
    def keep(self, item: Any) -> None:
        self.items.append(item)
        self._call.compare(item)


class ComputedRest(RecordedRest):
    """The items of which a leaf computes a value. A leaf without a rule runs from now on, if no context computes
    metadata.
    """

    __slots__ = ("_is_computed", "outer", "thread")

    @hidden
    def __init__(self, watched: Any) -> None:
        RecordedRest.__init__(self, watched)
        self._is_computed = has_computed_method(watched.activation)
        self.thread = get_ident()
        self.outer = LEAVES.get(self.thread)
        if not self._is_computed:
            LEAVES[self.thread] = self._call
            self._note_returned()

    @hidden
    def _note_returned(self) -> None:
        found = LOCAL.returned
        if found is not None:
            self._store.recognised.note(found._tagged_value, found._tagged_metas)

    @hidden
    def first(self, value: Any) -> Any:
        return RecordedRest.first(self, value) if self._is_computed else value

    @hidden
    def __next__(self) -> Any:
        return RecordedRest.__next__(self) if self._is_computed else next(self._iterator)

    @hidden
    def end(self) -> None:
        """The leaf has ended."""
        if not self._is_computed:
            if self.outer is None:
                LEAVES.pop(self.thread, None)
            else:
                LEAVES[self.thread] = self.outer


def rest_of(watched: Any) -> Any:
    """What has taken over from a source; None if nothing has, or if the source is no proxy."""
    return watched.rest if type(watched) is DISPATCH.WatchedSource else None


# ---- callbacks


class RestOfCallback(EventCallback):
    """A callback whose calls are events from now on."""

    __slots__ = ()

    @hidden
    def __init__(self, watched: Any) -> None:
        store = store_of(watched.activation)
        sources = LiveSources(_NO_STORE if store is None else store, watched.sources)
        EventCallback.__init__(self, watched.function, sources)

    @hidden
    def first(self, result: Any) -> Any:
        """The result of the call during which the first value was tagged."""
        return returned(result)


class RestOfTest(TestedCallback):
    """A callback whose results code of the interpreter tests."""

    __slots__ = ()

    @hidden
    def __init__(self, watched: Any) -> None:
        call = call_of(watched)
        TestedCallback.__init__(self, call, watched.function, None, LiveSources(call.store, watched.sources))

    @hidden
    def first(self, result: Any) -> Any:
        return self._call.test(result)


class RestOfKey(KeyCallback):
    """A key function: code of the interpreter has taken all items before it calls the function."""

    __slots__ = ()

    @hidden
    def __init__(self, watched: Any) -> None:
        rest = rest_of(watched.sources[0]) if watched.sources else None
        KeyCallback.__init__(self, call_of(watched), watched.function, [] if rest is None else rest.items)

    @hidden
    def first(self, result: Any) -> Any:
        self._call.compare(result)
        return plain(result)


# ---- the end of a call

End = Callable[[LeafCall, Any, Any], Any]
"""`end(call, watched, value)` puts the metadata of items into the result; `watched` are the arguments of the leaf."""


class AtEnd:
    """What the accelerator calls when a leaf has ended, if there is metadata by then."""

    __slots__ = ("_end", "_end_of_error")

    def __init__(self, end: End, end_of_error: End | None) -> None:
        self._end = end
        self._end_of_error = end_of_error

    @hidden
    def __call__(
        self, activation: Any, callee: Any, given: tuple[Any, ...], watched: tuple[Any, ...], value: Any, error: Any
    ) -> Any:
        call = _call(activation, callee, given, {})
        try:
            for source in watched:
                rest = rest_of(source)
                if type(rest) is ComputedRest:
                    rest.end()
            if error is None:
                return self._end(call, watched, value)
            self._after_error(call, watched, error)
            return value
        finally:
            LOCAL.returned = None

    @hidden
    def _after_error(self, call: LeafCall, watched: tuple[Any, ...], error: BaseException) -> None:
        if self._end_of_error is not None:
            self._end_of_error(call, watched, error)
        runs_program = any(id(type(argument)) in CALLBACKS for argument in call.arguments)
        if runs_program and isinstance(error, Exception) and error.args:
            keep_metadata_of_error(call.activation, call.function, call.arguments, {}, error)


def watch(
    *functions: Any,
    source: Callable[[Any], Any] | None = None,
    callback: Callable[[Any], Any] | None = None,
    end: End | None = None,
    end_of_error: End | None = None,
    counts: tuple[int, int | None] = (1, 1),
    sources: tuple[int, int | None] = (0, 1),
    keywords: bool = False,
    takes_any: bool = True,
    keeps: int = 0,
) -> None:
    """Let the interpreter call functions while nothing is tagged, though their rules apply always.

    Parameters
    ----------
    *functions:
        Functions with the same rule.
    source, callback:
        What takes over from a source and from a callback. Without a callback, a keyword `key` is one of the others.
    end:
        What is called at the end, if there is metadata by then; None if the result takes its items later.
    end_of_error:
        The same where the leaf has raised an exception, which is its last argument.
    counts:
        The fewest and the most positional arguments; None: any number.
    sources:
        Which of them are sources, as a slice. If the first is not, it is the callback.
    keywords:
        Whether there may be keyword arguments.
    takes_any:
        Whether a source may be an object of the program: the first that the functions do with it is to call `iter`.
    keeps:
        0: the items until then are not kept; 1: they are if contexts compute metadata; 2: always.
    """
    (fewest, most), (first, last) = counts, sources
    row = (
        source, callback, None if end is None else AtEnd(end, end_of_error),
        fewest, -1 if most is None else most, first, -1 if last is None else last,
        first, int(keywords), int(takes_any), keeps,
    )  # fmt: skip
    HOW_LEAVES_ARE_WATCHED.update(dict.fromkeys(map(id, functions), row))


def _metas_given_last(store: Store, watched: Any, value: Any, back: int) -> Metas | None:
    last = None if watched.rest is None else watched.rest.last
    return metas_of(last) if back == 1 and plain(last) is value else None


if not DISPATCH.reason:
    PLACES[id(DISPATCH.WatchedSource)] = _metas_given_last
    PASSING.add(id(DISPATCH.WatchedCallback))
    STEPPED_OR_WATCHED.update(map(id, (DISPATCH.WatchedSource, DISPATCH.WatchedCallback)))
    HELD_VALUES[id(DISPATCH.WatchedSource)] = lambda watched: (watched.iterator,)
    HELD_VALUES[id(DISPATCH.WatchedCallback)] = lambda watched: (watched.function,)
PASSING.update(map(id, (RestOfCallback, RestOfTest, RestOfKey)))
