"""Tools for writing passes: marks for inserted code, and functions that search and replace in trees."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, overload

from cassette_import.rewriting import symbols
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, clone

SLOT: Final = symbols.CONTEXT_SLOT
"""The placeholder for the active context, until `context_slots.fill` replaces it."""

Expression = TypeVar("Expression", bound=ast.expr)
Node = TypeVar("Node", bound=ast.AST)
_BLOCKS: Final = ("body", "orelse", "finalbody")


def nooverdub(expression: Expression) -> Expression:
    """Mark an expression: no event is made of it or of its parts.

    Parameters
    ----------
    expression:
        An expression that a pass is about to insert. It is marked in place.

    Returns
    -------
    The expression itself.

    >>> nooverdub(ast.parse("f(x)", mode="eval").body).func.id
    'f'
    """
    if not isinstance(expression, ast.expr):
        raise TypeError(f"nooverdub takes an expression of a tree (ast.expr), not {expression!r}")
    setattr(expression, NOOVERDUB, True)
    return expression


def contextslot() -> ast.expr:
    """The expression for the context for which the pass runs.

    A call of a method of it is an event like any other call, unless it is marked with `nooverdub`.

    Returns
    -------
    A new node.

    >>> isinstance(contextslot(), ast.expr)
    True
    """
    return nooverdub(ast.Name(SLOT, ast.Load()))


@overload
def replace_match(
    replace: Callable[[Any], ast.AST | Sequence[ast.AST]], ismatch: Callable[[ast.AST], object], tree: ast.AST
) -> Any: ...
@overload
def replace_match(
    replace: Callable[[Any], ast.AST | Sequence[ast.AST]], ismatch: Callable[[ast.AST], object], tree: list[Node]
) -> list[Node]: ...
def replace_match(replace: Callable[[Any], Any], ismatch: Callable[[ast.AST], object], tree: Any) -> Any:
    """Replace every matching node of a tree in place. The replacements are not searched again.

    Parameters
    ----------
    replace:
        Called with a matching node; returns the node that takes its place, or, for an element of a list such as a
        statement, a list of nodes (an empty one removes it).
    ismatch:
        Called with each node, outer nodes before inner ones, in the order of the source.
    tree:
        A node, or a list of nodes such as the body of a function.

    Returns
    -------
    The tree, or its replacement if its root matches.

    >>> tree = ast.parse("f(f(x)) + y", mode="eval")
    >>> def is_name(node):
    ...     return isinstance(node, ast.Name)
    >>> ast.unparse(replace_match(lambda node: ast.Name(node.id.upper(), node.ctx), is_name, tree))
    'F(F(X)) + Y'
    """
    if isinstance(tree, list):
        holder = ast.Module(tree, [])
        tree[:] = replace_match(replace, ismatch, holder).body
        return tree
    if not isinstance(tree, ast.AST):
        raise TypeError(f"replace_match searches a node or a list of nodes, not {tree!r}")
    if ismatch(tree):
        return _placed(replace(tree), tree)
    work = [tree]
    while work:
        node = work.pop()
        inner: list[ast.AST] = []
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                if ismatch(value):
                    setattr(node, field, _placed(replace(value), value))
                else:
                    inner.append(value)
            elif isinstance(value, list):
                value[:] = _replaced_in(value, replace, ismatch, inner)
        work.extend(reversed(inner))
    return tree


def _replaced_in(
    items: list[Any], replace: Callable[[Any], Any], ismatch: Callable[[ast.AST], object], inner: list[ast.AST]
) -> list[Any]:
    made: list[Any] = []
    for item in items:
        if not isinstance(item, ast.AST):
            made.append(item)
        elif ismatch(item):
            found = replace(item)
            made.extend(_placed(one, item) for one in (found if isinstance(found, (list, tuple)) else [found]))
        else:
            made.append(item)
            inner.append(item)
    return made


def _placed(node: Any, origin: ast.AST) -> Any:
    """The node; without a position of its own, it gets that of the node that it replaces."""
    if isinstance(node, ast.AST) and "lineno" in node._attributes and not hasattr(node, "lineno"):
        At(origin).put(node)
    return node


def insert_statements(
    body: list[ast.stmt],
    count: Callable[[ast.stmt, int], int | None],
    new: Callable[[ast.stmt, int], Sequence[ast.stmt]],
) -> list[ast.stmt]:
    """Replace statements by others in place, in the body and all blocks in it: to insert before, after or around them.

    Parameters
    ----------
    body:
        The statements of a function, for example `reflection.tree.body`.
    count:
        `count(statement, index)` returns how many statements replace a statement; None leaves it as it is. The index
        counts the statements of a block from 0.
    new:
        `new(statement, index)` returns the replacing statements, for each statement with a count. The statement itself
        may be among them; its own blocks have been processed before. The others get its position, so that they belong
        to its line.

    Returns
    -------
    The list `body`. The bodies of nested functions and classes are not changed: passes get them separately.

    Raises
    ------
    ValueError
        If `new` returns another number of statements than `count`.

    >>> tree = ast.parse("a = 1\\nif a:\\n    b = 2")
    >>> def is_assignment(statement, index):
    ...     return 2 if isinstance(statement, ast.Assign) else None
    >>> def twice(statement, index):
    ...     return [statement, statement]
    >>> print(ast.unparse(insert_statements(tree.body, is_assignment, twice)))
    a = 1
    a = 1
    if a:
        b = 2
        b = 2
    """
    if not isinstance(body, list):
        raise TypeError(f"insert_statements takes a list of statements, not {body!r} (a lambda has no statements)")
    blocks = [body]
    for block in blocks:  # it grows while we walk through it
        for statement in block:
            if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                blocks += _blocks_in(statement)
    for block in reversed(blocks):
        made: list[ast.stmt] = []
        for index, statement in enumerate(block):
            number = count(statement, index)
            made += [statement] if number is None else _counted(number, new(statement, index), statement)
        block[:] = made
    return body


def _blocks_in(statement: ast.AST) -> list[list[ast.stmt]]:
    found = [block for name in _BLOCKS if isinstance(block := getattr(statement, name, None), list) and block]
    for name in ("handlers", "cases"):
        for part in getattr(statement, name, ()):
            found += _blocks_in(part)
    return found


def _counted(number: int, statements: Sequence[ast.stmt], origin: ast.stmt) -> list[ast.stmt]:
    if len(statements) != number:
        raise ValueError(f"{number} statements must replace the one in line {origin.lineno}, not {len(statements)}")
    original = set(map(id, ast.walk(origin)))
    at = At(origin)
    made: list[ast.stmt] = []
    for statement in statements:
        if statement is origin and all(other is not origin for other in made):
            made.append(statement)
            continue
        for node in ast.walk(statement):
            if id(node) not in original and "lineno" in node._attributes:
                at.put(node)
        made.append(clone(statement))  # a statement that is inserted twice becomes two
    return made
