"""Stubs: what a `.pyi` file says of the functions of a module, as far as they were called.

Knows signatures and classes; must not know how calls were seen.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any, Final

from cassette_import import installed
from cassette_import.contexts.call_types.annotations import Names
from cassette_import.contexts.call_types.sites import Outcome, Site

__all__ = ["stubs"]

_INDENT: Final = "    "
_UNSEEN: Final[Any] = object()
_TELLING: Final = (bool, int, float, str, bytes)
"""Types of defaults that tell what a parameter is meant to be."""


class _Seen:
    """A function with the shapes of what its parameters and its result were."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.signature = inspect.signature(function, follow_wrapped=False)
        self.parameters: dict[str, dict[Any, None]] = {name: {} for name in self.signature.parameters}
        self.results: dict[Any, None] = {}
        self.raised = False

    def add(self, outcome: Outcome, called: Any) -> None:
        """Take in a call of the function, or of a class or an object by which it is reached."""
        arguments, keywords, raised, result = outcome
        is_class = isinstance(called, type)
        if is_class or not hasattr(called, "__qualname__"):  # the receiver is not among the arguments
            arguments = (_UNSEEN, *arguments)
        try:
            bound = self.signature.bind(*arguments, **dict(keywords)).arguments
        except TypeError:  # the call that raised because of that
            return
        for name, given in bound.items():
            kind = self.signature.parameters[name].kind
            several = given if kind is inspect.Parameter.VAR_POSITIONAL else (given,)
            if kind is inspect.Parameter.VAR_KEYWORD:
                several = given.values()
            self.parameters[name].update(dict.fromkeys(shape for shape in several if shape is not _UNSEEN))
        if raised:
            self.raised = True
        elif not is_class:
            self.results[result] = None


def stubs(sites: Iterable[Site], types: Mapping[int, type], module: str | None = None) -> dict[str, str]:
    """The stub of each module that is overdubbed, or of the one that is given."""
    sites = list(sites)
    callers = {site.module for site in sites}
    seen: dict[str, dict[str, _Seen]] = {}
    for site in sites:
        function = site.python
        if function is None or "<" in function.__code__.co_qualname:
            continue
        own = function.__globals__.get("__name__")
        if not isinstance(own, str) or (own != module if module else own not in callers and not _is_installed(own)):
            continue
        known = seen.setdefault(own, {}).setdefault(function.__code__.co_qualname, _Seen(function))
        for outcome in list(site.outcomes):
            if outcome is not None:
                known.add(outcome, site.function)
    return {own: _module_stub(own, functions, types) for own, functions in sorted(seen.items())}


def _is_installed(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in installed())


def _module_stub(module: str, functions: Mapping[str, _Seen], types: Mapping[int, type]) -> str:
    names = Names(types, module)
    tree: dict[str, Any] = {}
    for qualified, seen in sorted(functions.items(), key=lambda item: item[1].function.__code__.co_firstlineno):
        *classes, name = qualified.split(".")
        level = tree
        for owner in classes:
            level = level.setdefault(owner, {})
        level[name] = seen
    lines = _level(tree, sys.modules.get(module), names, "")
    imports = [f"import {name}" for name in sorted(names.imports)]
    return "\n".join([*imports, *([""] if imports else []), *lines])


def _level(tree: Mapping[str, Any], namespace: Any, names: Names, indent: str) -> list[str]:
    lines: list[str] = []
    for name, entry in tree.items():
        found = vars(namespace).get(name) if namespace is not None else None
        if isinstance(entry, _Seen):
            lines += _function(name, entry, found, isinstance(namespace, type), names, indent)
        else:
            cls = found if isinstance(found, type) else None
            lines += ["", f"{indent}class {name}{_bases(cls, names)}:"]
            lines += [*_level(entry, cls, names, indent + _INDENT), ""]
    text = "\n".join(lines).strip("\n").replace("\n\n\n", "\n\n")
    return text.split("\n")


def _bases(cls: type | None, names: Names) -> str:
    bases = [names.type(base) for base in (cls.__bases__ if cls is not None else ()) if base is not object]
    return f"({', '.join(bases)})" if bases else ""


def _function(name: str, seen: _Seen, found: Any, is_method: bool, names: Names, indent: str) -> list[str]:
    decorators = [
        f"{indent}@{kind.__name__}" for kind in (staticmethod, classmethod, property) if isinstance(found, kind)
    ]
    has_receiver = is_method and not isinstance(found, staticmethod)
    shown = inspect.signature(seen.function, follow_wrapped=False)
    parameters = [
        _parameter(parameter, seen, names, annotated=not (has_receiver and number == 0))
        for number, parameter in enumerate(shown.parameters.values())
    ]
    text = str(inspect.Signature(parameters))
    is_coroutine = inspect.iscoroutinefunction(seen.function)
    result = _result(name, seen, names)
    return [*decorators, f"{indent}{'async ' if is_coroutine else ''}def {name}{text}{result}: ..."]


class _Written:
    """Text that is shown as it is where `inspect` shows a value or an annotation."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _parameter(parameter: inspect.Parameter, seen: _Seen, names: Names, *, annotated: bool) -> inspect.Parameter:
    shapes = seen.parameters[parameter.name]
    has_default = parameter.default is not parameter.empty
    annotation: Any = parameter.empty
    if annotated and shapes:
        annotation = _Written(_with_default(names.union(shapes), parameter.default))
    elif annotated and type(parameter.default) in _TELLING:
        annotation = _Written(type(parameter.default).__name__)
    return parameter.replace(annotation=annotation, default=_Written("...") if has_default else parameter.empty)


def _with_default(annotation: str, default: Any) -> str:
    if default is not None and type(default) not in _TELLING:
        return annotation
    kind = "None" if default is None else type(default).__name__
    return annotation if {kind, "typing.Any"} & set(annotation.split(" | ")) else f"{annotation} | {kind}"


def _result(name: str, seen: _Seen, names: Names) -> str:
    if name == "__init__":
        return " -> None"
    if inspect.iscoroutinefunction(seen.function):  # what comes of awaiting it is no result of a call
        names.imports.add("typing")
        return " -> typing.Any"
    if seen.results:
        return f" -> {names.union(seen.results)}"
    if seen.raised:
        names.imports.add("typing")
        return " -> typing.NoReturn"
    return ""
