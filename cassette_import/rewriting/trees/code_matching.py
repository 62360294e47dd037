"""The tree of a code object: which node it was compiled from.

Knows code objects and trees; must not know what becomes of a tree.
"""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Final

from cassette_import.interpreter.code_copies import changed_copy
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import children

_NOT_OF_THE_BODY = {
    dis.opmap[name]
    for name in (
        "RESUME",
        "COPY_FREE_VARS",
        "MAKE_CELL",
        "RETURN_GENERATOR",
        "NOP",
        "CACHE",
        "RETURN_VALUE",
        "RETURN_CONST",
    )
    if name in dis.opmap
}
"""Instructions whose position is not in the body of a lambda: up to 3.12, the return is at column 0."""

Key = tuple[str, int, tuple[int, int] | None]
"""Name, first line, and for a lambda where its body starts."""


@dataclass(frozen=True)
class Place:
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


def key_of(code: CodeType) -> Key:
    """What identifies a function's code among those of one file."""
    if code.co_name != "<lambda>":
        return code.co_name, code.co_firstlineno, None
    starts = [
        (line, column)
        for (line, _, column, _), opcode in zip(code.co_positions(), code.co_code[::2], strict=False)
        if line is not None and column is not None and opcode not in _NOT_OF_THE_BODY
    ]
    return code.co_name, code.co_firstlineno, min(starts, default=None)


def is_function(code: CodeType) -> bool:
    """Whether the code is that of a `def` or `lambda`, not of a module, class body or comprehension."""
    name = code.co_name
    if not code.co_flags & inspect.CO_NEWLOCALS or name in _ANNOTATION_SCOPES:
        return False
    if name[0] == "<":
        return name == _LAMBDA
    return not code.co_argcount or code.co_varnames[0] not in _PARAMETERS_OF_SCOPES


_ANNOTATION_SCOPES: Final = ("__annotate__", "__annotations__", "__conditional_annotations__")
"""PEP 649 scopes are functions to the interpreter only. So are those of PEP 695, which have other names."""
_PARAMETERS_OF_SCOPES: Final = (".format", ".defaults", ".generic_base", ".type_params")


def nested_functions(code: CodeType) -> Iterator[CodeType]:
    """The functions directly in `code`, each once; those in its class bodies and comprehensions included."""
    seen: set[int] = set()
    work = [const for const in code.co_consts if isinstance(const, CodeType)]
    while work:
        inner = work.pop()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        if is_function(inner):
            yield inner
        else:
            work.extend(const for const in inner.co_consts if isinstance(const, CodeType))


def replace_functions(code: CodeType, replacement_of: Callable[[CodeType], CodeType]) -> CodeType:
    """The code with other functions directly in it, also in its class bodies and comprehensions."""
    consts: list[object] = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            const = replacement_of(const) if is_function(const) else replace_functions(const, replacement_of)
        consts.append(const)
    return changed_copy(code, co_consts=tuple(consts))


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions directly in `code`, also in its class bodies and comprehensions, as `replace_functions` visits
    them."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if is_function(const):
                yield const
            else:
                yield from functions_in(const)


class Index:
    """All functions of a module's tree.

    Definitions are found without a walk through expressions. Lambdas are searched when the first one is needed.
    """

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self._definitions: _Places = {}
        self._lambdas: _Places | None = None
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
            arguments = _parameter_names(code)
            candidates = [place for place in candidates if _parameters(place.node) == arguments]
        if len(candidates) > 1 and start is not None:
            candidates = [place for place in candidates if _body_start(place.node) == start]
        return candidates[0] if len(candidates) == 1 else None

    def _places(self, name: str) -> _Places:
        if name != _LAMBDA:
            return self._definitions
        if self._lambdas is None:
            self._lambdas = _lambdas(self.module)
        return self._lambdas


_Scopes = tuple[ast.AST, ...]
_Places = dict[tuple[str, int], list[Place]]
_LAMBDA: Final = "<lambda>"
_NAMED_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STATEMENTS: Final = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields that hold statements, or nodes with statements. No statement has an expression in such a field."""


def _add(places: _Places, node: Function, scopes: _Scopes) -> None:
    places.setdefault(_name_and_line(node), []).append(Place(node, scopes))


def _lambdas(module: ast.Module) -> _Places:
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
        work.extend((child, inner) for _, _, child in children(node))
    return found


def _name_and_line(node: Function) -> tuple[str, int]:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    return node.name, min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def fits(node: Function, code: CodeType) -> bool:
    """Whether a function's name, first line and parameters are those of a code object."""
    return _name_and_line(node) == (code.co_name, code.co_firstlineno) and _parameters(node) == _parameter_names(code)


def _parameters(node: Function) -> tuple[str, ...]:
    arguments = node.args
    return tuple(argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])


def _body_start(node: Function) -> tuple[int, int] | None:
    return (node.body.lineno, node.body.col_offset) if isinstance(node, ast.Lambda) else None


def all_names(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and its nested functions."""
    yield from code.co_names
    for inner in nested_functions(code):
        yield from all_names(inner)


def match(code: CodeType, others: Iterable[CodeType]) -> CodeType | None:
    """The one of `others` that is compiled from the same function as `code`; None if several fit, or none."""
    near = [
        other
        for other in others
        if other.co_name == code.co_name
        and other.co_firstlineno == code.co_firstlineno
        and _parameter_names(other) == _parameter_names(code)
    ]
    exact = [other for other in near if key_of(other) == key_of(code)]
    # The compiler may leave out the first instructions of a lambda, which show where its body starts.
    distinct = {id(other): other for other in exact or near}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _parameter_names(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
