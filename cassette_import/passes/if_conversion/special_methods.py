"""Special methods whose result code in C checks, so that a converted one asks the context what to return."""

from __future__ import annotations

from typing import Final

__all__ = ["SPECIAL_METHODS"]

SPECIAL_METHODS: Final = frozenset(
    {
        "__bool__",
        "__float__",
        "__int__",
        "__index__",
        "__len__",
        "__complex__",
        "__str__",
        "__repr__",
        "__format__",
        "__hash__",
        "__bytes__",
    }
)
"""Their names."""
