"""Calls of functions outside of the program that have lanes as arguments: the rules for some builtins."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import SequenceFunction, is_immutable, kind_of, packed
from cassette_import.contexts.lanes.elementwise import compute, lane_of
from cassette_import.contexts.lanes.errors import EffectError, place
from cassette_import.contexts.lanes.lane import MOST_VALUES, Lane, LaneRange, agreed
from cassette_import.contexts.lanes.lane_sets import Lanes
from cassette_import.contexts.lanes.masks import choice_of, merged
from cassette_import.contexts.lanes.nested_levels import innermost

__all__ = ["NAMES_ATTRIBUTE", "RULES", "contents", "identical", "looked_up", "sequence_call"]

NAMES_ATTRIBUTE: Final = "is the name of an attribute"
_SORTED_BY_NETWORK: Final = 16


def _chosen(test: Any, one: Any, other: Any) -> Any:
    """One of two values, by a test that may differ between lanes."""
    choice = choice_of(test, ())
    if not choice.both:
        return one if choice.one() else other
    choice.one()
    choice.two()
    return choice.value(one, other)


def _extreme(function: Any, compare: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def rule(*arguments: Any, **keywords: Any) -> Any:
        items = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if keywords.get("key") is not None or not any(type(one) is Lane for one in items):
            return function(items, **keywords)
        if not keywords and (level := innermost(items)) is not None and level.name == "enclosure":
            return compute(SequenceFunction(function, [], {}, rule), *items)
        best = items[0]
        for item in items[1:]:
            best = _chosen(compare(item, best), item, best)
        return best

    return rule


def _has_nan(values: Sequence[Any]) -> bool:
    for value in values:
        if type(value) is Lane:
            truth = compute(operator.ne, value, value)
            if type(truth) is Lane or truth:
                return True
        elif value != value:
            return True
    return False


def _sorted(items: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    values = list(items)
    if key is not None or len(values) > _SORTED_BY_NETWORK or _has_nan(values):
        return sorted(values, key=key, reverse=reverse)
    reverse = bool(reverse)
    for last in range(len(values) - 1, 0, -1):
        for number in range(last):
            one, other = values[number], values[number + 1]
            swap = one < other if reverse else other < one
            if type(swap) is Lane:
                values[number : number + 2] = _chosen(swap, other, one), _chosen(swap, one, other)
            elif swap:
                values[number : number + 2] = other, one
    return values


def _sum(items: Any, /, start: Any = 0) -> Any:
    values = list(items)
    lanes = next((one.lanes for one in (*values, start) if type(one) is Lane), None)
    if lanes is None:
        return sum(values, start)
    if innermost([*values, start]) is not None:
        return compute(SequenceFunction(sum, [], {}, lambda start, *rest: _sum(rest, start)), start, *values)
    if sys.version_info >= (3, 12) and any(_is_float(one) for one in (*values, start)):
        return _compensated(lanes, values, start)
    for value in values:
        start = start + value
    return start


def _prod(*arguments: Any, **keywords: Any) -> Any:
    if len(arguments) != 1 or keywords.keys() - {"start"}:
        return math.prod(*arguments, **keywords)  # an error
    product = keywords.get("start", 1)
    for value in arguments[0]:
        product = product * value
    return product


def _is_float(value: Any) -> bool:
    return type(value) is float or (type(value) is Lane and kind_of(value.now()) in "fM")


def _compensated(lanes: Lanes, values: list[Any], start: Any) -> Any:
    """The sum of floats as Python computes it from 3.12 on: with the errors of the additions."""
    active = lanes.active
    columns = [value.at(active) if type(value) is Lane else value for value in values]
    is_zero = type(start) is int and start == 0
    if lanes.active is not active or not is_zero or any(kind_of(column) != "f" for column in columns):
        return compute(lambda *parts: sum(parts[1:], parts[0]), start, *values)
    with np.errstate(all="ignore"):
        total = 0.0 + columns[0]
        error = np.zeros(active.size)
        for column in columns[1:]:
            added = total + column
            error = error + np.where(
                np.abs(total) >= np.abs(column), (total - added) + column, (column - added) + total
            )
            total = added
        total = np.where((error != 0) & np.isfinite(error), total + error, total) + np.zeros(active.size)
    return lane_of(lanes, active, total)


def sequence_call(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A function of sequences of numbers, lane by lane."""
    sequences = [list(one) if type(one) is not Lane and hasattr(one, "__iter__") else one for one in arguments]
    flat = [part for one in sequences for part in (one if type(one) is list else [one])]
    if not any(type(part) is Lane for part in flat):
        return function(*sequences, **keywords)
    sizes = [len(one) if type(one) is list else None for one in sequences]
    return compute(SequenceFunction(function, sizes, keywords), *flat)


