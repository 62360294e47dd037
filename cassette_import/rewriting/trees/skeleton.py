"""A function compiled by itself: in a skeleton of the scopes around it, so that it compiles to the same kind of code.

`skeleton` makes the module; `find_function`, `requalify` and `graft` make of its code the replacement of the
function's code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from types import CodeType

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.code_objects import changed_copy
from cassette_import.rewriting import symbols, variant_names
from cassette_import.rewriting.trees.code_matching import (
    match,
    nested_functions,
    replace_functions,
    span_of,
)
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.places import Place
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, clone


def skeleton(place: Place, free_names: tuple[str, ...], imported: Iterable[str] = ()) -> tuple[ast.Module, Function]:
    """A module in which the function, or a copy of it, is in scopes like its own; and the function's node in it.

    The module is compiled, never executed. The compiler treats a call of `name.f` as one of a function, and not of a
    method, if the module imports the name.
    """
    node = clone(place.node) if place.is_shared else place.node
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
    """Remove what belongs to the enclosing scope: decorators (except for their lines), defaults, annotations."""
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
        if (
            code.co_name == plain.co_name
            and (code_objects.is_function(code) or code.co_name == code_objects.GENERATOR_EXPRESSION)
            and code.co_firstlineno == plain.co_firstlineno
        ):
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
    return changed_copy(code, co_qualname=fix(code.co_qualname), co_filename=filename, co_consts=consts)


def graft(code: CodeType) -> CodeType:
    """Replace the plain copies of nested functions in the other branches by those that one branch has rewritten.

    Rewriting every copy would take time and space that double with each level of nesting.
    """
    grafted = {id(inner): graft(inner) for inner in nested_functions(code) if _is_rewritten(inner)}
    if not grafted:
        return code
    for inner in nested_functions(code):
        # A lambda without positions is a constant: it has no events, and may stand beside another lambda.
        if id(inner) not in grafted and (inner.co_name != "<lambda>" or span_of(inner) is not None):
            counterpart = match(inner, grafted.values())
            if counterpart is not None and counterpart.co_freevars == inner.co_freevars:
                grafted[id(inner)] = counterpart
    return replace_functions(code, lambda inner: grafted.get(id(inner), inner))


def _is_rewritten(code: CodeType) -> bool:
    return any(
        _is_rewritten(const) if isinstance(const, CodeType) else variant_names.is_placeholder(const)
        for const in code.co_consts
    )
