"""Rules for `collections.Counter`: counts are sums of values, or are computed of the elements that were counted."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging import computed_metadata
from cassette_import.runtime.tagging.iterator_metadata import iterate_wrapped
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule_of_code
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain


@rule_of_code("collections", "Counter.__init__", "Counter.update", "Counter.subtract")
@hidden
def count(call: LeafCall) -> Any:
    """A new count is the sum or difference of the old one and the values, or the number of the elements."""
    owner, *sources = call.arguments
    if len(sources) > 1 or not is_a(plain(owner), Counter):
        return without_rule(call)
    counter = plain(owner)
    slots = call.store.slots_by_key(counter)
    values: list[tuple[Any, Any]] = []
    items: list[Any] = []
    bare: list[Any] = []
    try:
        for source in sources:
            given = plain(source)
            if is_a(given, Mapping):
                found = call.store.slots_by_key(given) if is_a(given, dict) else {}
                values += [(key, Tagged(*found[key]) if key in found else value) for key, value in given.items()]
                bare.append(given)
            elif given is not None:
                bare.append([])
                for item in iterate_wrapped(call, source):
                    items.append(item)
                    bare[0].append(plain(item))
    finally:  # the elements before an error are counted
        values += call.keywords.items()
        touched = [*(key for key, _ in values), *map(plain, items)]
        counts = {key: Tagged(*slots[key]) if key in slots else dict.get(counter, key) for key in _hashable(touched)}
        call.function(counter, *bare, **call.plain_keywords)
    call.compare(*items)
    for key, value in values:
        counts[key] = _summed(call, counts[key], value)
    elements: dict[Any, list[Any]] = {}
    for item in items:
        elements.setdefault(plain(item), []).append(item)
    for key, counted in elements.items():
        counts[key] = _counted(call, counts[key], counted, dict.get(counter, key))
    # The objects are those in the counter, which are equal to these.
    pairs = [(key, Tagged(dict.get(counter, key), metas_of(value) or {})) for key, value in counts.items()]
    call.store.bind_pairs(counter, [(key, value if value._tagged_metas else plain(value)) for key, value in pairs])
    return None


def _hashable(keys: list[Any]) -> list[Any]:
    """The keys; none if one of them has no hash, which is an error of the call."""
    try:
        return list(dict.fromkeys(keys))
    except TypeError:
        return []


@hidden
def _summed(call: LeafCall, before: Any, value: Any) -> Any:
    """The new count of a key in a mapping."""
    if type(value) is not Tagged and type(before) is not Tagged:
        return value
    if before is None and call.function.__name__ != "subtract":
        return value
    operate = operator.sub if call.function.__name__ == "subtract" else operator.add
    return call.event(operate, 0 if before is None else before, value)


@hidden
def _counted(call: LeafCall, before: Any, items: list[Any], value: Any) -> Any:
    """The new count of an element."""
    if type(before) is not Tagged and not any(type(item) is Tagged for item in items):
        return value
    arguments = tuple(items) if before is None else (before, *items)
    return computed_metadata.with_computed_metadata(call.activation, call.function, arguments, {}, value)
