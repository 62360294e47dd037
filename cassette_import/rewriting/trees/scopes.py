"""Scopes: what a function or module binds, whether a function can be suspended, whether it reads its own locals."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.rewriting.module_names import ModuleNames
from cassette_import.rewriting.temporaries import LOCALS_READERS
from cassette_import.rewriting.trees.traversal import children, parts
from cassette_import.rewriting.trees.traversal import clone as clone  # imported from here by users of scopes

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Survey(NamedTuple):
    """What one walk through a function finds. The bodies of nested functions and classes are left out."""

    bound: frozenset[str]
    """The names of its local variables."""
    declared: frozenset[str]
    """The names that it declares `global`."""
    declares: bool
    """Whether there are any `global` or `nonlocal` statements."""
    suspendable: bool
    """Whether it is a generator, a coroutine or an asynchronous generator."""
    reads_locals: bool
    """Whether it names a builtin that would see temporaries."""


def survey(function: Function) -> Survey:
    """The survey of a function, which is made when its nodes are annotated and kept at its node."""
    known: Survey | None = getattr(function, SURVEY, None)
    return known or fresh_survey(function)


SURVEY = "_survey"
"""The attribute of a function's node that holds its survey (see `annotations`)."""


def fresh_survey(function: Function) -> Survey:
    """Survey a function by a walk through it."""
    arguments = function.args
    parameters = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    rest = {argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None}
    walk = _SurveyWalk(parameters | rest, isinstance(function, ast.AsyncFunctionDef))
    walk.run(list(function.body) if isinstance(function.body, list) else [function.body])
    bound, declared = walk.bound, walk.declared
    # A parameter may hold the builtin, as in `def f(locals=locals)`; its default is not part of this walk. One that is
    # called `dir` or `vars`, and any other local variable of such a name, counts only if it is called.
    called = walk.called | (parameters - _READERS_OF_ARGUMENTS)
    reads = not LOCALS_READERS.isdisjoint(walk.used - bound) or not LOCALS_READERS.isdisjoint(called | declared)
    return Survey(frozenset(bound - declared), frozenset(declared), walk.declares, walk.suspendable, reads)


def bound_by_expressions(node: ast.AST) -> set[str]:
    """The names that assignment expressions in a node bind, those in lambdas too."""
    return {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}


