"""Iterators that something else than their present use refers to: advancing one for some lanes changes it for all.

A reference that is not explained shows that the program can come back to an iterator. `enumerate`, `zip`, generator
expressions and the like refer to others, which are looked for, too.
"""

from __future__ import annotations

import gc
import sys
from types import CellType, FunctionType
from typing import Any, Final

__all__ = ["is_iterator", "shared_iterators"]

_UNSHARED: Final = 2
"""The references to a temporary value: the tuple of arguments that has it, and the argument of `getrefcount`."""


def is_iterator(value: Any) -> bool:
    """Whether a value is an iterator whose state is in C, or in the frame of a generator.

    The state of one with a method `__next__` of the program is in attributes, of which each lane has its own.
    """
    advance = getattr(type(value), "__next__", None)
    return advance is not None and type(advance) is not FunctionType


def shared_iterators(given: tuple[Any, ...], number: int = 0) -> list[Any]:
    """The iterators that advance with an argument, and to which something else refers, too.

    Parameters
    ----------
    given:
        The tuple of arguments of a call. Nothing else of the caller may refer to the argument.
    number:
        Which of them.
    """
    root = given[number]
    if not hasattr(type(root), "__next__"):
        return []
    found = [root] if is_iterator(root) and sys.getrefcount(given[number]) > _UNSHARED + 1 else []
    seen: dict[int, Any] = {}
    explained: dict[int, int] = {}
    below: dict[int, list[Any]] = {}
    pending = [root]
    while pending:
        holder = pending.pop()
        parts = [part for part in gc.get_referents(holder) if is_iterator(part) or type(part) in (tuple, CellType)]
        below[id(holder)] = parts
        for part in parts:
            explained[id(part)] = explained.get(id(part), 0) + 1
            if id(part) not in seen:
                seen[id(part)] = part
                pending.append(part)
    below = {key: [id(part) for part in parts] for key, parts in below.items()}
    del holder, parts
    part = None
    shared = [key for key in seen if sys.getrefcount(seen[key]) > _UNSHARED + explained[key]]
    while shared:
        key = shared.pop()
        if key not in seen:
            continue
        one = seen.pop(key)
        if is_iterator(one):
            found.append(one)
        else:  # a tuple or a variable: what it refers to is shared with it
            shared += below[key]
    return found
