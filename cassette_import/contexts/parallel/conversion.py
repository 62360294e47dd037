"""The pass of `parallel`: it converts the statements around calls of targets.

A *region* is a run of statements of one block that submits tasks. All tasks of a region end before the region does, so
nothing outside of it meets a placeholder. Where an exception would be handled in the same function (`try`, `with`),
only comprehensions are converted, which change no variable.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from cassette_import.specialization.passes import contextslot
from cassette_import.specialization.passes.private_names import PrivateNames
from cassette_import.specialization.passes.reflection import Reflection

__all__ = ["Conversion"]

# ---- expressions of a converted region: calls, operands and comprehensions become calls of methods of the context

_FRAME_READERS: Final = frozenset({"super", "locals", "vars", "dir", "globals", "eval", "exec", "__class__"})
"""Functions that look at the frame which calls them."""


class NotConvertible(Exception):
    """An expression or a statement that is left as it is written."""


class Candidates:
    """Which calls may be calls of targets, by their names. Whether they are is known when they are made.

    Parameters
    ----------
    names:
        The names of targets.
    private:
        The names of private attributes; None at module level, where no class is around.
    """

    def __init__(self, names: Collection[str], private: PrivateNames | None = None) -> None:
        self._names = frozenset(names)
        self._private = private

    def attribute_name(self, written: str) -> str:
        """The name of an attribute in the namespace of its object."""
        return written if self._private is None else self._private.name_of(written)

    def is_call(self, node: ast.AST) -> bool:
        """Whether a node is a call of what may be a target."""
        if not isinstance(node, ast.Call):
            return False
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
        return name in self._names

    def are_in(self, *nodes: ast.AST) -> bool:
        """Whether there is such a call in one of the nodes."""
        return any(self.is_call(part) for node in nodes for part in ast.walk(node))


def _context_call(place: ast.AST, name: str, *arguments: ast.expr, keywords: Any = ()) -> Any:
    """A call of a method of the active context, at the place of a node."""
    function = ast.Attribute(contextslot(), name, ast.Load())
    call: Any = ast.copy_location(ast.Call(function, list(arguments), list(keywords)), place)
    call.is_context_call = True
    return ast.fix_missing_locations(call)


def _is_context_call(node: ast.Call) -> bool:
    """Whether `_context_call` has made a node."""
    return hasattr(node, "is_context_call")


def _names_in(*nodes: ast.AST) -> set[str]:
    """The names that occur in nodes."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


