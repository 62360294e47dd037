"""Branches in a body that can be suspended: where it runs without a suspension, hooks are called in the body itself.

An expression cannot catch exceptions. So if there are errorhooks, the statement around it has the handler. What the
variable of the pending event holds while the body is suspended is None: an event that was carried out here is over.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.interpreter.protocols import Protocol
from cassette_import.rewriting.branch_frames import assigned_contexts, handled, needs_contexts, with_contexts
from cassette_import.rewriting.modes import Mode
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.evaluation_order import first_evaluated
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.trees.traversal import DEPTH, depth_of

_READ: Final = "_read"
"""The attribute of an expression that holds the temporaries which a handler reads if an event in it fails."""


class Rewriter(Protocol):
    """What rewrites the parts."""

    shapes: tuple[Shape, ...]
    kept: str | None
    read_by_handlers: set[str]

    def block(self, statements: list[ast.stmt], mode: Mode, shape: Shape | None) -> list[ast.stmt]:
        """Rewrite statements."""

    def rewrite(self, node: ast.AST, mode: Mode, shape: Shape | None) -> Any:
        """Rewrite a node."""

    def test(self, at: At, number: int, in_variables: bool = True, resumed: bool = False) -> ast.expr:
        """The test for the branch of a shape."""


class ResumedParts:
    """Builds the branches of parts (see `uninterrupted.Parts`).

    Parameters
    ----------
    rewriter:
        Rewrites the parts.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._watching = [shape for shape in rewriter.shapes if shape.has_errorhooks]
        # A suspended body holds no activation if it can do without: that refers to all that its contexts have tagged.
        self._in_variables = any(needs_contexts(shape) or not shape.tagging for shape in rewriter.shapes)

    def run(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A run of statements, with a branch for each shape beside the one for all contexts."""
        rewriter = self._rewriter
        at = At(statements[0]).on_line_of(first_evaluated(statements[0]))
        copies: list[Any] = [[clone(statement, rewriter.kept) for statement in statements] for _ in rewriter.shapes]
        chain = rewriter.block(statements, Mode.CALLEE, None)
        for number in reversed(range(len(rewriter.shapes))):
            shape = rewriter.shapes[number]
            read, outer = rewriter.read_by_handlers, {*rewriter.read_by_handlers}
            read.clear()
            branch = handled(at, rewriter.block(copies[number], Mode.INLINED, shape), shape, read)
            read |= outer
            branch = [*assigned_contexts(at, shape), *branch]
            chain = [at.put(ast.If(rewriter.test(at, number, self._in_variables, resumed=True), branch, chain))]
        setattr(chain[0], NOOVERDUB, True)
        return chain

    def expression(self, node: ast.expr) -> ast.expr:
        """The same for an expression. One handler serves one shape: with more errorhooks, it looks up the context."""
        if len(self._watching) > 1:
            return node
        rewriter = self._rewriter
        at = At(node)
        copies: list[Any] = [clone(node, rewriter.kept) for _ in rewriter.shapes]
        value = rewriter.rewrite(node, Mode.CALLEE, None)
        depth = depth_of(value)
        read, outer = rewriter.read_by_handlers, {*rewriter.read_by_handlers}
        read.clear()
        for number in reversed(range(len(rewriter.shapes))):
            shape = rewriter.shapes[number]
            branch = rewriter.rewrite(copies[number], Mode.INLINED, shape)
            depth = max(depth, depth_of(branch))
            value = at.either(
                rewriter.test(at, number, self._in_variables, resumed=True), with_contexts(at, shape, branch), value
            )
        setattr(value, NOOVERDUB, True)
        setattr(value, DEPTH, depth)
        setattr(value, _READ, frozenset(read))
        read |= outer
        return value  # type: ignore[no-any-return]  # what replaces a node may be of any kind

    def around(self, statement: ast.stmt, made: list[ast.expr]) -> list[ast.stmt]:
        """The statement, with the handler for events in such expressions."""
        if len(self._watching) != 1:
            return [statement]
        read: set[str] = set().union(*(getattr(value, _READ) for value in made))
        unbound, watched = handled(
            At(statement).on_line_of(first_evaluated(statement)), [statement], self._watching[0], read
        )
        assert isinstance(watched, ast.Try)
        for added in (unbound, *watched.handlers):
            setattr(added, NOOVERDUB, True)
        if self._rewriter.kept is not None:
            setattr(watched, self._rewriter.kept, True)
        return [unbound, watched]
