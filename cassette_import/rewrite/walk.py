"""A walk through a tree without recursion, so that deep expressions and deep callers do not matter (checklist S7)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

State = TypeVar("State")
Slot = tuple[Any, str, int | None]
"""Where a node stands: parent, field, and the index if the field is a list."""


_NEVER_NODES = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "is_lazy", "kind", "level", "module", "op", "ops"}
    | {"rest", "simple", "str", "tag", "type_comment"}
)
"""Fields that hold no nodes, or nodes that mean nothing by themselves (`Load`, `Add`)."""

_fields: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Constant: (), ast.Name: (), ast.Global: (), ast.Nonlocal: (), ast.Import: (), ast.ImportFrom: (),
}  # fmt: skip


def children(node: ast.AST, skip: Iterable[str] = ()) -> list[tuple[str, int | None, ast.AST]]:
    """The child nodes of `node` with field and index, in order, but those in the fields named in `skip`.

    Nodes that mean nothing by themselves (`Load`, `Add`) are left out.
    """
    kind = node.__class__
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = tuple(name for name in kind._fields if name not in _NEVER_NODES)
    found: list[tuple[str, int | None, ast.AST]] = []
    for name in fields:
        value = getattr(node, name, None)
        if value is None or name in skip:
            continue
        if value.__class__ is list:
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    found.append((name, index, item))
        elif isinstance(value, ast.AST):
            found.append((name, None, value))
    return found


def rebuild(
    root: ast.AST,
    state: State,
    enter: Callable[[ast.AST, State], list[tuple[str, int | None, ast.AST, State]]],
    leave: Callable[[ast.AST, State], Any],
) -> Any:
    """Replace nodes bottom up, in place.

    `enter` tells the children to visit and the state in which to visit each; `leave` is called when a node's
    children have been replaced and
    returns what takes the node's place: a node, or, for a statement in a list of statements, a list of them.
    """
    box = [root]
    work: list[tuple[ast.AST, State, Any, str, int | None, bool]] = [(root, state, box, "", 0, False)]
    while work:
        node, state, parent, name, index, entered = work.pop()
        if not entered:
            work.append((node, state, parent, name, index, True))
            for child_name, child_index, child, child_state in reversed(enter(node, state)):
                work.append((child, child_state, node, child_name, child_index, False))
            continue
        _flatten(node)
        replacement = leave(node, state)
        if parent is box:
            box[0] = replacement
        elif index is None:
            setattr(parent, name, replacement)
        else:
            getattr(parent, name)[index] = replacement
    return box[0]


def _flatten(node: ast.AST) -> None:
    """Put the statements that took one statement's place into its list."""
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        if isinstance(statements, list) and any(isinstance(item, list) for item in statements):
            flat: list[ast.stmt] = []
            for item in statements:
                flat.extend(item) if isinstance(item, list) else flat.append(item)
            setattr(node, name, flat)