class _Expressions:
    """Converts expressions.

    Parameters
    ----------
    candidates:
        The calls that may be tasks.
    pending:
        The variables that may hold a placeholder.
    """

    def __init__(self, candidates: Candidates, pending: frozenset[str] = frozenset()) -> None:
        self._candidates = candidates
        self.pending = pending

    def raw(self, node: ast.expr) -> Any:
        """The converted expression, whose value may be a placeholder."""
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._display(node) if self.may_wait(node) else self.value(node)

    def may_wait(self, node: ast.expr) -> bool:
        """Whether the value of an expression may be a placeholder."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(map(self.may_wait, node.elts))
        if isinstance(node, ast.Dict):
            return any(map(self.may_wait, node.values))
        return self._candidates.is_call(node) or (isinstance(node, ast.Name) and node.id in self.pending)

    def operand(self, node: ast.expr) -> Any:
        """The converted expression as an operand: nothing that computes with its value meets a placeholder."""
        return node if isinstance(node, ast.Constant) else _context_call(node, "plain", self.raw(node))

    def value(self, node: ast.expr) -> Any:
        """The converted expression, whose value is no placeholder."""
        convert = getattr(self, f"_{type(node).__name__.lower()}", None)
        if convert is None:
            raise NotConvertible
        made = convert(node)
        if self.may_wait(node):
            made = _context_call(node, "value", made)
        return ast.copy_location(made, node)

    def _constant(self, node: ast.Constant) -> Any:
        return node

    _name = _constant

    def _attribute(self, node: ast.Attribute) -> Any:
        name = ast.Constant(self._candidates.attribute_name(node.attr))
        owner = _context_call(node, "owner", self.raw(node.value), name)
        return ast.Attribute(owner, node.attr, ast.Load())

    def _subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.slice, ast.Slice):
            parts = [None if one is None else self.operand(one) for one in _parts(node.slice)]
            return ast.Subscript(self.operand(node.value), ast.copy_location(ast.Slice(*parts), node.slice), ast.Load())
        holder = _context_call(node, "indexed", self.raw(node.value))
        found = ast.copy_location(ast.Subscript(holder, self.operand(node.slice), ast.Load()), node)
        return _context_call(node, "value", found)

    def _binop(self, node: ast.BinOp) -> Any:
        return ast.BinOp(self.operand(node.left), node.op, self.operand(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return ast.UnaryOp(node.op, self.operand(node.operand))

    def _compare(self, node: ast.Compare) -> Any:
        return ast.Compare(self.operand(node.left), node.ops, [self.operand(one) for one in node.comparators])

    def _boolop(self, node: ast.BoolOp) -> Any:
        return ast.BoolOp(node.op, [self.operand(one) for one in node.values])

    def _ifexp(self, node: ast.IfExp) -> Any:
        return ast.IfExp(self.operand(node.test), self.value(node.body), self.value(node.orelse))

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        return ast.JoinedStr([self.value(part) for part in node.values])

    def _formattedvalue(self, node: ast.FormattedValue) -> Any:
        spec: Any = None if node.format_spec is None else self.value(node.format_spec)
        return ast.FormattedValue(self.operand(node.value), node.conversion, spec)

    # ---- displays and comprehensions

    def _display(self, node: Any) -> Any:
        """A tuple, list or dictionary with results of tasks in it."""
        if isinstance(node, ast.Dict):
            if None in node.keys:
                raise NotConvertible
            keys = [self.operand(one) for one in node.keys if one is not None]
            parts = [part for pair in zip(keys, map(self.raw, node.values), strict=True) for part in pair]
        else:
            parts = [self.raw(one) for one in node.elts]
        return _context_call(node, "display", ast.Constant(type(node).__name__), *parts)

    def _list(self, node: ast.List) -> Any:
        return self._display(node) if self.may_wait(node) else ast.List([*map(self.value, node.elts)], ast.Load())

    def _tuple(self, node: ast.Tuple) -> Any:
        return self._display(node) if self.may_wait(node) else ast.Tuple([*map(self.value, node.elts)], ast.Load())

    def _dict(self, node: ast.Dict) -> Any:
        if self.may_wait(node):
            return self._display(node)
        if None in node.keys:
            raise NotConvertible
        keys = [self.operand(one) for one in node.keys if one is not None]
        return ast.Dict(keys, [*map(self.value, node.values)])

    def _listcomp(self, node: ast.ListComp) -> Any:
        made = ast.ListComp(self.raw(node.elt), self._generators(node))
        return _context_call(node, "gather", ast.copy_location(made, node))

    def _dictcomp(self, node: ast.DictComp) -> Any:
        key: Any = node.key
        if key is None or node.value is None:
            raise NotConvertible
        made = ast.DictComp(self.operand(key), self.raw(node.value), self._generators(node))
        return _context_call(node, "gather", ast.copy_location(made, node))

    def _generators(self, node: Any) -> list[ast.comprehension]:
        made: list[ast.comprehension] = []
        for part in node.generators:
            if part.is_async or not is_simple_target(part.target) or _names_in(part.target) & self.pending:
                raise NotConvertible
            tests = [self.operand(test) for test in part.ifs]
            made.append(
                ast.comprehension(part.target, _context_call(part.iter, "iterable", self.raw(part.iter)), tests, 0)
            )
        return made

    def _lambda(self, node: ast.Lambda) -> Any:
        if node.args.defaults or any(node.args.kw_defaults):
            raise NotConvertible
        return node

    def _generatorexp(self, node: ast.GeneratorExp) -> Any:
        first = node.generators[0].iter
        if not isinstance(first, ast.Name) or first.id in self.pending:
            raise NotConvertible
        return node

    # ---- calls

    def _call(self, node: ast.Call) -> Any:
        function: Any = node.func
        if isinstance(function, ast.Name) and function.id in _FRAME_READERS:
            raise NotConvertible
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise NotConvertible
        is_candidate = self._candidates.is_call(node)
        is_method = isinstance(function, ast.Attribute) and function.attr == "append" and not is_candidate
        if is_method and len(node.args) == 1 and not node.keywords:
            holder = _context_call(node, "appendable", self.raw(function.value), ast.Constant("append"))
            return _context_call(node, "append", holder, self.raw(node.args[0]))
        keywords = [ast.copy_location(ast.keyword(one.arg, self.raw(one.value)), one) for one in node.keywords]
        arguments = [self.value(function), *map(self.raw, node.args)]
        return _context_call(node, "submit" if is_candidate else "call", *arguments, keywords=keywords)


def _parts(node: ast.Slice) -> tuple[Any, ...]:
    return node.lower, node.upper, node.step


def is_simple_target(node: ast.AST) -> bool:
    """Whether a target is a name, or a tuple or list of names."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(isinstance(one, ast.Name) for one in node.elts)
    return isinstance(node, ast.Name)


