"""What leaves without a rule get from callbacks, and what they put into exceptions.

A leaf calls a callback, which returns a wrapper to it, or would if the leaf advanced an iterator. A context for which
a loss is an error, or that computes metadata, gets that value as a further argument of the leaf.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.state import ACTIVE, Activation
from cassette_import.runtime.tagging.computed_metadata import with_computed_metadata
from cassette_import.runtime.tagging.handover import CLAIM
from cassette_import.runtime.tagging.held_metadata import HELD_VALUES
from cassette_import.runtime.tagging.tag_scopes import store_of
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged

CALLBACKS: Final = frozenset(HELD_VALUES)
"""Types of arguments, by identity, that run code of the program for a leaf."""


@hidden
def with_metadata_of_callback(
    activation: Activation, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any
) -> Any:
    """The plain value of a leaf, with metadata if the program has returned a wrapper to the leaf last.

    If the leaf returns that very value, it has moved it.
    """
    found = LOCAL.returned
    if found is None:
        return value
    is_followed = not is_a(value, int)
    metas = {
        tag: metadata
        for tag, metadata in found._tagged_metas.items()
        if tag.lost == "error" or (is_followed and tag.computed is not None)
    }
    if not metas:
        return value
    if found._tagged_value is value and is_followed:
        return Tagged(value, metas)
    last = Tagged(found._tagged_value, metas)
    return with_computed_metadata(activation, function, (*arguments, last), keywords, value)


@hidden
def _claim(function: Any, found: Tagged, value: Any) -> Any:
    """The value of a leaf during which the first value was tagged, and returned to it."""
    LOCAL.returned = found
    try:
        return with_metadata_of_callback(ACTIVE.get(), function, (), {}, value)
    finally:
        LOCAL.returned = None


CLAIM.append(_claim)


@hidden
def keep_metadata_of_error(
    activation: Activation, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], error: Exception
) -> None:
    """Keep the metadata of what a leaf has put into an exception: an argument itself, or text about it."""
    store = store_of(activation)
    if store is None or store.items.of(error.args) is not None:
        return
    given = {id(value._tagged_value): value for value in (*arguments, *keywords.values()) if type(value) is Tagged}
    items = [given.get(id(item), item) for item in error.args]
    for number, item in enumerate(items):
        if type(item) in (str, bytes):
            items[number] = with_computed_metadata(activation, function, arguments, keywords, item)
    store.bind_items(error.args, items)
