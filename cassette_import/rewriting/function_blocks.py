"""The blocks of a function before its events are rewritten: what each branch of it begins with."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cassette_import.rewriting import symbols
from cassette_import.rewriting.forms.binding_statements import Names
from cassette_import.rewriting.forms.plain_reads import with_plain_reads
from cassette_import.rewriting.forms.returns_out_of_blocks import with_returns_kept
from cassette_import.rewriting.forms.tagged import CATCHING, insert_unwrapping, parameters, rest_parameters
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.annotations import CHANGING
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import (
    Function,
    hoist_declarations,
    is_suspendable,
    split_docstring,
    survey,
)


def has_events(function: Function) -> bool:
    """Whether anything in a function may be an event. Without any, it needs no branch and no test at its entry."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return any(hasattr(part, CHANGING) for part in body)


def with_unwrapping(at: At, function: Function, block: list[ast.stmt], shapes: Sequence[Shape]) -> list[ast.stmt]:
    """A block of a function whose values may be tagged, with the calls that take wrappers off."""
    rest: list[ast.stmt] = [at.put(ast.Expr(part)) for part in rest_parameters(at, function)]
    rest += parameters(at, function, is_suspendable(function))
    block = with_returns_kept(function, block)
    is_catching = any(isinstance(part, CATCHING) for statement in block for part in ast.walk(statement))
    # The awaiting code fetches the wrapper of the value that a function that can be suspended returned last.
    names = Names(survey(function).declared, is_catching=is_catching or is_suspendable(function))
    return [*rest, *(insert_unwrapping(statement, shapes, names) for statement in block)]


def plain_branch(at: At, body: list[ast.stmt], names: frozenset[str]) -> list[ast.stmt]:
    """The branch without any context. A closure reads these names without wrappers, if any value may be tagged."""
    made = with_plain_reads(body, names) if names else None
    return body if made is None else [at.put(ast.If(at.symbol(symbols.METADATA_EXISTS), made, body))]


def block_of_passes(made: Function, declarations: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a body that passes made; its declarations go to the top of the function."""
    assert not isinstance(made, ast.Lambda)
    _, body = split_docstring(made.body)
    # For the type checker: declarations have names.
    known = {name for declaration in declarations for name in declaration.names}  # type: ignore[attr-defined]
    for declaration in hoist_declarations(made, body):
        if not known.issuperset(declaration.names):  # type: ignore[attr-defined]  # its kind is known
            declarations.append(declaration)
    return body or [At(made).put(ast.Pass())]
