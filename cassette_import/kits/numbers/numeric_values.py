"""Floating-point numbers in values: numbers, arrays of NumPy, containers; no code of the program runs to find them.

NumPy is not imported: until the program imports it, no value is an array.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

__all__ = ["array_types", "can_change", "floats_in", "holds_floats", "is_array"]


def array_types() -> tuple[type, ...]:
    """NumPy's types of arrays and of scalars; nothing if the program has not imported NumPy."""
    numpy: Any = sys.modules.get("numpy")
    try:
        return numpy.ndarray, numpy.generic
    except AttributeError:  # not imported, or its import is not over
        return ()


def is_array(value: Any) -> bool:
    """Whether a value is an array or scalar of NumPy.

    >>> is_array(1.0)
    False
    """
    return issubclass(type(value), array_types())


def can_change(value: Any) -> bool:
    """Whether a value is an array of NumPy, whose numbers can be changed; those of its scalars cannot."""
    return issubclass(type(value), array_types()[:1])


def floats_in(values: Iterable[Any], most: int | None = None, depth: int = 2) -> Iterator[Any]:
    """The floats, complex numbers and inexact arrays among some values and in containers of Python.

    Parameters
    ----------
    values:
        The values.
    most:
        How many items of each container are looked at; all if None.
    depth:
        How many containers deep.

    >>> list(floats_in([1.5, 2, {"a": [3.5, "text"]}]))
    [1.5, 3.5]
    """
    for value in values:
        kind = type(value)
        if issubclass(kind, (float, complex)):
            yield value
        elif kind in _CONTAINERS or issubclass(kind, tuple):
            if depth:
                yield from floats_in(_items(value, most), most, depth - 1)
        elif is_array(value) and value.dtype.kind in "fc":
            yield value


_CONTAINERS: dict[type, Callable[[Any], Iterable[Any]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
    dict: lambda given: iter(list(dict.values(given))),
}


def _items(container: Any, most: int | None) -> list[Any]:
    iterate = _CONTAINERS.get(type(container), tuple.__iter__)
    try:
        return list(islice(iterate(container), most))
    except RuntimeError:  # another thread changed the size of the container
        return []


def holds_floats(values: Iterable[Any], most: int = 10) -> bool:
    """Whether there is a float among some values, or among the first items of containers.

    >>> holds_floats([1, "a", (2, 3.5)]), holds_floats([1])
    (True, False)
    """
    return next(floats_in(values, most), None) is not None
