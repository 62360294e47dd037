"""The namespaces of modules and classes, read without running code of the program.

No `__getattr__` or `__getattribute__` is called, so no lazy module is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final

module_namespace: Final[Callable[[ModuleType], dict[str, Any]]] = vars(ModuleType)["__dict__"].__get__
class_namespace: Final[Callable[[type], Mapping[str, Any]]] = vars(type)["__dict__"].__get__
bases_of: Final[Callable[[type], tuple[type, ...] | None]] = vars(type)["__mro__"].__get__
"""The method resolution order of a class; None for a class that is being made."""

_OF_TYPE: Final = vars(type)

flags_of: Final[Callable[[type], int]] = vars(type)["__flags__"].__get__
IMMUTABLE: Final = 1 << 8
"""The flag `Py_TPFLAGS_IMMUTABLETYPE`: a class that C code defines, and no program changes."""


def class_attribute(kind: type, name: str) -> Any:
    """An attribute that each class has from `type`, such as `__module__`, even if a metaclass defines another one."""
    return _OF_TYPE[name].__get__(kind)


def is_a(value: Any, kinds: Any) -> bool:
    """`isinstance`, without reading the attribute `__class__` of the program's object."""
    return issubclass(type(value), kinds)
