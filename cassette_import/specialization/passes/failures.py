"""Failed passes: the function gets a body that raises the error in the context of the pass, and only there."""

from __future__ import annotations

import ast
from typing import Final

from cassette_import.errors import PassError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import Function, clone
from cassette_import.runtime.names import NAMES
from cassette_import.specialization.passes.function_nodes import first_of_body
from cassette_import.specialization.passes.tree_tools import nooverdub

_FAILURE: Final = "_failure"
"""The attribute of a function's node that holds the number of the error that its body raises."""

_failures: list[PassError] = []


def failure_of(tree: Function) -> PassError | None:
    """The error that the function's body was replaced by; None if no pass failed."""
    number = getattr(tree, _FAILURE, None)
    return None if number is None else _failures[number]


def failing(tree: Function, error: PassError) -> Function:
    """A copy of the function whose body raises the error."""
    made = clone(tree)
    at = At(first_of_body(tree))
    call = nooverdub(at.call(at.symbol(symbols.PASS_FAILED), [at.constant(len(_failures))]))
    made.body = call if isinstance(made, ast.Lambda) else [at.put(ast.Expr(call))]
    setattr(made, _FAILURE, len(_failures))
    _failures.append(error.with_traceback(None))
    return made


@hidden
def _raise_failure(number: int) -> None:
    raise PassError(*_failures[number].args) from _failures[number].__cause__


NAMES[symbols.PASS_FAILED] = _raise_failure
