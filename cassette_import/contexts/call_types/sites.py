"""Call sites as `CallTypes` records them: the calls at one place in the code, with the types of what went in
and out.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    NoneType,
)
from typing import Any, Final, TypeAlias

from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.namespaces import class_attribute
from cassette_import.kits.events import ModuleImport, characters_before
from cassette_import.kits.function_names import display
from cassette_import.kits.text import plural, printable, search_folders, short_path

__all__ = [
    "CLASSES",
    "Annotations",
    "Outcome",
    "Site",
    "TypeName",
    "TypeShape",
    "entries",
    "merged",
    "named_outcome",
    "text",
    "type_name",
]


# ---- call sites as `CallTypes` records them

TypeShape: TypeAlias = Any
"""A type as the `id()` of the class. The shape of a container with known elements is a tuple: the `id()` of its class,
then the shapes of its elements."""
Outcome: TypeAlias = tuple[tuple[TypeShape, ...], tuple[tuple[str, TypeShape], ...], bool, TypeShape]
"""The types in one call: the shapes of the arguments, the shapes of the keyword arguments by name, whether the call
raised, and the shape of the result or exception."""

_LRU_CACHE: Final = type(functools.lru_cache(len))
_WITHOUT_RECEIVER: Final = (FunctionType, MethodType, BuiltinFunctionType, MethodDescriptorType, _LRU_CACHE)
"""The types of callees whose arguments are all among those of the call."""


class Site:
    """One place in the code and one callee there, in one thread.

    `caller` and `module` name the calling function and its module. `python` is the Python function that runs, or None
    if the callee is not written in Python. `is_class` and `takes_receiver` say whether it is a class, and whether its
    body has a receiver that is not among the arguments. `kept` keeps a callee alive that the program keeps, too.
    `outcomes` counts the calls by outcome; the key None is for all calls that were made when there were too many
    outcomes to tell apart.
    """

    __slots__ = (
        "caller",
        "code",
        "is_class",
        "kept",
        "lasti",
        "module",
        "name",
        "outcomes",
        "python",
        "takes_receiver",
    )

    def __init__(self, frame: FrameType, lasti: int, function: Any, is_long_lived: bool) -> None:
        self.code: CodeType = frame.f_code
        self.lasti = lasti
        self.caller = frame.f_code.co_qualname.replace(".<locals>", "")
        self.module = frame.f_globals.get("__name__")
        self.name = display(function).replace(".<locals>", "")
        kind = type(function)
        self.is_class = issubclass(kind, type)
        self.takes_receiver = self.is_class or not issubclass(kind, _WITHOUT_RECEIVER)
        self.kept = function if is_long_lived else None
        wrapped = vars(function).get("__wrapped__") if type(function) is _LRU_CACHE else function
        python = python_function(wrapped) if type(wrapped) is not ModuleImport else None
        self.python = python if is_long_lived or python is None else _without_cells(python)
        self.outcomes: dict[Outcome | None, int] = {}

    @property
    def position(self) -> tuple[int, int]:
        """The line and the column of the call, both counted from 1."""
        line, _, column, _ = next(islice(self.code.co_positions(), self.lasti // 2, None), (None,) * 4)
        line = line or self.code.co_firstlineno
        return line, (characters_before(self.code.co_filename, line, column) or 0) + 1


def _without_cells(function: FunctionType) -> FunctionType:
    """A function with the same signature that keeps nothing of what a closure refers to."""
    if function.__closure__ is None:
        return function
    cells = tuple([CellType() for _ in function.__closure__])
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
    made.__module__ = function.__module__
    return made


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
"""The types of shapes that have names in the place of the `id()` of classes (`_named`)."""


def _annotation_of(kind: type) -> str | None:
    """The annotation of a type that cannot be imported by its name; None for any other type."""
    return next((text for known, text in _BY_TYPE.items() if kind is known), None)


def type_name(kind: type) -> TypeName:
    """The name of a class, as it is declared, or of its nearest base class that can be imported."""
    annotation = _annotation_of(kind)
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


def _named(shape: TypeShape, types: Mapping[int, type]) -> Any:
    """A shape with names in the place of the `id()` of classes: it can be pickled, and compared in other processes."""
    if isinstance(shape, frozenset):
        return frozenset([_named(one, types) for one in shape])
    if not isinstance(shape, tuple):
        return type_name(types[shape])
    kind = types[shape[0]]
    if issubclass(kind, type):  # a class is a value here: its metaclass has no say in the annotation
        return TypeName("builtins", "type"), type_name(types[shape[1]])
    return TypeName("builtins", kind.__name__), *(_named(one, types) for one in shape[1:])


def named_outcome(outcome: Outcome, types: Mapping[int, type]) -> Outcome:
    """An outcome with such shapes."""
    arguments, keywords, raised, result = outcome
    return (
        tuple([_named(shape, types) for shape in arguments]),
        tuple([(name, _named(shape, types)) for name, shape in keywords]),
        raised,
        _named(result, types),
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
    annotation = _annotation_of(kind)
    if annotation is not None:
        return _without_modules(annotation)
    for base in class_attribute(kind, "__mro__"):
        if isinstance(class_attribute(base, "__module__"), str) and base is not object:
            return printable(str(class_attribute(base, "__qualname__")).rpartition("<locals>.")[2])
    return "object"


def _without_modules(annotation: str) -> str:
    return annotation.replace("collections.abc.", "").replace("typing.", "")


# ---- reports of call sites: as text, and as entries for JSON

_CallsByPlace: TypeAlias = dict[tuple[str, int, int, str, str], Counter[str]]
"""The calls by file, line, column, caller and function; each with its number."""


def entries(sites: Iterable[Site], types: Mapping[int, type]) -> list[dict[str, Any]]:
    """The call sites, sorted by file and line, each with its calls, the most frequent ones first."""
    annotations = Annotations(types)
    folders = search_folders()
    calls_by_place: _CallsByPlace = {}
    for site in sites:
        key = short_path(site.code.co_filename, folders), *site.position, site.caller, site.name
        calls = calls_by_place.setdefault(key, Counter())
        for outcome, count in list(site.outcomes.items()):
            calls[_call_text(site.name, outcome, annotations)] += count
    return _listed(calls_by_place)


def merged(parts: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The entries of several processes as one list, in the same order; the numbers of equal calls are added up."""
    calls_by_place: _CallsByPlace = {}
    for entry in itertools.chain.from_iterable(parts):
        key = entry["file"], entry["line"], entry["column"], entry["caller"], entry["function"]
        calls = calls_by_place.setdefault(key, Counter())
        for call in entry["calls"]:
            calls[call["types"]] += call["count"]
    return _listed(calls_by_place)


