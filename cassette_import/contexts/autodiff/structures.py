"""Structures (lists, tuples, dicts) of numbers and arrays, as arguments and results of differentiated functions."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from typing import Any, Final

from cassette_import.kits.numbers.lost_numbers import UNKNOWN, unshared
from cassette_import.kits.tagged_containers import check_holds_nothing, sequence_like
from cassette_import.kits.tagging import SEQUENCES, Tagged, active_store, plain, tag_of

_MISSING: Final[Any] = object()


def is_number(value: Any) -> bool:
    """Whether a value can have a derivative."""
    return isinstance(value, (float, int, numbers.Number)) and not isinstance(value, bool)


def is_array(value: Any) -> bool:
    """Whether a value is an array of numbers, which can have a derivative as a whole."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, getattr(numpy, "ndarray", ())):
        return False
    array: Any = value
    return array.dtype.kind in "fiucO"


def is_integer(value: Any) -> bool:
    """Whether a value is an integer or an array of integers."""
    return value.dtype.kind in "iu" if is_array(value) else isinstance(value, numbers.Integral)


def check_result(result: Any) -> None:
    """Refuse a result without any number: a derivative of zero would hide that nothing was differentiated."""
    if not _has_number(plain(result)):
        raise TypeError(f"the function returned {plain(result)!r}, which contains no number to differentiate")


def _has_number(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, SEQUENCES):
        return not value or any(map(_has_number, value))
    return isinstance(value, numbers.Number) or hasattr(value, "dtype")  # truth values are numbers here


def parts_of(value: Any) -> dict[Any, Any]:
    """The parts of a list, tuple or dict by index or key, wrapped if contexts further out have metadata for them."""
    here = active_store()
    if isinstance(value, dict):
        slots = here.slots_by_key(value) if here is not None else {}
        return {key: Tagged(*slots[key]) if key in slots else part for key, part in value.items()}
    return dict(enumerate(here.wrapped_items(value) if here is not None else value))


def returned(value: Any) -> Any:
    """A structure to return to the program: its parts are not wrapped, and the store has their metadata."""
    here = active_store()
    if here is None or not isinstance(value, (list, tuple, dict)):
        return value
    parts = {key: returned(part) for key, part in parts_of(value).items()}
    if isinstance(value, dict):
        return here.bind_pairs({key: plain(part) for key, part in parts.items()}, list(parts.items()))
    made = map(plain, parts.values())
    return here.bind_items(sequence_like(value, made), list(parts.values()))


def _is_direction(given: Any) -> bool:
    """Whether a tangent is another one than zero."""
    given = plain(given)
    if given is None:
        return False
    return bool(given.any()) if is_array(given) else bool(given)


class Inputs:
    """Arguments whose numbers get metadata, which is either given with them or made for each number."""

    def __init__(self, context: Any, make: Callable[[Any], Any] | None = None) -> None:
        self._context = context
        self._tag: Any = tag_of(context, create=True)
        self._make = make
        self.seen: list[Any] = []

    def tagged(self, value: Any, given: Any = _MISSING) -> Any:
        """An argument whose numbers are tagged."""
        metadata: Any = self._metadata(value, given)
        self.seen.append(metadata)
        return self._put(value, metadata)

    def _metadata(self, value: Any, given: Any) -> Any:
        """The metadata of a value's numbers, in the structure of the value."""
        value = plain(value)
        if is_number(value) or is_array(value):
            if given is None:
                return None
            if self._make is not None:
                metadata = self._make(value)
            else:
                metadata = given * 1.0 if type(given) is float else self._context.snapshot(given)  # not shared
            if is_integer(value):
                self._context.integers.append(metadata)
            return metadata
        if isinstance(value, (list, tuple, dict)):
            parts_given = parts_of(value)
            if given is not _MISSING and given is not None:
                if not isinstance(given, (list, tuple, dict)) or len(given) != len(value):
                    raise ValueError(f"a tangent of the structure of {value!r} is needed, not {given!r}")
                wanted = parts_of(given)
                parts = {key: self._metadata(parts_given[key], wanted[key]) for key in parts_given}
            else:
                parts = {key: self._metadata(parts_given[key], given) for key in parts_given}
            if isinstance(value, dict):
                return parts
            return sequence_like(value, parts.values())
        if given is not _MISSING and _is_direction(given):
            raise TypeError(f"{value!r} is no number, so there is no derivative for it: its tangent must be None")
        return None

    def _put(self, value: Any, metadata: Any) -> Any:
        """The value with its numbers tagged."""
        if metadata is None:
            return value
        bare = plain(value)
        if isinstance(bare, (list, tuple, dict)):
            if isinstance(bare, dict):
                pairs = [(key, self._put(part, metadata[key])) for key, part in parts_of(bare).items()]
                return self._tag.store.bind_pairs({key: plain(part) for key, part in pairs}, pairs)
            items = [self._put(part, found) for part, found in zip(parts_of(bare).values(), metadata, strict=True)]
            return self._tag.store.bind_items(sequence_like(bare, map(plain, items)), items)
        if is_array(bare):
            self._context.add_input(bare, metadata)
        old = value._tagged_metas if type(value) is Tagged else {}
        return Tagged(unshared(bare), {**old, self._tag: metadata})

    def mirrored(self, metadata: Any, read: Callable[[Any], Any]) -> Any:
        """The results of `read` for the metadata of each number, in the structure of the argument."""
        if isinstance(metadata, dict):
            return {key: self.mirrored(part, read) for key, part in metadata.items()}
        if isinstance(metadata, (list, tuple)):
            return sequence_like(metadata, [self.mirrored(part, read) for part in metadata])
        return None if metadata is None else read(metadata)


def split_outputs(result: Any, context: Any, default: Any) -> tuple[Any, Any]:
    """A result without the context's metadata, and the metadata in the structure of the result."""
    own_tag: Any = tag_of(context)
    if is_array(plain(result)):
        return context.split_array(result)  # type: ignore[no-any-return]  # as `split_outputs`
    if type(result) is Tagged:
        if own_tag not in result._tagged_metas:
            return result, default
        left = {tag: found for tag, found in result._tagged_metas.items() if tag is not own_tag}
        bare, metadata = result._tagged_value, result._tagged_metas[own_tag]
        if not isinstance(bare, (list, tuple, dict)):
            return (Tagged(bare, left) if left else bare), default if metadata is UNKNOWN else metadata
        result = bare
    if isinstance(result, dict):
        slots = own_tag.store.slots_by_key(result)
        found = {
            key: split_outputs(Tagged(*slots[key]) if key in slots else part, context, default)[1]
            for key, part in result.items()
        }
        return result, found
    if isinstance(result, SEQUENCES):
        parts = [split_outputs(item, context, default)[1] for item in own_tag.store.wrapped_items(result)]
        return result, parts if isinstance(result, list) else tuple(parts)
    check_holds_nothing(context, result)
    return result, default
