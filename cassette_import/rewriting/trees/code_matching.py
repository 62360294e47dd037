"""From a code object to the node it was compiled from, and from a node to a module in which it compiles to the same
scope."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, FUNCTIONS, Function, clone
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
"""Instructions whose position is not in the body of a lambda: up to 3.12, that of the return is column 0."""

_CO_NESTED_KINDS = ("<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

Key = tuple[str, int, tuple[int, int] | None]
"""Name, first line, and for a lambda where its body starts."""


@dataclass(frozen=True)
class Place:
    """A function's node with the scopes around it, outermost first."""

    node: Function
    scopes: tuple[ast.AST, ...]

    @property
    def class_name(self) -> str | None:
        """The class that private names belong to."""
        names = [scope.name for scope in self.scopes if isinstance(scope, ast.ClassDef)]
        return names[-1].lstrip("_") or None if names else None


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
    return bool(code.co_flags & 0x02) and code.co_name not in _CO_NESTED_KINDS and not _is_annotation_scope(code)


def _is_annotation_scope(code: CodeType) -> bool:
    """PEP 649 and PEP 695 scopes are functions to the interpreter only."""
    return (
        code.co_name in ("__annotate__", "__annotations__", "__conditional_annotations__")
        or (code.co_name.startswith("<") and code.co_name != "<lambda>")
        or code.co_varnames[:1] in ((".format",), (".defaults",), (".generic_base",), (".type_params",))
    )


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


class Index:
    """All functions of a module's tree. Those of statements are looked up without going through expressions; where
    lambdas stand is found out when the first one is asked for."""

    def __init__(self, module: ast.Module) -> None:
        self._module = module
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
        """The place of a code object, or None if it is not to be told which it is."""
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
            self._lambdas = _lambdas(self._module)
        return self._lambdas


_Scopes = tuple[ast.AST, ...]
_Places = dict[tuple[str, int], list[Place]]
_LAMBDA: Final = "<lambda>"
_NAMED_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_STATEMENTS: Final = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields that hold statements, or what holds some; statements have none of these names for an expression."""


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


def _parameters(node: Function) -> tuple[str, ...]:
    arguments = node.args
    return tuple(argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])


def _body_start(node: Function) -> tuple[int, int] | None:
    return (node.body.lineno, node.body.col_offset) if isinstance(node, ast.Lambda) else None


def all_names(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and those that are made in it."""
    yield from code.co_names
    for inner in nested_functions(code):
        yield from all_names(inner)


def skeleton(place: Place, free_names: tuple[str, ...], imported: Iterable[str] = ()) -> tuple[ast.Module, Function]:
    """A module in which a copy of the function stands in scopes like its own, and that copy.

    The module is compiled, never executed. The compiler treats a call of `name.f` as one of a function, and not of a
    method, if the module imports the name.
    """
    node = clone(place.node)
    assert isinstance(node, FUNCTIONS)
    _strip(node)
    at = At(node)
    needed = set(free_names)
    statement: ast.stmt = at.put(ast.Expr(node)) if isinstance(node, ast.Lambda) else node
    for scope in reversed(place.scopes):
        if isinstance(scope, ast.ClassDef):
            statement = _class(at, scope, statement)
            needed.discard("__class__")
        elif isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            statement = _function(at, scope.name, needed, statement)
            needed = set()
    if needed:
        # Free names of a lambda in a comprehension at module level, or of a function with type parameters.
        statement = _function(at, symbols.SKELETON_SCOPE, needed, statement)
    names = [at.put(ast.alias(name)) for name in sorted(imported)]
    return ast.Module([at.put(ast.Import(names)), statement] if names else [statement], []), node


def _strip(node: Function) -> None:
    """Take away what belongs to the enclosing scope: decorators (but for the first line), defaults, annotations."""
    arguments = node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            extra.annotation = None
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    if not isinstance(node, ast.Lambda):
        node.decorator_list = [At(decorator).constant(None) for decorator in node.decorator_list]
        node.returns = None
        if hasattr(node, "type_params"):
            node.type_params = []


