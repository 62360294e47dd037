"""Function nodes as passes handle them: copies, parameters, nested functions, and the notes that nodes carry."""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, clone, split_docstring

ORIGIN: Final = "_origin"
"""The attribute of a function's node that holds the node as it was before any pass."""
HISTORY: Final = "_history"
"""The attribute of a function's node that identifies the passes that made it, and the original."""
NUMBER: Final = "_number"
"""The attribute of a nested function's node: its number among the nested functions of the original."""


def origin_of(tree: Function) -> Function:
    """The node as it was before any pass."""
    origin: Function = getattr(tree, ORIGIN, tree)
    return origin


def nested_in(tree: Function) -> list[Any]:
    """The nodes of all functions inside a function, at any depth."""
    return [node for node in ast.walk(tree) if node is not tree and isinstance(node, FUNCTIONS)]


def number_nested(tree: Function) -> None:
    """Number the nested functions, so that each one is found again after passes have moved it."""
    for number, inner in enumerate(nested_in(tree)):
        setattr(inner, NUMBER, number)


def first_of_body(tree: Function) -> ast.AST:
    """The first node of the body, after the docstring if something follows it."""
    if isinstance(tree, ast.Lambda):
        return tree.body
    docstring, body = split_docstring(tree.body)
    return (body or docstring)[0]


def parameter_names(tree: Any) -> tuple[tuple[str, ...], ...]:
    """The names of a function's parameters, by kind."""
    arguments = tree.args
    extra = [part.arg if part is not None else "" for part in (arguments.vararg, arguments.kwarg)]
    names = [[part.arg for part in parts] for parts in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)]
    return (*map(tuple, names), tuple(extra))


def parameter_text(tree: Any) -> str:
    """The parameters of a function as source text, without annotations."""
    arguments: Any = clone(tree.args)
    for part in ast.walk(arguments):
        if isinstance(part, ast.arg):
            part.annotation = None
    return f"({ast.unparse(arguments)})"
