"""Marks: what a node's surroundings say about it, written on the node before the tree is taken apart.

* `tested`: the value is only asked whether it is true (`if`, `while`, …), so the parts of ``a and b`` are tested
  once each;
* `asked`: what takes the place of a tested chain of comparisons: its parts were asked;
* `is_global`: a name that is looked up in the module;
* `of_class`: a name in a class body that is looked up in the class's namespace first, and then in the module;
* `captured`: an ``and`` or ``or`` that decides over another one: its parts are tested once each as well;
* `debugger`: a call that may start a debugger, which stops at what comes next in the program;
* `private`: the attribute or global name `__x` in a class is `_Class__x`;
* `receiver`: of `super()`, the name of the first parameter of the function that it stands in;
* `known`: what takes the place of a number, whose truth the compiler knows;
* `literal`: part of something that has to stay as it is written;
* `around`: of a function, the class that its private names belong to, and the names of the functions around it;
* `changing`: there may be an event in it; all others stay as they are, and branches share them.

Attributes of nodes are copied along with them (`scopes.clone`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from cassette_import.rewriting.events import Events
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.symbols import is_symbol
from cassette_import.rewriting.trees.node_builder import is_plain_super
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, FUNCTIONS, SURVEY, fresh_survey
from cassette_import.rewriting.trees.traversal import children, parts

TESTED, CAPTURED, ASKED = "_tested", "_captured", "_asked"
GLOBAL, PRIVATE, LITERAL = "_global", "_private", "_literal"
OF_CLASS, DEBUGGER, KNOWN = "_of_class", "_debugger", "_known"
CHANGING = "_changing"
RECEIVER = "_receiver"
AROUND = "_around"

_NO_GLOBALS = frozenset({"super", "__class__", "__debug__"})  # names that mean something to the compiler


_CELLS_HIDE = sys.version_info < (3, 13)  # PEP 667
_COMPREHENSIONS_HIDE = sys.version_info[:2] == (3, 12)  # PEP 709 is there, PEP 667 is not


class _Scope(NamedTuple):
    class_name: str | None  # for private names
    local_names: frozenset[str]  # not of the module: of the function and those around it
    body_of_class: bool = False
    first_parameter: str | None = None
    bound: frozenset[str] = frozenset()  # what a class body binds
    declared: frozenset[str] = frozenset()  # what it declares `global`
    opaque: bool = False  # whether looking at its namespace would change it


def mark(
    root: ast.AST,
    class_name: str | None = None,
    free_names: tuple[str, ...] = (),
    kinds: frozenset[type[ast.AST]] | None = None,
) -> None:
    """Mark the nodes of a function, or of a module's statement; those of `kinds`, and all above them, as changing."""
    scope = _Scope(class_name, frozenset(free_names))
    work: list[tuple[ast.AST, _Scope, int]] = [(root, scope, -1)]
    met: list[tuple[ast.AST, int]] = []  # each node, and the number of the one above it
    while work:
        node, scope, above = work.pop()
        kind = node.__class__
        number = len(met)
        met.append((node, above))
        if kind in _MARKED:
            _mark(node, scope)
        if kind in _WITH_SCOPES:
            work += [(child, inner, number) for child, inner in _inside(node, scope)]
        elif kind not in _WITHOUT_PARTS:
            work += [(child, scope, number) for child in parts(node)]
    if kinds is None:
        return
    changing = bytearray(len(met) + 1)  # the last one stands for what is above the root
    for number in range(len(met) - 1, -1, -1):
        node, above = met[number]
        kind = node.__class__
        # Decorators are calls without a node of their own.
        if changing[number] or kind in kinds or (kind in _DECORATED and node.decorator_list):  # type: ignore[attr-defined]
            changing[above] = True
            setattr(node, CHANGING, True)
            if isinstance(node, COMPREHENSIONS):
                setattr(node.generators[0], CHANGING, True)  # `_inside` goes past it


def changing_kinds(shapes: Sequence[Shape]) -> frozenset[type[ast.AST]] | None:
    """The kinds of nodes that may become events, or that hold what may; None if that is not to be told."""
    if any(shape.passes for shape in shapes):
        return None
    kinds = set(_ALWAYS_CHANGING)
    for event in Events:
        if any(shape.wants(event) for shape in shapes):
            if event not in _CHANGING_BY:
                return None
            kinds |= _CHANGING_BY[event]
    if any(shape.watched for shape in shapes):
        kinds |= {ast.Try, ast.TryStar}
    return frozenset(kinds)


_ALWAYS_CHANGING: Final[frozenset[type[ast.AST]]] = frozenset({ast.ClassDef})
_DECORATED: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_CHANGING_BY: Final[dict[Events, frozenset[type[ast.AST]]]] = {
    Events.CALLS: frozenset({ast.Call}),
    Events.OPERATORS: frozenset(
        {ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete}
    ),
}