def _class(at: At, scope: ast.ClassDef, statement: ast.stmt) -> ast.ClassDef:
    made = at.put(ast.ClassDef(name=scope.name, bases=[], keywords=[], body=[statement], decorator_list=[]))
    if "type_params" in ast.ClassDef._fields:
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
    return made


def _function(at: At, name: str, parameters: set[str], statement: ast.stmt) -> ast.FunctionDef:
    names = [at.put(ast.arg(parameter)) for parameter in sorted(parameters)]
    arguments = ast.arguments(posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[])
    body = [statement]
    inner = getattr(statement, "name", None)
    if inner is not None and inner not in parameters:
        body.insert(0, at.put(ast.Global([inner])))  # else it would be a name of this scope, and free in the function
    made = at.put(ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[]))
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
    return made


def find_function(compiled: CodeType, plain: CodeType) -> CodeType | None:
    """The code of the skeleton's function in the compiled skeleton."""
    work = [compiled]
    while work:
        code = work.pop()
        if is_function(code) and code.co_name == plain.co_name and code.co_firstlineno == plain.co_firstlineno:
            count = plain.co_argcount + plain.co_kwonlyargcount
            if code.co_varnames[:count] == plain.co_varnames[:count] and code.co_freevars == plain.co_freevars:
                return code
        work.extend(const for const in code.co_consts if isinstance(const, CodeType))
    return None


def requalify(code: CodeType, plain: CodeType) -> CodeType:
    """`code` with the qualified names and file name of `plain`, in nested functions and classes too."""
    if code.co_qualname == plain.co_qualname and code.co_filename == plain.co_filename:
        return code
    return _requalify(code, code.co_qualname, plain.co_qualname, plain.co_filename)


def _requalify(code: CodeType, old: str, new: str, filename: str) -> CodeType:
    def fix(text: str) -> str:
        return new + text[len(old) :] if text == old or text.startswith(old + ".") else text

    consts = tuple(
        _requalify(const, old, new, filename)
        if isinstance(const, CodeType)
        else fix(const)
        if isinstance(const, str) and const.startswith(old + ".<locals>.")
        else const
        for const in code.co_consts
    )
    return code.replace(co_qualname=fix(code.co_qualname), co_filename=filename, co_consts=consts)


def graft(code: CodeType) -> CodeType:
    """Put the rewritten nested functions of one branch in the place of their plain copies in the other branches.

    Rewriting every copy would take time and space that double with each level of nesting.
    """
    grafted = {id(inner): graft(inner) for inner in nested_functions(code) if _is_rewritten(inner)}
    if not grafted:
        return code
    for inner in nested_functions(code):
        if id(inner) not in grafted:
            counterpart = match(inner, grafted.values())
            if counterpart is not None and counterpart.co_freevars == inner.co_freevars:
                grafted[id(inner)] = counterpart
    return _with_functions(code, grafted)


def _with_functions(code: CodeType, functions: dict[int, CodeType]) -> CodeType:
    consts: list[object] = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            const = functions.get(id(const), const) if is_function(const) else _with_functions(const, functions)
        consts.append(const)
    return code.replace(co_consts=tuple(consts))


def _is_rewritten(code: CodeType) -> bool:
    return any(map(symbols.is_symbol, code.co_names)) or any(
        _is_rewritten(const) for const in code.co_consts if isinstance(const, CodeType)
    )


def match(code: CodeType, others: Iterable[CodeType]) -> CodeType | None:
    """The one of `others` that is made from the same function as `code`; None if it is not to be told."""
    near = [
        other
        for other in others
        if other.co_name == code.co_name
        and other.co_firstlineno == code.co_firstlineno
        and _parameter_names(other) == _parameter_names(code)
    ]
    exact = [other for other in near if key_of(other) == key_of(code)]
    # The compiler may leave the first instructions of a lambda out, and with them where its body starts.
    distinct = {id(other): other for other in exact or near}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _parameter_names(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
