"""Merging: one value for several sets of lanes, each of which has computed its own.

Numbers and immutable values become columns, tuples are merged item by item. Lists, dicts and objects have an identity:
if they are not one object, the lanes are split, and those with one of the objects go on; the other ones are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cassette_import.contexts.lanes.columns import is_immutable, joined, same
from cassette_import.contexts.lanes.elementwise import lane_of
from cassette_import.contexts.lanes.lane import Lane
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet
from cassette_import.contexts.lanes.nested_levels import Level, innermost, taken_apart
from cassette_import.kits.tagged_containers import sequence_like
from cassette_import.passes.if_conversion.converted_code import UNBOUND

__all__ = ["Partial", "merged", "scattered"]

Pieces = Sequence[tuple[LaneSet, Any]]


class Partial:
    """The value of a variable that is bound in some lanes only."""

    __slots__ = ("members", "value")

    def __init__(self, members: LaneSet, value: Any) -> None:
        self.members = members
        self.value = value


def merged(lanes: Lanes, target: LaneSet, pieces: Pieces) -> Any:
    """The value for the lanes of `target`, of which each piece has some.

    Parameters
    ----------
    lanes:
        The lanes of the run. The active set is `target`; it shrinks if the values cannot be merged.
    target:
        The union of the pieces' sets.
    pieces:
        The sets, and the value of each.
    """
    if any(value is UNBOUND or type(value) is Partial for _, value in pieces):
        return _partly_bound(lanes, pieces)
    pieces = [(lanes.current(members), value) for members, value in pieces]
    pieces = [(members, value) for members, value in pieces if members.size]
    first = pieces[0][1]
    if all(same(first, value) for _, value in pieces):
        return first
    values = [value for _, value in pieces]
    if issubclass(type(first), tuple):
        length = {len(value) if type(value) is type(first) else -1 for value in values}
        if len(length) == 1:
            return _tuple(lanes, pieces)
    if all(type(value) is Lane or is_immutable(value) for value in values):
        return _column(lanes, target, pieces)
    if lanes.containers.is_allowed and len({_shape(value) for value in values}) == 1 and _shape(first) is not None:
        return _container(lanes, pieces, values)
    return _largest(lanes, pieces)


def _shape(value: Any) -> Any:
    """What two containers must have in common, so that one can stand for both; None for other objects."""
    if type(value) is list:
        return list, len(value)
    return (dict, tuple(value)) if type(value) is dict else None


def _container(lanes: Lanes, pieces: Pieces, values: list[Any]) -> Any:
    """A list or dict that stands for those of several sets of lanes."""
    first = values[0]
    items: Any = []
    for key in range(len(first)) if type(first) is list else first:
        parts = [(lanes.current(members), value[key]) for members, value in pieces]
        items.append(merged(lanes, lanes.active, [part for part in parts if part[0].size]))
    made = items if type(first) is list else dict(zip(first, items, strict=True))
    lanes.containers.note(made, values)
    return made


def _column(lanes: Lanes, target: LaneSet, pieces: Pieces) -> Any:
    """A column of the values at a set that need not be the active one."""
    level = innermost([value for _, value in pieces])
    if level is not None:
        return _annotated(lanes, target, pieces, level)
    while True:
        version = lanes.version
        members = lanes.current(target)
        parts = []
        for lanes_of_piece, value in pieces:
            own = lanes.current(lanes_of_piece)
            data = value.at(own) if type(value) is Lane else value
            if own.size:
                parts.append((own.positions_in(members), data))
        if lanes.version == version:
            return lane_of(lanes, members, joined(members.size, parts))


def _annotated(lanes: Lanes, target: LaneSet, pieces: Pieces, level: Level) -> Any:
    """A column of values of which some are annotated: their parts are merged, too."""
    split = [(members, *taken_apart(level, value)) for members, value in pieces]
    bare = _column(lanes, target, [(members, value) for members, value, _ in split])
    if level.ended:
        return bare
    parts: dict[Any, Any] | None = {}
    if any(given is None for _, _, given in split):
        parts = None
    else:
        for name in dict.fromkeys(name for _, _, given in split for name in given or ()):
            # For the type checker: `parts` is a dict here.
            parts[name] = _column(  # type: ignore[index]
                lanes,
                target,
                [
                    (members, given[name] if given and name in given else level.lifted(name, value))
                    for members, value, given in split
                ],
            )
    return level.annotate(lanes, lanes.current(target), bare, parts)


def _tuple(lanes: Lanes, pieces: Pieces) -> Any:
    kind = type(pieces[0][1])
    items = []
    for number in range(len(pieces[0][1])):
        parts = [(lanes.current(members), value[number]) for members, value in pieces]
        items.append(merged(lanes, lanes.active, [part for part in parts if part[0].size]))
    is_known = kind is tuple or hasattr(kind, "_fields")
    return sequence_like(pieces[0][1], items) if is_known else _largest(lanes, pieces)


def _partly_bound(lanes: Lanes, pieces: Pieces) -> Any:
    bound = []
    for members, value in pieces:
        if type(value) is Partial:
            inside = members.part(lanes.inside(members, lanes.current(value.members)))
            if inside.size:
                bound.append((inside, value.value))
        elif value is not UNBOUND:
            bound.append((members, value))
    if not bound:
        return UNBOUND
    if len(bound) == 1:
        return Partial(*bound[0])
    union = lanes.union([members for members, _ in bound], lanes.active)
    if union is lanes.active:
        return merged(lanes, union, bound)
    values = [value for _, value in bound]
    if all(type(value) is Lane or is_immutable(value) for value in values):
        if all(same(values[0], value) for value in values):
            return Partial(union, values[0])
        return Partial(union, _column(lanes, union, bound))
    if all(value is values[0] for value in values):
        return Partial(union, values[0])
    return Partial(*max(bound, key=lambda piece: piece[0].size))  # a use drops the lanes of the others


def _largest(lanes: Lanes, pieces: Pieces) -> Any:
    """The object that most lanes have; the lanes with other ones are dropped."""
    groups: dict[int, list[tuple[LaneSet, Any]]] = {}
    for members, value in pieces:
        groups.setdefault(id(value), []).append((members, value))
    best = max(groups.values(), key=lambda group: sum(members.size for members, _ in group))
    for group in groups.values():
        if group is not best:
            for members, _ in group:
                lanes.drop(members.ids, f"each has another {type(best[0][1]).__name__}, which cannot be merged")
    return best[0][1]


def scattered(lanes: Lanes, old: Any, new: Any) -> Any:
    """What a part of an object becomes by a store in the active lanes: the old value stays in the other lanes.

    Returns
    -------
    A tuple with the new value of the part; None if the two values cannot be merged.
    """
    if old is new:
        return (new,)
    if not all(type(value) is Lane or is_immutable(value) for value in (old, new)):
        return None
    if type(new) is Lane:
        new.now()
    active = lanes.active
    if not lanes.masked:
        return (new,)
    rest = ~lanes.inside(lanes.whole, active)
    if type(old) is Lane:  # an object of one side of a branch: the other lanes do not know it
        rest &= lanes.inside(lanes.whole, lanes.current(old.set))
    if type(old) is not Lane and type(new) is not Lane and same(old, new):
        return (new,)
    others = lanes.whole.part(rest)
    union = lanes.union([active, others], lanes.whole)
    return (_column(lanes, union, [(active, new), (others, old)]),)
