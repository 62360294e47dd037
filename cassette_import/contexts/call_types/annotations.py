"""Type annotations: the text of shapes, and of unions of shapes."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Collection, Iterable, Mapping
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
from cassette_import.kits.text import printable

__all__ = ["CLASSES", "Annotations", "TypeName", "annotation_of", "named", "named_outcome", "type_name"]

# ---- names of types as stubs write them: found where the classes are, and sent to other processes in their place

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
_LOOP: Final = TypeName("asyncio.events", "AbstractEventLoop")
_DECLARED: Final = (
    ("pathlib", "PosixPath", TypeName("pathlib", "Path")),
    ("pathlib", "WindowsPath", TypeName("pathlib", "Path")),
    ("logging", "RootLogger", TypeName("logging", "Logger")),
    ("threading", "_MainThread", TypeName("threading", "Thread")),
    ("asyncio.unix_events", "_UnixSelectorEventLoop", _LOOP),
    ("asyncio.windows_events", "ProactorEventLoop", _LOOP),
    ("io", "TextIOWrapper", TypeName(None, "typing.TextIO")),
    ("io", "BufferedReader", TypeName(None, "typing.BinaryIO")),
    ("io", "BufferedWriter", TypeName(None, "typing.BinaryIO")),
)
"""Classes of which the standard library makes objects where it declares another: `Path(…)` makes a `PosixPath`."""
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
    """The name of a class, as it is declared, or of its nearest base class that can be imported."""
    annotation = annotation_of(kind)
    if annotation is not None:
        return TypeName(None, annotation)
    for module, name, declared in _DECLARED:
        if _found(module, name) is kind:
            return declared
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


# ---- type annotations: the text of shapes, and of unions of shapes

_MOST_MEMBERS: Final = 6
"""A union of more types than this is `Any`."""
_MOST_TUPLES: Final = 3
"""More different tuples than this are `tuple[Any, ...]`."""


def _is_one_of(kind: type | None, *kinds: type) -> bool:
    """Whether it is one of these classes; a metaclass of the program is not asked."""
    return any(kind is one for one in kinds)


class Annotations:
    """Writes annotations for one module.

    Parameters
    ----------
    types:
        What the parts of shapes stand for: the types by `id()`; or, for a module, `CLASSES`.
    module:
        The module. Its own classes are written without a prefix. If it is None, all classes are: such annotations are
        for people to read.
    taken:
        The names that the module gives to other things: a module with such a name gets another one.
    shadowed:
        The names at the module's own level, which stand for no builtin class there.

    Example
    -------
    >>> Annotations({1: int, 2: list, 3: str}).union([1, (2, frozenset({1, 3}))])
    'int | list[int | str]'
    """

    def __init__(
        self,
        types: Mapping[Any, Any],
        module: str | None = None,
        taken: Collection[str] = (),
        shadowed: Collection[str] = (),
    ) -> None:
        self._types = types
        self._module = module
        self._taken = taken
        self._shadowed = shadowed
        self.imports: set[str] = set()
        """The modules that the annotations written so far need."""

    def import_statements(self) -> list[str]:
        """The imports of these modules."""
        aliases = {name: self.alias(name) for name in self.imports}
        return [
            f"import {name}" if name == alias else f"import {name} as {alias}"
            for name, alias in sorted(aliases.items())
        ]

    def alias(self, module: str) -> str:
        """The name by which annotations refer to a module."""
        return module if module.partition(".")[0] not in self._taken else f"_{module.replace('.', '_')}"

    def builtin(self, name: str) -> str:
        """The annotation of a builtin class."""
        if name not in self._shadowed:
            return name
        self.imports.add(builtins.__name__)
        return f"{self.alias(builtins.__name__)}.{name}"

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
        if len(tuples) > (_MOST_TUPLES if self._module is None else 1):
            return [*merged.values(), next(iter(tuples))[0]]
        return [*merged.values(), *tuples]

    def shape(self, shape: TypeShape) -> str:
        """The annotation of one shape."""
        if not isinstance(shape, tuple):
            kind = self._types[shape]
            if kind is tuple:
                return f"{self.builtin('tuple')}[{self._any}, ...]"
            if _is_one_of(kind, list, set, frozenset):
                return f"{self.builtin(kind.__name__)}[{self._any}]"
            return f"{self.builtin('dict')}[{self._any}, {self._any}]" if kind is dict else self.type(kind)
        kind = self._types[shape[0]]
        if kind is tuple:
            return f"{self.builtin('tuple')}[{', '.join(map(self.shape, shape[1:])) or '()'}]"
        if issubclass(kind, type):
            return f"{self.builtin('type')}[{self.type(self._types[shape[1]])}]"
        return f"{self.builtin(kind.__name__)}[{', '.join(map(self._argument, shape[1:]))}]"

    def _argument(self, shapes: Iterable[TypeShape]) -> str:
        """The annotation of elements. In a stub, several types are `Any`: a type checker takes mutable containers with
        other elements for other types, and finds one type in common for the elements of a display."""
        union = self.union(shapes)
        return self._any if self._module is not None and " | " in union else union

    def type(self, kind: Any) -> str:
        """The annotation of a class, or of the name of one."""
        if not isinstance(kind, TypeName):
            return _shown(kind)
        if kind.module is None:
            return self._imported(kind.name)
        if kind.module == self._module:
            return kind.name
        if kind.module == builtins.__name__:
            return self.builtin(kind.name)
        self.imports.add(kind.module)
        return f"{self.alias(kind.module)}.{kind.name}"

    def _imported(self, name: str) -> str:
        if self._module is None:
            return _without_modules(name)
        for module in ("collections.abc", "functools", "typing"):
            if f"{module}." in name:
                self.imports.add(module)
                name = name.replace(f"{module}.", f"{self.alias(module)}.")
        return name


def _shown(kind: type) -> str:
    """The name of a class for people to read."""
    annotation = annotation_of(kind)
    if annotation is not None:
        return _without_modules(annotation)
    for base in class_attribute(kind, "__mro__"):
        if isinstance(class_attribute(base, "__module__"), str) and base is not object:
            return printable(str(class_attribute(base, "__qualname__")).rpartition("<locals>.")[2])
    return "object"


def _without_modules(annotation: str) -> str:
    return annotation.replace("collections.abc.", "").replace("typing.", "")
