"""Which of the objects that a call has changed outlive it: something refers to them that the call has not made.

This is how the garbage collector finds what is reachable from outside: by references that no known object has.
"""

from __future__ import annotations

import gc
import sys
from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

__all__ = ["CODE", "COPIED", "OPAQUE", "copy_of", "fill", "outliving"]

CODE: Final = (type, ModuleType, FunctionType, BuiltinFunctionType)
OPAQUE: Final = (*CODE, str, bytes, int, float, complex, type(None))
"""The types of objects that lead to no others, or to the whole program."""

COPIED: Final = (list, set, deque, bytearray, OrderedDict, dict)
"""The containers whose former content is a copy."""

_MOST_OBJECTS: Final = 200_000


_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType)


def _kind_of(container: Any) -> Any:
    return next(kind for kind in COPIED if isinstance(container, kind))


def copy_of(container: Any) -> Any:
    """A copy of a container. No method of the program runs.

    >>> copy_of([1, 2])
    [1, 2]
    """
    kind = _kind_of(container)
    return OrderedDict(OrderedDict.items(container)) if kind is OrderedDict else kind.copy(container)


def fill(container: Any, content: Any) -> None:
    """Give a container its former content. No method of the program runs."""
    kind = _kind_of(container)
    kind.clear(container)
    (kind.extend if hasattr(kind, "extend") else kind.update)(container, content)


def _referents(value: Any) -> list[Any]:
    """What an object refers to; of a function, its variables, defaults and receiver: its module leads to everything."""
    found: tuple[Any, ...]
    if type(value) is FunctionType:
        found = (value.__closure__, value.__defaults__, value.__kwdefaults__)
    elif type(value) is BuiltinFunctionType:
        found = (value.__self__,)
    else:
        return gc.get_referents(value)
    return [one for one in found if one is not None]


def outliving(
    entries: Mapping[int, tuple[Any, ...]], outcome: Any, opaque: tuple[type, ...] = OPAQUE
) -> Collection[int] | None:
    """The changed objects, by identity, to which something outside of the result refers.

    Parameters
    ----------
    entries:
        The changed objects by identity: tuples of the object, its former content, and anything else.
    outcome:
        The result of the call.
    opaque:
        The types of objects that are not followed. Of functions, only their variables, defaults and receiver are.

    Returns
    -------
    The identities; None if there are too many objects to say.

    >>> kept, lost = [1], [2]
    >>> outliving({id(kept): (kept, []), id(lost): (lost, [])}, None) == {id(kept), id(lost)}
    True
    """
    nodes: dict[int, Any] = {}
    internal: dict[int, int] = {}
    edges: dict[int, list[int]] = {}
    work: list[Any] = [outcome]
    for entry in entries.values():
        work += entry[:2]
    own = {id(entry[1]) for entry in entries.values()}
    one = entry = None  # type: ignore[assignment]  # they refer to no object from here on
    while work:
        node = work.pop()
        if id(node) in nodes:
            continue
        nodes[id(node)] = node
        referents = [one for one in _referents(node) if type(one) in _FUNCTIONS or not issubclass(type(one), opaque)]
        edges[id(node)] = list(map(id, referents))
        for one in referents:
            internal[id(one)] = internal.get(id(one), 0) + 1
        work += referents
        if len(nodes) > _MOST_OBJECTS:
            return None
    del node, work, one, entry
    referents = []
    outside = []
    for key in nodes:
        # references: the table `nodes`, the argument of getrefcount, and the entry of a changed object
        known = 2 + internal.get(key, 0) + (key in entries) + (key in own)
        if key != id(outcome) and sys.getrefcount(nodes[key]) > known:
            outside.append(key)
    seen = set(outside)
    while outside:
        for target in edges[outside.pop()]:
            if target not in seen:
                seen.add(target)
                outside.append(target)
    return seen & entries.keys()
