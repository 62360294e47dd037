"""Containers with tagged items: what a context gives to a function of the program, and reads from its result."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from types import FunctionType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.tag_scopes import own_store, tag_of
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

if TYPE_CHECKING:
    from cassette_import.activation.context import Context

__all__ = [
    "check_holds_nothing", "cursor_of_tagged", "cursor_over", "is_a_container", "sequence_like", "with_items_read",
    "with_items_tagged",
]  # fmt: skip

# ---- containers that can be asked for their size and their items at will: code in C answers, and none of the program


def is_a_container(value: Any) -> bool:
    """Whether an object has a size, and items that can be read more than once, without code of the program.

    >>> is_a_container([1]), is_a_container(range(2)), is_a_container(iter([1])), is_a_container({1: 2}.values())
    (True, True, False, True)
    """
    methods = [getattr(type(value), name, None) for name in ("__len__", "__iter__")]
    return all(type(method) is WrapperDescriptorType for method in methods)


# ---- lists and tuples of the type of another one, with other items
#
# A class that the program derives from a named tuple may have a `__new__` with any parameters, so it is not called.


def sequence_like(model: list[Any] | tuple[Any, ...], items: Iterable[Any]) -> Any:
    """A sequence of the type of the model."""
    kind: Any = type(model)
    if isinstance(model, tuple) and isinstance(kind.__new__, FunctionType):
        return tuple.__new__(kind, items)
    return kind(items)


# ---- containers with tagged items: what a context gives to a function of the program, and reads from its result


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


# ---- loops over arrays with metadata: each item gets the metadata that a subscript gives it


def cursor_over(array: Any) -> Callable[[Any], Metas | None] | None:
    """A function that returns the metadata of each item while the program iterates over an array."""
    variant = ACTIVE.get().variant
    if variant is None or not plain(array).ndim:
        return None
    numbers = itertools.count()
    event = variant.runners[int(Events.OPERATORS)].event
    return lambda _: metas_of(event(operator.getitem, array, next(numbers)))


def cursor_of_tagged(given: Any) -> Callable[[Any], Metas | None] | None:
    """The same; None for an array without metadata."""
    return cursor_over(given) if type(given) is Tagged else None
