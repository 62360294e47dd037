"""Which kinds of nodes rewriting may change for some shapes, so that all other nodes are neither copied nor visited."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.followed_bodies import FOLLOWED
from cassette_import.rewriting.shape import Shape

_ALWAYS: Final[frozenset[type[ast.AST]]] = frozenset({ast.ClassDef})
_BY_EVENT: Final[dict[Events, frozenset[type[ast.AST]]]] = {
    Events.CALLS: frozenset({ast.Call}),
    Events.OPERATORS: frozenset(
        {ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete}
    ),
}


def changing_kinds(shapes: Sequence[Shape], of_module: bool = False) -> frozenset[type[ast.AST]] | None:
    """The kinds of nodes that become events, or that rewriting changes otherwise; None if they may be of any kind.

    Parameters
    ----------
    shapes:
        The shapes.
    of_module:
        Whether it is the module level that is rewritten.
    """
    if any(shape.tagging or (shape.passes and not of_module) for shape in shapes):
        return None
    kinds: set[type[ast.AST]] = set() if of_module else set(_ALWAYS)
    for event in Events:
        if any(shape.wants(event) for shape in shapes):
            if event not in _BY_EVENT:
                return None
            kinds |= _BY_EVENT[event]
    if any(shape.follows_bodies for shape in shapes):
        kinds |= FOLLOWED
    if any(shape.has_errorhooks for shape in shapes):
        kinds |= {ast.Try, ast.TryStar}
    return frozenset(kinds)