# ---- calls of targets that stay as they are written

_WITH_BLOCKS: Final = "in a block of try or with"
_OTHER_STATEMENT: Final = "in a statement that is left as it is written"
_STARRED: Final = "with * or ** arguments"
_REASONS: Final = {
    "Try": _WITH_BLOCKS,
    "TryStar": _WITH_BLOCKS,
    "With": _WITH_BLOCKS,
    "ClassDef": "in a class body",
    "GeneratorExp": "in a generator expression",
    "SetComp": "in a set comprehension",
}
_OF_OTHER_PASSES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _mark_as_made(*nodes: Any) -> None:
    """Say that nodes are none of the program's: they do not explain why a call in them is kept."""
    for node in nodes:
        node.is_made = True


def _note_kept_calls(body: list[Any], candidates: Candidates, reason: str = _OTHER_STATEMENT) -> None:
    """Have all calls that may be calls of targets, and were not converted, call the method `kept` of the context.

    Parameters
    ----------
    body:
        The statements of a function or a module level, or the expression of a lambda. They are changed in place.
    candidates:
        The calls.
    reason:
        Why those are kept that nothing else in `body` explains.
    """
    for part in body:
        _note(part, candidates, reason)


def _note(node: Any, candidates: Candidates, reason: str) -> None:
    if isinstance(node, _OF_OTHER_PASSES):
        return
    if not hasattr(node, "is_made"):
        reason = _REASONS.get(type(node).__name__, reason)
    for part in ast.iter_child_nodes(node):
        _note(part, candidates, reason)
    if candidates.is_call(node) and not _is_context_call(node):
        is_starred = any(isinstance(one, ast.Starred) for one in node.args) or any(not one.arg for one in node.keywords)
        why = ast.Constant(_STARRED if is_starred and reason == _OTHER_STATEMENT else reason)
        node.func = _context_call(node.func, "kept", node.func, why)


# ---- the pass of `parallel`: it converts the statements around calls of targets

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
_SUSPENDING: Final = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_IN_LAMBDA: Final = "in a lambda"
_IN_READER: Final = "where locals, eval, exec or globals is used"
_DECLARATIONS: Final = (ast.Global, ast.Nonlocal)