class _SurveyWalk:
    """A walk through a function, which collects the fields of its `Survey`."""

    def __init__(self, bound: set[str], suspendable: bool) -> None:
        self.bound = bound
        self.suspendable = suspendable
        self.declared: set[str] = set()
        self.used: set[str] = set()
        self.called: set[str] = set()
        self.declares = False
        self._work: list[ast.AST] = []
        self._comprehensions: list[ast.AST] = []

    def run(self, nodes: list[ast.AST]) -> None:
        """Walk through nodes of the function, and what is in them."""
        self._work = work = nodes
        while work:
            node = work.pop()
            visit = self._VISITS.get(node.__class__)
            if visit is None:
                work += parts(node)
            else:
                visit(self, node)
        if self._comprehensions:
            self._visit_inside_comprehensions()

    def _visit_name(self, node: ast.Name) -> None:
        (self.used if node.ctx.__class__ is ast.Load else self.bound).add(node.id)

    def _visit_definition(self, node: ast.AST) -> None:
        """A function or class in the function: what is in its body belongs to that."""
        self.bound.update(_NAMES_BOUND[node.__class__](node))
        self._work += [child for _, _, child in children(node, skip=("body",))]

    def _visit_call(self, node: ast.Call) -> None:
        if _reads_argument(node):
            self._work.append(node.args[0])
            return
        if node.func.__class__ is ast.Name:
            self.called.add(node.func.id)
        self._work += parts(node)

    def _visit_comprehension(self, node: ast.AST) -> None:
        """Of a comprehension, the function has what assignment expressions bind (PEP 572)."""
        self.bound |= bound_by_expressions(node)
        self._comprehensions.append(node)

    def _visit_global(self, node: ast.Global) -> None:
        self.declared.update(node.names)
        self.declares = True

    def _visit_nonlocal(self, node: ast.Nonlocal) -> None:
        self.bound.update(node.names)
        self.declares = True

    def _visit_binding(self, node: ast.AST) -> None:
        self.bound.update(_NAMES_BOUND[node.__class__](node))
        self._work += parts(node)

    def _visit_suspending(self, node: ast.AST) -> None:
        self.suspendable = True
        self._work += parts(node)

    def _visit_inside_comprehensions(self) -> None:
        """All names in comprehensions, those that are called there, and what suspends the function around them."""
        own: list[ast.AST] = []  # of generator expressions all but the first iterable: what suspends there is theirs
        for work, is_own in ((self._comprehensions, False), (own, True)):
            while work:
                node = work.pop()
                kind = node.__class__
                if kind is ast.Call and _reads_argument(node):
                    node = node.args[0]  # type: ignore[attr-defined]
                    kind = node.__class__
                if kind is ast.Name:
                    self.used.add(node.id)  # type: ignore[attr-defined]  # its kind is known
                elif kind is ast.Call and node.func.__class__ is ast.Name:  # type: ignore[attr-defined]  # by kind
                    self.called.add(node.func.id)  # type: ignore[attr-defined]  # its kind is known
                elif kind in _SUSPENDING:
                    self.suspendable = self.suspendable or not is_own
                if kind in _FUNCTIONS_AND_CLASSES:
                    work += [child for _, _, child in children(node, skip=("body",))]
                elif kind is ast.GeneratorExp and not is_own:
                    first = node.generators[0]  # type: ignore[attr-defined]  # its kind is known
                    work.append(first.iter)
                    # For the type checker: comprehensions have these parts.
                    own += [node.elt, first.target, *first.ifs, *node.generators[1:]]  # type: ignore[attr-defined]
                else:
                    work += parts(node)

    _VISITS: ClassVar[dict[type[ast.AST], Callable[[_SurveyWalk, Any], None]]]


def _reads_argument(node: Any) -> bool:
    """Whether a call is `dir(x)` or `vars(x)`, which read their argument and no variables."""
    is_reader = isinstance(node.func, ast.Name) and node.func.id in _READERS_OF_ARGUMENTS
    return is_reader and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


_READERS_OF_ARGUMENTS: Final = frozenset({"dir", "vars"})
_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await)
_FUNCTIONS_AND_CLASSES = (*FUNCTIONS, ast.ClassDef)
SUSPENSIONS: Final = frozenset({*_SUSPENDING, ast.AsyncFor, ast.AsyncWith})
"""What suspends the code that it is in."""
OTHER_CODE: Final = frozenset({*_FUNCTIONS_AND_CLASSES, ast.GeneratorExp})
"""What has code of its own, which runs at another time."""
_BINDING = (ast.Import, ast.ImportFrom, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler)
_SurveyWalk._VISITS = {
    ast.Name: _SurveyWalk._visit_name,
    ast.Call: _SurveyWalk._visit_call,
    ast.Global: _SurveyWalk._visit_global,
    ast.Nonlocal: _SurveyWalk._visit_nonlocal,
    **dict.fromkeys(_FUNCTIONS_AND_CLASSES, _SurveyWalk._visit_definition),
    **dict.fromkeys(COMPREHENSIONS, _SurveyWalk._visit_comprehension),
    **dict.fromkeys(_BINDING, _SurveyWalk._visit_binding),
    **dict.fromkeys(_SUSPENDING, _SurveyWalk._visit_suspending),
}


def is_suspendable(function: Function) -> bool:
    """Whether the function is a generator, a coroutine or an asynchronous generator."""
    return survey(function).suspendable


def reads_locals(function: Function) -> bool:
    """Whether the function names a builtin that would see temporaries."""
    return survey(function).reads_locals


def split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The docstring statement, if any, and the rest."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[:1], body[1:]
    return [], body


