"""What can be told of a function from its tree: what it declares, whether it can be suspended, whether it looks at
its locals."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cassette_import.rewrite.walk import children

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOKS_AT_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that see the names of the function that calls them: no temporaries there."""

_SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def clone(node: ast.AST) -> ast.AST:
    """A deep copy; `copy.deepcopy` takes ten times as long."""
    copy = _shallow(node)
    work = [copy]
    while work:
        holder = work.pop().__dict__
        for name, value in holder.items():
            if value.__class__ is list:
                holder[name] = items = value[:]
                for index, item in enumerate(items):
                    if isinstance(item, ast.AST) and not isinstance(item, _SHARED):
                        items[index] = inner = _shallow(item)
                        work.append(inner)
            elif isinstance(value, ast.AST) and not isinstance(value, _SHARED):
                holder[name] = inner = _shallow(value)
                work.append(inner)
    return copy


def _shallow(node: ast.AST) -> ast.AST:
    kind = node.__class__
    copy = kind.__new__(kind)
    copy.__dict__.update(node.__dict__)
    return copy


def own_nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes that belong to the function's own scope, comprehensions included; nested functions' and classes'
    bodies not."""
    work: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while work:
        node = work.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            work.extend(child for _, _, child in children(node, skip=("body",)))
        else:
            work.extend(child for _, _, child in children(node))


def is_suspendable(function: Function) -> bool:
    """Whether the function is a generator, a coroutine or an asynchronous generator."""
    if isinstance(function, ast.AsyncFunctionDef):
        return True
    work: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while work:
        node = work.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            work.extend(child for _, _, child in children(node, skip=("body",)))
        elif isinstance(node, ast.GeneratorExp):
            work.append(node.generators[0].iter)  # the rest is the generator expression's own
        else:
            work.extend(child for _, _, child in children(node))
    return False


def looks_at_locals(function: Function) -> bool:
    """Whether the function names a builtin that would see our temporaries."""
    return any(isinstance(node, ast.Name) and node.id in LOOKS_AT_LOCALS for node in own_nodes(function))


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
    arguments = function.args
    bound = {argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    bound |= {argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None}
    declared: set[str] = set()
    work: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while work:
        node = work.pop()
        if isinstance(node, ast.Global):
            declared.update(node.names)
            continue
        bound |= _bound_by(node)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            work.extend(child for _, _, child in children(node, skip=("body",)))
        elif isinstance(node, COMPREHENSIONS):
            # Of a comprehension, only what assignment expressions bind (PEP 572).
            bound |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
        else:
            work.extend(child for _, _, child in children(node))
    return frozenset(bound - declared), frozenset(declared)


def _bound_by(node: ast.AST) -> set[str]:
    """The names that a node binds by itself."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
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