class Conversion:
    """A pass for functions and module levels.

    Parameters
    ----------
    targets:
        The functions whose calls become tasks.
    """

    def __init__(self, targets: Iterable[Any]) -> None:
        self._targets = {id(target): target for target in targets}
        self._names = frozenset(target.__name__ for target in self._targets.values())

    def __call__(self, context_type: type, reflection: Reflection) -> Any:
        """Convert a function. Generators, coroutines and lambdas stay as they are written."""
        tree: Any = reflection.tree
        known = reflection.function.__globals__.items()
        aliases = {name for name, value in known if id(value) in self._targets and callable(value)}
        candidates = Candidates(self._names | aliases, PrivateNames(reflection.function))
        body: list[Any] = [tree.body] if isinstance(tree, ast.Lambda) else tree.body
        nodes = list(_own_nodes(body))
        if isinstance(tree, ast.AsyncFunctionDef) or any(isinstance(node, _SUSPENDING) for node in nodes):
            return tree  # to note its calls takes a variable, which `locals` would show
        if isinstance(tree, ast.Lambda) or _reads_frame(nodes):
            _note_kept_calls(body, candidates, _IN_LAMBDA if isinstance(tree, ast.Lambda) else _IN_READER)
            return tree
        statements = _Statements(candidates, captured=_captured(body), in_function=True)
        only_comprehensions = any(isinstance(node, _DECLARATIONS) for node in nodes)
        tree.body = statements.block(body, only_comprehensions)
        _note_kept_calls(tree.body, candidates)
        return tree

    def on_module_level(self, tree: ast.Module) -> None:
        """Convert a module level in place. Its variables are found by name, so functions may use them."""
        nodes = list(_own_nodes(tree.body))
        names = set(self._names)
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                names |= {one.asname for one in node.names if one.asname and one.name in self._names}
        candidates = Candidates(names)
        if _reads_frame(nodes):
            _note_kept_calls(tree.body, candidates, _IN_READER)
            return
        statements = _Statements(candidates, captured=frozenset(), in_function=False)
        tree.body = statements.block(tree.body, only_comprehensions=False)
        _note_kept_calls(tree.body, candidates)


def _own_nodes(body: Sequence[ast.AST]) -> Iterable[ast.AST]:
    """The nodes of a scope, without those of the scopes in it."""
    work = list(body)
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, _SCOPES):
            work.extend(ast.iter_child_nodes(node))


def _reads_frame(nodes: Iterable[ast.AST]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in _FRAME_READERS - {"super"} for node in nodes)


def _captured(body: Sequence[ast.AST]) -> frozenset[str]:
    """The names that scopes inside use: a placeholder in such a variable could be met at any time."""
    return frozenset(_names_in(*[node for node in _own_nodes(body) if isinstance(node, _SCOPES)]))


class _Statements:
    """Converts the statements of one scope."""

    def __init__(self, candidates: Candidates, captured: frozenset[str], in_function: bool) -> None:
        self._candidates = candidates
        self._captured = captured
        self._in_function = in_function

    def block(self, body: list[ast.stmt], only_comprehensions: bool) -> list[ast.stmt]:
        """A block with its regions converted."""
        if not self._candidates.are_in(*body):
            return body
        made: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for statement in body:
            if not only_comprehensions and self._is_convertible(statement):
                run.append(statement)
                continue
            made += self._run(run)
            run = []
            made += self._other(statement, only_comprehensions)
        return made + self._run(run)

    def _is_convertible(self, statement: ast.stmt) -> bool:
        try:
            _Region(self._candidates, frozenset(), self._in_function).converted(copy.deepcopy(statement), False)
        except NotConvertible:
            return False
        return True

    def _run(self, run: list[ast.stmt]) -> list[ast.stmt]:
        """Make a region of the part of a run that submits tasks."""
        submitting = [number for number, statement in enumerate(run) if self._candidates.are_in(statement)]
        if not submitting:
            return run
        first, last = submitting[0], submitting[-1] + 1
        chosen = run[first:last]
        pending = _pending(chosen, self._candidates) - self._captured
        try:
            made = self._converted(copy.deepcopy(chosen), pending)
        except NotConvertible:
            pending = frozenset()
            made = self._converted(chosen, pending)
        if not self._in_function:
            names = [ast.Constant(name) for name in sorted(_bound(chosen))]
            made = [ast.Expr(_context_call(chosen[0], "entering", *names)), *made]
        region = _guarded(made, chosen[0])
        return [*run[:first], region, *(_known(name, chosen[-1]) for name in sorted(pending)), *run[last:]]

    def _converted(self, statements: list[ast.stmt], pending: frozenset[str]) -> list[ast.stmt]:
        region = _Region(self._candidates, pending, self._in_function)
        return [made for statement in statements for made in region.converted(statement, False)]

    def _other(self, statement: ast.stmt, only_comprehensions: bool) -> list[ast.stmt]:
        """A statement that is in no region; its blocks may have some."""
        if isinstance(statement, _SCOPES) or not self._candidates.are_in(statement):
            return [statement]
        comprehensions = _Comprehensions(_Expressions(self._candidates), self._candidates)
        comprehensions.convert_in(statement)
        handles = isinstance(statement, (ast.Try, ast.With)) or type(statement).__name__ == "TryStar"
        inner = only_comprehensions or handles
        for field in ("body", "orelse", "finalbody"):
            part = getattr(statement, field, None)
            if part:
                setattr(statement, field, self.block(part, inner))
        for handler in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
            handler.body = self.block(handler.body, inner)
        return [_guarded([statement], statement)] if comprehensions.found else [statement]


