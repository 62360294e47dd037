"""What is told of an event that fails: a note of it, which its handler reads, in a variable of the frame.

It is a constant where temporaries hold the operands: to make tuples would take as long as a call of Python's. Knows
trees; must not know what the hooks are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.trees.node_builder import At


def note(
    at: At, event: Events, below: int, positional: Sequence[ast.expr], keywords: Sequence[ast.keyword], told: set[str]
) -> ast.expr:
    """A note of who is told of its operands if the event fails: the contexts below a level.

    The variables that the handler is to read for it are added to `told`.
    """
    places = [_place(value) for value in (*positional, *(keyword.value for keyword in keywords))]
    if None in places:
        return at.pending(int(event), below, positional, keywords)
    told.update(place[0] for place in places if place is not None and temporaries.is_numbered_temporary(place[0]))
    names = tuple(keyword.arg for keyword in keywords)
    return at.constant((int(event), below, (*places,), names, None))


def _place(value: ast.expr) -> tuple[str, Any] | None:
    """Where an operand is to be found later: a variable's name and an attribute of that, or no name and a constant.
    With a star for an attribute, it is what the variable's value is split into."""
    if isinstance(value, ast.Constant):
        return "", value.value
    if isinstance(value, ast.Starred):
        callee = split_one(value.value)
        return None if callee is None else (callee, "*")
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.value.id, value.attr
    return (value.id, None) if isinstance(value, ast.Name) else None


def split_one(value: ast.expr) -> str | None:
    """The name of the variable that is split in `@split(name)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == symbols.SPLIT:
        (callee,) = value.args
        return callee.id if isinstance(callee, ast.Name) else None
    return None
