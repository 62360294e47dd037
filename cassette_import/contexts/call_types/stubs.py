"""Type stubs: the contents of a `.pyi` file for the functions of a module that were called.

Knows called functions and annotations; must not know call sites, nor the functions themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

from cassette_import.contexts.call_types.annotations import Annotations
from cassette_import.contexts.call_types.called_functions import CalledFunction, CalledModule, CalledParameter
from cassette_import.contexts.call_types.type_names import CLASSES, TypeName

__all__ = ["stub"]

_INDENT: Final = "    "
_INFORMATIVE: Final = {TypeName("builtins", kind.__name__) for kind in (bool, int, float, str, bytes)}
"""Types of default values from which the type of the parameter follows."""
_NONE: Final = TypeName(None, "None")


def stub(name: str, module: CalledModule) -> str:
    """The stub of a module."""
    annotations = Annotations(CLASSES, name)
    tree: dict[str, Any] = {}
    for qualified, called in sorted(module.functions.items(), key=lambda item: item[1].line):
        *classes, function = qualified.split(".")
        level = tree
        for owner in classes:
            level = level.setdefault(owner, {})
        level[function] = called
    lines = _level(tree, module, "", annotations, "")
    imports = [f"import {one}" for one in sorted(annotations.imports)]
    return "\n".join([*imports, *([""] if imports else []), *lines])


def _level(
    tree: Mapping[str, Any], module: CalledModule, prefix: str, annotations: Annotations, indent: str
) -> list[str]:
    lines: list[str] = []
    for name, entry in tree.items():
        if isinstance(entry, CalledFunction):
            lines += _function(name, entry, annotations, indent)
        else:
            bases = [annotations.type(base) for base in module.bases.get(prefix + name, ())]
            lines += ["", f"{indent}class {name}{'({})'.format(', '.join(bases)) if bases else ''}:"]
            lines += [*_level(entry, module, f"{prefix}{name}.", annotations, indent + _INDENT), ""]
    text = "\n".join(lines).strip("\n").replace("\n\n\n", "\n\n")
    return text.split("\n")


def _function(name: str, called: CalledFunction, annotations: Annotations, indent: str) -> list[str]:
    decorators = [f"{indent}@{decorator}" for decorator in called.decorators]
    parameters = [
        _parameter(parameter, annotations, annotated=not (called.has_receiver and number == 0))
        for number, parameter in enumerate(called.parameters)
    ]
    text = str(inspect.Signature(parameters))
    result = _result(name, called, annotations)
    return [*decorators, f"{indent}{'async ' if called.is_coroutine else ''}def {name}{text}{result}: ..."]


class _Verbatim:
    """Text that `inspect` prints as it is, as an annotation or default value."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _parameter(parameter: CalledParameter, annotations: Annotations, *, annotated: bool) -> inspect.Parameter:
    annotation: Any = inspect.Parameter.empty
    if annotated and parameter.shapes:
        annotation = _Verbatim(_with_default(annotations.union(parameter.shapes), parameter.default))
    elif annotated and parameter.default is not None and parameter.default in _INFORMATIVE:
        annotation = _Verbatim(parameter.default.name)
    default = inspect.Parameter.empty if parameter.default is None else _Verbatim("...")
    return inspect.Parameter(parameter.name, parameter.kind, default=default, annotation=annotation)


def _with_default(annotation: str, default: TypeName | None) -> str:
    if default is None or default not in {_NONE, *_INFORMATIVE}:
        return annotation
    is_there = {default.name, "typing.Any"} & set(annotation.split(" | "))
    return annotation if is_there else f"{annotation} | {default.name}"


def _result(name: str, called: CalledFunction, annotations: Annotations) -> str:
    if name == "__init__":
        return " -> None"
    if called.is_coroutine:  # the awaited result is unknown
        annotations.imports.add("typing")
        return " -> typing.Any"
    if called.results:
        return f" -> {annotations.union(called.results)}"
    if called.raised:
        annotations.imports.add("typing")
        return " -> typing.NoReturn"
    return ""