class _Comprehensions(ast.NodeTransformer):
    """Converts the comprehensions in a statement that stays as it is otherwise: in its head, if it has blocks."""

    def __init__(self, expressions: _Expressions, candidates: Candidates) -> None:
        self._expressions = expressions
        self._candidates = candidates
        self.found = False

    def convert_in(self, statement: ast.stmt) -> None:
        """Convert those that a statement itself evaluates."""
        for parts in [statement, *getattr(statement, "items", ()), *getattr(statement, "cases", ())]:
            for field, part in ast.iter_fields(parts):
                if isinstance(part, ast.expr):
                    setattr(parts, field, self.visit(part))
                elif isinstance(part, list):
                    part[:] = [self.visit(one) if isinstance(one, ast.expr) else one for one in part]

    def _comprehension(self, node: Any) -> Any:
        if not self._candidates.are_in(node):
            return node
        try:
            made = self._expressions.value(copy.deepcopy(node))
        except NotConvertible:
            return node
        self.found = True
        return made

    visit_ListComp = visit_DictComp = _comprehension

    def _scope(self, node: Any) -> Any:
        return node

    visit_Lambda = visit_GeneratorExp = visit_SetComp = _scope


class _Region:
    """Converts the statements of one region."""

    def __init__(self, candidates: Candidates, pending: frozenset[str], in_function: bool) -> None:
        self._expressions = _Expressions(candidates, pending)
        self._pending = pending
        self._in_function = in_function

    def converted(self, statement: ast.stmt, in_loop: bool) -> list[ast.stmt]:
        """What a statement becomes."""
        convert = getattr(self, f"_{type(statement).__name__.lower()}", None)
        if convert is None:
            raise NotConvertible
        made: list[ast.stmt] = convert(statement, in_loop)
        return [ast.fix_missing_locations(ast.copy_location(one, statement)) for one in made]

    def _block(self, body: Sequence[ast.stmt], in_loop: bool) -> list[ast.stmt]:
        return [made for statement in body for made in self.converted(statement, in_loop)]

    def _assign(self, node: ast.Assign, in_loop: bool) -> list[ast.stmt]:
        if len(node.targets) != 1:
            raise NotConvertible
        (target,) = node.targets
        expressions = self._expressions
        if isinstance(target, ast.Name):
            may_wait = target.id in self._pending
            return [ast.Assign([target], (expressions.raw if may_wait else expressions.value)(node.value))]
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            parts = map(expressions.raw, (node.value, target.value, target.slice))
            return [ast.Expr(_context_call(node, "setitem", *parts))]
        if is_simple_target(target) and not _names_in(target) & self._pending:
            return [ast.Assign([target], _context_call(node, "iterable", expressions.raw(node.value)))]
        raise NotConvertible

    def _augassign(self, node: ast.AugAssign, in_loop: bool) -> list[ast.stmt]:
        if not isinstance(node.target, ast.Name) or node.target.id in self._pending:
            raise NotConvertible
        name = ast.Name(node.target.id, ast.Load())
        checked = ast.Expr(_context_call(node, "plain", name))
        return [checked, ast.AugAssign(node.target, node.op, self._expressions.operand(node.value))]

    def _expr(self, node: ast.Expr, in_loop: bool) -> list[ast.stmt]:
        return [ast.Expr(self._expressions.raw(node.value))]

    def _return(self, node: ast.Return, in_loop: bool) -> list[ast.stmt]:
        if not self._in_function:
            raise NotConvertible
        value = ast.Constant(None) if node.value is None else self._expressions.raw(node.value)
        return [ast.Return(_context_call(node, "leave", value))]

    def _for(self, node: ast.For, in_loop: bool) -> list[ast.stmt]:
        if node.orelse or not is_simple_target(node.target) or _names_in(node.target) & self._pending:
            raise NotConvertible
        steps = _context_call(node.iter, "iterable", self._expressions.raw(node.iter))
        return [ast.For(node.target, steps, self._block(node.body, True), [])]

    def _while(self, node: ast.While, in_loop: bool) -> list[ast.stmt]:
        if node.orelse:
            raise NotConvertible
        return [ast.While(self._expressions.operand(node.test), self._block(node.body, True), [])]

    def _if(self, node: ast.If, in_loop: bool) -> list[ast.stmt]:
        test = self._expressions.operand(node.test)
        return [ast.If(test, self._block(node.body, in_loop), self._block(node.orelse, in_loop))]

    def _pass(self, node: ast.stmt, in_loop: bool) -> list[ast.stmt]:
        return [node]

    def _break(self, node: ast.stmt, in_loop: bool) -> list[ast.stmt]:
        if not in_loop:
            raise NotConvertible
        return [node]

    _continue = _break


