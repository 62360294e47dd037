"""What an object holds, read without running any of the program's code: neither its `__repr__` nor its attributes'.

A `__repr__` may import, ask a database, or have a property remember what is not so yet. Knows objects; must not know
how values are shown.
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
from cassette_import.interpreter.namespaces import bases_of, of_class

__all__ = ["attributes", "shows_itself"]

_ASKS_OTHERS: Final = frozenset(
    map(id, (MethodType, MappingProxyType, SimpleNamespace, type({}.keys()), type({}.values()), type({}.items())))
)
"""Types of C whose text is made of that of other objects."""
_OF_OTHERS: Final = frozenset({"collections", "dataclasses", "functools", "reprlib"})
"""Modules of the standard library with classes like that."""


def shows_itself(kind: type) -> bool:
    """Whether the text of an object of this class is made by Python itself, of the object alone.

    >>> from fractions import Fraction
    >>> shows_itself(Fraction), shows_itself(functools.partial)
    (True, False)
    """
    own_repr = lookup(kind, "__repr__")
    if type(own_repr) is FunctionType:
        module = own_repr.__globals__.get("__name__")
        root = module.partition(".")[0] if type(module) is str else ""
        return root in sys.stdlib_module_names and root not in _OF_OTHERS
    return id(kind) not in _ASKS_OTHERS and not issubclass(kind, (functools.partial, MethodType, SimpleNamespace))


def attributes(value: Any, count: int) -> Iterator[tuple[str, Any]]:
    """The first attributes that an object holds itself, in slots and in its dictionary, with their names.

    >>> class Point:
    ...     __slots__ = ("x", "y", "__dict__")
    >>> point = Point()
    >>> point.x, point.z = 1, 3
    >>> list(attributes(point, 3))
    [('x', 1), ('z', 3)]
    """
    return islice(_all_attributes(value), count)


def _all_attributes(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    for base in bases_of(kind) or ():
        for name, found in list(of_class(base).items()):
            if type(found) is MemberDescriptorType and type(name) is str and not name.startswith("__"):
                try:
                    yield name, found.__get__(value, kind)
                except (AttributeError, TypeError):  # which is not set
                    continue
    namespace = lookup(kind, "__dict__")
    is_plain = type(namespace) in (GetSetDescriptorType, MemberDescriptorType)
    held: Any = namespace.__get__(value, kind) if is_plain else None
    if issubclass(type(held), dict):
        for name, item in list(dict.items(held)):
            if type(name) is str:
                yield name, item
