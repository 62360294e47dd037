"""The plain branch of a closure: it reads its free variables without wrappers.

A variable of an overdubbed function may hold a wrapper, and a function in it may run where the context is not active:
in another thread, or after the end. So if any value may be tagged, such a function runs a copy of its plain body in
which each load of a free variable takes the wrapper off. A generator has one body for all contexts; it asks which is
active.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from cassette_import.rewriting import symbols
from cassette_import.rewriting.trees.annotations import AROUND, NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, clone, survey


def free_names(function: Function, around: Iterable[str]) -> frozenset[str]:
    """The names of the functions around a function that it may read; `around` are those that are not in the tree."""
    known = getattr(function, AROUND, (None, ()))[1]
    nonlocal_names: set[str] = set()
    if not isinstance(function, ast.Lambda):
        work: list[ast.AST] = list(function.body)
        while work:
            part = work.pop()
            if isinstance(part, ast.Nonlocal):
                nonlocal_names.update(part.names)
            elif not isinstance(part, (*FUNCTIONS, ast.ClassDef, ast.expr)):
                work += ast.iter_child_nodes(part)
    own = survey(function).bound - nonlocal_names
    return (frozenset(known) | frozenset(around) | nonlocal_names) - own - survey(function).declared


def with_plain_reads(block: list[ast.stmt], names: frozenset[str]) -> list[ast.stmt] | None:
    """A copy of a block whose free variables are read without wrappers; None if it reads none."""
    reads = _Reads(names, symbols.READ_PLAIN)
    made: list[Any] = [reads.visit(clone(statement)) for statement in block]
    return made if reads.found else None


def with_plain_reads_of(value: ast.expr, names: frozenset[str]) -> ast.expr | None:
    """The same for the body of a lambda."""
    reads = _Reads(names, symbols.READ_PLAIN)
    made: Any = reads.visit(clone(value))
    return made if reads.found else None


def insert_reads_where_active(node: Any, names: frozenset[str]) -> Any:
    """A statement or expression of a generator, changed in place: it takes wrappers off where no context is active."""
    return _Reads(names, symbols.READ_WHERE_ACTIVE, in_use=True).visit(node)


class _Reads(ast.NodeTransformer):
    """Puts a call around each load of some names; functions and classes in the block are left out."""

    def __init__(self, names: frozenset[str], function: str, in_use: bool = False) -> None:
        self._names = names
        self._function = function
        self._in_use = in_use
        self.found = False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names or not isinstance(node.ctx, ast.Load) or hasattr(node, NOOVERDUB):
            return node
        self.found = True
        at = At(node)
        call = at.call(at.symbol(self._function), [node])
        if not self._in_use:
            return call
        made = at.either(at.symbol(symbols.METADATA_EXISTS), call, node)
        setattr(made, NOOVERDUB, True)
        return made

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        self.visit(node.args)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self.visit(node.args)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.bases = [self.visit(one) for one in node.bases]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [self.visit(part) for part in node.body]
        return node
