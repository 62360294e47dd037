"""The pass `if_conversion`: what it makes of a function."""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.passes.if_conversion.expressions import CONTEXT, Expressions, Names, call, load, method, store
from cassette_import.passes.if_conversion.statements import Statements
from cassette_import.passes.if_conversion.variables import (
    SCOPES,
    Liveness,
    bound_names,
    captured_names,
    declared_names,
    own_nodes,
)
from cassette_import.specialization.passes import contextslot
from cassette_import.specialization.passes.private_names import PrivateNames
from cassette_import.specialization.passes.reflection import Reflection

__all__ = ["SPECIAL_METHODS", "if_conversion", "loop_conversion"]

# ---- special methods whose result code in C checks, so that a converted one asks the context what to return

SPECIAL_METHODS: Final = frozenset(
    {
        "__bool__",
        "__float__",
        "__int__",
        "__index__",
        "__len__",
        "__complex__",
        "__str__",
        "__repr__",
        "__format__",
        "__hash__",
        "__bytes__",
    }
)
"""Their names."""


# ---- the pass `if_conversion`: what it makes of a function


def if_conversion(context_type: type, reflection: Reflection) -> Any:
    """A pass: branches, loops, returns, calls and stores become calls of methods of the active context.

    The context decides what a branch does. It has the methods that the docstring of this package lists. Where all lanes
    agree, the converted function does what the original one does.

    Parameters
    ----------
    context_type:
        The type of the context for which the pass runs.
    reflection:
        The function.

    Returns
    -------
    The node of the function, with another body.

    Example
    -------
    >>> from cassette_import import Context, overdub
    >>> from cassette_import.passes.if_conversion import ConvertedCode
    >>> class Decisions(Context, ConvertedCode):
    ...     passes = [if_conversion]
    ...     def choice(self, test, *variables):
    ...         print("a branch on", test)
    ...         return super().choice(test, *variables)
    >>> def sign(x):
    ...     return -1 if x < 0 else 1
    >>> overdub(Decisions(), sign, 3)
    a branch on False
    1
    """
    return _pass(reflection, False)


def loop_conversion(context_type: type, reflection: Reflection) -> Any:
    """The pass `if_conversion`, for contexts that see a turn of a loop as one piece of code.

    `loop` gets the iterable of a `for` loop. `choice` and `loop` get the names of the variables, as `names`. Loops have
    `enters(*variables)`, which returns the variables for the first turn, and `again(*variables)` is called at the end
    of each turn.
    """
    return _pass(reflection, True)


def _pass(reflection: Reflection, heads: bool) -> Any:
    tree: Any = reflection.tree
    names = Names()
    if isinstance(tree, ast.Lambda):
        tree.body = Expressions(names, in_lambda=True, heads=heads).visit(tree.body)
        return tree
    if isinstance(tree, ast.AsyncFunctionDef):
        tree.body = [ast.Expr(call(True, "refuses", ast.Constant("a coroutine"))), *tree.body]
        return tree
    docstring = tree.body[:1] if ast.get_docstring(tree, clean=False) is not None else []
    body = tree.body[len(docstring) :]
    if not body:
        return tree
    made = _converted(tree, body, names, PrivateNames(reflection.function), heads)
    begin = ast.Assign([store(CONTEXT)], contextslot())
    tree.body = [*docstring, begin, *made]
    return tree


def _converted(
    tree: ast.FunctionDef, body: list[ast.stmt], names: Names, private: PrivateNames, heads: bool
) -> list[ast.stmt]:
    declared = declared_names(body, ast.Global), declared_names(body, ast.Nonlocal)
    parameters = {argument.arg for argument in ast.walk(tree.args) if isinstance(argument, ast.arg)}
    structured = not _keeps_structure(body)
    merged: set[str] = set()
    if structured:
        constructs = [node for node in own_nodes(body) if isinstance(node, (ast.If, ast.While, ast.For))]
        merged = bound_names(constructs) - declared[0] - declared[1]
        handled = {node.name for node in own_nodes(body) if isinstance(node, ast.ExceptHandler) and node.name}
        if merged & handled or _captured_unbound(body, merged - parameters):
            structured, merged = False, set()
    liveness = Liveness(body) if structured else None
    expressions = Expressions(names, heads=heads)
    statements = Statements(names, expressions, liveness, frozenset(merged), declared, private, heads)
    statements.bound = set(parameters)
    statements.is_special = tree.name in SPECIAL_METHODS
    if structured and _needs_frame(body):
        statements.frame = names.new()
    made = statements.block(body)
    start: list[ast.stmt] = []
    for name in sorted(statements.unbound_at_start):
        start.append(ast.Assign([store(name)], call(False, "unbound_mark")))
    if statements.frame is not None:
        start.append(ast.Assign([store(statements.frame)], call(False, "frame")))
        leave = statements.leaving(method(load(statements.frame), "result"))
        made.append(ast.copy_location(leave, body[-1]))
    return [*start, *made]


def _keeps_structure(body: list[ast.stmt]) -> bool:
    """Whether branches and loops stay as they are: in generators, and where variables come and go."""
    for node in own_nodes(body):
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return True
        if isinstance(node, ast.Name) and (isinstance(node.ctx, ast.Del) or node.id in ("locals", "exec", "eval")):
            return True
    return False


def _captured_unbound(body: list[ast.stmt], merged: set[str]) -> bool:
    """Whether a nested function may read a variable that is unbound: it would find the mark for that."""
    captured = captured_names(body) & merged
    if not captured:
        return False
    bound: set[str] = set()
    for statement in body:  # what the function binds before its first branch is bound
        if isinstance(statement, (ast.If, ast.While, ast.For, *SCOPES)):
            break
        if isinstance(statement, ast.Assign):
            bound |= bound_names(statement)
    return not captured <= bound


def _needs_frame(body: list[ast.stmt]) -> bool:
    """Whether there is a `return` before the end."""
    returns = [node for node in own_nodes(body) if isinstance(node, ast.Return)]
    return bool(returns) and not (len(returns) == 1 and returns[0] is body[-1])
