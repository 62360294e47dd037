"""Which form the events in a node take, by their surroundings."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, FUNCTIONS
from cassette_import.rewriting.trees.traversal import children, parts

BARE_LAMBDA: Final = "_bare"
"""The attribute of a lambda whose surroundings allow no temporaries."""

_COMPREHENSIONS_ARE_INLINED: Final = sys.version_info >= (3, 12)  # PEP 709


class Mode(Enum):
    """Which form events take."""

    INLINED = 1
    """Hooks are called in the body itself."""
    CALLEE = 2
    """Each event looks up the active context; temporaries are allowed."""
    BARE = 3
    """The same, without temporaries."""
    CLASS_BODY = 4
    """The same, and names are read once: the namespace of a class body may be a mapping of the program's own."""


Inside = tuple[str, int | None, ast.AST, Mode]
"""A child of a node: its field, its index, the node itself and its mode."""


def modes_inside(node: ast.AST, mode: Mode, kept: str | None = None) -> list[Inside]:
    """The children of a node to rewrite, each with its mode; with `kept`, those that have an attribute of this name."""
    inside = _INSIDE.get(node.__class__)
    return _all(node, mode, kept) if inside is None else inside(node, mode, kept)


def _all(node: ast.AST, mode: Mode, kept: str | None, skip: tuple[str, ...] = ()) -> list[Inside]:
    return [(name, index, child, mode) for name, index, child in children(node, skip, kept)]


def _except(*skip: str) -> Callable[[Any, Mode, str | None], list[Inside]]:
    """All children but those in some fields, which stay as they are written."""
    return lambda node, mode, kept: _all(node, mode, kept, skip)


def _inside_class(node: ast.ClassDef, mode: Mode, kept: str | None) -> list[Inside]:
    generic = Mode.CLASS_BODY if getattr(node, "type_params", None) else mode  # PEP 695: no walrus in its bases
    modes = {"body": Mode.CLASS_BODY, "bases": generic, "keywords": generic}
    return [
        (name, index, child, modes.get(name, mode)) for name, index, child in children(node, ("type_params",), kept)
    ]


def _without_temporaries(mode: Mode) -> Mode:
    return Mode.CLASS_BODY if mode is Mode.CLASS_BODY else Mode.BARE


def _inside_comprehension(
    node: ast.ListComp | ast.SetComp | ast.DictComp, mode: Mode, kept: str | None
) -> list[Inside]:
    is_inlined = _COMPREHENSIONS_ARE_INLINED and mode is Mode.INLINED
    return _all(node, mode if is_inlined else _without_temporaries(mode), kept)


def _inside_generator(node: ast.GeneratorExp, mode: Mode, kept: str | None) -> list[Inside]:
    return _all(node, _without_temporaries(mode), kept)


def _inside_clause(node: ast.comprehension, mode: Mode, kept: str | None) -> list[Inside]:
    """No assignment expression is allowed in a clause's iterable or target, not even within a lambda."""
    make_lambdas_bare(node.iter, node.target)
    bare = _without_temporaries(mode)
    return [(name, index, child, mode if name == "ifs" else bare) for name, index, child in children(node, (), kept)]


def make_lambdas_bare(*places: ast.AST) -> None:
    """Note at the lambdas in some nodes that their surroundings allow no temporaries."""
    work = list(places)
    while work:
        part = work.pop()
        work += parts(part)
        if part.__class__ is ast.Lambda:
            setattr(part, BARE_LAMBDA, True)


def _inside_with(node: ast.With | ast.AsyncWith, mode: Mode, kept: str | None) -> list[Inside]:
    """The block may run in a context that was entered by this very statement."""
    inside = _all(node, mode, kept)
    if mode is not Mode.INLINED:
        return inside
    return [(name, index, child, Mode.CALLEE if name == "body" else mode) for name, index, child, _ in inside]


_INSIDE: Final[dict[type[ast.AST], Callable[[Any, Mode, str | None], list[Inside]]]] = {
    **dict.fromkeys(FUNCTIONS, _except("body", "returns", "type_params")),
    **dict.fromkeys(COMPREHENSIONS, _inside_comprehension),
    ast.ClassDef: _inside_class,
    ast.GeneratorExp: _inside_generator,
    ast.comprehension: _inside_clause,
    ast.With: _inside_with,
    ast.AsyncWith: _inside_with,
    ast.AnnAssign: _except("annotation"),  # R1: annotations are left alone
    ast.arg: _except("annotation"),
    ast.match_case: _except("pattern"),  # R5: patterns allow names, attributes and literals only
}
if sys.version_info >= (3, 12):
    _INSIDE[ast.TypeAlias] = _except("value", "type_params")
