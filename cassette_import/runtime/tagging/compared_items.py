"""Items that code of the interpreter compares, where contexts decide comparisons: each comparison is an event."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.c_callers import COMPARED, KeyCallback
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.wrappers import metas_of, plain

Compare = Callable[[Any, Any], Any]


class Compared:
    """An item and its metadata, which code of the interpreter gets in the place of the item."""

    __slots__ = ("_call", "carried", "value")
    __hash__ = None  # type: ignore[assignment]  # as a class with `__eq__`

    def __init__(self, call: LeafCall, carried: Any) -> None:
        self._call = call
        self.carried = carried
        self.value = plain(carried)

    @hidden
    def __repr__(self) -> str:
        return repr(self.value)

    @hidden
    def __lt__(self, other: Any) -> Any:
        return self._call.decided(operator.lt, self.carried, _carried(other))

    @hidden
    def __gt__(self, other: Any) -> Any:
        return self._call.decided(operator.gt, self.carried, _carried(other))

    @hidden
    def __le__(self, other: Any) -> Any:
        return self._call.decided(operator.le, self.carried, _carried(other))

    @hidden
    def __ge__(self, other: Any) -> Any:
        return self._call.decided(operator.ge, self.carried, _carried(other))

    @hidden
    def __eq__(self, other: object) -> Any:
        item = _carried(other)
        if self.value is plain(item) and metas_of(self.carried) == metas_of(item):
            return True  # containers compare the identity first
        return self._call.decided(operator.eq, self.carried, item)


COMPARED.append(Compared)


def _carried(other: Any) -> Any:
    return other.carried if type(other) is Compared else other


@hidden
def compared(call: LeafCall, items: Iterable[Any]) -> list[Compared]:
    """The items as code of the interpreter gets them."""
    return [Compared(call, item) for item in items]


@hidden
def key_of_compared(call: LeafCall, key: Any) -> Any:
    """A key function for items in this form; None if there is none."""
    if plain(key) is None:
        return None
    keys = KeyCallback(call, key, ())

    @hidden
    def key_of(item: Compared) -> Any:
        return keys.of_wrapped(item.carried)

    return key_of


@hidden
def keywords_for_compared(call: LeafCall) -> dict[str, Any]:
    """The keyword arguments of a call, with a key function for items in this form."""
    keywords = call.plain_keywords
    if "key" in keywords:
        keywords["key"] = key_of_compared(call, call.keywords["key"])
    return keywords


@hidden
def sought(call: LeafCall, items: Iterable[Any], value: Any) -> int | None:
    """The place of the first item that equals a value; None if there is none."""
    found = Compared(call, value)
    return next((place for place, item in enumerate(compared(call, items)) if item == found), None)
