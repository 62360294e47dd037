"""Type stubs: the contents of a `.pyi` file for the functions of a module that were called.

Knows call sites, annotations, signatures and classes; must not know how call sites are recorded.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, Final

from cassette_import.contexts.call_types.annotations import Annotations
from cassette_import.contexts.call_types.sites import Outcome, Site
from cassette_import.importing.installation import installed

__all__ = ["stubs"]

_INDENT: Final = "    "
_UNKNOWN: Final[Any] = object()
"""The shape of a receiver, which is not among the recorded arguments."""
_INFORMATIVE: Final = (bool, int, float, str, bytes)
"""Types of default values from which the type of the parameter follows."""


class _CalledFunction:
    """A function with the shapes of its arguments and results."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.signature = inspect.signature(function, follow_wrapped=False)
        self.parameters: dict[str, dict[Any, None]] = {name: {} for name in self.signature.parameters}
        self.results: dict[Any, None] = {}
        self.raised = False

    def add(self, outcome: Outcome, site: Site) -> None:
        """Add the calls of an outcome at a call site.

        The callee there is the function, a class with this `__init__`, or an object with this `__call__`.
        """
        arguments, keywords, raised, result = outcome
        if site.takes_receiver:
            arguments = (_UNKNOWN, *arguments)
        try:
            bound = self.signature.bind(*arguments, **dict(keywords)).arguments
        except TypeError:  # the call raised this error, too
            return
        for name, given in bound.items():
            kind = self.signature.parameters[name].kind
            several = given if kind is inspect.Parameter.VAR_POSITIONAL else (given,)
            if kind is inspect.Parameter.VAR_KEYWORD:
                several = given.values()
            self.parameters[name].update(dict.fromkeys(shape for shape in several if shape is not _UNKNOWN))
        if raised:
            self.raised = True
        elif not site.is_class:
            self.results[result] = None


def stubs(sites: Iterable[Site], types: Mapping[int, type], module: str | None = None) -> dict[str, str]:
    """The stub of each overdubbed module, or of the given one only, by module name."""
    sites = list(sites)
    callers = {site.module for site in sites}
    modules: dict[str, dict[str, _CalledFunction]] = {}
    for site in sites:
        function = site.python
        if function is None or "<" in function.__code__.co_qualname:
            continue
        name = function.__globals__.get("__name__")
        if not isinstance(name, str):
            continue
        if name != module if module else name not in callers and not _is_installed(name):
            continue
        called = modules.setdefault(name, {}).setdefault(function.__code__.co_qualname, _CalledFunction(function))
        for outcome in list(site.outcomes):
            if outcome is not None:
                called.add(outcome, site)
    return {name: _module_stub(name, functions, types) for name, functions in sorted(modules.items())}


def _is_installed(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in installed())


def _module_stub(module: str, functions: Mapping[str, _CalledFunction], types: Mapping[int, type]) -> str:
    annotations = Annotations(types, module)
    tree: dict[str, Any] = {}
    for qualified, called in sorted(functions.items(), key=lambda item: item[1].function.__code__.co_firstlineno):
        *classes, name = qualified.split(".")
        level = tree
        for owner in classes:
            level = level.setdefault(owner, {})
        level[name] = called
    lines = _level(tree, sys.modules.get(module), annotations, "")
    imports = [f"import {name}" for name in sorted(annotations.imports)]
    return "\n".join([*imports, *([""] if imports else []), *lines])


def _level(tree: Mapping[str, Any], namespace: Any, annotations: Annotations, indent: str) -> list[str]:
    lines: list[str] = []
    for name, entry in tree.items():
        found = vars(namespace).get(name) if namespace is not None else None
        if isinstance(entry, _CalledFunction):
            lines += _function(name, entry, found, isinstance(namespace, type), annotations, indent)
        else:
            cls = found if isinstance(found, type) else None
            lines += ["", f"{indent}class {name}{_bases(cls, annotations)}:"]
            lines += [*_level(entry, cls, annotations, indent + _INDENT), ""]
    text = "\n".join(lines).strip("\n").replace("\n\n\n", "\n\n")
    return text.split("\n")


def _bases(cls: type | None, annotations: Annotations) -> str:
    bases = [annotations.type(base) for base in (cls.__bases__ if cls is not None else ()) if base is not object]
    return f"({', '.join(bases)})" if bases else ""


def _function(
    name: str, called: _CalledFunction, found: Any, is_method: bool, annotations: Annotations, indent: str
) -> list[str]:
    decorators = [
        f"{indent}@{kind.__name__}" for kind in (staticmethod, classmethod, property) if isinstance(found, kind)
    ]
    has_receiver = is_method and not isinstance(found, staticmethod)
    signature = inspect.signature(called.function, follow_wrapped=False)
    parameters = [
        _parameter(parameter, called, annotations, annotated=not (has_receiver and number == 0))
        for number, parameter in enumerate(signature.parameters.values())
    ]
    text = str(inspect.Signature(parameters))
    is_coroutine = inspect.iscoroutinefunction(called.function)
    result = _result(name, called, annotations)
    return [*decorators, f"{indent}{'async ' if is_coroutine else ''}def {name}{text}{result}: ..."]


class _Verbatim:
    """Text that `inspect` prints as it is, as an annotation or default value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _parameter(
    parameter: inspect.Parameter, called: _CalledFunction, annotations: Annotations, *, annotated: bool
) -> inspect.Parameter:
    shapes = called.parameters[parameter.name]
    has_default = parameter.default is not parameter.empty
    annotation: Any = parameter.empty
    if annotated and shapes:
        annotation = _Verbatim(_with_default(annotations.union(shapes), parameter.default))
    elif annotated and type(parameter.default) in _INFORMATIVE:
        annotation = _Verbatim(type(parameter.default).__name__)
    return parameter.replace(annotation=annotation, default=_Verbatim("...") if has_default else parameter.empty)


def _with_default(annotation: str, default: Any) -> str:
    if default is not None and type(default) not in _INFORMATIVE:
        return annotation
    kind = "None" if default is None else type(default).__name__
    return annotation if {kind, "typing.Any"} & set(annotation.split(" | ")) else f"{annotation} | {kind}"


def _result(name: str, called: _CalledFunction, annotations: Annotations) -> str:
    if name == "__init__":
        return " -> None"
    if inspect.iscoroutinefunction(called.function):  # the awaited result is unknown
        annotations.imports.add("typing")
        return " -> typing.Any"
    if called.results:
        return f" -> {annotations.union(called.results)}"
    if called.raised:
        annotations.imports.add("typing")
        return " -> typing.NoReturn"
    return ""
