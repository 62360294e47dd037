"""The note of a pending event: kind and operands, kept in a variable of the frame for the handler of exceptions.

The handler passes them to the errorhooks. Where temporaries hold the operands, the note is a constant that names the
temporaries: building tuples would take as long as a Python call.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import temporaries
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
    places = _places(positional, keywords)
    if None in places:
        return at.pending(int(event), below, positional, keywords)
    return _note(at, event, below, places, keywords, read_by_handlers)


def note_of_callee(
    at: At,
    event: Events,
    below: int,
    callee: str,
    positional: Sequence[ast.expr] | None,
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    """The note of a call whose callee the handler splits into its function and the arguments that it carries.

    Parameters
    ----------
    at, event, below, keywords, read_by_handlers:
        As for `note`.
    callee:
        The temporary that holds the callee.
    positional:
        The arguments, which are constants or in temporaries; None if errorhooks get the function alone.
    """
    first = callee, temporaries.FUNCTION_OF_CALLEE if positional is None else temporaries.SPLIT_CALLEE
    return _note(at, event, below, [first, *_places(positional or (), keywords)], keywords, read_by_handlers)


def _note(
    at: At,
    event: Events,
    below: int,
    places: Sequence[_Place | None],
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    read_by_handlers.update(
        place[0] for place in places if place is not None and temporaries.is_numbered_temporary(place[0])
    )
    names = tuple(keyword.arg for keyword in keywords)
    return at.constant((int(event), below, (*places,), names, None))


def _places(positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[_Place | None]:
    return [_place(value) for value in (*positional, *(keyword.value for keyword in keywords))]


_Place = tuple[str, Any]
"""Where the handler finds an operand: the name of a variable, and an attribute of its value or None.

A constant is in no temporary, so the note has the constant, and no name.
"""


def _place(value: ast.expr) -> _Place | None:
    if isinstance(value, ast.Constant):
        return "", value.value
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.value.id, value.attr
    return (value.id, None) if isinstance(value, ast.Name) else None
