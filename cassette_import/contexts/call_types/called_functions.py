"""The functions of modules that were called, with the types of what went in and out: all that a stub is written of.

It can be pickled, and the calls of several processes added up.
"""

from __future__ import annotations

import abc
import ast
import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.call_types.annotations import TypeName, named_outcome, type_name
from cassette_import.contexts.call_types.sites import Outcome, Site
from cassette_import.importing.installation import installed
from cassette_import.interpreter.namespaces import bases_of, class_namespace

__all__ = ["CalledFunction", "CalledModule", "CalledParameter", "add_calls", "called_modules", "is_installed"]

_NONE: Final = type_name(type(None))
_NUMBERS: Final = {type_name(kind) for kind in (bool, int, float)}
"""A type checker takes each of them for the next."""
_MERGED: Final = {type_name(kind) for kind in (list, set, frozenset, dict, tuple)}
"""Containers whose elements of several calls are taken together."""
_UNKNOWN: Final[Any] = object()
"""The shape of a receiver, which is not among the recorded arguments."""
_UNIONS: Final = frozenset({"UnionType", "_UnionGenericAlias", "Union"})
"""The names of the types of ``int | str`` and `typing.Union[…]`, which depend on the version of Python."""
_TYPE_VARIABLES: Final = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_Shapes: TypeAlias = dict[Any, None]
"""Shapes with names of types, in the order in which they were found."""
_Place: TypeAlias = tuple[str, int, int]
"""The file, line and column of a call site."""


@dataclass
class CalledParameter:
    """A parameter, and what was given for it. `default` is the type of the default value; None if there is none."""

    name: str
    kind: Any
    default: TypeName | None
    shapes: _Shapes = field(default_factory=dict)
    given_at: dict[_Place, set[Any]] = field(default_factory=dict)
    """The shapes that each call site gave, in all threads and processes."""

    @property
    def is_mixed(self) -> bool:
        """Whether one call site gave values of several kinds: a type checker knows only what these have in common."""
        return any(map(_is_mixed, self.given_at.values()))


@dataclass
class CalledFunction:
    """A function, and what came of its calls. `line` is its first one; `raised` says whether a call raised."""

    line: int
    is_coroutine: bool
    parameters: list[CalledParameter]
    overrides: bool
    """Whether it is a method that a base class has too, which decides what types it has to accept."""
    results: _Shapes = field(default_factory=dict)
    raised: bool = False

    def signature(self) -> inspect.Signature:
        """The parameters without types."""
        empty = inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(one.name, one.kind, default=empty if one.default is None else ...)
                for one in self.parameters
            ]
        )


@dataclass
class CalledModule:
    """The functions of a module that were called by qualified name, and its source; None if there is none.

    `inherited` has the names of attributes that its classes have from bases.
    """

    source: str | None
    functions: dict[str, CalledFunction] = field(default_factory=dict)
    inherited: dict[str, frozenset[str]] = field(default_factory=dict)
    unions: frozenset[str] = frozenset()
    """The names of variables that are unions of types."""
    type_variables: frozenset[str] = frozenset()
    """The names of variables that stand for a type."""
    abstract: frozenset[str] = frozenset()
    """The names of classes that are abstract by what they inherit alone, which a stub has to say."""

    def tree(self) -> ast.Module:
        """The tree of the source; without one, that of the signatures of the functions."""
        if self.source is not None:
            return ast.parse(self.source)
        made = ast.Module([], [])
        for qualified, called in sorted(self.functions.items(), key=lambda item: item[1].line):
            *owners, name = qualified.split(".")
            body = made.body
            for owner in owners:
                known = [one for one in body if isinstance(one, ast.ClassDef) and one.name == owner]
                if not known:
                    body += ast.parse(f"class {owner}: ...").body
                body = (known or body[-1:])[0].body  # type: ignore[attr-defined]  # of a class
            body += ast.parse(f"{'async ' * called.is_coroutine}def {name}{called.signature()}: ...").body
        return made


def called_modules(
    sites: Iterable[Site], types: Mapping[int, type], module: str | None = None
) -> dict[str, CalledModule]:
    """The overdubbed modules with the functions that were called there, or the given one only, by name."""
    sites = list(sites)
    callers = {site.module for site in sites}
    modules: dict[str, CalledModule] = {}
    signatures: dict[tuple[str, str], inspect.Signature] = {}
    for site in sites:
        function = site.python
        if function is None or "<" in function.__code__.co_qualname:
            continue
        name, qualified = function.__globals__.get("__name__"), function.__code__.co_qualname
        if not isinstance(name, str):
            continue
        if name != module if module else name not in callers and not is_installed(name):
            continue
        found = modules.get(name) or modules.setdefault(name, _module(name))
        if qualified not in found.functions:
            signature = signatures[name, qualified] = inspect.signature(function, follow_wrapped=False)
            _add_function(found, function, signature, sys.modules.get(name))
        place = (site.code.co_filename, *site.position)
        for outcome in list(site.outcomes):
            if outcome is not None:
                _add_outcome(
                    found.functions[qualified], signatures[name, qualified], named_outcome(outcome, types), site, place
                )
    return modules