def _pending(statements: Sequence[ast.stmt], candidates: Candidates) -> frozenset[str]:
    """The variables that are bound to the results of tasks."""
    bindings = [
        (node.targets[0].id, node.value)
        for statement in statements
        for node in _own_nodes([statement])
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    ]
    found: set[str] = set()
    count = -1
    while count != len(found):
        count = len(found)
        may_wait = _Expressions(candidates, frozenset(found)).may_wait
        found |= {name for name, value in bindings if may_wait(value)}
    return frozenset(found)


def _bound(statements: Sequence[ast.stmt]) -> set[str]:
    """The variables that the statements of a region bind."""
    work: list[ast.AST] = list(statements)
    found: set[str] = set()
    while work:
        node = work.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, (*_SCOPES, ast.ListComp, ast.DictComp)):
            work.extend(ast.iter_child_nodes(node))
    return found


def _guarded(body: list[ast.stmt], place: ast.stmt) -> ast.stmt:
    """A region: its tasks end with it, and their exceptions leave it as the calls would have raised them."""
    ending = ast.Try(body, [], [], [ast.Expr(_context_call(place, "settle"))])
    handler = ast.ExceptHandler(None, None, [ast.Expr(_context_call(place, "failing")), ast.Raise(None, None)])
    guarded = ast.Try([ending], [handler], [], [])
    _mark_as_made(ending, guarded)
    return ast.fix_missing_locations(ast.copy_location(guarded, place))


def _known(name: str, place: ast.stmt) -> ast.stmt:
    """After a region, a variable has its value; unless no statement has bound it."""
    value = _context_call(place, "value", ast.Name(name, ast.Load()))
    unbound = _context_call(place, "unbound").func
    handler = ast.ExceptHandler(unbound, None, [ast.Pass()])
    bound = ast.Assign([ast.Name(name, ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(ast.Try([bound], [handler], [], []), place))
