"""Parts of a function that run without a suspension in between, so that one look at the active context serves them all.

A generator or coroutine may be resumed in another context, so its events look up the context. It cannot change between
two suspensions, though: a run of statements without ``yield`` and ``await``, or the expression ``f(x)`` in
``await f(x)``, may be rewritten like the body of a function that cannot be suspended.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting.trees.annotations import TESTED
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, OTHER_CODE, SUSPENSIONS
from cassette_import.rewriting.trees.traversal import children, parts

__all__ = ["insert_parts", "suspends"]

_LEFT_ALONE: Final = frozenset({*OTHER_CODE, ast.With, ast.AsyncWith}) - {ast.GeneratorExp}
"""Parts with these look up the context: functions and classes, and blocks that a context may be entered for."""
_EXPRESSIONS: Final = frozenset({ast.Call, ast.BinOp, ast.Subscript, ast.Attribute})
"""The expressions that may be parts of their own."""
_WITHOUT_PARTS: Final = frozenset(
    {*OTHER_CODE, *_LEFT_ALONE, *COMPREHENSIONS, ast.JoinedStr, ast.comprehension, ast.withitem}
)
"""Nodes in which no expression is a part of its own: they have other scopes, or forbid assignment expressions."""
_SKIPPED: Final = ("annotation", "returns", "type_params", "target", "targets", "pattern", "optional_vars", "func")
"""Fields in which nothing is a part: targets, annotations, patterns, and callees, which are not values of their own."""


class Parts(Protocol):
    """What replaces parts that run without a suspension."""

    def run(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """What replaces a run of statements."""

    def expression(self, node: ast.expr) -> ast.expr:
        """What replaces an expression."""

    def around(self, statement: ast.stmt, made: list[ast.expr]) -> list[ast.stmt]:
        """What replaces a statement that suspends, once parts of its own expressions were replaced by `made`."""


def insert_parts(block: list[ast.stmt], by: Parts, kept: str | None) -> list[ast.stmt]:
    """Replace the longest parts of a block that run without a suspension.

    Parameters
    ----------
    block:
        The statements, which are changed in place.
    by:
        Builds what replaces them.
    kept:
        The attribute of the nodes in which there may be an event; None if these are all.

    Returns
    -------
    The statements that replace the block.
    """
    made: list[ast.stmt] = []
    run: list[ast.stmt] = []
    for statement in block:
        if _is_uninterrupted(statement):
            run.append(statement)
            continue
        made += _made_of(run, by, kept)
        run = []
        expressions = _insert_inside(statement, by, kept)
        made += by.around(statement, expressions) if expressions else [statement]
    return made + _made_of(run, by, kept)


def _made_of(run: list[ast.stmt], by: Parts, kept: str | None) -> list[ast.stmt]:
    has_events = bool(run) and (kept is None or any(kept in statement.__dict__ for statement in run))
    return by.run(run) if has_events else run


def _insert_inside(node: ast.stmt, by: Parts, kept: str | None) -> list[ast.expr]:
    """Replace the parts inside of a statement that suspends; return what replaces parts of its own expressions."""
    made: list[ast.expr] = []
    work: list[ast.AST] = [node]
    while work:
        holder = work.pop()
        for field, index, child in children(holder, _SKIPPED, kept):
            kind = child.__class__
            if isinstance(child, ast.stmt):
                continue
            if kind in _EXPRESSIONS and TESTED not in child.__dict__ and _is_uninterrupted(child):
                made.append(by.expression(child))  # type: ignore[arg-type]  # by its kind
                _put(holder, field, index, made[-1])
            elif kind not in _WITHOUT_PARTS:
                work.append(child)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(holder, name, None)
            if isinstance(block, list) and holder.__class__ not in OTHER_CODE:
                setattr(holder, name, insert_parts(block, by, kept))
    return made


def _put(holder: Any, field: str, index: int | None, made: ast.AST) -> None:
    if index is None:
        setattr(holder, field, made)
    else:
        getattr(holder, field)[index] = made


def _is_uninterrupted(node: ast.AST) -> bool:
    """Whether a part neither suspends, nor has functions, classes or blocks of `with` in it."""
    work = [node]
    while work:
        node = work.pop()
        if _suspends_itself(node) or node.__class__ in _LEFT_ALONE:
            return False
        work += parts(node)
    return True


def suspends(node: ast.AST) -> bool:
    """Whether a part may suspend the code that it is in."""
    work = [node]
    while work:
        node = work.pop()
        if _suspends_itself(node):
            return True
        work += _evaluated_here(node)
    return False


def _evaluated_here(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that the code evaluates in which it is."""
    if isinstance(node, ast.GeneratorExp):
        return [node.generators[0].iter]
    if node.__class__ not in OTHER_CODE:
        return parts(node)
    fields = ("decorator_list", "args", "returns", "bases", "keywords")
    found = [value for field in fields if (value := getattr(node, field, None)) is not None]
    return [part for value in found for part in (value if isinstance(value, list) else [value])]


def _suspends_itself(node: ast.AST) -> bool:
    return node.__class__ in SUSPENSIONS or bool(getattr(node, "is_async", False))
