"""Annotations: facts about the surroundings of a node, noted on the node before the tree is taken apart.

Each annotation is an attribute of the node, which copies of the node have as well (`scopes.clone`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from cassette_import.rewriting.symbols import is_symbol
from cassette_import.rewriting.trees.node_builder import is_plain_super
from cassette_import.rewriting.trees.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    SURVEY,
    Function,
    block_names,
    fresh_survey,
)
from cassette_import.rewriting.trees.traversal import children, parts

TESTED: Final = "_tested"
"""The value is only tested for truth (`if`, `while`, ...), so the operands of ``a and b`` are tested once each."""
CAPTURED: Final = "_captured"
"""An ``and`` or ``or`` that decides over another one: its operands are tested once each as well."""
PARTS_TESTED: Final = "_parts_tested"
"""The replacement of a tested chain of comparisons, whose parts have been tested."""
KNOWN: Final = "_known"
"""The replacement of a literal number, whose truth the compiler knows."""
GLOBAL: Final = "_global"
"""A name that is looked up in the module."""
OF_CLASS: Final = "_of_class"
"""A name in a class body that is looked up in the namespace of the class first, and then in the module."""
PRIVATE: Final = "_private"
"""The name that an attribute or global name ``__x`` has outside its class: ``_Class__x``."""
RECEIVER: Final = "_receiver"
"""Of `super()`, the name of the first parameter of the function around it."""
DEBUGGER: Final = "_debugger"
"""A call that may start a debugger, which stops at the next line of the program."""
LITERAL: Final = "_literal"
"""A part of something that has to stay as it is written."""
AROUND: Final = "_around"
"""Of a function, the class whose private names it uses, and the names of the functions around it."""
NOOVERDUB: Final = "_nooverdub"
"""The node stays as a pass or `forms.tagged` made it: nothing in it becomes an event."""
CLASS_NAME: Final = "_class_name"
"""The target is a name of a class body, and its value may have metadata (`forms.binding_statements`)."""
CHANGING: Final = "_changing"
"""There may be an event in the node. All other nodes stay as they are, and branches share them."""

_COMPILER_NAMES: Final = frozenset({"super", "__class__", "__debug__"})
_CELLS_HIDE = sys.version_info < (3, 13)  # PEP 667
_COMPREHENSIONS_HIDE = sys.version_info[:2] == (3, 12)  # PEP 709 is there, PEP 667 is not


def has(node: Any, annotation: str) -> bool:
    """Whether a node has an annotation."""
    return bool(getattr(node, annotation, False))


class _Scope(NamedTuple):
    """What is known of the names in the scope of a node."""

    class_name: str | None  # for private names
    local_names: frozenset[str]  # of the function and those around it, not of the module
    body_of_class: bool = False
    first_parameter: str | None = None
    bound: frozenset[str] = frozenset()  # what a class body assigns to
    declared: frozenset[str] = frozenset()  # what it declares `global`
    opaque: bool = False  # whether reading its namespace would change it


def annotate(
    root: ast.AST,
    class_name: str | None = None,
    free_names: tuple[str, ...] = (),
    kinds: frozenset[type[ast.AST]] | None = None,
    into_functions: bool = True,
) -> None:
    """Annotate the nodes of a function, or of a statement of a module.

    Parameters
    ----------
    root:
        The node to begin with.
    class_name, free_names:
        The class whose private names the function uses, and the names of the functions around it.
    kinds:
        The kinds of nodes that, with all nodes above them, become `CHANGING`.
    into_functions:
        Whether the bodies of functions are annotated. At module level they stay plain, and hold most of the nodes.
    """
    if not into_functions and kinds is not None:
        _annotate_level(root, kinds)
        return
    scope = _Scope(class_name, frozenset(free_names))
    work: list[tuple[ast.AST, _Scope, int]] = [(root, scope, -1)]
    visited: list[tuple[ast.AST, int]] = []  # each node, and the number of the one above it
    while work:
        node, scope, above = work.pop()
        kind = node.__class__
        if kind is ast.Constant and kinds is not None:
            continue
        number = len(visited)
        visited.append((node, above))
        annotator = _ANNOTATORS.get(kind)
        if annotator is not None:
            annotator(node, scope)
        inside = _SCOPES.get(kind)
        if kind in FUNCTIONS and not into_functions:
            work += [(child, scope, number) for _, _, child in children(node, skip=("body",))]
        elif inside is not None:
            work += [(child, inner, number) for child, inner in inside(node, scope)]
        elif kind not in _WITHOUT_PARTS:
            work += [(child, scope, number) for child in parts(node)]
    if kinds is not None:
        _annotate_changing(visited, kinds)


def _annotate_level(root: ast.AST, kinds: frozenset[type[ast.AST]]) -> None:
    """Annotate the nodes of a module level of which some kinds alone may change: what names mean does not matter."""
    scope = _Scope(None, frozenset())
    work: list[tuple[ast.AST, int]] = [(root, -1)]
    visited: list[tuple[ast.AST, int]] = []
    while work:
        node, above = work.pop()
        kind = node.__class__
        if kind in _WITHOUT_EVENTS:
            continue
        number = len(visited)
        visited.append((node, above))
        annotator = _ANNOTATORS.get(kind)
        if annotator is not None:
            annotator(node, scope)
        found = [child for _, _, child in children(node, skip=("body",))] if kind in FUNCTIONS else parts(node)
        work += [(child, number) for child in found]
    _annotate_changing(visited, kinds)


def _annotate_changing(visited: list[tuple[ast.AST, int]], kinds: frozenset[type[ast.AST]]) -> None:
    """Annotate the nodes of some kinds, and all nodes above them; a node is visited after the one above it."""
    changing = bytearray(len(visited) + 1)  # the last one is for what is above the root
    for number in range(len(visited) - 1, -1, -1):
        node, above = visited[number]
        kind = node.__class__
        # Decorators are calls without a node of their own.
        # For the type checker: these kinds have decorators.
        if changing[number] or kind in kinds or (kind in _DECORATED and node.decorator_list):  # type: ignore[attr-defined]
            changing[above] = True
            setattr(node, CHANGING, True)
            if isinstance(node, COMPREHENSIONS):
                setattr(node.generators[0], CHANGING, True)  # `_inside_comprehension` passes over it


_DECORATED: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_WITHOUT_PARTS: Final = frozenset((ast.Name, ast.Constant))
_WITHOUT_EVENTS: Final = frozenset((ast.Name, ast.Constant, ast.arg, ast.Import, ast.ImportFrom, ast.Pass))
"""Nodes in which no kind of node that is named in `rewriter` among changing nodes may be."""


# ---- scopes: the children of a node, each with its scope

_Inside = list[tuple[ast.AST, _Scope]]


def _inside_function(node: Function, scope: _Scope) -> _Inside:
    survey = fresh_survey(node)
    setattr(node, SURVEY, survey)
    setattr(node, AROUND, (scope.class_name, tuple(scope.local_names)))
    names = (scope.local_names | survey.bound | _type_parameters(node)) - survey.declared
    positional = [*node.args.posonlyargs, *node.args.args]
    inner = _Scope(scope.class_name, names, first_parameter=positional[0].arg if positional else None)
    return [(child, inner if field == "body" else scope) for field, _, child in children(node)]


def _inside_class(node: ast.ClassDef, scope: _Scope) -> _Inside:
    names = scope.local_names | _type_parameters(node)
    # There, reading `f_locals` deletes names from the namespace that comprehensions in the body have as well.
    opaque = _COMPREHENSIONS_HIDE and _has_comprehensions(node)
    opaque = opaque or (_CELLS_HIDE and _binds_class(node.body))
    own = block_names(node.body)
    bound, declared = frozenset(own.assigned | own.imported | own.defined), frozenset(own.declared)
    inner = _Scope(node.name.lstrip("_") or None, names, True, None, bound, declared, opaque)
    bases = scope._replace(local_names=names)
    return [(child, inner if field == "body" else bases) for field, _, child in children(node)]


def _inside_comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: _Scope) -> _Inside:
    targets = {
        name.id
        for generator in node.generators
        for name in ast.walk(generator.target)
        if isinstance(name, ast.Name) and name.ctx.__class__ is ast.Store
    }
    # What a class body declares `global` is global in the body itself only, not in a comprehension there.
    inner = scope._replace(local_names=scope.local_names | targets, body_of_class=False)
    first = node.generators[0]
    found: _Inside = [(child, inner) for _, _, child in children(node) if child is not first]
    _annotate_clause(first, inner)
    # The first iterable is evaluated outside the comprehension.
    return found + [(child, scope if field == "iter" else inner) for field, _, child in children(first)]


_SCOPES: Final[dict[type[ast.AST], Callable[[Any, _Scope], _Inside]]] = {
    **dict.fromkeys(FUNCTIONS, _inside_function),
    ast.ClassDef: _inside_class,
    **dict.fromkeys(COMPREHENSIONS, _inside_comprehension),
}


def _has_comprehensions(node: ast.ClassDef) -> bool:
    """Whether there are comprehensions in a class body, functions in it left out."""
    work: list[ast.AST] = [node]
    while work:
        part = work.pop()
        if part.__class__ in COMPREHENSIONS:
            return True
        work += [child for _, _, child in children(part, skip=("body",) if part.__class__ in FUNCTIONS else ())]
    return False


def _binds_class(block: list[ast.stmt]) -> bool:
    """Whether a class body may bind `__class__`, which is also the name of the cell that `super()` reads."""
    return any(
        "__class__" in (getattr(part, "name", None), part.id if isinstance(part, ast.Name) else None)
        for statement in block
        for part in _in_class_body(statement)
    )


def _in_class_body(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes in a statement of a class body, those in functions left out."""
    work: list[ast.AST] = [statement]
    while work:
        part = work.pop()
        yield part
        if part.__class__ not in FUNCTIONS:
            work += parts(part)


