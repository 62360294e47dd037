"""Calls of targets that stay as they are written: each of them tells the context where it is, and why it is no task."""

from __future__ import annotations

import ast
from typing import Any, Final

from cassette_import.contexts.parallel.expressions import Candidates, context_call, is_context_call

__all__ = ["mark_as_made", "note_kept_calls"]

_WITH_BLOCKS: Final = "in a block of try or with"
_OTHER_STATEMENT: Final = "in a statement that is left as it is written"
_STARRED: Final = "with * or ** arguments"
_REASONS: Final = {
    "Try": _WITH_BLOCKS,
    "TryStar": _WITH_BLOCKS,
    "With": _WITH_BLOCKS,
    "ClassDef": "in a class body",
    "GeneratorExp": "in a generator expression",
    "SetComp": "in a set comprehension",
}
_OF_OTHER_PASSES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def mark_as_made(*nodes: Any) -> None:
    """Say that nodes are none of the program's: they do not explain why a call in them is kept."""
    for node in nodes:
        node.is_made = True


def note_kept_calls(body: list[Any], candidates: Candidates, reason: str = _OTHER_STATEMENT) -> None:
    """Have all calls that may be calls of targets, and were not converted, call the method `kept` of the context.

    Parameters
    ----------
    body:
        The statements of a function or a module level, or the expression of a lambda. They are changed in place.
    candidates:
        The calls.
    reason:
        Why those are kept that nothing else in `body` explains.
    """
    for part in body:
        _note(part, candidates, reason)


def _note(node: Any, candidates: Candidates, reason: str) -> None:
    if isinstance(node, _OF_OTHER_PASSES):
        return
    if not hasattr(node, "is_made"):
        reason = _REASONS.get(type(node).__name__, reason)
    for part in ast.iter_child_nodes(node):
        _note(part, candidates, reason)
    if candidates.is_call(node) and not is_context_call(node):
        is_starred = any(isinstance(one, ast.Starred) for one in node.args) or any(not one.arg for one in node.keywords)
        why = ast.Constant(_STARRED if is_starred and reason == _OTHER_STATEMENT else reason)
        node.func = context_call(node.func, "kept", node.func, why)
