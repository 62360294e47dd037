"""Rules for the functions of `statistics`: those that choose an item, such as `median`, and those that
compute of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped, may_have_tagged_items
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule_of_code
from cassette_import.runtime.tagging.wrappers import plain


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