def _type_parameters(node: ast.AST) -> frozenset[str]:
    """The names of PEP 695."""
    return frozenset(parameter.name for parameter in getattr(node, "type_params", ()))


# ---- annotations by kind of node


def _annotate_name(node: ast.Name, scope: _Scope) -> None:
    name = node.id
    if name in _COMPILER_NAMES or is_symbol(name):
        return
    if not scope.body_of_class:
        kind = "" if name in scope.local_names else GLOBAL
    elif name in scope.declared:
        kind = GLOBAL
    else:
        is_looked_up = name in scope.bound or name not in scope.local_names
        kind = OF_CLASS if is_looked_up and not scope.opaque else ""
    if kind:
        setattr(node, kind, True)
        _annotate_private(node, name, scope)


def _annotate_attribute(node: ast.Attribute, scope: _Scope) -> None:
    _annotate_private(node, node.attr, scope)


def _annotate_private(node: ast.AST, name: str, scope: _Scope) -> None:
    if scope.class_name and name.startswith("__") and not name.endswith("__"):
        setattr(node, PRIVATE, f"_{scope.class_name}{name}")


def _annotate_call(node: ast.Call, scope: _Scope) -> None:
    if is_plain_super(node):
        setattr(node, RECEIVER, scope.first_parameter)
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in ("breakpoint", "set_trace") and not node.args and not node.keywords:
        setattr(node, DEBUGGER, True)