def _is_mixed(shapes: set[Any]) -> bool:
    """Whether values of these shapes, which one call site gave, have no type that is a union of theirs."""
    kinds = {one[0] if isinstance(one, tuple) and one[0] in _MERGED else one for one in shapes} - {_NONE}
    return len(kinds) > 1 and not kinds <= _NUMBERS


def is_installed(module: str) -> bool:
    """Whether a module is overdubbed by its name, or by that of a package around it."""
    return any(module == name or module.startswith(name + ".") for name in installed())


def _module(name: str) -> CalledModule:
    """A module without calls."""
    module = sys.modules.get(name)
    variables: dict[str, Any] = {} if module is None else vars(module)
    own = {known: one for known, one in variables.items() if isinstance(one, type)}
    unions = frozenset(known for known, one in variables.items() if type(one).__name__ in _UNIONS)
    inherited = {known: _inherited(one) for known, one in own.items()}
    source = None if module is None else _source(module)
    type_variables = frozenset(known for known, one in variables.items() if type(one).__name__ in _TYPE_VARIABLES)
    abstract = frozenset(known for known, one in own.items() if _is_abstract_by_bases(one))
    return CalledModule(source, inherited=inherited, unions=unions, type_variables=type_variables, abstract=abstract)


def _source(module: ModuleType) -> str | None:
    """The source of a module. One that ran as a script has no `__file__` any more when it has ended."""
    try:
        source = inspect.getsource(module)
    except (OSError, TypeError):
        try:
            source = module.__loader__.get_source(module.__name__)  # type: ignore[union-attr]  # not every loader has it
        except (AttributeError, ImportError, OSError):
            return None
    try:
        ast.parse(source or "")
    except SyntaxError:
        return None
    return source


def _is_abstract_by_bases(kind: type) -> bool:
    space = class_namespace(kind)
    abstract = space.get("__abstractmethods__", frozenset())
    return issubclass(type(kind), abc.ABCMeta) and bool(abstract) and abstract.isdisjoint(space)


def _inherited(kind: type) -> frozenset[str]:
    """The names that base classes define or declare."""
    spaces = [class_namespace(base) for base in (bases_of(kind) or ())[1:] if base is not object]
    declared = [one for one in (space.get("__annotations__") for space in spaces) if isinstance(one, dict)]
    return frozenset(name for names in (*spaces, *declared) for name in names)


def _add_function(module: CalledModule, function: FunctionType, signature: inspect.Signature, namespace: Any) -> None:
    qualified = function.__code__.co_qualname
    *classes, name = qualified.split(".")
    for owner in classes:
        found = _member(namespace, owner)
        namespace = found if isinstance(found, type) else None
    bases = namespace.__mro__[1:] if isinstance(namespace, type) else ()
    module.functions[qualified] = CalledFunction(
        line=function.__code__.co_firstlineno,
        is_coroutine=inspect.iscoroutinefunction(function),
        overrides=name not in ("__init__", "__new__") and any(name in vars(base) for base in bases),
        parameters=[
            CalledParameter(one.name, one.kind, None if one.default is one.empty else type_name(type(one.default)))
            for one in signature.parameters.values()
        ],
    )


def _member(namespace: Any, name: str) -> Any:
    return None if namespace is None else vars(namespace).get(name)


def _add_outcome(
    called: CalledFunction, signature: inspect.Signature, outcome: Outcome, site: Site, place: _Place
) -> None:
    """Add the calls of an outcome; the callee is the function, a class with this `__init__`, or has this `__call__`."""
    arguments, keywords, raised, result = outcome
    if site.takes_receiver:
        arguments = (_UNKNOWN, *arguments)
    try:
        bound = signature.bind(*arguments, **dict(keywords)).arguments
    except TypeError:  # the call raised this error, too
        return
    for parameter in called.parameters:
        if parameter.name not in bound:
            continue
        given = bound[parameter.name]
        several = given if parameter.kind is inspect.Parameter.VAR_POSITIONAL else (given,)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            several = given.values()
        shapes = dict.fromkeys(shape for shape in several if shape is not _UNKNOWN)
        parameter.shapes.update(shapes)
        parameter.given_at.setdefault(place, set()).update(shapes)
    if raised:
        called.raised = True
    elif not site.is_class:
        called.results[result] = None


def add_calls(modules: dict[str, CalledModule], others: Mapping[str, CalledModule]) -> None:
    """Add what was called in another process."""
    for name, other in others.items():
        module = modules.setdefault(name, replace(other, functions={}))
        for qualified, function in other.functions.items():
            known = module.functions.setdefault(qualified, function)
            given = {one.name: one for one in function.parameters}
            for parameter in known.parameters:
                if (also := given.get(parameter.name)) is not None:
                    parameter.shapes.update(also.shapes)
                    for place, shapes in also.given_at.items():
                        parameter.given_at.setdefault(place, set()).update(shapes)
            known.results.update(function.results)
            known.raised = known.raised or function.raised
