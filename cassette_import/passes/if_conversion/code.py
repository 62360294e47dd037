"""The pieces of code that the conversion inserts: names, calls of the context's methods, stores."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from cassette_import.rewriting import temporaries
from cassette_import.specialization.passes import contextslot

__all__ = ["CONTEXT", "Names", "assign", "call", "load", "method", "store"]

CONTEXT: Final = temporaries.IF_CONTEXT
"""The variable that holds the active context. It is no identifier, so no program has it."""


class Names:
    """Names for temporary variables of one function."""

    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        """A name that is not in use."""
        self._count += 1
        return temporaries.converted(self._count)


def load(name: str) -> ast.Name:
    """An expression that reads a variable."""
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    """A target that binds a variable."""
    return ast.Name(name, ast.Store())


def method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a method of a value."""
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])


def call(in_lambda: bool, name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a method of the active context."""
    return method(contextslot() if in_lambda else load(CONTEXT), name, *arguments)


def assign(names: Sequence[str], value: ast.expr) -> ast.stmt:
    """A statement that unpacks a tuple into variables, or drops it if there are none."""
    if not names:
        return ast.Expr(value)
    return ast.Assign([ast.Tuple([store(name) for name in names], ast.Store())], value)
