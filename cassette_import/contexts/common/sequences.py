"""Lists and tuples of the type of another one, with other items.

A class that the program derives from a named tuple may have a `__new__` with any parameters, so it is not called.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

__all__ = ["sequence_like"]


def sequence_like(model: list[Any] | tuple[Any, ...], items: Iterable[Any]) -> Any:
    """A sequence of the type of the model."""
    kind: Any = type(model)
    if isinstance(model, tuple) and isinstance(kind.__new__, FunctionType):
        return tuple.__new__(kind, items)
    return kind(items)
