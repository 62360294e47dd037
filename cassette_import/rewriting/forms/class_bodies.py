"""Where values may be tagged: the names of a class body.

The namespace of the class holds plain values. Helpers keep the metadata of what is assigned beside it until the class
is made, and restore the wrapper where the body reads the name.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.forms.binding_statements import Names
from cassette_import.rewriting.trees.annotations import CLASS_NAME, NOOVERDUB, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import block_names


def names_of_class(node: ast.ClassDef) -> Names:
    """What names mean in the body of a class."""
    found = block_names(node.body)
    of_class = frozenset((found.assigned | found.captured) - found.declared)
    may_be_prepared = bool(node.bases or node.keywords)
    return Names(None, of_class=of_class, of_function=frozenset(found.elsewhere), may_be_prepared=may_be_prepared)


def is_read(node: ast.Name, names: Names) -> bool:
    """Whether a name in a class body is read by the interpreter from the namespace of the class, if it is there."""
    if not isinstance(node.ctx, ast.Load):
        return False
    return node.id in names.of_class or (
        names.may_be_prepared
        and node.id not in names.of_function
        and not (node.id in _BUILTINS or has(node, NOOVERDUB) or node.id.startswith("@"))
    )


_BUILTINS: Final = frozenset(vars(builtins))


def _bind_target(node: ast.For | ast.AugAssign, names: Names) -> None:
    _mark(node.target, names)


def _bind_targets(node: ast.Assign, names: Names) -> None:
    for target in node.targets:
        _mark(target, names)


def _bind_annotated(node: ast.AnnAssign, names: Names) -> None:
    if node.value is not None:
        _mark(node.target, names)


def _bind_managed(node: ast.With | ast.AsyncWith, names: Names) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            _mark(item.optional_vars, names)


def _mark(target: ast.expr, names: Names) -> None:
    """Mark the names of the class in a target: a store to one is not left to the interpreter."""
    for part in ast.walk(target):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in names.of_class:
            setattr(part, CLASS_NAME, True)


BINDING: Final[dict[type[ast.AST], Callable[[Any, Names], None]]] = {
    ast.For: _bind_target,
    ast.Assign: _bind_targets,
    ast.AnnAssign: _bind_annotated,
    ast.AugAssign: _bind_target,
    ast.With: _bind_managed,
    ast.AsyncWith: _bind_managed,
}
"""The statements that bind names of a class."""


def bound_by_expression(node: ast.NamedExpr) -> ast.expr:
    """An assignment expression for a name of a class."""
    name = node.target.id
    node.value = _call_with_name(symbols.CLASS_VALUE, node.value, name)
    return _call_with_name(symbols.CLASS_READ, node, name)


def read(node: ast.Name) -> ast.expr:
    """The load of a name of a class."""
    return _call_with_name(symbols.CLASS_READ, node, node.id)


def _call_with_name(helper: str, value: ast.expr, name: str) -> ast.expr:
    at = At(value)
    return at.call(at.symbol(helper), [value, at.constant(name)])


def with_decorator(node: ast.ClassDef) -> ast.ClassDef:
    """A class whose attributes get the metadata of what was bound to its names."""
    if any(hasattr(part, CLASS_NAME) or _is_store(part) for part in ast.walk(node)):
        begin = At(node).call(At(node).symbol(symbols.CLASS_BEGIN), [])
        setattr(begin, NOOVERDUB, True)
        node.decorator_list.append(begin)
    return node


def _is_store(part: ast.AST) -> bool:
    return isinstance(part, ast.Name) and part.id == symbols.CLASS_VALUE
