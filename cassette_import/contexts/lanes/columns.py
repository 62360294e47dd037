"""Columns: the values of many lanes as arrays that lose nothing, neither types nor bits.

A column is an array of `float64`, `int64`, `bool` or `complex128`, an array of objects, or a `Mixed` column, where
each lane has one of several kinds. Integers that do not fit into 64 bits are objects.
"""

from __future__ import annotations

import datetime
import enum
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

import numpy as np

__all__ = ["Mixed", "SequenceFunction", "constant", "is_immutable", "joined", "kind_of", "listed", "packed", "same"]

# ---- functions of sequences of numbers


class SequenceFunction:
    """A function of sequences, as a function of the numbers in them.

    Parameters
    ----------
    function, keywords:
        The function, and its keyword arguments.
    sizes:
        How many numbers each argument has; None for an argument that is a number.
    whole:
        What computes the result of the numbers for all lanes at once, if that is known.
    """

    def __init__(
        self,
        function: Any,
        sizes: Sequence[int | None],
        keywords: dict[str, Any],
        whole: Callable[..., Any] | None = None,
    ) -> None:
        self.function = function
        self.keywords = keywords
        self.whole = whole
        self._sizes = sizes

    def __call__(self, *parts: Any) -> Any:
        given: list[Any] = []
        rest = list(parts)
        for size in self._sizes:
            given.append(rest[0] if size is None else rest[:size])
            rest = rest[1 if size is None else size :]
        return self.function(*given, **self.keywords)


# ---- columns: the values of many lanes as arrays that lose nothing, neither types nor bits

_KIND_OF_TYPE: Final[dict[type, str]] = {float: "f", int: "i", bool: "b", complex: "c"}
_DTYPES: Final[dict[str, Any]] = {"f": np.float64, "i": np.int64, "b": np.bool_, "c": np.complex128, "O": object}
_TIMES: Final = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone)
_IMMUTABLE: Final = frozenset(
    {
        *_TIMES,
        float,
        int,
        bool,
        complex,
        str,
        bytes,
        type(None),
        type(...),
        type(NotImplemented),
        range,
        slice,
        Fraction,
        Decimal,
    }
)
_LEAST, _MOST = -(2**63), 2**63 - 1


class Mixed:
    """A column whose lanes have different kinds: a code for each lane, and an array for each code."""

    __slots__ = ("arrays", "codes")

    def __init__(self, codes: Any, arrays: Sequence[Any]) -> None:
        self.codes = codes
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, which: Any) -> Any:
        codes = self.codes[which]
        arrays = [array[which] for array in self.arrays]
        used = np.flatnonzero(np.bincount(codes, minlength=len(arrays))) if len(codes) else [0]
        return arrays[used[0]] if len(used) == 1 else Mixed(codes, arrays)

    def tolist(self) -> list[Any]:
        """The values as Python's objects."""
        columns = [array.tolist() for array in self.arrays]
        return [columns[code][number] for number, code in enumerate(self.codes.tolist())]


def kind_of(value: Any) -> str:
    """The kind of a column, or of a number or object that all lanes share: f, i, b, c, O, or M for mixed ones."""
    kind = type(value)
    if kind is np.ndarray:
        letter: str = value.dtype.kind
        return letter
    if kind is Mixed:
        return "M"
    if kind is int and not _LEAST <= value <= _MOST:
        return "O"
    return _KIND_OF_TYPE.get(kind, "O")


def is_immutable(value: Any) -> bool:
    """Whether a value may be in a column of objects: nothing can tell it from its equals, and it runs no code."""
    kind = type(value)
    if kind in _IMMUTABLE or issubclass(kind, (type, enum.Enum, FunctionType, BuiltinFunctionType)):
        return True
    return kind in (tuple, frozenset) and all(map(is_immutable, value))


def same(one: Any, other: Any) -> bool:
    """Whether two immutable values cannot be told apart, signs of zeros and types included."""
    if one is other:
        return True
    if type(one) is not type(other) or type(one) not in _IMMUTABLE:
        return False
    if type(one) is float:
        return struct.pack("d", one) == struct.pack("d", other)
    if type(one) is complex:
        return same(one.real, other.real) and same(one.imag, other.imag)
    if type(one) in (Decimal, slice, range, Fraction, *_TIMES):
        return repr(one) == repr(other)
    return bool(one == other)


def constant(value: Any, size: int) -> Any:
    """A column with one value in all lanes."""
    kind = kind_of(value)
    if kind == "O":
        column: Any = np.empty(size, object)
        column.fill(value)
        return column
    return np.full(size, value, _DTYPES[kind])


def packed(values: list[Any]) -> Any:
    """The column of a list of values."""
    if set(map(type, values)) == {float}:
        return np.array(values, np.float64)
    kinds = [kind_of(value) for value in values]
    names = sorted(set(kinds))
    if len(names) == 1:
        return _array(values, names[0])
    codes = np.array([names.index(kind) for kind in kinds], np.uint8)
    arrays = []
    for code, name in enumerate(names):
        array = np.zeros(len(values), _DTYPES[name])
        where = np.flatnonzero(codes == code)
        array[where] = _array([values[number] for number in where.tolist()], name)
        arrays.append(array)
    return Mixed(codes, arrays)


def _array(values: list[Any], kind: str) -> Any:
    if kind != "O":
        return np.array(values, _DTYPES[kind])
    array: Any = np.empty(len(values), object)
    for number, value in enumerate(values):
        array[number] = value
    return array


def listed(column: Any, size: int) -> list[Any]:
    """The values of a column, or of a shared value, as Python's objects."""
    if type(column) is np.ndarray or type(column) is Mixed:
        found: list[Any] = column.tolist()
        return found
    return [column] * size


def joined(size: int, pieces: Sequence[tuple[Any, Any]]) -> Any:
    """The column of this size that has, at the positions of each piece, the piece's column or shared value."""
    flat: list[tuple[Any, Any]] = []
    for positions, column in pieces:
        if type(column) is Mixed:
            for code, array in enumerate(column.arrays):
                which = np.flatnonzero(column.codes == code)
                if len(which):
                    flat.append((positions[which], array[which]))
        elif len(positions):
            flat.append((positions, column))
    kinds = [kind_of(column) for _, column in flat]
    names = sorted(set(kinds))
    is_covered = len(names) == 1 and names != ["O"] and sum(len(positions) for positions, _ in flat) == size
    make = np.empty if is_covered else np.zeros  # the positions are disjoint
    arrays = {name: make(size, _DTYPES[name]) for name in names}
    codes: Any = np.zeros(size, np.uint8) if len(names) > 1 else None
    for (positions, column), name in zip(flat, kinds, strict=True):
        if type(column) is not np.ndarray and name == "O":
            column = constant(column, len(positions))
        arrays[name][positions] = column
        if codes is not None:
            codes[positions] = names.index(name)
    return arrays[names[0]] if codes is None else Mixed(codes, [arrays[name] for name in names])
