"""What can be told of a function from its tree: what it declares, whether it can be suspended, whether it looks at
its locals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from cassette_import.rewriting.trees.traversal import children, parts
from cassette_import.rewriting.trees.traversal import clone as clone  # those who know trees ask for it here

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOKS_AT_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that see the names of the function that calls them: no temporaries there."""


class Survey(NamedTuple):
    """What is told of a function by one walk through its own nodes, those of functions and classes in it left out."""

    bound: frozenset[str]
    """The names that are the function's own."""
    declared: frozenset[str]
    """Those that it declares `global`."""
    declares: bool
    """Whether there are any `global` or `nonlocal` statements."""
    suspendable: bool
    """Whether it is a generator, a coroutine or an asynchronous generator."""
    looks_at_locals: bool
    """Whether it names a builtin that would see our temporaries."""


def survey(function: Function) -> Survey:
    """Walk through a function, once; what was found when its nodes were marked is kept at the node."""
    known: Survey | None = getattr(function, SURVEY, None)
    return known or fresh_survey(function)


SURVEY = "_survey"
"""The attribute of a function's node that holds its survey, from `marks.mark` on."""


def fresh_survey(function: Function) -> Survey:
    """What there is to be told of a function."""
    arguments = function.args
    bound = {argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    bound |= {argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None}
    declared: set[str] = set()
    used: set[str] = set()
    called: set[str] = set()
    declares, suspendable = False, isinstance(function, ast.AsyncFunctionDef)
    work: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    comprehensions: list[ast.AST] = []
    while work:
        node = work.pop()
        kind = node.__class__
        if kind is ast.Name:
            if node.ctx.__class__ is ast.Load:  # type: ignore[attr-defined]
                used.add(node.id)  # type: ignore[attr-defined]
            else:
                bound.add(node.id)  # type: ignore[attr-defined]
        elif kind in _FUNCTIONS_AND_CLASSES:
            bound |= _bound_by(node)
            work += [child for _, _, child in children(node, skip=("body",))]
        elif kind is ast.Call:
            if node.func.__class__ is ast.Name:  # type: ignore[attr-defined]
                called.add(node.func.id)  # type: ignore[attr-defined]
            work += parts(node)
        elif kind in COMPREHENSIONS:
            # Of a comprehension, only what assignment expressions bind (PEP 572).
            bound |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
            comprehensions.append(node)
        elif kind is ast.Global:
            declared.update(node.names)  # type: ignore[attr-defined]
            declares = True
        else:
            if kind in _BINDING:
                bound |= _bound_by(node)
                declares = declares or kind is ast.Nonlocal
            elif kind in _SUSPENDING:
                suspendable = True
            work += parts(node)
    if comprehensions:
        names, names_called, suspends = _inside_comprehensions(comprehensions)
        used |= names
        called |= names_called
        suspendable = suspendable or suspends
    # A parameter may hold the builtin, as in `def f(locals=locals)`; that it has a default is not seen here. Else a
    # name of the function's own stands for anything, unless it is called.
    called |= {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    looks = not LOOKS_AT_LOCALS.isdisjoint(used - bound) or not LOOKS_AT_LOCALS.isdisjoint(called | declared)
    return Survey(frozenset(bound - declared), frozenset(declared), declares, suspendable, looks)


def _inside_comprehensions(work: list[ast.AST]) -> tuple[set[str], set[str], bool]:
    """All names in comprehensions, those that are called there, and whether these suspend the function around them."""
    names: set[str] = set()
    called: set[str] = set()
    suspends = False
    apart: list[ast.AST] = []  # of a generator expression all but the first iterable: that is its own
    for nodes, counts in ((work, True), (apart, False)):
        while nodes:
            node = nodes.pop()
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called.add(node.func.id)
            elif isinstance(node, _SUSPENDING):
                suspends = suspends or counts
            if isinstance(node, _FUNCTIONS_AND_CLASSES):
                nodes += [child for _, _, child in children(node, skip=("body",))]
            elif isinstance(node, ast.GeneratorExp) and counts:
                first = node.generators[0]
                nodes.append(first.iter)
                apart += [node.elt, first.target, *first.ifs, *node.generators[1:]]
            else:
                nodes += parts(node)
    return names, called, suspends


_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await)
_FUNCTIONS_AND_CLASSES = (*FUNCTIONS, ast.ClassDef)
_BINDING = (
    *(ast.Import, ast.ImportFrom, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler, ast.Nonlocal),
)


def is_suspendable(function: Function) -> bool:
    """Whether the function is a generator, a coroutine or an asynchronous generator."""
    return survey(function).suspendable


def looks_at_locals(function: Function) -> bool:
    """Whether the function names a builtin that would see our temporaries."""
    return survey(function).looks_at_locals


def split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The docstring statement, if any, and the rest."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[:1], body[1:]
    return [], body


def hoist_declarations(function: ast.FunctionDef | ast.AsyncFunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
    """Take `global` and `nonlocal` statements out of `body` (they are replaced by `pass`) and return them.

    A body that stands twice in one function would otherwise use names before their declaration.
    """
    declarations: list[ast.stmt] = []
    work: list[list[ast.stmt]] = [body]
    while work:
        statements = work.pop()
        for index, statement in enumerate(statements):
            if isinstance(statement, (ast.Global, ast.Nonlocal)):
                declarations.append(statement)
                statements[index] = ast.copy_location(ast.Pass(), statement)
            elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                work.extend(_blocks(statement))
    return declarations


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for name in ("handlers", "cases"):
        for part in getattr(statement, name, ()):
            yield from _blocks(part)


def bound_names(function: Function) -> tuple[frozenset[str], frozenset[str]]:
    """The names that are the function's own, and those that it declares `global`."""
    found = survey(function)
    return found.bound, found.declared


class ModuleNames(NamedTuple):
    """The names that a module binds at its level: by assignments alone, and by imports among others."""

    assigned: frozenset[str]
    imported: frozenset[str]


def module_names(module: ast.Module) -> ModuleNames:
    """What a module binds its names by, seen without running it."""
    assigned: set[str] = set()
    defined: set[str] = set()
    imported: set[str] = set()
    work: list[ast.AST] = list(module.body)
    while work:
        node = work.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                assigned.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= _bound_by(node) - {"*"}
        elif isinstance(node, _FUNCTIONS_AND_CLASSES):
            defined |= _bound_by(node)
        elif not isinstance(node, COMPREHENSIONS):
            work += parts(node)
    return ModuleNames(frozenset(assigned - defined - imported), frozenset(imported))


def _bound_by(node: ast.AST) -> set[str]:
    """The names that a node binds by itself, if it is no name."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    if isinstance(node, ast.Nonlocal):
        return set(node.names)
    return set()