def identical(one: Any, other: Any) -> Any:
    """`one is other`, where a lane is compared with a singleton."""
    if one is other:
        return True
    if type(one) is not Lane:
        one, other = other, one
    if type(one) is not Lane:
        return False
    if type(other) is Lane or type(other) in (int, float, str, bytes, complex, tuple):
        raise one.lanes.refuse(
            EffectError(
                f"the identity of a value that differs between lanes is asked for, at {place()}: compare with =="
            )
        )
    kind = kind_of(one.now())
    if kind in "fic" or (kind == "b" and type(other) is not bool):
        return False
    return compute(operator.is_, one, other)


def contents(container: Any, item: Any) -> Any:
    """`item in container`, where one of them has values of lanes."""
    if type(container) in (list, tuple):
        is_contained: Any = False
        for part in container:
            equal = True if part is item else part == item
            if type(equal) is Lane:
                equal = compute(bool, equal)
            if type(is_contained) is Lane or type(equal) is Lane:
                is_contained = _chosen(is_contained, True, equal)
            else:
                is_contained = bool(is_contained) or bool(equal)
        return is_contained
    if type(container) is Lane:
        return compute(operator.contains, container, item)
    if type(item) is Lane and type(container) in (set, frozenset, dict, range, str, bytes):
        return compute(_Contains(container), item)
    return item in container


class _Contains:
    """Whether an item is in a container that all lanes share."""

    decides = True

    def __init__(self, container: Any) -> None:
        self.container = container

    def __call__(self, item: Any) -> bool:
        return item in self.container


class _Lookup:
    """The item of a table that all lanes share. The key decides which one it is."""

    decides = True

    def __init__(self, table: Any) -> None:
        self.table = table

    def __call__(self, key: Any) -> Any:
        return self.table[key]


def looked_up(table: Any, key: Lane) -> Any:
    """`table[key]`, where the key differs between lanes."""
    if type(table) is Lane:
        return compute(operator.getitem, table, key)
    kind = type(table)
    if kind not in (list, tuple, dict, str, bytes, range):
        return table[agreed(key, "is the key of an object")]
    values = list(table.values()) if kind is dict else table if kind in (list, tuple) else ()
    if all(map(is_immutable, values)):
        column = key.now()
        if kind in (list, tuple) and kind_of(column) == "i" and _within(column, len(table)):
            items = packed(list(table))[column]
            return lane_of(key.lanes, key.lanes.active, items)
        return compute(_Lookup(table), key)
    return _by_key(table, key)


def _within(column: Any, length: int) -> bool:
    return length > 0 and bool(-length <= column.min()) and bool(column.max() < length)


def _by_key(table: Any, key: Lane) -> Any:
    lanes = key.lanes
    column = key.now()
    values = column.tolist()
    distinct = dict.fromkeys(values)
    if len(distinct) > MOST_VALUES:
        raise lanes.refuse(
            EffectError(f"a table of {type(table).__name__} has more than {MOST_VALUES} keys, at {place()}")
        )
    active = lanes.active
    pieces, missing = [], []
    for one in distinct:
        members = active.part(np.array([value == one for value in values]))
        try:
            pieces.append((members, table[one]))
        except (LookupError, TypeError):
            missing.append((members, one))
    kept = missing[0] if not pieces else None  # the exception is that of the lanes that are left
    for members, one in missing:
        if kept is None or one is not kept[1]:
            lanes.drop(members.ids)
    if kept is not None:
        return table[kept[1]]
    return merged(lanes, lanes.active, pieces)


def _type(*arguments: Any) -> Any:
    return arguments[0].__class__ if len(arguments) == 1 and type(arguments[0]) is Lane else type(*arguments)


def _class(value: Any) -> Any:
    """The class that the program sees. The type checker takes `Lane` for it."""
    return value.__class__


def _isinstance(value: Any, kinds: Any) -> bool:
    """Abstract base classes would find the methods of `Lane`."""
    return issubclass(_class(value), kinds) if type(value) is Lane else isinstance(value, kinds)


def _hasattr(value: Any, name: Any) -> bool:
    name = agreed(name, NAMES_ATTRIBUTE)
    return hasattr(_class(value) if type(value) is Lane else value, name)


def _getattr(value: Any, name: Any, *default: Any) -> Any:
    name = agreed(name, NAMES_ATTRIBUTE)
    kind = _class(value)
    if type(value) is Lane and not hasattr(kind, name):
        return getattr(kind(), name, *default)  # the default, or the error of a number
    return getattr(value, name, *default)


def _len(value: Any) -> Any:
    """The length of a text is that of each lane. It has no derivative."""
    return compute(len, value) if type(value) is Lane and value.annotation is None else len(value)


RULES: Final[dict[Any, Callable[..., Any]]] = {
    len: _len,
    min: _extreme(min, operator.lt),
    max: _extreme(max, operator.gt),
    sorted: _sorted,
    sum: _sum,
    math.prod: _prod,
    range: LaneRange.of,
    type: _type,
    isinstance: _isinstance,
    hasattr: _hasattr,
    getattr: _getattr,
    operator.is_: identical,
    operator.contains: contents,
    operator.is_not: lambda one, other: (
        compute(operator.not_, test) if type(test := identical(one, other)) is Lane else not test
    ),
}
"""By function: what is called in its place if an argument, or an item of one, differs between lanes."""
