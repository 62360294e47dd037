"""The names that variables of a program have: those of the source to which a call site's result is assigned."""

from __future__ import annotations

import ast
import functools
import linecache
from typing import Any, TypeAlias

from cassette_import.runtime.dispatch.call_sites import CallSite, characters_before

__all__ = ["as_name", "assigned_name"]

_Place: TypeAlias = tuple[int, int | None, int, int | None]


def as_name(place: str) -> str:
    """The name of a part of an argument: ``xs[0]`` is ``xs_0``."""
    return "_".join("".join(one if one.isalnum() or one == "_" else " " for one in place).split())


@functools.lru_cache(maxsize=64)
def _assignments(filename: str) -> dict[_Place, str]:
    """The names of the variables of a file, by the position of what is assigned to them."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target: Any = node.targets[0]
            name = getattr(target, "id", None) or getattr(target, "attr", None)
            if isinstance(name, str):
                found[_position(filename, node.value)] = name
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found[_position(filename, node)] = node.target.id
    return found


def _position(filename: str, node: Any) -> _Place:
    """The position of a node, with columns in characters: those of trees count bytes of UTF-8."""
    first, last = node.lineno, node.end_lineno
    start, end = node.col_offset, node.end_col_offset
    return first, characters_before(filename, first, start), last, characters_before(filename, last, end)


def assigned_name(site: CallSite | None) -> str | None:
    """The name of the variable that gets what a call site computes; None if there is none."""
    if site is None or site.column is None or site.end_column is None:
        return None
    place = site.lineno, site.column, site.end_lineno, site.end_column
    return _assignments(site.filename).get(place)
