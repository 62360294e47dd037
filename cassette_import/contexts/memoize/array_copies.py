"""Exact copies of NumPy arrays: pickle does not write whether an array is read-only.

An array may also show memory of another object; a copy has memory of its own.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from sys import getrefcount
from typing import Any, Final

from cassette_import.contexts.memoize.argument_keys import PROTOCOL, CannotCache

__all__ = ["check_memory", "is_array", "written"]


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy, if the program has imported it."""
    numpy = sys.modules.get("numpy")
    kind = getattr(numpy, "ndarray", None)
    return isinstance(kind, type) and isinstance(value, kind)


def written(array: Any) -> Any:
    """What pickle writes for an array, as `__reduce_ex__` returns it."""
    if array.flags.writeable:
        return NotImplemented
    constructor, arguments, *state = array.__reduce_ex__(PROTOCOL)
    return read_only, (constructor, arguments, state[0] if state else None)


def read_only(constructor: Any, arguments: Any, state: Any) -> Any:
    """A new array that is read-only."""
    made = constructor(*arguments)
    if state is not None:
        made.__setstate__(state)
    made.flags.writeable = False
    return made


def check_memory(parts: Iterable[Any]) -> None:
    """Raise if arrays among the parts of a result show memory that another object shows, too.

    A change of such an array is seen elsewhere; a change of its copy would not be.
    """
    arrays = list(filter(is_array, parts))
    owners = {id(array) for array in arrays}
    views = Counter(id(array.base) for array in arrays)
    for array in arrays:
        if array.base is None or type(array.base) is bytes:
            continue
        if id(array.base) in owners or views[id(array.base)] > 1:
            raise CannotCache("arrays in its result share memory, which copies would not")
        if getrefcount(array.base) > _REFERENCES:
            raise CannotCache("its result shows the memory of an array that is held elsewhere too")


def _references() -> int:
    """How many references `getrefcount` counts to the owner of some memory if one object shows it."""
    view = memoryview(bytearray(1))
    return getrefcount(view.obj)


_REFERENCES: Final = _references()
