"""Containers with tagged items: what a context gives to a function of the program, and reads from its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cassette_import.contexts.common.sequences import sequence_like
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.tag_scopes import own_store, tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, plain

if TYPE_CHECKING:
    from cassette_import.activation.context import Context

__all__ = ["check_holds_nothing", "with_items_read", "with_items_tagged"]


def with_items_tagged(ctx: Context, value: Any, tagged: Callable[[Any], Any]) -> Any:
    """A list, tuple or dict of what `tagged` returns for its items; any other value itself."""
    store = own_store(ctx, create=True)
    if type(value) in (list, tuple):
        items = [tagged(item) for item in value]
        return store.bind_items(type(value)(map(plain, items)), items)
    if type(value) is dict:
        pairs = [(key, tagged(item)) for key, item in value.items()]
        return store.bind_pairs({key: plain(item) for key, item in pairs}, pairs)
    return value


def with_items_read(ctx: Context, value: Any, read: Callable[[Any], Any]) -> Any:
    """A list, tuple or dict of what `read` returns for its items, which get their wrappers; any other value itself.

    Any other value must hold nothing with metadata.
    """
    bare = plain(value)
    store = own_store(ctx)
    if isinstance(bare, (list, tuple)):
        return sequence_like(bare, [read(item) for item in store.wrapped_items(bare)])
    if isinstance(bare, dict):
        slots = store.slots_by_key(bare)
        return {key: read(Tagged(*slots[key]) if key in slots else item) for key, item in bare.items()}
    check_holds_nothing(ctx, bare)
    return bare


def check_holds_nothing(ctx: Context, value: Any) -> None:
    """Refuse an object in a result that holds values with metadata, and an iterator: they would be read without it."""
    tag = tag_of(ctx)
    if hasattr(type(value), "__next__") or (tag is not None and holds_metadata((value,), tag)):
        raise TypeError(
            f"the result has an object of type {type(value).__qualname__}, which holds numbers that depend on the "
            "arguments, or makes them later: return numbers, or a list, tuple or dict of numbers"
        )
