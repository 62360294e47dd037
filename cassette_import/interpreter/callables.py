"""Callables: the underlying function and the receiver behind bound methods, partial objects and other callables.

Nothing here runs code of the program: attributes are read past the `__getattribute__` of its classes.
"""

from __future__ import annotations

import functools
import operator
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from cassette_import.interpreter.namespaces import bases_of, class_namespace, is_a

BuiltinMethodOfClass: Final[type] = type(re.compile("").sub)
"""The type of bound C methods that get their defining class as an argument (PEP 573); `types` does not name it."""


def lookup(kind: type, name: str) -> Any:
    """What the class `kind` or its bases hold under a name, not bound; None if they hold nothing."""
    for base in bases_of(kind) or (kind,):
        found = class_namespace(base).get(name)
        if found is not None:
            return found
    return None


METHODS_OF_TYPES: Final[dict[int, dict[str, Any]]] = {}
"""C methods by name, by the identity of the receiver's type. The entry of a type is dropped when the type dies. It is
never out of date: only Python classes can have a method replaced, and their C methods are inherited."""
_owners: dict[int, weakref.ref[type]] = {}
"""The types in `METHODS_OF_TYPES`."""


def _methods_of(owner: type) -> dict[str, Any]:
    """The entry of a type in `METHODS_OF_TYPES`."""
    number = id(owner)
    known = METHODS_OF_TYPES.get(number)
    if known is None:

        def forget(reference: weakref.ref[type]) -> None:
            if _owners.get(number) is reference:
                del METHODS_OF_TYPES[number], _owners[number]

        known = METHODS_OF_TYPES[number] = {}
        _owners[number] = weakref.ref(owner, forget)
    return known


def _method(receiver: Any, owner: type, name: str) -> Any:
    """The C method behind a bound one; None for a function that is no method, although it has a receiver."""
    if is_a(receiver, type):
        found = lookup(receiver, name)
        if type(found) is ClassMethodDescriptorType:
            return found
    for base in bases_of(owner) or ():  # past overrides in Python: `super().append`
        found = class_namespace(base).get(name)
        if type(found) in (MethodDescriptorType, ClassMethodDescriptorType, WrapperDescriptorType):
            return found
    return None


class CallableProxy:
    """A callable that events show as another one: it does the same, but raises other errors, or for another frame."""

    __slots__ = ("_function", "shown")

    def __init__(self, shown: Callable[..., Any], function: Callable[..., Any]) -> None:
        self.shown = shown
        self._function = function

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shown, name)

    def __eq__(self, other: object) -> bool:
        return other is self.shown or (type(other) is CallableProxy and other.shown is self.shown)

    def __hash__(self) -> int:
        return hash(self.shown)

    def __repr__(self) -> str:
        return repr(self.shown)

    @property
    def __call__(self) -> Callable[..., Any]:
        return self._function


def wrapped_in(function: Any) -> Any:
    """What a function, method or other callable wraps, as `functools.wraps` says; None if it says nothing."""
    if type(function) is MethodType:
        function = function.__func__
    try:
        return object.__getattribute__(function, "__dict__").get("__wrapped__")
    except AttributeError:  # of an object with slots
        return None


def wrapped_by(function: Any) -> Iterator[Any]:
    """What a callable wraps, what that wraps, and so on: without end, if a wrapper wraps itself."""
    while (function := wrapped_in(function)) is not None:
        yield function


SPLITTERS: Final[dict[int, Callable[[Any], tuple[Any, ...]]]] = {}
"""How `split` splits callables of further types, by the type's identity. `runtime.tagging.wrappers` adds
`Tagged`, whose receiver stays wrapped."""


class PartialReader:
    """How the parts of partial objects are read. `runtime.tagging` reads them with their metadata."""

    def __init__(self) -> None:
        self.callee: Callable[[Any], Any] = operator.attrgetter("func")
        self.arguments: Callable[[Any], tuple[Any, ...]] = operator.attrgetter("args")
        self.keywords: Callable[[Any], dict[str, Any]] = operator.attrgetter("keywords")


PARTIAL: Final = PartialReader()

CARRIERS: Final = set(
    map(
        id,
        (
            BuiltinFunctionType,
            BuiltinMethodOfClass,
            MethodType,
            MethodWrapperType,
            functools.partial,
            staticmethod,
            CallableProxy,
        ),
    )
)
"""The types of callables that carry a function, by identity: a metaclass of the program may have no hash.
`runtime.tagging.wrappers` adds `Tagged`."""

WRAPPERS: Final[dict[int, Callable[[Any], Any]]] = {}
"""What unwraps the instances of a type, by the type's identity; `runtime.tagging.wrappers` adds `Tagged`."""


def bare(value: Any) -> Any:
    """The value in a wrapper; any other value itself."""
    found = WRAPPERS.get(id(type(value)))  # a metaclass of the program may have no hash
    return value if found is None else found(value)


