"""Names of types as stubs write them: found where the classes are, and sent to other processes in their place."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    NoneType,
)
from typing import Any, Final

from cassette_import.contexts.call_types.sites import Outcome, TypeShape
from cassette_import.interpreter.namespaces import class_attribute

__all__ = ["CLASSES", "TypeName", "annotation_of", "named", "named_outcome", "type_name"]

_CALLABLE: Final = "collections.abc.Callable[..., typing.Any]"
_BY_TYPE: Final[dict[type, str]] = {
    NoneType: "None",
    FunctionType: _CALLABLE,
    MethodType: _CALLABLE,
    BuiltinFunctionType: _CALLABLE,
    type(list.append): _CALLABLE,
    functools.partial: "functools.partial[typing.Any]",
    GeneratorType: "collections.abc.Generator[typing.Any, typing.Any, typing.Any]",
    CoroutineType: "collections.abc.Coroutine[typing.Any, typing.Any, typing.Any]",
    AsyncGeneratorType: "collections.abc.AsyncGenerator[typing.Any, typing.Any]",
    type({}.keys()): "collections.abc.KeysView[typing.Any]",
    type({}.values()): "collections.abc.ValuesView[typing.Any]",
    type({}.items()): "collections.abc.ItemsView[typing.Any, typing.Any]",
}


@dataclass(frozen=True, slots=True)
class TypeName:
    """A class that can be imported, or an annotation.

    Attributes
    ----------
    module:
        The module of the class; None if `name` is an annotation, with all modules in it.
    name:
        The qualified name of the class.
    """

    module: str | None
    name: str


_ANY: Final = TypeName(None, "typing.Any")
_CONTAINERS: Final = {TypeName("builtins", kind.__name__): kind for kind in (tuple, list, set, frozenset, dict, type)}


class _Classes(dict[Any, Any]):
    """Each name by itself, and builtin containers by their classes, because annotations have their parameters."""

    def __missing__(self, key: Any) -> Any:
        return key


CLASSES: Final[Mapping[Any, Any]] = _Classes(_CONTAINERS)
"""The types of shapes that have names in the place of the `id()` of classes (`named`)."""


def annotation_of(kind: type) -> str | None:
    """The annotation of a type that cannot be imported by its name; None for any other type."""
    return next((text for known, text in _BY_TYPE.items() if kind is known), None)


def type_name(kind: type) -> TypeName:
    """The name of a class, or of its nearest base class that can be imported."""
    annotation = annotation_of(kind)
    if annotation is not None:
        return TypeName(None, annotation)
    for base in class_attribute(kind, "__mro__"):
        module, name = class_attribute(base, "__module__"), class_attribute(base, "__qualname__")
        if isinstance(module, str) and base is not object and _found(module, name) is base:
            return TypeName(module, name)
    return TypeName(None, "object") if kind is object else _ANY


def named(shape: TypeShape, types: Mapping[int, type]) -> Any:
    """A shape with names in the place of the `id()` of classes: it can be pickled, and compared in other processes."""
    if isinstance(shape, frozenset):
        return frozenset([named(one, types) for one in shape])
    if not isinstance(shape, tuple):
        return type_name(types[shape])
    kind = types[shape[0]]
    if issubclass(kind, type):  # a class is a value here: its metaclass has no say in the annotation
        return TypeName("builtins", "type"), type_name(types[shape[1]])
    return TypeName("builtins", kind.__name__), *(named(one, types) for one in shape[1:])


def named_outcome(outcome: Outcome, types: Mapping[int, type]) -> Outcome:
    """An outcome with such shapes."""
    arguments, keywords, raised, result = outcome
    return (
        tuple([named(shape, types) for shape in arguments]),
        tuple([(name, named(shape, types)) for name, shape in keywords]),
        raised,
        named(result, types),
    )


def _found(module: str, name: str) -> Any:
    try:
        return functools.reduce(getattr, name.split("."), sys.modules.get(module))
    except AttributeError:
        return None
