"""The functions of modules that were called, with the types of what went in and out: all that a stub is written of.

It can be pickled, and the calls of several processes added up. Knows call sites, signatures and classes; must not know
how call sites are recorded, nor how a stub is written.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.call_types.sites import Outcome, Site
from cassette_import.contexts.call_types.type_names import TypeName, named_outcome, type_name
from cassette_import.importing.installation import installed

__all__ = ["CalledFunction", "CalledModule", "CalledParameter", "add_calls", "called_modules"]

_UNKNOWN: Final[Any] = object()
"""The shape of a receiver, which is not among the recorded arguments."""
_Shapes: TypeAlias = dict[Any, None]
"""Shapes with names of types, in the order in which they were found."""


@dataclass
class CalledParameter:
    """A parameter, and what was given for it. `default` is the type of the default value; None if there is none."""

    name: str
    kind: Any
    default: TypeName | None
    shapes: _Shapes = field(default_factory=dict)


@dataclass
class CalledFunction:
    """A function, and what came of its calls. `line` is its first one; `raised` says whether a call raised."""

    line: int
    decorators: tuple[str, ...]
    has_receiver: bool
    is_coroutine: bool
    parameters: list[CalledParameter]
    results: _Shapes = field(default_factory=dict)
    raised: bool = False


@dataclass
class CalledModule:
    """The functions of a module by qualified name, and the base classes of the classes that they are in."""

    functions: dict[str, CalledFunction] = field(default_factory=dict)
    bases: dict[str, tuple[TypeName, ...]] = field(default_factory=dict)


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
        if name != module if module else name not in callers and not _is_installed(name):
            continue
        found = modules.setdefault(name, CalledModule())
        if qualified not in found.functions:
            signature = signatures[name, qualified] = inspect.signature(function, follow_wrapped=False)
            _add_function(found, function, signature, sys.modules.get(name))
        for outcome in list(site.outcomes):
            if outcome is not None:
                _add_outcome(
                    found.functions[qualified], signatures[name, qualified], named_outcome(outcome, types), site
                )
    return modules


def _is_installed(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in installed())


def _add_function(module: CalledModule, function: FunctionType, signature: inspect.Signature, namespace: Any) -> None:
    qualified = function.__code__.co_qualname
    *classes, name = qualified.split(".")
    for number, owner in enumerate(classes, 1):
        found = _member(namespace, owner)
        namespace = found if isinstance(found, type) else None
        bases = namespace.__bases__ if namespace is not None else ()
        module.bases[".".join(classes[:number])] = tuple([type_name(base) for base in bases if base is not object])
    found = _member(namespace, name)
    module.functions[qualified] = CalledFunction(
        line=function.__code__.co_firstlineno,
        decorators=tuple([one.__name__ for one in (staticmethod, classmethod, property) if isinstance(found, one)]),
        has_receiver=isinstance(namespace, type) and not isinstance(found, staticmethod),
        is_coroutine=inspect.iscoroutinefunction(function),
        parameters=[
            CalledParameter(one.name, one.kind, None if one.default is one.empty else type_name(type(one.default)))
            for one in signature.parameters.values()
        ],
    )


def _member(namespace: Any, name: str) -> Any:
    return None if namespace is None else vars(namespace).get(name)


def _add_outcome(called: CalledFunction, signature: inspect.Signature, outcome: Outcome, site: Site) -> None:
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
        parameter.shapes.update(dict.fromkeys(shape for shape in several if shape is not _UNKNOWN))
    if raised:
        called.raised = True
    elif not site.is_class:
        called.results[result] = None


def add_calls(modules: dict[str, CalledModule], others: Mapping[str, CalledModule]) -> None:
    """Add what was called in another process."""
    for name, other in others.items():
        module = modules.setdefault(name, CalledModule())
        module.bases.update(other.bases)
        for qualified, function in other.functions.items():
            known = module.functions.setdefault(qualified, function)
            given = {one.name: one.shapes for one in function.parameters}
            for parameter in known.parameters:
                parameter.shapes.update(given.get(parameter.name, {}))
            known.results.update(function.results)
            known.raised = known.raised or function.raised
