"""A table by code objects, which it does not keep alive.

Code objects are equal if they do the same, so they are keys by identity.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import Generic, TypeVar

__all__ = ["CodeTable"]

Value = TypeVar("Value")


class CodeTable(Generic[Value]):
    """A value for each code object, for as long as that exists.

    Parameters
    ----------
    default:
        Makes the value of a code object that has none yet.
    """

    def __init__(self, default: Callable[[], Value]) -> None:
        self._default = default
        self._entries: dict[int, tuple[weakref.ref[CodeType], Value]] = {}

    def __getitem__(self, code: CodeType) -> Value:
        key = id(code)
        entry = self._entries.get(key)
        if entry is None:
            entry = weakref.ref(code, lambda _: self._entries.pop(key, None)), self._default()
            self._entries[key] = entry
        return entry[1]

    def __len__(self) -> int:
        return len(self._entries)