def _listed(calls_by_place: _CallsByPlace) -> list[dict[str, Any]]:
    return [
        {
            "file": file,
            "line": line,
            "column": column,
            "caller": caller,
            "function": function,
            "calls": [{"types": shown, "count": count} for shown, count in _most_frequent_first(calls)],
        }
        for (file, line, column, caller, function), calls in sorted(calls_by_place.items())
    ]


def _most_frequent_first(calls: Counter[str]) -> list[tuple[str, int]]:
    return sorted(calls.items(), key=lambda item: (-item[1], item[0]))


def _call_text(function: str, outcome: Outcome | None, annotations: Annotations) -> str:
    if outcome is None:
        return f"{function}(…)"
    arguments, keywords, raised, result = outcome
    given = [annotations.shape(shape) for shape in arguments]
    given += [f"{printable(name)}={annotations.shape(shape)}" for name, shape in keywords]
    return f"{function}({', '.join(given)}) {'raises' if raised else '->'} {annotations.shape(result)}"


def text(found: list[dict[str, Any]], limit: int | None = None) -> str:
    """The entries of call sites, each followed by its calls; at most `limit` call sites."""
    if not found:
        return "call-types: nothing was called"
    calls = sum(call["count"] for entry in found for call in entry["calls"])
    functions = len({entry["function"] for entry in found})
    counts = plural(calls, "call"), plural(len(found), "call site"), plural(functions, "function")
    lines = ["call-types: {} at {} of {}".format(*counts)]
    shown = found if limit is None else found[:limit]
    for entry in shown:
        lines += ["", f"{entry['file']}:{entry['line']}:{entry['column']} in {entry['caller']}"]
        lines += [f"{call['count']:>8} × {call['types']}" for call in entry["calls"]]
    if len(shown) < len(found):
        lines += ["", f"… {plural(len(found) - len(shown), 'further call site')}"]
    return "\n".join(lines)
