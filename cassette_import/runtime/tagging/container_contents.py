"""What containers and objects hold, read without running methods that a class of the program overrides."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Sized
from sys import getrefcount
from types import ModuleType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a

SEQUENCES: Final = (list, tuple, deque)
CONTAINERS: Final = (*SEQUENCES, dict, set, frozenset)
_SIZED: Final[tuple[type[Sized], ...]] = CONTAINERS


@hidden
def size_of(owner: Any) -> int:
    """The number of items of a sequence, dict or set."""
    return next(kind for kind in _SIZED if is_a(owner, kind)).__len__(owner)


@hidden
def items_in(owner: Any) -> list[Any]:
    """The items of a sequence or set, or the values of a dict."""
    if type(owner) in CONTAINERS:
        return list(owner.values() if type(owner) is dict else owner)
    kind: Any = next(kind for kind in CONTAINERS if is_a(owner, kind))
    return list(dict.values(owner) if kind is dict else kind.__iter__(owner))


@hidden
def has(owner: Any, key: Any) -> bool:
    """Whether a dict has a key, or a set an element."""
    kind: Any = dict if is_a(owner, dict) else set if is_a(owner, set) else frozenset
    return bool(kind.__contains__(owner, key))


@hidden
def buffer_of(owner: Any) -> Any:
    """The object whose memory a view or a part of a C structure shares; any other object itself."""
    while True:
        base: Any = None
        if type(owner) is memoryview:
            base = owner.obj
        elif type(type(owner)).__module__ == "_ctypes":
            base = owner._b_base_
        if base is None:
            return owner
        owner = base


@hidden
def attributes_of(owner: Any) -> dict[str, Any]:
    """The `__dict__` of an object, unless its class computes another one."""
    if is_a(owner, type):
        return {}
    try:
        found = object.__getattribute__(owner, "__dict__")
    except Exception:
        return {}
    return found if type(found) is dict else {}


@hidden
def namespace_in_use(owner: Any) -> dict[str, Any] | None:
    """The `__dict__` of an object, if something else than the object refers to it."""
    if is_a(owner, ModuleType) or (_IS_SHOWN and id(dict) not in map(id, map(type, gc.get_referents(owner)))):
        return None
    namespace = attributes_of(owner)
    return namespace if getrefcount(namespace) > _REFERENCES_OF_OWNER else None


_IS_SHOWN: Final = sys.version_info < (3, 13)
"""Whether an object refers to its `__dict__`. If it does not, and gets one by the question, nothing else changes."""


class _Owner:
    """An object whose `__dict__` nothing else refers to."""


def _count_references_of_owner() -> int:
    namespace = attributes_of(_OWNER)
    return getrefcount(namespace)


_OWNER: Final = _Owner()
_REFERENCES_OF_OWNER: Final = _count_references_of_owner()
