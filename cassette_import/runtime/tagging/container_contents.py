"""What containers and objects hold, read without running methods that a class of the program overrides.

Knows the interpreter's own types; must not know metadata.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sized
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a

SEQUENCES: Final = (list, tuple, deque)
CONTAINERS: Final = (*SEQUENCES, dict, set, frozenset)
_SIZED: Final[tuple[type[Sized], ...]] = (*SEQUENCES, dict)


@hidden
def size_of(owner: Any) -> int:
    """The number of items of a sequence or dict."""
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
