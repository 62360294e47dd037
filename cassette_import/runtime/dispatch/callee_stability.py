"""Callee stability: whether a call site that has found a callee once will find the same one again.

A function that is an attribute of its module, or a method of a class that keeps it, is stable. Nothing here runs code
of the program: attributes are read past `__getattribute__`, and classes are compared by identity.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from cassette_import.interpreter.callables import BuiltinMethodOfClass, lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE, class_namespace, module_namespace

BUILTINS: Final = frozenset(map(id, (BuiltinFunctionType, BuiltinMethodOfClass)))
"""The types of builtin functions and bound builtin methods, by identity: a metaclass of the program may define its own
hash and equality."""
_METHODS: Final = BUILTINS | set(map(id, (MethodWrapperType, MethodType, FunctionType)))
_LRU_CACHE: Final = type(functools.lru_cache(print))


@hidden
def outlives_call_site(callee: Any) -> bool:
    """Whether a callee lives as long as its module does."""
    kind = type(callee)
    if kind is BuiltinFunctionType:
        holder = callee.__self__
        return type(holder) is ModuleType or (type(holder) is type and bool(holder.__flags__ & IMMUTABLE))
    if kind is FunctionType or kind is _LRU_CACHE or (_is_usual_class(callee) and not callee.__flags__ & IMMUTABLE):
        return stands_in_its_module(callee)
    return kind is type


@hidden
def lasts_for_ever(callee: Any) -> bool:
    """Whether a builtin function is one of a module, or a method whose class stays as it is."""
    kind = type(callee.__self__)
    return kind is ModuleType or (type(kind) is type and bool(kind.__flags__ & IMMUTABLE))


@hidden
def is_reached_by(callee: Any, start: Any, path: Sequence[str]) -> bool:
    """Whether a callee is what modules and classes hold under the names of a path, from an object on."""
    found, lasts = start, True
    for name in path:
        if type(found) is ModuleType:
            found = vars(found).get(name)
        elif issubclass(type(found), type) and _is_usual_class(found):
            found = lookup(found, name)
            found = found.__func__ if type(found) is staticmethod else found
            lasts = outlives_call_site(callee)
        else:
            return False
    return found is callee and lasts


@hidden
def stands_in_its_module(named: Any) -> bool:
    """Whether a function or class is found where its qualified name says."""
    qualified, module = getattr(named, "__qualname__", None), sys.modules.get(named.__module__)
    if type(qualified) is not str:  # what `functools.lru_cache` makes of a callable without a name
        return False
    found: Any = module if type(module) is ModuleType else None
    for name in qualified.split("."):
        if not issubclass(type(found), (ModuleType, type)):
            return False
        found = (class_namespace(found) if issubclass(type(found), type) else module_namespace(found)).get(name)
    return found is named or (type(found) is staticmethod and found.__func__ is named)


@hidden
def type_with_method(callee: Any, receiver: Any, name: str, of_super: bool) -> type | None:
    """The type of a receiver, if all its instances are certain to have this method; else None.

    With `of_super` the method was looked up by `super()`: any base may have it.
    """
    kind = type(callee)
    owner: type = type(receiver)
    if id(kind) not in _METHODS or issubclass(owner, (type, ModuleType)):
        return None  # to read attributes of another callee might run code of the program
    if kind is not FunctionType and callee.__self__ is not receiver and callee.__self__ is not owner:
        return None
    if not _is_usual_class(owner) or type(owner.__getattribute__) is not WrapperDescriptorType:
        return None
    if not _has_method(owner, callee, name, of_super):
        return None
    return owner if owner.__flags__ & IMMUTABLE or stands_in_its_module(owner) else None


@hidden
def _has_method(owner: type, callee: Any, name: str, of_super: bool) -> bool:
    for base in owner.__mro__:
        held = vars(base).get(name)
        if held is None:
            continue
        binds = _BINDINGS.get(id(type(held)))
        found = None if binds is None else binds(held, callee, owner)
        if found is not None or not of_super:
            return bool(found)
    return False


# For an attribute of a class and one of an instance: whether the second is made of the first; None if it is not.


@hidden
def _binds_function(held: Any, callee: Any, owner: type) -> bool | None:
    return callee.__self__ is not owner if type(callee) is MethodType and held is callee.__func__ else None


@hidden
def _binds_classmethod(held: Any, callee: Any, owner: type) -> bool | None:
    return callee.__self__ is owner if type(callee) is MethodType and held.__func__ is callee.__func__ else None


@hidden
def _binds_staticmethod(held: Any, callee: Any, owner: type) -> bool | None:
    return True if type(callee) is FunctionType and held.__func__ is callee else None


@hidden
def _binds_builtin(held: Any, callee: Any, owner: type) -> bool | None:
    return bool(callee.__name__ == held.__name__) if id(type(callee)) in BUILTINS else None


@hidden
def _binds_slot(held: Any, callee: Any, owner: type) -> bool | None:
    return bool(callee.__objclass__ is held.__objclass__) if type(callee) is MethodWrapperType else None


_BINDINGS: Final[dict[int, Callable[[Any, Any, type], bool | None]]] = {
    id(FunctionType): _binds_function,
    id(classmethod): _binds_classmethod,
    id(staticmethod): _binds_staticmethod,
    id(MethodDescriptorType): _binds_builtin,
    id(WrapperDescriptorType): _binds_slot,
}


@hidden
def is_method_of_class(callee: Any, receiver: Any, name: str) -> bool:
    """Whether a callee is a method of a class that lasts, called on the class."""
    if type(receiver) is not type or not outlives_call_site(receiver):
        return False
    for base in receiver.__mro__:
        held = vars(base).get(name)
        if held is not None:
            if type(held) is classmethod:
                return type(callee) is MethodType and held.__func__ is callee.__func__
            return held is callee or (type(held) is staticmethod and held.__func__ is callee)
    return False


@hidden
def _is_usual_class(kind: Any) -> bool:
    """Whether it is a class whose attributes are read without running code of the program."""
    metaclass = type(kind)
    if metaclass is type:
        return True
    return issubclass(metaclass, type) and lookup(metaclass, "__getattribute__") is type.__getattribute__


@hidden
def has_usual_hash(kind: type) -> bool:
    """Whether a class can be looked up in a set without running code of the program."""
    metaclass = type(kind)
    if metaclass is type:
        return True
    return lookup(metaclass, "__hash__") is type.__hash__ and lookup(metaclass, "__eq__") is type.__eq__


def all_classes_have_hash() -> bool:
    """Whether no metaclass makes its classes unhashable."""
    return all(lookup(metaclass, "__hash__") is not None for metaclass in _metaclasses())


def _metaclasses() -> Iterator[type]:
    work = [type]
    while work:
        found = work.pop()
        yield found
        work += type.__subclasses__(found)
