"""The places of functions in trees: which node a code object was compiled from."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Final, NamedTuple

from cassette_import.interpreter.code_objects import GENERATOR_EXPRESSION
from cassette_import.rewriting.trees.code_matching import key_of, parameter_names, span_of
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import children


class Place(NamedTuple):
    """A function's node and the scopes around it, outermost first."""

    node: Function
    scopes: tuple[ast.AST, ...]
    is_shared: bool = True
    """Whether the node belongs to a tree that is used again."""

    @property
    def class_name(self) -> str | None:
        """The class that private names belong to."""
        names = [scope.name for scope in self.scopes if isinstance(scope, ast.ClassDef)]
        return names[-1].lstrip("_") or None if names else None

    @property
    def qualified_name(self) -> str:
        """The qualified name of the function, if no scope has declared it `global`."""
        parts: list[str] = []
        for scope in self.scopes:
            if isinstance(scope, ast.ClassDef):
                parts.append(scope.name)
            elif isinstance(scope, FUNCTIONS):
                parts += [_function_name(scope), "<locals>"]
        return ".".join([*parts, _function_name(self.node)])


def _function_name(node: Function) -> str:
    return _LAMBDA if isinstance(node, ast.Lambda) else node.name


class Index:
    """All functions of a module's tree.

    Definitions are found without a walk through expressions. Lambdas are searched when the first one is needed, and so
    are generator expressions, which are found as the generator functions that they are to the interpreter.
    """

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self._definitions: _Places = {}
        self._expressions: _Places | None = None
        work: list[tuple[ast.AST, _Scopes]] = [(module, ())]
        while work:
            node, scopes = work.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                _add(self._definitions, node, scopes)
            inner = (*scopes, node) if isinstance(node, _NAMED_SCOPES) else scopes
            for field in _STATEMENTS:
                work.extend((child, inner) for child in getattr(node, field, ()))

    def find(self, code: CodeType) -> Place | None:
        """The place of a code object; None if several functions fit, or none."""
        name, line, start = key_of(code)
        count = code.co_argcount + code.co_kwonlyargcount  # the bound of a type parameter has a name, and no parameters
        candidates = [
            place for place in self._places(name).get((name, line), []) if len(_parameters(place.node)) == count
        ]
        if len(candidates) > 1:
            arguments = parameter_names(code)
            candidates = [place for place in candidates if _parameters(place.node) == arguments]
        if len(candidates) > 1 and (start is not None or name == GENERATOR_EXPRESSION):
            exact = [place for place in candidates if _body_start(place.node) == start]
            candidates = exact or _innermost_around(code, candidates)
        return candidates[0] if len(candidates) == 1 else None

    def _places(self, name: str) -> _Places:
        if name not in (_LAMBDA, GENERATOR_EXPRESSION):
            return self._definitions
        if self._expressions is None:
            self._expressions = _functions_in_expressions(self.module)
        return self._expressions


_Scopes = tuple[ast.AST, ...]
_Places = dict[tuple[str, int], list[Place]]
_LAMBDA: Final = "<lambda>"
_NAMED_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STATEMENTS: Final = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields that hold statements, or nodes with statements. No statement has an expression in such a field."""


def _add(places: _Places, node: Function, scopes: _Scopes) -> None:
    places.setdefault(_name_and_line(node), []).append(Place(node, scopes))


def _functions_in_expressions(module: ast.Module) -> _Places:
    found: _Places = {}
    work: list[tuple[ast.AST, _Scopes]] = [(module, ())]
    while work:
        node, scopes = work.pop()
        inner = scopes
        if isinstance(node, FUNCTIONS):
            if isinstance(node, ast.Lambda):
                _add(found, node, scopes)
            inner = (*scopes, node)
            outer_fields = ("decorator_list", "args", "returns", "type_params")
            for field, _, child in children(node):
                work.append((child, scopes if field in outer_fields else inner))
            continue
        if isinstance(node, ast.ClassDef):
            for field, _, child in children(node):
                work.append((child, (*scopes, node) if field == "body" else scopes))
            continue
        if isinstance(node, COMPREHENSIONS):
            inner = (*scopes, node)
            if isinstance(node, ast.GeneratorExp) and (function := _as_function(node)) is not None:
                _add(found, function, scopes)
        work.extend((child, inner) for _, _, child in children(node))
    return found


def _as_function(node: ast.GeneratorExp) -> ast.FunctionDef | None:
    """The generator function that a generator expression is to the interpreter.

    None if it binds names of the scope around it, or awaits.
    """
    if any(isinstance(inner, (ast.NamedExpr, ast.Await)) for inner in ast.walk(node)):
        return None
    at = At(node)
    statement: ast.stmt = At(node.elt).put(ast.Expr(At(node.elt).put(ast.Yield(node.elt))))
    for number, part in reversed(list(enumerate(node.generators))):
        if part.is_async:
            return None
        for test in reversed(part.ifs):
            statement = At(test).put(ast.If(test, [statement], []))
        source = At(part.iter).put(ast.Name(_SOURCE, ast.Load())) if number == 0 else part.iter
        statement = At(part.target).put(ast.For(part.target, source, [statement], []))
    arguments = ast.arguments([], [at.put(ast.arg(_SOURCE))], None, [], [], None, [])
    made = at.put(ast.FunctionDef(GENERATOR_EXPRESSION, arguments, [statement], []))
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
    return made


_SOURCE: Final = ".0"
"""The parameter of a generator expression."""


def _name_and_line(node: Function) -> tuple[str, int]:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def fits(node: Function, code: CodeType) -> bool:
    """Whether a function's name, first line and parameters are those of a code object."""
    return _name_and_line(node) == (code.co_name, code.co_firstlineno) and _parameters(node) == parameter_names(code)


def _parameters(node: Function) -> tuple[str, ...]:
    arguments = node.args
    return tuple(argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])


def _innermost_around(code: CodeType, places: list[Place]) -> list[Place]:
    """The function around the instructions of a code object: they may begin later than its body, as in an f-string."""
    span = span_of(code)
    if span is None:
        return places
    around = [place for place in places if _contains(place.node, span)]
    return [place for place in around if not any(_is_inside(other.node, place.node) for other in around)]


def _contains(node: Function, span: tuple[tuple[int, int], tuple[int, int]]) -> bool:
    start, end = _body_start(node), _body_end(node)
    return start is not None and end is not None and start <= span[0] and span[1] <= end


def _is_inside(node: Function, around: Function) -> bool:
    """Whether a function is in the body of another one, both on one line."""
    starts = _body_start(node), _body_start(around)
    return node is not around and starts[0] is not None and starts[1] is not None and starts[1] < starts[0]


def _body_end(node: Function) -> tuple[int, int] | None:
    end = node.body if isinstance(node, ast.Lambda) else node if node.name == GENERATOR_EXPRESSION else None
    if end is None or end.end_lineno is None or end.end_col_offset is None:
        return None
    return end.end_lineno, end.end_col_offset


def _body_start(node: Function) -> tuple[int, int] | None:
    start = node.body if isinstance(node, ast.Lambda) else node if node.name == GENERATOR_EXPRESSION else None
    return None if start is None else (start.lineno, start.col_offset)
