"""The command `show`: prints a function with its events in a context, or as it is compiled for the context."""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
from types import FunctionType
from typing import Any

from cassette_import.frontends.command_line.usage import LEGEND, UsageError, contexts_named, print_lines, settings_of
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.specialization.passes.reflection import reflect

__all__ = ["show"]


def show(given: argparse.Namespace) -> int:
    """Print a function with its events marked, or its differences from the original; return the exit status."""
    reflection = reflect(_function(given.target))
    if reflection is None:
        raise UsageError(f"{given.target} has no Python source that could be overdubbed")
    contexts = contexts_named(settings_of(given).contexts)
    if not contexts:  # `-c none`
        return print_lines([] if given.diff else [ast.unparse(reflection.tree)])
    texts = []
    for context in contexts:
        shown = (reflection.overdubbed(context) if given.raw else reflection.events(context)).rstrip("\n")
        title = f"{given.target} in {type(context).__name__}" + ("" if given.raw else f": {LEGEND}")
        texts.append(_differences(given.target, reflection.tree, shown, title) if given.diff else shown)
    return print_lines(texts)


def _differences(target: str, tree: ast.AST, overdubbed: str, title: str) -> str:
    try:
        overdubbed = ast.unparse(ast.parse(overdubbed))  # the layout of the other side
    except SyntaxError:  # it contains names that Python cannot parse, and has this layout already
        pass
    lines = difflib.unified_diff(
        ast.unparse(tree).splitlines(),
        overdubbed.splitlines(),
        target,
        title,
        lineterm="",
    )
    return "\n".join(lines)


def _function(target: str) -> Any:
    module_name, colon, path = target.partition(":")
    if not colon or not path:
        raise UsageError(f"{target!r} is not of the form module:function{_example(target)}")
    name = ""
    try:
        found: Any = importlib.import_module(module_name)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        meant = suggestion(name, dir(found)) if isinstance(error, AttributeError) else ""
        raise UsageError(f"{target}: {error}{meant}") from error
    if not callable(found):
        raise UsageError(f"{target} is no function")
    return found


def _example(target: str) -> str:
    """The end of an error message for the name of a module, or of a function that was written with a dot."""
    module, _, name = target.rpartition(".")
    for module_name, attribute in ((target, ""), (module, name)):
        try:
            namespace = vars(importlib.import_module(module_name))
        except (ImportError, ValueError):
            continue
        functions = [found for found, value in namespace.items() if isinstance(value, FunctionType)]
        chosen = attribute if attribute in functions else next((one for one in functions if one[0] != "_"), "FUNCTION")
        return f"; for example {module_name}:{chosen}"
    return "; for example json:dumps"
