"""Rules for `iter`, `next` and `reversed`, and for lazy iterators: `map`, `filter`, `zip`, those of `itertools`."""

from __future__ import annotations

import builtins
import functools
import itertools
from collections import deque
from typing import Any

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.c_callers import (
    LastStepper,
    Stepper,
    TestedCallback,
    TestedStepper,
    bare_callback,
    callback_for_c,
    live_source,
    live_sources,
    source_for_c,
)
from cassette_import.runtime.tagging.computed_metadata import cursor_of_whole, is_computed_from
from cassette_import.runtime.tagging.container_contents import SEQUENCES
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c, steps_plainly
from cassette_import.runtime.tagging.iterator_metadata import (
    ORDERED_VIEWS,
    is_iterable,
    iterate_wrapped,
    may_have_tagged_items,
    next_item,
    start_iterator,
)
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import RULES, rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.watched_calls import Rest, RestOfCallback, RestOfTest, watch
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- rules for functions that make lazy iterators: `map`, `filter`, `zip`, `enumerate` and those of `itertools`
#
# The iterator is the interpreter's own; it takes items from steppers, and calls callbacks as events.

_BATCHED = (itertools.batched,) if hasattr(itertools, "batched") else ()

# ---- sources


@rule(zip, enumerate, plain_if=are_iterated_by_c)
@rule(itertools.chain, itertools.islice, itertools.pairwise, *_BATCHED)
@hidden
def from_sources(call: LeafCall) -> Any:
    """All iterable arguments are sources."""
    given = [source_for_c(call, item) if _is_source(item) else plain(item) for item in call.given]
    keywords = {
        name: source_for_c(call, item) if name == "iterable" else plain(item) for name, item in call.keywords.items()
    }
    return call.callee(*given, **keywords)


watch(zip, source=Rest, counts=(1, None), sources=(0, None), keywords=True)
watch(enumerate, source=Rest, counts=(1, 2), keywords=True)


@rule(itertools.compress)
@hidden
def from_selectors(call: LeafCall) -> Any:
    """The second source is tested."""
    names = dict(zip(("data", "selectors"), call.given, strict=False))
    sources = {**names, **call.keywords}
    if len(sources) != 2 or not (is_iterable(plain(sources.get("data"))) and _is_source(sources.get("selectors"))):
        return call.native()
    return call.callee(source_for_c(call, sources["data"]), TestedStepper(call, sources["selectors"]))


def _is_source(item: Any) -> bool:
    return not is_a(item, (str, bytes, int)) and is_iterable(plain(item))


@rule(vars(itertools.chain)["from_iterable"])
@hidden
def from_source_of_sources(call: LeafCall) -> Any:
    return call.callee(map(functools.partial(source_for_c, call), iterate_wrapped(call, call.given[0])))


# ---- a callback, and sources of its arguments


@rule(filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, while_untagged=True)
@hidden
def from_test(call: LeafCall) -> Any:
    """The results of the callback are tested; the items themselves if there is none."""
    if len(call.given) != 2:
        return call.native()
    function, source = bare_callback(call.given[0]), call.given[1]
    if not callable(function) and function is not None:
        return call.native()
    if not may_have_tagged_items(call.store, source):
        iterator = live_source(plain(source))
        test = None if function is None else TestedCallback(call, function, None, live_sources(call.store, [iterator]))
        return call.callee(test, iterator)
    stepper = LastStepper(call.store, start_iterator(call.store, source))
    return call.callee(TestedCallback(call, function, stepper), stepper)


watch(
    filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse,
    source=Rest, callback=RestOfTest, counts=(2, 2), sources=(1, 2),
)  # fmt: skip


@rule(map, while_untagged=True)
@hidden
def from_callback(call: LeafCall) -> Any:
    if len(call.given) < 2:
        return call.native()
    function, *given = call.given
    sources = [live_source(source_for_c(call, source)) for source in given]
    return call.callee(callback_for_c(function, live_sources(call.store, sources)), *sources, **call.plain_keywords)


watch(map, source=Rest, callback=RestOfCallback, counts=(2, None), sources=(1, None))


class _ArgumentsStepper(Stepper):
    """A stepper whose items are the arguments of calls."""

    __slots__ = ()

    @hidden
    def __next__(self) -> Any:
        item = Stepper.__next__(self)
        if LOCAL.wants_wrapped and type(plain(item)) in SEQUENCES:
            return tuple(self._store.wrapped_items(plain(item)))
        return item


@rule(itertools.starmap, while_untagged=True)
@hidden
def from_callback_of_tuples(call: LeafCall) -> Any:
    function, source = call.given
    return call.callee(callback_for_c(function), _ArgumentsStepper(call.store, start_iterator(call.store, source)))


# ---- rules for `iter`, `next` and `reversed`


@hidden
def _reads_where_it_stands(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether an iterator says where it stands: that of an `OrderedDict`, or one that calls a function, does not."""
    return len(arguments) == 1 and id(type(arguments[0])) not in ORDERED_VIEWS


@rule(builtins.iter, while_tagged=True, plain_if=_reads_where_it_stands)
@hidden
def begin(call: LeafCall) -> Any:
    if len(call.arguments) == 2 and not call.keywords and (call.is_watched or _has_rule(call.arguments[0])):
        return iter(_ComparedCallback(call, call.arguments[0]), plain(call.arguments[1]))
    if len(call.arguments) != 1 or call.keywords:
        return call.native()
    return start_iterator(call.store, call.arguments[0])


@hidden
def _has_rule(callback: Any) -> bool:
    return id(split(callback)[0]) in RULES


class _ComparedCallback:
    """A callback whose results the interpreter compares with a sentinel."""

    __slots__ = ("_call", "_function")

    def __init__(self, call: LeafCall, function: Any) -> None:
        self._call = call
        self._function = plain(function)

    @hidden
    def __call__(self) -> Any:
        result = self._call.forward(self._function)
        if plain(self._call.arguments[1]) is not None:
            self._call.compare(result)
        LOCAL.returned = result if type(result) is Tagged else None
        return plain(result)


@rule(list.__iter__, tuple.__iter__, deque.__iter__, set.__iter__, frozenset.__iter__)
@hidden
def begin_by_method(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or call.keywords:
        return call.native()
    return start_iterator(call.store, call.arguments[0], call.function)


@hidden
def _steps_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return bool(arguments) and steps_plainly(arguments[0])


@rule(next, plain_if=_steps_plainly, returns_method_result=True)
@hidden
def advance(call: LeafCall) -> Any:
    if not 1 <= len(call.arguments) <= 2 or call.keywords:
        return call.native()
    try:
        iterator = call.arguments[0]
        if type(iterator) is Tagged:
            iterator = start_iterator(call.store, iterator) if is_computed_from(iterator) else plain(iterator)
        return next_item(call.store, iterator)
    except StopIteration:
        if len(call.arguments) == 2:
            return call.arguments[1]
        raise


@rule(reversed, list.__reversed__, deque.__reversed__)
@hidden
def backward(call: LeafCall) -> Any:
    iterator = call.native()
    if is_computed_from(call.arguments[0]):
        call.store.iterators.make(iterator).extra = cursor_of_whole(call.arguments[0], -1)
    return iterator
