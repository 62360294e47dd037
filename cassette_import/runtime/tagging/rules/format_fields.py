"""Rules for `str.format`: its text is computed also of the attributes and items that its fields name.

Knows the fields of format strings; must not know what a context computes for text.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # typeshed has none
import itertools
from collections.abc import Iterator
from types import MemberDescriptorType
from typing import Any

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.container_contents import attributes_of
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@rule(str.format, str.format_map, while_tagged=True)
@hidden
def format_fields(call: LeafCall) -> Any:
    if call.store.attributes.entries:
        call.arguments = (*call.arguments, *_parts_with_metadata(call))
    return without_rule(call)


@hidden
def _parts_with_metadata(call: LeafCall) -> Iterator[Tagged]:
    """The values with metadata among the attributes and items that the fields name."""
    text, *given = call.arguments
    named = call.keywords
    if call.function is str.format_map and given and is_a(plain(given[0]), dict):
        named = plain(given[0])
    try:
        fields = [field for _, field, *_ in _string.formatter_parser(plain(text)) if field is not None]
    except (TypeError, ValueError):
        return  # the call raises the same
    next_number = itertools.count()
    for field in fields:
        first, steps = _string.formatter_field_name_split(field)
        first = next(next_number) if first == "" else first
        if isinstance(first, int):
            value = given[first] if first < len(given) else None
        else:
            value = dict.get(named, first)
        is_part = False
        for is_attribute, name in steps:
            value = _attribute(call, plain(value), name) if is_attribute else _item(plain(value), name)
            is_part = True
        if is_part and type(value) is Tagged:
            yield value


@hidden
def _attribute(call: LeafCall, owner: Any, name: str) -> Any:
    """An attribute that an object stores, with its metadata; no code of the program runs."""
    descriptor = lookup(type(owner), name)
    if type(descriptor) is MemberDescriptorType:
        value = getattr(owner, name, None)
    else:
        value = attributes_of(owner).get(name)
    return call.store.load_part(call.store.attributes, owner, name, value)


def _item(owner: Any, key: Any) -> Any:
    if is_a(owner, dict):
        return dict.get(owner, key)
    is_index = is_a(owner, (list, tuple)) and isinstance(key, int) and key < len(owner)
    return owner[key] if is_index and type(owner) in (list, tuple) else None