def _annotate_test(node: ast.If | ast.While | ast.IfExp | ast.Assert, scope: _Scope) -> None:
    _annotate_tested(node.test)


def _annotate_clause(node: ast.comprehension, scope: _Scope) -> None:
    for test in node.ifs:
        _annotate_tested(test)


def _annotate_case(node: ast.match_case, scope: _Scope) -> None:
    if node.guard is not None:
        _annotate_tested(node.guard)


def _annotate_tested(test: ast.expr) -> None:
    work = [test]
    while work:
        node = work.pop()
        if isinstance(node, ast.BoolOp):
            work += node.values
        elif isinstance(node, ast.IfExp):
            work += [node.body, node.orelse]
        setattr(node, TESTED, True)


def _annotate_connection(node: ast.BoolOp, scope: _Scope) -> None:
    if has(node, TESTED) or has(node, CAPTURED):
        return
    work = node.values[:-1]
    while work:
        operand = work.pop()
        if isinstance(operand, ast.BoolOp):
            setattr(operand, CAPTURED, True)
            work += operand.values


def _annotate_format(node: Any, scope: _Scope) -> None:
    if node.format_spec is not None:
        setattr(node.format_spec, LITERAL, True)


def _annotate_sign(node: ast.UnaryOp, scope: _Scope) -> None:
    if is_number(node):
        setattr(node.operand, LITERAL, True)


def _annotate_tuple(node: ast.Tuple, scope: _Scope) -> None:
    if isinstance(node.ctx, ast.Load) and node.elts and all(map(_is_constant, node.elts)):
        for part in ast.walk(node):  # the compiler makes one object of it, which the program may compare by identity
            setattr(part, LITERAL, part is not node)


def is_number(node: ast.AST) -> bool:
    """Whether a node is the literal of a number. `-1` is one to its reader, and a constant to the compiler."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant) or is_number(node)


_ANNOTATORS: Final[dict[type[ast.AST], Callable[[Any, _Scope], None]]] = {
    ast.Name: _annotate_name,
    ast.Attribute: _annotate_attribute,
    ast.Call: _annotate_call,
    ast.If: _annotate_test,
    ast.While: _annotate_test,
    ast.IfExp: _annotate_test,
    ast.Assert: _annotate_test,
    ast.comprehension: _annotate_clause,
    ast.match_case: _annotate_case,
    ast.BoolOp: _annotate_connection,
    ast.FormattedValue: _annotate_format,
    ast.UnaryOp: _annotate_sign,
    ast.Tuple: _annotate_tuple,
}
if hasattr(ast, "Interpolation"):  # 3.14
    _ANNOTATORS[ast.Interpolation] = _annotate_format
