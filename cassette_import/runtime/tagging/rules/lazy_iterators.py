"""Rules for functions that make lazy iterators: `map`, `filter`, `zip`, `enumerate` and those of `itertools`.

The iterator is the interpreter's own; it takes items from steppers, and calls callbacks as events.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

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
from cassette_import.runtime.tagging.container_contents import SEQUENCES
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c
from cassette_import.runtime.tagging.iterator_metadata import (
    is_iterable,
    iterate_wrapped,
    may_have_tagged_items,
    start_iterator,
)
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.watched_calls import Rest, RestOfCallback, RestOfTest, watch
from cassette_import.runtime.tagging.wrappers import plain

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
