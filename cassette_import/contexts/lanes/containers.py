"""Containers that hold values of lanes: found, taken apart, and made again for one lane.

A function in C that gets a list reads what is in it, so each lane has a list of its own with plain values. The list is
gone after the call: it must be a function that keeps and changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from cassette_import.contexts.lanes.columns import is_immutable
from cassette_import.contexts.lanes.lane import Lane
from cassette_import.contexts.lanes.ranges import LaneRange

__all__ = ["ATOMS", "OfParts", "apart", "can_be_apart", "contains_lane", "lane_in"]

ATOMS: Final = frozenset({float, int, bool, complex, str, bytes, type(None)})
"""Types whose values have no parts."""
_DEPTH: Final = 6

_Maker = Callable[[Iterator[Any]], Any]


def contains_lane(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a value is one of lanes, or an object or container that holds one."""
    return type(value) not in ATOMS and lane_in(value, depth) is not None


def lane_in(value: Any, depth: int = _DEPTH) -> Lane | None:
    """A value of lanes in an object or container; None if there is none."""
    kind = type(value)
    if kind is Lane:
        return value  # type: ignore[no-any-return]  # of this kind
    if kind is LaneRange:
        return lane_in((value.start, value.stop))
    if depth == 0 or kind in ATOMS or (is_immutable(value) and kind not in (tuple, frozenset)):
        return None
    if isinstance(value, dict):
        parts: Any = value.values()
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        parts = value
    else:
        inside = getattr(value, "__dict__", None)
        parts = inside.values() if type(inside) is dict else ()
    for part in parts:
        found = lane_in(part, depth - 1)
        if found is not None:
            return found
    return None


class OfParts:
    """A function of containers, as a function of the values of lanes in them."""

    def __init__(self, function: Any, makers: Sequence[_Maker]) -> None:
        self.function = function
        self.__module__ = getattr(function, "__module__", None) or ""
        self.__qualname__ = getattr(function, "__qualname__", None) or repr(function)
        self._makers = makers

    def __call__(self, *parts: Any) -> Any:
        rest = iter(parts)
        return self.function(*[make(rest) for make in self._makers])


def apart(function: Any, operands: Sequence[Any]) -> tuple[OfParts, list[Any]] | None:
    """A function of values of lanes, and these values; None if some are in what cannot be taken apart."""
    found: list[Any] = []
    makers = [_maker(one, found, _DEPTH) for one in operands]
    if any(make is None for make in makers):
        return None
    return OfParts(function, [make for make in makers if make is not None]), found


def can_be_apart(*values: Any) -> bool:
    """Whether all values of lanes are in containers that can be taken apart, and there are some."""
    found = apart(None, values)
    return found is not None and bool(found[1])


def _next(parts: Iterator[Any]) -> Any:
    return next(parts)


def _maker(value: Any, found: list[Any], depth: int) -> _Maker | None:
    """What makes the value for one lane of the parts that differ, which are added to `found`."""
    kind = type(value)
    if kind is Lane:
        found.append(value)
        return _next
    if not contains_lane(value, depth):
        return lambda parts: value
    rule = _CONTAINERS.get(kind)
    if rule is None and issubclass(kind, tuple) and hasattr(kind, "_make"):
        rule = _named_tuple
    if rule is None or depth == 0:
        return None
    items, made_of = rule(value)
    makers = [_maker(item, found, depth - 1) for item in items]
    known = [make for make in makers if make is not None]
    return (lambda parts: made_of([make(parts) for make in known])) if len(known) == len(makers) else None


def _named_tuple(value: Any) -> tuple[Any, Callable[[list[Any]], Any]]:
    return value, type(value)._make


def _mapping(value: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    def made_of(items: list[Any]) -> Any:
        made = value.copy()
        made.update(zip(list(value), items, strict=True))
        return made

    return list(value.values()), made_of


_CONTAINERS: Final[dict[type, Callable[[Any], tuple[Any, Callable[[list[Any]], Any]]]]] = {
    list: lambda value: (value, list),
    tuple: lambda value: (value, tuple),
    deque: lambda value: (value, lambda items: deque(items, value.maxlen)),
    dict: _mapping,
    OrderedDict: _mapping,
    defaultdict: _mapping,
}
"""By type: the items of a container, and what makes another one of other items."""
