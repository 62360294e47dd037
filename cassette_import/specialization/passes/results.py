"""Results of passes: a returned node becomes the body of a copy of the function, with the original's positions."""

from __future__ import annotations

import ast
from typing import Any

from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, clone
from cassette_import.rewriting.trees.traversal import children
from cassette_import.specialization.passes.function_nodes import (
    first_of_body,
    parameter_names,
    parameter_text,
)
from cassette_import.specialization.passes.name_resolution import SCOPE
from cassette_import.specialization.passes.validation import Unfit


def function_of(result: Any, before: Function) -> Function:
    """The function `before` with the body that a pass returned: a new tree with the positions of `before`."""
    made = clone(before)
    made.body = _body_of(result, before)
    try:
        made = clone(made)  # a tree of its own: a pass may return a node that it keeps, or one node in two places
    except (AttributeError, TypeError) as error:
        raise Unfit(f"returned what is no tree ({error})") from error
    _set_positions(made, before)
    return made


def _body_of(result: Any, before: Function) -> Any:
    """The body that a pass returned: that of a function's node, or an expression."""
    if isinstance(result, ast.Expression):
        result = result.body
    if isinstance(result, ast.Module) and len(result.body) == 1:
        result = result.body[0]
    if isinstance(result, ast.Expr):
        result = result.value
    is_lambda = isinstance(before, ast.Lambda)
    if not isinstance(result, (*FUNCTIONS, ast.expr)):
        raise Unfit(f"returned {result!r}, and not the function's node or an expression,")
    if isinstance(result, FUNCTIONS) and isinstance(result, ast.Lambda) == is_lambda:
        if parameter_names(result) != parameter_names(before):
            raise Unfit(f"returned the parameters {parameter_text(result)} instead of {parameter_text(before)}")
        return result.body
    if isinstance(result, ast.expr):
        return result if is_lambda else [ast.Return(result)]
    raise Unfit("returned statements, which a lambda cannot have,")


def _set_positions(made: Function, before: Function) -> None:
    """Set the position of new nodes to that of the next statement, or of the node around them.

    A node whose position does not occur in the original was parsed from other text, whose lines mean nothing here.
    """
    known = {_position(node) for node in ast.walk(before) if "lineno" in node._attributes}
    first = first_of_body(before)
    work: list[tuple[ast.AST, ast.AST]] = (
        list(zip(made.body, _neighbours(made.body, first, known), strict=True))
        if isinstance(made.body, list)
        else [(made.body, first)]
    )
    while work:
        node, near = work.pop()
        if hasattr(node, SCOPE):
            delattr(node, SCOPE)
        if "lineno" in node._attributes:
            if _position(node) not in known:
                At(near).put(node)
            near = node
        for _, _, child in children(node):
            # What a pass has put there may be no node; compiling the tree reports that.
            if not isinstance(child, ast.stmt) and hasattr(child, "_attributes"):
                work.append((child, near))
        for field in node._fields:
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                work.extend(zip(block, _neighbours(block, near, known), strict=True))


def _neighbours(block: list[ast.stmt], around: ast.AST, known: set[Any]) -> list[ast.AST]:
    """For each statement the node whose position a new one takes.

    That is the next statement with a position of the original; else the last one before it; else the node around.
    """
    found: list[ast.AST] = []
    near: ast.AST = next((one for one in reversed(block) if _position(one) in known), around)
    for statement in reversed(block):
        if _position(statement) in known:
            near = statement
        found.append(near)
    return found[::-1]


def _position(node: ast.AST) -> Any:
    return tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
