"""Type annotations: the text of shapes, and of unions of shapes.

Knows shapes; must not know call sites, or how shapes were recorded.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Iterable, Mapping
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

from cassette_import.contexts.call_types.sites import TypeShape
from cassette_import.interpreter.namespaces import class_attribute

__all__ = ["Annotations"]

_MOST_MEMBERS: Final = 6
"""A union of more types than this is `Any`."""
_MOST_TUPLES: Final = 3
"""More different tuples than this are `tuple[Any, ...]`."""
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


def _is_one_of(kind: type | None, *kinds: type) -> bool:
    """Whether it is one of these classes; a metaclass of the program is not asked."""
    return any(kind is one for one in kinds)


class Annotations:
    """Writes annotations for one module.

    Parameters
    ----------
    types:
        The types by the `id()` that shapes contain.
    module:
        The module. Its own classes are written without a prefix. If it is None, all classes are: such annotations are
        for people to read.

    Example
    -------
    >>> Annotations({1: int, 2: list, 3: str}).union([1, (2, frozenset({1, 3}))])
    'int | list[int | str]'
    """

    def __init__(self, types: Mapping[int, type], module: str | None = None) -> None:
        self._types = types
        self._module = module
        self.imports: set[str] = set()
        """The modules that the annotations written so far need."""

    def union(self, shapes: Iterable[TypeShape]) -> str:
        """The annotation of values of several shapes; `Any` if it would be too long."""
        members = sorted({self.shape(shape) for shape in self._merged(shapes)}, key=lambda name: (name == "None", name))
        if not members or len(members) > _MOST_MEMBERS or {"Any", "typing.Any"} & set(members):
            return self._any
        return " | ".join(members)

    @property
    def _any(self) -> str:
        return self._imported("typing.Any")

    def _merged(self, shapes: Iterable[TypeShape]) -> list[Any]:
        """The shapes with only one shape for lists, one for sets and so on.

        `list[int | str]` is more useful than `list[int] | list[str]`.
        """
        merged: dict[Any, Any] = {}
        tuples: dict[Any, None] = {}
        for shape in shapes:
            kind = self._types[shape[0]] if isinstance(shape, tuple) else None
            if kind is tuple:
                tuples[shape] = None
            elif kind is dict or _is_one_of(kind, list, set, frozenset):
                known = merged.get(shape[0], (shape[0], *(frozenset() for _ in shape[1:])))
                merged[shape[0]] = (shape[0], *(one | other for one, other in zip(known[1:], shape[1:], strict=True)))
            else:
                merged[shape] = shape
        if len(tuples) > _MOST_TUPLES:
            return [*merged.values(), next(iter(tuples))[0]]
        return [*merged.values(), *tuples]

    def shape(self, shape: TypeShape) -> str:
        """The annotation of one shape."""
        if not isinstance(shape, tuple):
            kind = self._types[shape]
            if kind is tuple:
                return f"tuple[{self._any}, ...]"
            if _is_one_of(kind, list, set, frozenset):
                return f"{kind.__name__}[{self._any}]"
            return f"dict[{self._any}, {self._any}]" if kind is dict else self.type(kind)
        kind = self._types[shape[0]]
        if kind is tuple:
            return f"tuple[{', '.join(map(self.shape, shape[1:])) or '()'}]"
        if issubclass(kind, type):
            return f"type[{self.type(self._types[shape[1]])}]"
        return f"{kind.__name__}[{', '.join(map(self.union, shape[1:]))}]"

    def type(self, kind: type) -> str:
        """The name of a class, or of its nearest base class that can be imported."""
        for known, text in _BY_TYPE.items():
            if kind is known:
                return self._imported(text)
        for base in class_attribute(kind, "__mro__"):
            module, name = class_attribute(base, "__module__"), class_attribute(base, "__qualname__")
            if not isinstance(module, str) or base is object:
                continue
            if self._module is None:
                return str(name).rpartition("<locals>.")[2]
            if _found(module, name) is base:
                return self._with_module(module, name)
        return "object" if self._module is None or kind is object else self._any

    def _with_module(self, module: str, name: str) -> str:
        if module in (builtins.__name__, self._module):
            return name
        self.imports.add(module)
        return f"{module}.{name}"

    def _imported(self, name: str) -> str:
        if self._module is None:
            return name.replace("collections.abc.", "").replace("typing.", "")
        self.imports.update(module for module in ("collections.abc", "functools", "typing") if f"{module}." in name)
        return name


def _found(module: str, name: str) -> Any:
    try:
        return functools.reduce(getattr, name.split("."), sys.modules.get(module))
    except AttributeError:
        return None
