"""Results: the pieces of all runs, put together in the structure that the function returns."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import Mixed, kind_of, same
from cassette_import.contexts.lanes.lane import Lane
from cassette_import.contexts.lanes.lane_sets import LaneSet
from cassette_import.contexts.lanes.parts import Parts, holds_lane, parts_of
from cassette_import.contexts.lanes.ranges import LaneRange

__all__ = ["UnknownStructure", "assembled", "exception_of", "of_lane"]

_CONTAINERS: Final = (list, tuple, dict, deque)
_DEPTH: Final = 20
_NUMBERS: Final = (int, float, bool, complex)
_DTYPES: Final[dict[str, Any]] = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128}

Pieces = Sequence[tuple[Any, Any, LaneSet | None]]
"""The numbers of the lanes, the value, and the set of the run that the value belongs to (None: a single lane)."""


class UnknownStructure(Exception):
    """A result keeps values of lanes in an object that cannot be taken apart. The argument says in which."""


def of_lane(value: Any, members: LaneSet, position: int, depth: int = _DEPTH) -> Any:
    """The value that one lane has, in a value of all lanes."""
    if type(value) is Lane:
        return value.fixed(members)[position : position + 1].tolist()[0]
    if not holds_lane(value):
        return value
    if type(value) is LaneRange:
        start, stop = (of_lane(part, members, position) for part in (value.start, value.stop))
        return range(start, stop, value.step)
    parts = _parts(value, depth)
    if parts is None:
        raise UnknownStructure(f"a {type(value).__qualname__} that keeps values which differ between lanes")
    return parts.rebuilt([of_lane(part, members, position, depth - 1) for part in parts.items])


def _parts(value: Any, depth: int) -> Parts | None:
    if isinstance(value, (GeneratorType, CoroutineType, AsyncGeneratorType)):
        raise UnknownStructure(f"a {type(value).__qualname__}, which would run when the lanes have ended")
    if depth == 0:
        raise UnknownStructure(f"a {type(value).__qualname__} in more than {_DEPTH} others, or in itself")
    return parts_of(value)


def exception_of(error: BaseException, members: LaneSet, position: int) -> BaseException:
    """The exception of one lane."""
    found: BaseException = of_lane(error, members, position)
    return found


def assembled(size: int, pieces: Pieces, failed: Any = None, depth: int = _DEPTH) -> Any:
    """The result for all lanes.

    Parameters
    ----------
    size:
        The number of lanes.
    pieces:
        What the runs have returned.
    failed:
        The numbers of the lanes that raised an exception: they get NaN, or None.
    depth:
        How deeply results may be in each other.

    Raises
    ------
    UnknownStructure
        If values of lanes are in an object that cannot be taken apart.
    """
    if not pieces:
        return np.full(size, np.nan)
    values = [value for _, value, _ in pieces]
    first = values[0]
    if all(_is_column(value) for value in values):
        return _column(size, pieces, failed)
    if not isinstance(first, _CONTAINERS) and all(value is first for value in values) and not holds_lane(first):
        _parts(first, depth)
        return first
    taken = [_parts(value, depth) for value in values]
    known = taken[0]
    if known is not None and known.shape is not None and all(one and one.shape == known.shape for one in taken):
        made = []
        for items in zip(*[one.items for one in taken if one], strict=True):
            parts = [(ids, item, members) for (ids, _, members), item in zip(pieces, items, strict=True)]
            made.append(assembled(size, parts, failed, depth - 1))
        return known.rebuilt(made)
    if all(_agree(first, value) for value in values) and not holds_lane(first):
        return first
    return _objects(size, pieces, failed)


def _agree(one: Any, other: Any) -> bool:
    """Whether two values that are no columns cannot be told apart, identity aside."""
    if type(one) is not type(other) or not isinstance(one, (set, frozenset)):
        return same(one, other)
    return bool(one == other) and not holds_lane(one, other) and _members(one) == _members(other)


def _members(of: Any) -> set[tuple[type, str]]:
    return {(type(value), repr(value)) for value in of}  # 1 is not True, and zeros have signs


def _is_column(value: Any) -> bool:
    return type(value) is Lane or type(value) in _NUMBERS


def _column(size: int, pieces: Pieces, failed: Any) -> Any:
    columns = []
    for ids, value, members in pieces:
        data = value.fixed(members) if members is not None and type(value) is Lane else value
        parts = [(ids, data)]
        if type(data) is Mixed:
            parts = [(ids[data.codes == code], array[data.codes == code]) for code, array in enumerate(data.arrays)]
        columns += [(where, part) for where, part in parts if len(where)]
    kinds = {kind_of(part) for _, part in columns}
    kind = next((one for one in "Ocfib" if one in kinds), "f")
    if kinds == {"b", "i"} or kinds == {"b", "f"}:
        kind = "i" if "i" in kinds else "f"
    if failed is not None and len(failed) and kind in "ib":
        kind = "f"
    if kind == "f" and "i" in kinds and any(_inexact(part) for _, part in columns):
        kind = "O"
    result = np.empty(size, _DTYPES.get(kind, object))
    for where, part in columns:
        first, end = int(where[0]), int(where[-1]) + 1
        place = slice(first, end) if end - first == len(where) else where
        result[place] = part if kind != "O" or type(part) is not np.ndarray else part.astype(object)
    if failed is not None and len(failed):
        result[failed] = np.nan if kind != "O" else None
    return result


def _inexact(part: Any) -> bool:
    return kind_of(part) == "i" and bool(np.any(np.abs(np.asarray(part, np.float64)) >= 2.0**53))


def _objects(size: int, pieces: Pieces, failed: Any) -> Any:
    result: Any = np.empty(size, object)
    for ids, value, members in pieces:
        for position, number in enumerate(ids.tolist()):
            result[number] = value if members is None else of_lane(value, members, position)
    return result
