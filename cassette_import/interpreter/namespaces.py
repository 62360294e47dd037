"""What a module or a class holds, read past what it says of itself: nothing is loaded, and nobody is asked.

Knows modules and classes; must not know anything of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

of_module: Final[Callable[[ModuleType], dict[str, Any]]] = vars(ModuleType)["__dict__"].__get__
of_class: Final[Callable[[type], Mapping[str, Any]]] = vars(type)["__dict__"].__get__
bases_of: Final[Callable[[type], tuple[type, ...] | None]] = vars(type)["__mro__"].__get__
"""The order in which a class looks for attributes; a class that is being made has none yet."""

flags_of: Final[Callable[[type], int]] = vars(type)["__flags__"].__get__
IMMUTABLE: Final = 1 << 8
"""The flag `Py_TPFLAGS_IMMUTABLETYPE`: a class that C code defines, and no program changes."""


def is_a(value: Any, kinds: Any) -> bool:
    """`isinstance`, without asking the program's object for its `__class__`."""
    return issubclass(type(value), kinds)
