"""Sorting of numbers with metadata: `sorted` and `list.sort`, for contexts whose rules decide which number is smaller.

Knows tagged values and how they are bound to the items of a list; must not know how a context compares.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from cassette_import.activation.tagging import allmetadata
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.iterator_metadata import items_outside
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["sort_numbers"]


@hidden
def sort_numbers(
    ctx: Any,
    f: Any,
    items: Any,
    keywords: dict[str, Any],
    *,
    operand: Callable[[Any, Any], Any],
    less: Callable[[Any, Any], bool],
    refused: Callable[[Any, str], CassetteError],
) -> Any:
    """What `sorted` or `list.sort` does; the items keep their metadata.

    Parameters
    ----------
    ctx:
        The context.
    f, items, keywords:
        The call: one of the two functions, and its arguments.
    operand:
        What an item is for the rules of the context.
    less:
        Whether one operand is smaller than another.
    refused:
        The error for a call that cannot be followed.
    """
    given = items_outside(items)
    if not allmetadata(ctx, *given):
        return call_without_overload(f, (items if f is list.sort else given,), keywords)
    if keywords.get("key") is not None:
        raise refused(f, "there is no rule for a key of")
    operands = {id(item): operand(f, item) for item in given}

    def compare(one: Any, other: Any) -> int:
        return -1 if less(operands[id(one)], operands[id(other)]) else 1

    made = sorted(given, key=functools.cmp_to_key(compare), reverse=bool(plain(keywords.get("reverse", False))))
    own_tag: Any = tag_of(ctx)
    if f is sorted:
        return own_tag.store.bind_items(list(map(plain, made)), made)
    plain(items)[:] = map(plain, made)
    own_tag.store.bind_items(plain(items), made)
    return None
