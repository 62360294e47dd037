"""What replaces a node: that of an expression, or else of a statement."""

from __future__ import annotations

import ast
from typing import Any

from cassette_import.rewriting.syntax.expressions import expression
from cassette_import.rewriting.syntax.operation import Form
from cassette_import.rewriting.syntax.statements import splats
from cassette_import.rewriting.syntax.statements import statement as rewritten_statement
from cassette_import.rewriting.trees.traversal import DEPTH


def replaced(node: ast.AST, form: Form, depth: int) -> Any:
    """What replaces a node whose parts are rewritten. Expressions carry the depth of their temporaries."""
    if isinstance(node, _SPLATTING):
        splats(node)
    result: Any = expression(node, form, depth) if isinstance(node, ast.expr) else node
    if result is node:
        result = rewritten_statement(node, form, depth)
    made = result[0] if isinstance(result, list) and isinstance(node, ast.comprehension) else result
    if isinstance(made, ast.AST) and not isinstance(made, ast.stmt):
        depth += result is not node or type(node) in _CHANGED_IN_PLACE
        if depth:
            setattr(made, DEPTH, depth)
    return result


_SPLATTING = (ast.Call, ast.List, ast.Tuple, ast.Set)
_CHANGED_IN_PLACE = (ast.IfExp, ast.BoolOp, ast.comprehension, ast.Starred)
