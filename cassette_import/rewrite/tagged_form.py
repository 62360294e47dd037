"""What tagging adds to a body before its events are made: calls where a value leaves the variables without an event.

A comprehension, a `return` or an f-string is carried out by the interpreter itself. Where a context type tags values,
a function of ours stands there that takes the wrapper off. Their names start with ``@``, so they are no events.
Knows trees; must not know what a wrapper is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from cassette_import.events import Events
from cassette_import.rewrite.marks import LITERAL, has, is_number
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.scopes import FUNCTIONS
from cassette_import.rewrite.shape import Shape
from cassette_import.rewrite.walk import children, rebuild

_NOOVERDUB = "_nooverdub"


def convey(node: Any, shapes: Iterable[Shape]) -> Any:
    """Put the calls into a statement or expression; bodies of functions in it are left for later. In place.

    Literals are events only if some hook or overload asks for them: they are never tagged.
    """
    if not any(Events.DISPLAYS in context.events for shape in shapes for context in shape.contexts):
        return rebuild(node, None, _enter, _leave_with_literals)
    return rebuild(node, None, _enter, _leave)


def _leave_with_literals(node: Any, state: None, level: int) -> Any:
    constant = isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and bool(node.elts)
    if is_number(node) or (constant and all(has(part, LITERAL) for part in node.elts)):
        setattr(node, _NOOVERDUB, True)
    return _leave(node, state, level)


def parameters(at: At, function: Any) -> list[ast.expr]:
    """Expressions that give `*args` and `**kwargs` of a function as containers without wrappers, by assignment."""
    rest = [part.arg for part in (function.args.vararg, function.args.kwarg) if part is not None]
    return [at.let(name, _call(at, "@tidy", at.load(name))) for name in rest]


def returned(value: ast.expr) -> ast.expr:
    """A value that is returned or yielded."""
    return _call(At(value), "@returned", value)


def _enter(node: ast.AST, state: None) -> list[tuple[str, int | None, ast.AST, None]]:
    if hasattr(node, _NOOVERDUB):
        return []
    skip: tuple[str, ...] = ("body", "returns", "type_params") if isinstance(node, FUNCTIONS) else ()
    if isinstance(node, ast.match_case):
        skip = ("pattern",)
    elif isinstance(node, (ast.AnnAssign, ast.arg)):
        skip = ("annotation",)
    elif type(node).__name__ == "TypeAlias":
        skip = ("value", "type_params")
    return [(name, index, child, state) for name, index, child in children(node, skip)]


def _call(at: At, name: str, value: ast.expr) -> ast.expr:
    return at.call(at.load(name), [value])


def _plain(node: Any, field: str) -> None:
    value = getattr(node, field)
    if value is not None and not isinstance(value, ast.Constant):
        setattr(node, field, _call(At(value), "@plain", value))


def _leave(node: Any, state: None, level: int) -> Any:
    if hasattr(node, _NOOVERDUB):
        return node
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
        return _call(At(node), "@tidy", node)
    if isinstance(node, ast.JoinedStr):
        _format(node)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _READERS:
            _hand_over(node)
    elif isinstance(node, ast.GeneratorExp):
        node.elt = returned(node.elt)
    elif isinstance(node, (ast.Return, ast.Yield)):
        if node.value is not None and not isinstance(node.value, ast.Constant):
            node.value = returned(node.value)
    elif isinstance(node, ast.keyword):
        if node.arg is None:
            node.value = _call(At(node.value), "@mapping", node.value)
    elif isinstance(node, ast.arguments):
        for values in (node.defaults, node.kw_defaults):
            for index, value in enumerate(values):
                if value is not None and not isinstance(value, ast.Constant):
                    values[index] = _call(At(value), "@plain", value)
    elif isinstance(node, ast.ClassDef):
        for statement in node.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                _plain(statement, "value")
    elif type(node) in _LEAVING or type(node).__name__ == "Interpolation":  # 3.14
        for field in _LEAVING.get(type(node), ("value",)):
            _plain(node, field)
    return node


def _format(node: ast.JoinedStr) -> None:
    """The values in an f-string are formatted by us; in a format specification they only lose their wrappers."""
    for index, part in enumerate(node.values):
        if not isinstance(part, ast.FormattedValue):
            continue
        if has(node, LITERAL):
            _plain(part, "value")
            continue
        at = At(part)
        arguments: list[ast.expr] = [part.value]
        if part.conversion != -1 or part.format_spec is not None:
            arguments.append(at.constant(part.conversion))
        if part.format_spec is not None:
            arguments.append(part.format_spec)
        node.values[index] = at.call(at.load("@formatted"), arguments)


_READERS = frozenset({"eval", "exec", "vars", "dir", "__import__", "type"})
"""Builtins that look at the frame they are called from, so that their calls are no events; `type` on 3.11."""


def _hand_over(node: ast.Call) -> None:
    """What such a function is given loses its wrapper, if it is that function."""
    at = At(node)
    for index, argument in enumerate(node.args):
        if not isinstance(argument, (ast.Starred, ast.Constant)):
            function = at.put(ast.Name(node.func.id, ast.Load()))  # type: ignore[attr-defined]
            setattr(function, _NOOVERDUB, True)
            node.args[index] = at.call(at.load("@handed"), [function, argument])


_LEAVING: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Await: ("value",),
    ast.Match: ("subject",),
    ast.Raise: ("exc", "cause"),
    ast.withitem: ("context_expr",),
}
