"""Arrays of the caller: arguments become columns of lanes, and results get the shape of the arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from cassette_import.contexts.lanes.columns import is_immutable, packed
from cassette_import.contexts.lanes.lane import Lane
from cassette_import.contexts.lanes.parts import parts_of

__all__ = ["column_of", "plain_number", "refuse_subclasses", "shaped"]


def refuse_subclasses(values: list[Any]) -> None:
    """Raise a `TypeError` for an array of a subclass, whose elements may mean something else."""
    for value in values:
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            raise TypeError(f"lanes are arrays of type numpy.ndarray, not {type(value).__qualname__}: convert it first")


def plain_number(value: Any) -> Any:
    """A number of NumPy as the element of an array of its type is one; any other value is its own."""
    return column_of(np.array([value]), (1,)).tolist()[0] if isinstance(value, np.generic) else value


def column_of(array: Any, shape: tuple[int, ...]) -> Any:
    """The values of an argument as a column, for all lanes."""
    flat = array if array.shape == shape else np.broadcast_to(array, shape)
    if flat.ndim != 1:
        flat = flat.reshape(-1)
    kind = flat.dtype.kind
    if kind == "f" and flat.dtype.itemsize <= 8:
        return np.ascontiguousarray(flat, np.float64)
    if kind == "c" and flat.dtype.itemsize <= 16:
        return np.ascontiguousarray(flat, np.complex128)
    if kind == "b":
        return flat.copy()
    if kind == "i" or (kind == "u" and (flat.size == 0 or flat.max() <= np.iinfo(np.int64).max)):
        return np.ascontiguousarray(flat, np.int64)
    if kind not in "uOUS":
        raise TypeError(f"lanes are arrays of numbers, texts or immutable objects, not of type {flat.dtype}")
    values = flat.tolist()
    if not all(type(value) is not Lane and is_immutable(value) for value in values):
        raise TypeError("lanes are arrays of numbers, texts or other immutable objects")
    return packed(values) if values else flat.astype(object)


def shaped(value: Any, size: int, shape: tuple[int, ...], depth: int) -> Any:
    """A result whose arrays have the broadcast shape."""
    if len(shape) == 1 or depth > 20:
        return value
    if type(value) is np.ndarray and value.shape == (size,):
        return value.reshape(shape)
    parts = parts_of(value)
    if parts is None or parts.shape is None or not _holds_arrays(value, size):
        return value
    return parts.rebuilt([shaped(part, size, shape, depth + 1) for part in parts.items])


def _holds_arrays(value: Any, size: int, depth: int = 8) -> bool:
    """Whether a result has arrays of lanes: other ones stay the objects that they are."""
    if type(value) is np.ndarray:
        return bool(value.shape == (size,))
    parts = parts_of(value) if depth else None
    return parts is not None and any(_holds_arrays(part, size, depth - 1) for part in parts.items)
