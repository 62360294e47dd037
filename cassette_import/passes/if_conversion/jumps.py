"""How a block is left: by a jump, or by an exception."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Final

from cassette_import.passes.if_conversion.variables import own_nodes

__all__ = ["JUMPS", "jumps", "leaves", "raises"]

JUMPS: Final = (ast.Return, ast.Break, ast.Continue)


def jumps(body: Iterable[ast.AST]) -> set[str]:
    """The kinds of jumps that leave a block: `break` and `continue` of loops inside it do not."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, JUMPS):
            found.add(type(node).__name__.lower())
        elif isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
            found |= jumps(node.body) & {"return"} | jumps(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            found |= jumps(ast.iter_child_nodes(node))
    return found


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block certainly ends by a jump or exception."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (*JUMPS, ast.Raise)):
        return True
    return isinstance(last, ast.If) and leaves(last.body) and leaves(last.orelse)


def raises(body: Sequence[ast.stmt]) -> bool:
    """Whether a block does nothing but to raise an exception at its end."""
    return bool(body) and isinstance(body[-1], ast.Raise) and not any(isinstance(n, JUMPS) for n in own_nodes(body))
