"""Which part of a node is evaluated first: tracers are notified of a line as soon as an instruction has its
position.
"""

from __future__ import annotations

import ast
import sys
from typing import Final


def first_evaluated(node: ast.stmt | ast.expr) -> ast.stmt | ast.expr:
    """What is evaluated first of a node, if that is on another line; otherwise the node."""
    if node.lineno == getattr(node, "end_lineno", None) and not getattr(node, "decorator_list", ()):
        return node
    first: ast.AST = node
    while (part := _first_part(first)) is not None:
        first = part
    return first if isinstance(first, ast.stmt | ast.expr) and first.lineno != node.lineno else node


_FIRST_PARTS: Final = (
    *("decorator_list", "items", "context_expr", "subject", "test", "iter", "exc", "func", "left", "values", "value"),
    *("operand", "keys", "elts"),
)
"""The fields whose first value is evaluated before anything else of a node that has one of them."""

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp) if sys.version_info >= (3, 12) else ()
"""Those that are no functions of their own."""
_KEYS_COME_LAST: Final = sys.version_info < (3, 14)
"""Whether a dict display with constant keys evaluates its values first."""
_EVALUATED_AT_ONCE: Final = (ast.Constant, ast.Name, ast.Lambda, ast.comprehension, ast.Try, ast.AugAssign, ast.Assert)


def _first_part(node: ast.AST) -> ast.AST | None:
    """The part of a node that is evaluated first; None if the node itself is."""
    if isinstance(node, _EVALUATED_AT_ONCE):
        return None
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and all(isinstance(item, ast.Constant) for item in node.elts):
        return None
    if isinstance(node, _COMPREHENSIONS):
        return node.generators[0].iter
    if isinstance(node, ast.Dict) and node.keys:
        are_constant = all(isinstance(key, ast.Constant) for key in node.keys)
        has_keys_last = _KEYS_COME_LAST and are_constant and len(node.keys) > 1
        return node.values[0] if has_keys_last else node.keys[0] or node.values[0]
    for field in _FIRST_PARTS:
        value = getattr(node, field, None)
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, ast.AST):
            return value
    return None
