"""Rules for functions that make one value of many: `min`, `sum`, `str.join`, `reduce`, those of `statistics`."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Iterator
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import computed_metadata
from cassette_import.runtime.tagging.c_callers import (
    KeyCallback,
    RecordingStepper,
    TestedStepper,
    bare_callback,
    keywords_with_key,
)
from cassette_import.runtime.tagging.compared_items import Compared, compared, keywords_for_compared
from cassette_import.runtime.tagging.fast_path import are_iterated_by_c, has_computed_method
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, result_without_rule, without_rule
from cassette_import.runtime.tagging.rule_table import rule, rule_of_code
from cassette_import.runtime.tagging.watched_calls import ComputedRest, rest_of, watch
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- rules for the functions of `statistics`


@hidden
def _numbers(call: LeafCall) -> list[Any] | None:
    """The items of the only argument; None if they are not all numbers, so that comparing them may run any code."""
    if len(call.given) != 1 or call.keywords or not may_have_tagged_items(call.store, call.given[0]):
        return None
    items = list(iterate_wrapped(call, call.given[0]))
    bare = call.store.bind_items(list(map(plain, items)), items)
    call.given = (bare,)
    call.arguments = (*call.leading, bare)
    return items if all(type(plain(item)) in (int, float) for item in items) else None


@rule_of_code(
    "statistics",
    *("mean", "fmean", "geometric_mean", "harmonic_mean", "median_grouped", "quantiles"),
    *("variance", "pvariance", "stdev", "pstdev", "correlation", "covariance", "linear_regression"),
)
@hidden
def compute_of_all(call: LeafCall) -> Any:
    """An iterator is used up by the call, so a list of its items is passed in its place."""
    for place, given in enumerate(call.given):
        if may_have_tagged_items(call.store, given) and is_a(plain(given), Iterator):
            items = list(iterate_wrapped(call, given))
            bare = call.store.bind_items(list(map(plain, items)), items)
            call.given = (*call.given[:place], bare, *call.given[place + 1 :])
            call.arguments = (*call.leading, *call.given)
    return without_rule(call)


@rule_of_code("statistics", "median", "median_low", "median_high")
@hidden
def choose_middle(call: LeafCall) -> Any:
    """Of an even number of items, `median` computes the average."""
    items = _numbers(call)
    name = call.function.__name__
    if not items or (name == "median" and len(items) % 2 == 0):
        return without_rule(call)
    call.compare(*items)
    value = call.native()
    position = (len(items) - (name == "median_low")) // 2
    chosen = sorted(items, key=plain)[position]
    return chosen if plain(chosen) is value else value


@rule_of_code("statistics", "mode", "multimode")
@hidden
def choose_most_frequent(call: LeafCall) -> Any:
    """Of equal items, the first one is chosen."""
    items = _numbers(call)
    if not items:
        return without_rule(call)
    call.compare(*items)
    value = call.native()
    chosen = [
        next(item for item in items if plain(item) == found) for found in (value if type(value) is list else [value])
    ]
    return call.store.bind_items(value, chosen) if type(value) is list else chosen[0]


# ---- rules for functions that make one value of many

_MISSING: Final[Any] = object()


@rule(min, max, while_tagged=True)
@hidden
def choose(call: LeafCall) -> Any:
    """The chosen value keeps its metadata."""
    if len(call.given) == 1:
        source = call.given[0]
        has_default = type(call.keywords.get("default")) is Tagged
        is_decided = "key" in call.keywords or call.is_watched
        if not (has_default or is_decided or may_have_tagged_items(call.store, source)):
            return call.native()
        if call.is_watched:
            return _chosen(call, [map(functools.partial(Compared, call), iterate_wrapped(call, source))])
        stepper, keywords = RecordingStepper(call.store, source), call.plain_keywords
        if keywords.get("key") is not None:
            keywords["key"] = KeyCallback(call, keywords["key"], stepper)
        value = call.callee(stepper, **keywords)
        items = stepper.items
        if not items and "default" in call.keywords:
            return call.keywords["default"]
    elif call.is_watched:
        return _chosen(call, compared(call, call.given))
    else:
        items = list(call.given)
        value = call.callee(*map(plain, items), **keywords_with_key(call, items))
    return next((item for item in items if plain(item) is value), value)


@hidden
def _chosen(call: LeafCall, arguments: list[Any]) -> Any:
    """What is chosen where contexts decide how the items compare."""
    keywords = keywords_for_compared(call)
    if "default" in keywords:
        keywords["default"] = Compared(call, call.keywords["default"])
    return call.callee(*arguments, **keywords).carried


@rule(any, all, while_tagged=True)
@hidden
def test_items(call: LeafCall) -> Any:
    """Each item is tested."""
    if len(call.given) == 1 and not call.keywords and call.is_watched:
        return call.callee(_truths(call, iterate_wrapped(call, call.given[0])))
    if len(call.given) != 1 or call.keywords or not may_have_tagged_items(call.store, call.given[0]):
        return without_rule(call)
    return call.callee(TestedStepper(call, call.given[0]))


@hidden
def _truths(call: LeafCall, items: Any) -> Iterator[Any]:
    for item in items:
        yield plain(call.event(operator.truth, item))


@rule(str.join, bytes.join, bytearray.join, sum, math.fsum, math.prod, plain_if=are_iterated_by_c)
@hidden
def compute(call: LeafCall) -> Any:
    """The metadata of the value is computed from that of the items."""
    number = (call.function.__name__ == "join") - len(call.leading)  # it is called as `str.join(separator, items)` too
    if not 0 <= number < len(call.given) or not has_computed_method(call.activation):
        return without_rule(call)
    if not may_have_tagged_items(call.store, call.given[number]):
        return without_rule(call)
    source = RecordingStepper(call.store, call.given[number])
    given = list(map(plain, call.given))
    given[number] = source
    value = call.callee(*given, **call.plain_keywords)
    arguments = [*call.leading, *call.given]
    arguments[number + len(call.leading)] = call.store.bind_items(list(map(plain, source.items)), source.items)
    return computed_metadata.with_computed_metadata(
        call.activation, call.function, tuple(arguments), call.keywords, value
    )


@hidden
def _computed_of_watched(call: LeafCall, watched: tuple[Any, ...], value: Any) -> Any:
    if not has_computed_method(call.activation):
        return result_without_rule(call, value)
    rest = rest_of(watched[0])
    items = [] if rest is None else [*rest.kept, *rest.items]
    arguments = [*call.leading, *call.given]
    arguments[len(call.leading)] = call.store.bind_items(list(map(plain, items)), items)
    return computed_metadata.with_computed_metadata(call.activation, call.function, tuple(arguments), {}, value)


watch(sum, math.fsum, math.prod, source=ComputedRest, end=_computed_of_watched, counts=(1, 2), keeps=1)
watch(str.join, bytes.join, bytearray.join, source=ComputedRest, end=_computed_of_watched, keeps=1)


@rule(functools.reduce, while_untagged=True)
@hidden
def reduce(call: LeafCall) -> Any:
    """Each call of the callback is an event."""
    if not 2 <= len(call.given) <= 3 or call.keywords:
        return without_rule(call)
    function, source = bare_callback(call.given[0]), call.given[1]
    items: Any = None
    with contextlib.suppress(TypeError):
        items = iterate_wrapped(call, source)
    if items is None:
        return functools.reduce(function, plain(None))  # for its error
    value = call.given[2] if len(call.given) == 3 else next(items, _MISSING)
    if value is _MISSING:
        return functools.reduce(function, ())  # for its error
    for item in items:
        value = call.event(function, value, item)
    return value