CALLS_OF_INSTANCES: Final[dict[int, Callable[..., Any]]] = {}
"""The `__call__` functions that are targets of some context, by identity: a call of an instance calls these."""
PROPERTIES: Final[dict[int, Callable[..., Any]]] = {}
"""The functions of properties that are targets of some context, by identity."""


def special(receiver: Any, name: str) -> Any:
    """A special method as the interpreter looks it up: on the type, bound to `receiver`."""
    found = lookup(type(receiver), name)
    if found is None:
        raise AttributeError(f"{type(receiver).__name__!r} object has no attribute {name!r}", name=name, obj=receiver)
    binding = lookup(type(found), "__get__")
    return found if binding is None else binding(found, receiver, type(receiver))


def split(function: Any) -> tuple[Any, ...]:
    """The underlying function of a callable, followed by the arguments that it carries.

    >>> split([].append)
    (<method 'append' of 'list' objects>, [])
    >>> split(len)
    (<built-in function len>,)
    """
    # Each event splits its callee. The types are tested in the order of their frequency: a table would hold functions,
    # and the call of one costs more than these tests.
    kind = type(function)
    if kind is FunctionType or kind is type:
        return (function,)
    if kind is MethodType:
        return (*split(function.__func__), function.__self__)
    if kind is BuiltinFunctionType or kind is BuiltinMethodOfClass:
        receiver = function.__self__
        if receiver is None or type(receiver) is ModuleType:
            return (function,)
        owner = type(receiver)
        known = METHODS_OF_TYPES.get(id(owner))
        found = None if known is None else known.get(function.__name__)
        if found is None:
            found = _method(receiver, owner, function.__name__)
            if is_a(receiver, type) or found is None:
                return (function,) if found is None else (found, receiver)
            _methods_of(owner)[function.__name__] = found
        return found, receiver
    if kind is MethodWrapperType:
        found = lookup(function.__objclass__, function.__name__)  # not the receiver's type: `super().__init__`
        return (function,) if found is None else (found, function.__self__)
    if kind is functools.partial:
        return (*split(PARTIAL.callee(function)), *PARTIAL.arguments(function))
    if kind is staticmethod:
        return split(function.__func__)
    if kind is CallableProxy:
        return (function.shown,)
    if id(kind) in SPLITTERS:
        return SPLITTERS[id(kind)](function)
    if CALLS_OF_INSTANCES and id(method := lookup(kind, "__call__")) in CALLS_OF_INSTANCES:
        return (method, function)
    return (function,)


_PLACEHOLDER: Final = getattr(functools, "Placeholder", None)  # from 3.14 on


def joined(carried: Sequence[Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a call, after those that the callee carries.

    >>> joined((1, 2), (3,))
    (1, 2, 3)
    """
    if _PLACEHOLDER is None or not any(item is _PLACEHOLDER for item in carried):
        return (*carried, *arguments)
    rest = iter(arguments)
    filled = [next(rest, item) if item is _PLACEHOLDER else item for item in carried]
    return (*filled, *rest)


def keywords_of(function: Any) -> dict[str, Any]:
    """The keyword arguments that a partial object carries."""
    return PARTIAL.keywords(function) if type(function) is functools.partial else {}


def underlying(target: Any) -> Any:
    """The function that identifies a target, however it was passed: `Session.send`, `session.send`, …"""
    if is_a(target, (staticmethod, classmethod)):
        return underlying(target.__func__)
    if is_a(target, property):
        return underlying(target.fget)
    return split(target)[0]


def target_of(given: Any) -> Any:
    """The same for the target of a hook or overload. A property, or `__call__`, is noted as reached without a call."""
    found = underlying(given)
    if isinstance(given, property):
        PROPERTIES[id(found)] = found
    elif type(found) is FunctionType and found.__name__ == "__call__":
        CALLS_OF_INSTANCES[id(found)] = found
    return found


def python_function(function: Any) -> FunctionType | None:
    """The Python function whose body runs when `function` is called, or None.

    Looks through bound methods, partial objects, classes with a Python `__init__` and objects with a Python `__call__`.
    """
    for _ in range(100):  # nested partial objects; a cycle would not be callable either
        kind = type(function)
        if kind is FunctionType:
            return function  # type: ignore[no-any-return]  # of this kind
        if kind is MethodType:
            function = function.__func__
        elif kind is functools.partial:
            function = function.func
        elif is_a(function, (staticmethod, classmethod)):
            function = function.__func__
        elif is_a(function, type):
            found = lookup(type(function), "__call__") if type(function) is not type else None
            if type(found) is not FunctionType:
                found = lookup(function, "__init__")
            if type(found) is not FunctionType:
                found = lookup(function, "__new__")
            function = found
        else:
            function = lookup(kind, "__call__")
            if function is None or type(function) in (WrapperDescriptorType, MethodWrapperType, BuiltinFunctionType):
                return None
    return None


def code_of(function: Any) -> CodeType | None:
    found = python_function(function)
    return found.__code__ if found is not None else None