def hoist_declarations(function: ast.FunctionDef | ast.AsyncFunctionDef, body: list[ast.stmt]) -> list[ast.stmt]:
    """Take `global` and `nonlocal` statements out of `body` (they are replaced by `pass`) and return them.

    A body that is twice in one function would otherwise use names before their declaration.
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


def module_names(module: ast.Module) -> ModuleNames:
    """The names that a module binds, found without running it."""
    names = block_names(module.body)
    return ModuleNames(frozenset(names.assigned - names.defined - names.imported), frozenset(names.imported))


class BlockNames:
    """The names in the body of a module or class, by the statements that name them. Nested bodies are left out.

    Names that a class body declares `nonlocal` are no names of the class.
    """

    __slots__ = ("assigned", "captured", "declared", "defined", "elsewhere", "imported")

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.captured: set[str] = set()  # by patterns
        self.declared: set[str] = set()  # `global`
        self.defined: set[str] = set()
        self.imported: set[str] = set()
        self.elsewhere: set[str] = set()  # `nonlocal`


def block_names(body: list[ast.stmt]) -> BlockNames:
    """The names in the body of a module or class."""
    names = BlockNames()
    work: list[ast.AST] = list(body)
    while work:
        node = work.pop()
        note = _NOTES.get(node.__class__)
        if note is not None:
            note(names, node)
            continue
        work += parts(node)
        if node.__class__ in _CAPTURES:
            names.captured.update(names_bound_by(node))
    if names.elsewhere:
        for found in (names.assigned, names.captured, names.defined, names.imported):
            found -= names.elsewhere
    return names


def _note_name(names: BlockNames, node: ast.Name) -> None:
    if node.ctx.__class__ is not ast.Load:
        names.assigned.add(node.id)


def _note_declaration(names: BlockNames, node: ast.Global) -> None:
    names.declared.update(node.names)


def _note_nonlocal(names: BlockNames, node: ast.Nonlocal) -> None:
    names.elsewhere.update(node.names)


def _note_import(names: BlockNames, node: ast.Import | ast.ImportFrom) -> None:
    names.imported.update(name for name in names_bound_by(node) if name != "*")


def _note_definition(names: BlockNames, node: ast.AST) -> None:
    names.defined.update(names_bound_by(node))


def _note_nothing(names: BlockNames, node: ast.AST) -> None:
    """The names in a comprehension are its own."""


_CAPTURES: Final = frozenset((ast.MatchAs, ast.MatchStar, ast.MatchMapping))
_NOTES: Final[dict[type[ast.AST], Callable[[BlockNames, Any], None]]] = {
    ast.Name: _note_name,
    ast.Global: _note_declaration,
    ast.Nonlocal: _note_nonlocal,
    ast.Import: _note_import,
    ast.ImportFrom: _note_import,
    **dict.fromkeys(_FUNCTIONS_AND_CLASSES, _note_definition),
    **dict.fromkeys(COMPREHENSIONS, _note_nothing),
}


# ---- the names that a node binds by itself, not counting the names that are nodes of their own


def names_bound_by(node: ast.AST) -> Iterable[str]:
    """The names that a node binds by itself: those of definitions, imports, handlers and patterns.

    The targets of assignments and loops are nodes of their own, and are not counted.
    """
    names_of = _NAMES_BOUND.get(node.__class__)
    return () if names_of is None else names_of(node)


def _no_name(node: ast.Lambda) -> Iterable[str]:
    return ()


def _name_of_definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterable[str]:
    return (node.name,)


def _names_of_import(node: ast.Import | ast.ImportFrom) -> Iterable[str]:
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def _name_of_part(node: ast.MatchAs | ast.MatchStar | ast.ExceptHandler) -> Iterable[str]:
    return (node.name,) if node.name else ()


def _name_of_rest(node: ast.MatchMapping) -> Iterable[str]:
    return (node.rest,) if node.rest else ()


_NAMES_BOUND: Final[dict[type[ast.AST], Callable[[Any], Iterable[str]]]] = {
    ast.FunctionDef: _name_of_definition,
    ast.AsyncFunctionDef: _name_of_definition,
    ast.ClassDef: _name_of_definition,
    ast.Lambda: _no_name,
    ast.Import: _names_of_import,
    ast.ImportFrom: _names_of_import,
    ast.MatchAs: _name_of_part,
    ast.MatchStar: _name_of_part,
    ast.ExceptHandler: _name_of_part,
    ast.MatchMapping: _name_of_rest,
}
