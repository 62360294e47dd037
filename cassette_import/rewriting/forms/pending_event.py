"""The note of a pending event: kind and operands, kept in a variable of the frame for the handler of exceptions.

The handler passes them to the errorhooks. Where temporaries hold the operands, the note is a constant that names the
temporaries: building tuples would take as long as a Python call. Knows trees; must not know what the hooks are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.trees.node_builder import At


def note(
    at: At,
    event: Events,
    below: int,
    positional: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    """The note of an event.

    Parameters
    ----------
    at:
        The position of the event.
    event:
        Its kind.
    below:
        The errorhooks of the contexts below this level are called if the event fails.
    positional, keywords:
        The operands, as errorhooks are called with them.
    read_by_handlers:
        The temporaries that the handler of exceptions reads. Those of this event are added.
    """
    places = [_place(value) for value in (*positional, *(keyword.value for keyword in keywords))]
    if None in places:
        return at.pending(int(event), below, positional, keywords)
    read_by_handlers.update(
        place[0] for place in places if place is not None and temporaries.is_numbered_temporary(place[0])
    )
    names = tuple(keyword.arg for keyword in keywords)
    return at.constant((int(event), below, (*places,), names, None))


def _place(value: ast.expr) -> tuple[str, Any] | None:
    """Where the handler finds an operand: the name of a variable, and an attribute of its value or None.

    A constant is in no temporary, so the note has the constant. An attribute ``*`` means the parts that the value is
    split into.
    """
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
