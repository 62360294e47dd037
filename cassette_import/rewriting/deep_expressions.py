"""Expressions that nest too deeply for the compiler after they were rewritten, as statements one after the other.

A chain such as ``a.b().c()…`` or ``a + b + c…`` nests once for each operator, and its events nest several times as
deep. What a statement evaluates first into a temporary becomes a statement of its own: nothing is evaluated in another
order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final, cast

from cassette_import.rewriting import temporaries
from cassette_import.rewriting.trees.node_builder import At

_VALUES: Final[dict[type, str]] = {
    ast.Return: "value",
    ast.Expr: "value",
    ast.Assign: "value",
    ast.AnnAssign: "value",
    ast.If: "test",
    ast.For: "iter",
    ast.Raise: "exc",
    ast.Match: "subject",
}
"""Statements that evaluate an expression before they do anything else, once, and the field of the expression."""

_FIRST: Final[dict[type, str]] = {
    ast.BinOp: "left",
    ast.UnaryOp: "operand",
    ast.Compare: "left",
    ast.Attribute: "value",
    ast.Subscript: "value",
    ast.IfExp: "test",
    ast.NamedExpr: "value",
    ast.Await: "value",
    ast.FormattedValue: "value",
    ast.BoolOp: "values",
    ast.Tuple: "elts",
    ast.List: "elts",
    ast.JoinedStr: "values",
}
"""What an expression evaluates first; of a list of operands it is the first one."""

_DEEPEST: Final = 50
"""How deep an expression may nest before parts of it become statements."""


def flatten(tree: ast.AST) -> None:
    """Flatten all statements of a tree, in place."""
    work: list[tuple[Any, bool]] = [(tree, False)]
    while work:
        node, is_function = work.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            is_function = not isinstance(node, ast.ClassDef)  # a class or module has no temporaries
        for field in node._fields:
            value = getattr(node, field, None)
            if not isinstance(value, list):
                continue
            if is_function and value and isinstance(value[0], ast.stmt):
                setattr(node, field, [flat for statement in value for flat in _flattened(statement)])
            parts = [part for part in value if isinstance(part, (ast.stmt, ast.excepthandler, ast.match_case))]
            work += [(part, is_function) for part in parts]


def _flattened(statement: ast.stmt) -> list[ast.stmt]:
    field = _VALUES.get(type(statement))
    value = None if field is None else getattr(statement, field)
    if field is None or value is None or not _is_deep(value):
        return [statement]
    return [*_lifted(statement, field), statement]


def _is_deep(node: ast.AST) -> bool:
    level: list[ast.AST] = [node]
    for _ in range(_DEEPEST):
        level = [part for above in level for part in ast.iter_child_nodes(above)]
        if not level:
            return False
    return True


def _lifted(statement: ast.stmt, field: str) -> Iterator[ast.stmt]:
    """Take the assignments to temporaries out of a statement that it evaluates before everything else.

    The path leads from the statement to what it evaluates first. Each place on it is a node, or a list of operands,
    with the field or the number of the operand, and whether an assignment may be lifted from there.
    """
    path: list[_Place] = [(statement, field, False)]
    is_blocked = False
    while path:
        holder, key, may_be_lifted = path[-1]
        node = _operand(holder, key)
        place = None if is_blocked else _first(node)
        if place is not None:
            path.append(place)
            continue
        path.pop()
        is_blocked = not (may_be_lifted and isinstance(node, ast.NamedExpr) and node.target.id.startswith("@"))
        if not is_blocked:
            yield ast.copy_location(ast.Assign([node.target], node.value), node)
            _replace(holder, key, ast.Name(node.target.id, ast.Load()), node)
        elif path and len(path) % _DEEPEST == 0:
            temporary = temporaries.deep(len(path))
            yield ast.copy_location(ast.Assign([At(node).store(temporary)], node), node)
            _replace(holder, key, At(node).taken(temporary), node)


def _replace(holder: Any, key: str | int, node: ast.expr, old: ast.expr) -> None:
    """Put another expression in the place of what becomes a statement."""
    ast.copy_location(node, old)
    if isinstance(holder, list):
        holder[cast(int, key)] = node
    else:
        setattr(holder, cast(str, key), node)


_Place = tuple[Any, str | int, bool]


def _operand(holder: Any, key: str | int) -> Any:
    return holder[cast(int, key)] if isinstance(holder, list) else getattr(holder, cast(str, key))


def _first(node: ast.expr) -> _Place | None:
    """The place of what an expression evaluates first, other than constants and temporaries."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Tuple) and isinstance(node.slice, ast.Constant):
        return _unsettled(node.value.elts, node.slice.value)
    if isinstance(node, ast.Call):
        return (node, "func", True) if not _is_settled(node.func) else _unsettled(node.args)
    field = _FIRST.get(type(node))
    if field is None:
        return None
    operand = getattr(node, field)
    if isinstance(operand, list):
        return (operand, 0, True) if operand and not _is_settled(operand[0]) else None
    return None if _is_settled(operand) else (node, field, True)


def _unsettled(operands: list[ast.expr], picked: Any = None) -> _Place | None:
    """The place of the first operand that is evaluated at all; a picked one stays, since others clear temporaries."""
    for number, operand in enumerate(operands):
        if not _is_settled(operand):
            return operands, number, number != picked
    return None


def _is_settled(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Constant):
        node = node.body
    if isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.startswith("@"))