def _inside(node: ast.AST, scope: _Scope) -> list[tuple[ast.AST, _Scope]]:
    """The children of a node with the scopes that they stand in."""
    if isinstance(node, FUNCTIONS):
        found_in_it = fresh_survey(node)
        setattr(node, SURVEY, found_in_it)
        setattr(node, AROUND, (scope.class_name, tuple(scope.local_names)))
        bound, declared = found_in_it.bound, found_in_it.declared
        names = (scope.local_names | bound | _type_parameters(node)) - declared
        positional = [*node.args.posonlyargs, *node.args.args]
        inner = _Scope(scope.class_name, names, first_parameter=positional[0].arg if positional else None)
        return [(child, inner if field in ("body",) else scope) for field, _, child in children(node)]
    if isinstance(node, ast.ClassDef):
        names = scope.local_names | _type_parameters(node)
        # There, reading `f_locals` deletes names from the namespace that comprehensions in the body have as well.
        opaque = _COMPREHENSIONS_HIDE and any(isinstance(part, COMPREHENSIONS) for part in ast.walk(node))
        opaque = opaque or (_CELLS_HIDE and _binds_class(node.body))
        inner = _Scope(node.name.lstrip("_") or None, names, True, None, *_names_of_class(node), opaque)
        bases = scope._replace(local_names=names)
        return [(child, inner if field == "body" else bases) for field, _, child in children(node)]
    if isinstance(node, COMPREHENSIONS):
        targets = {
            name.id
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        }
        around = scope.local_names - scope.declared if scope.body_of_class else scope.local_names
        inner = scope._replace(local_names=around | targets, body_of_class=False)
        found: list[tuple[ast.AST, _Scope]] = [(child, inner) for _, _, child in children(node)]
        first = node.generators[0]
        found.remove((first, inner))
        _mark(first, inner)
        found += [(child, scope if field == "iter" else inner) for field, _, child in children(first)]
        return found
    return [(child, scope) for _, _, child in children(node)]


def _names_of_class(node: ast.ClassDef) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a class body assigns to by itself, and those that it declares `global`."""
    bound: set[str] = set()
    declared: set[str] = set()
    work: list[ast.AST] = list(node.body)
    while work:
        part = work.pop()
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            bound.add(part.id)
        elif isinstance(part, ast.Global):
            declared.update(part.names)
        elif not isinstance(part, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
            work += parts(part)
    return frozenset(bound), frozenset(declared)


def _binds_class(block: list[ast.stmt]) -> bool:
    """Whether a class body may bind `__class__`, which is also the name of the cell that `super()` looks at."""
    return any(
        "__class__" in (getattr(part, "name", None), part.id if isinstance(part, ast.Name) else None)
        for statement in block
        for part in ([statement] if isinstance(statement, FUNCTIONS) else ast.walk(statement))
    )


def _type_parameters(node: ast.AST) -> frozenset[str]:
    """The names of PEP 695."""
    return frozenset(parameter.name for parameter in getattr(node, "type_params", ()))


def _mark(node: ast.AST, scope: _Scope) -> None:
    if isinstance(node, ast.Name):
        name = node.id
        if name in _NO_GLOBALS or is_symbol(name):
            return
        if not scope.body_of_class:
            kind = "" if name in scope.local_names else GLOBAL
        elif name in scope.declared:
            kind = GLOBAL
        else:
            asked = name in scope.bound or name not in scope.local_names
            kind = OF_CLASS if asked and not scope.opaque else ""
        if kind:
            setattr(node, kind, True)
            if scope.class_name and node.id.startswith("__") and not node.id.endswith("__"):
                setattr(node, PRIVATE, f"_{scope.class_name}{node.id}")
    elif isinstance(node, ast.Call):
        if is_plain_super(node):
            setattr(node, RECEIVER, scope.first_parameter)
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("breakpoint", "set_trace") and not node.args and not node.keywords:
            setattr(node, DEBUGGER, True)
    elif isinstance(node, ast.Attribute):
        name = node.attr
        if scope.class_name and name.startswith("__") and not name.endswith("__"):
            setattr(node, PRIVATE, f"_{scope.class_name}{name}")
    elif isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        _mark_tested(node.test)
    elif isinstance(node, ast.BoolOp):
        if not has(node, TESTED) and not has(node, CAPTURED):
            _mark_captured(node.values[:-1])
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            _mark_tested(test)
    elif isinstance(node, ast.match_case):
        if node.guard is not None:
            _mark_tested(node.guard)
    elif isinstance(node, ast.FormattedValue):
        if node.format_spec is not None:
            setattr(node.format_spec, LITERAL, True)
    elif type(node).__name__ == "Interpolation":  # 3.14
        if node.format_spec is not None:  # type: ignore[attr-defined]
            setattr(node.format_spec, LITERAL, True)  # type: ignore[attr-defined]
    elif isinstance(node, ast.UnaryOp):
        if is_number(node):
            setattr(node.operand, LITERAL, True)
    elif isinstance(node, ast.Tuple) and not isinstance(node.ctx, ast.Load):
        pass
    elif isinstance(node, ast.Tuple) and node.elts and all(map(_is_constant, node.elts)):
        for part in ast.walk(node):  # the compiler makes one object of it, which the program may compare by identity
            setattr(part, LITERAL, part is not node)


def _mark_tested(test: ast.expr) -> None:
    work = [test]
    while work:
        node = work.pop()
        if isinstance(node, ast.BoolOp):
            work += node.values
        elif isinstance(node, ast.IfExp):
            work += [node.body, node.orelse]
        setattr(node, TESTED, True)


def _mark_captured(operands: list[ast.expr]) -> None:
    work = list(operands)
    while work:
        node = work.pop()
        if isinstance(node, ast.BoolOp):
            setattr(node, CAPTURED, True)
            work += node.values


def is_number(node: ast.AST) -> bool:
    """Whether a node is the literal of a number. `-1` is one to its reader, and a constant to the compiler."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant) or is_number(node)


_MARKED = frozenset(
    (
        *(ast.Name, ast.Attribute, ast.If, ast.While, ast.IfExp, ast.Assert, ast.BoolOp, ast.comprehension),
        *(ast.match_case, ast.FormattedValue, ast.UnaryOp, ast.Tuple, ast.Call),
        *filter(None, [getattr(ast, "Interpolation", None)]),  # 3.14
    )
)
"""Kinds of nodes that `_mark` knows."""

_WITH_SCOPES = frozenset((*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS))
_WITHOUT_PARTS = frozenset((ast.Name, ast.Constant))


def has(node: Any, name: str) -> bool:
    """Whether a node has a mark."""
    return bool(getattr(node, name, False))
