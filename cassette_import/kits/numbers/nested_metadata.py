"""One context's metadata of a number, beside that of other contexts: how contexts of numbers nest.

An overload takes its own metadata off the arguments, calls the function with what is left, so that contexts further
out compute theirs, and puts its own metadata on the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

__all__ = ["split_metadata", "with_metadata"]


def split_metadata(ctx: Any, arguments: Sequence[Any]) -> tuple[Any, list[Any], list[tuple[int, Any]]]:
    """The context's tag, the arguments without its metadata, and the metadata with the numbers of the arguments."""
    own_tag: Any = tag_of(ctx)
    values, found = [], []
    for number, argument in enumerate(arguments):
        if type(argument) is Tagged and own_tag in argument._tagged_metas:
            found.append((number, argument._tagged_metas[own_tag]))
            left = {tag: metadata for tag, metadata in argument._tagged_metas.items() if tag is not own_tag}
            argument = Tagged(argument._tagged_value, left) if left else argument._tagged_value
        values.append(argument)
    return own_tag, values, found


def with_metadata(value: Any, own_tag: Any, metadata: Any) -> Tagged:
    """A value with the metadata of `own_tag`, in addition to the metadata of other tags."""
    return Tagged(plain(value), {**(metas_of(value) or {}), own_tag: metadata})
