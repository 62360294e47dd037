"""Passes: callables that rewrite a function's body before its events are made.

A pass is given a context type and a `Reflection` and returns the function's new node, or an expression that is the
whole body.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import FunctionType
from typing import Any, TypeVar

from cassette_import.errors import PassError
from cassette_import.reflection import Reflection
from cassette_import.rewrite.body import NOOVERDUB
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.scopes import FUNCTIONS, Function

_SLOT = "@contextslot"
Expression = TypeVar("Expression", bound=ast.expr)


def nooverdub(expression: Expression) -> Expression:
    """Mark an expression: no event is made of it or of its parts.

    >>> nooverdub(ast.parse("f(x)", mode="eval").body).func.id
    'f'
    """
    setattr(expression, NOOVERDUB, True)
    return expression


def contextslot() -> ast.expr:
    """The expression for the context for which the pass runs.

    >>> isinstance(contextslot(), ast.expr)
    True
    """
    return nooverdub(ast.Name(_SLOT, ast.Load()))


def apply(
    passes: Sequence[Any], context_type: type, level: int, function: FunctionType, tree: Function, source: str
) -> Function:
    """Run the passes of one context, each on what the one before returned."""
    code = function.__code__
    for one in passes:
        name = getattr(one, "__qualname__", repr(one))
        where = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        reflection = Reflection(function, tree, source, code.co_filename, code.co_firstlineno, context_type)
        try:
            result = one(context_type, reflection)
        except Exception as error:
            raise PassError(f"pass {name} failed on {where}: {type(error).__name__}: {error}") from error
        tree = _as_function(result, tree, name, where)
    return _fill_slots(tree, level)


def _as_function(result: Any, before: Function, name: str, where: str) -> Function:
    if isinstance(result, ast.Expression):
        result = result.body
    if isinstance(result, ast.Module) and len(result.body) == 1:
        result = result.body[0]
    at = At(before.body[0] if isinstance(before.body, list) else before.body)
    if isinstance(result, FUNCTIONS) and isinstance(result, ast.Lambda) == isinstance(before, ast.Lambda):
        made = result
    elif isinstance(result, ast.expr) and isinstance(before, ast.Lambda):
        made = at.put(ast.Lambda(before.args, result))
    elif isinstance(result, ast.expr) and not isinstance(before, ast.Lambda):
        made = type(before)(**{**dict(ast.iter_fields(before)), "body": [at.put(ast.Return(result))]})
        ast.copy_location(made, before)
    else:
        raise PassError(f"pass {name} returned {result!r} for {where}: return the function's node or an expression")
    _complete(made, at)
    return made


def _complete(tree: ast.AST, at: At) -> None:
    """Nodes that a pass made get the position of the body."""
    for node in ast.walk(tree):
        if "lineno" in node._attributes and not hasattr(node, "end_col_offset"):
            at.put(node)


def _fill_slots(tree: Function, level: int) -> Function:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id != _SLOT:
                return node
            at = At(node)
            contexts = at.attribute(at.call(at.load("@get"), []), "contexts")
            return nooverdub(at.put(ast.Subscript(contexts, at.constant(level), ast.Load())))

    return Fill().visit(tree)  # type: ignore[no-any-return]
