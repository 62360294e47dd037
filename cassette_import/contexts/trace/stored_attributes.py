"""The attributes stored in an object, read without running the program's code: no `__repr__`, no property.

A `__repr__` may import modules, query a database, or make a property cache a value too early.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from itertools import islice
from types import (
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    SimpleNamespace,
)
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.namespaces import bases_of, class_namespace

__all__ = ["has_independent_repr", "namespace_of", "slots_of", "stored_attributes"]

_CONTAINER_TYPES: Final = frozenset(
    map(id, (MethodType, MappingProxyType, SimpleNamespace, type({}.keys()), type({}.values()), type({}.items())))
)
"""Types written in C whose `__repr__` calls that of other objects."""
_CONTAINER_MODULES: Final = frozenset({"collections", "dataclasses", "functools", "reprlib"})
"""Modules of the standard library with such classes in Python."""


def has_independent_repr(kind: type) -> bool:
    """Whether the `__repr__` of a class belongs to Python or its standard library, and calls that of no other object.

    >>> from fractions import Fraction
    >>> has_independent_repr(Fraction), has_independent_repr(functools.partial)
    (True, False)
    """
    repr_method = lookup(kind, "__repr__")
    if type(repr_method) is FunctionType:
        module = repr_method.__globals__.get("__name__")
        root = module.partition(".")[0] if type(module) is str else ""
        return root in sys.stdlib_module_names and root not in _CONTAINER_MODULES
    return id(kind) not in _CONTAINER_TYPES and not issubclass(kind, (functools.partial, MethodType, SimpleNamespace))


def stored_attributes(value: Any, count: int) -> Iterator[tuple[str, Any]]:
    """Names and values of the first attributes that an object stores in its slots and its `__dict__`.

    >>> class Point:
    ...     __slots__ = ("x", "y", "__dict__")
    >>> point = Point()
    >>> point.x, point.z = 1, 3
    >>> list(stored_attributes(point, 3))
    [('x', 1), ('z', 3)]
    """
    return islice(_all_attributes(value), count)


def slots_of(kind: type) -> Iterator[tuple[str, Any]]:
    """Names and descriptors of the slots of a class and its bases.

    >>> class Point:
    ...     __slots__ = ("x", "__dict__")
    >>> [name for name, _ in slots_of(Point)]
    ['x']
    """
    for base in bases_of(kind) or ():
        for name, found in list(class_namespace(base).items()):
            if type(found) is MemberDescriptorType and type(name) is str and not name.startswith("__"):
                yield name, found


def namespace_of(kind: type) -> Any:
    """The descriptor of the `__dict__` of a class's instances; None if they have none, or one that runs code."""
    found = lookup(kind, "__dict__")
    return found if type(found) in (GetSetDescriptorType, MemberDescriptorType) else None


def _all_attributes(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    for name, found in slots_of(kind):
        try:
            yield name, found.__get__(value, kind)
        except (AttributeError, TypeError):  # an empty slot
            continue
    namespace = namespace_of(kind)
    stored: Any = None if namespace is None else namespace.__get__(value, kind)
    if issubclass(type(stored), dict):
        for name, item in list(dict.items(stored)):
            if type(name) is str:
                yield name, item
