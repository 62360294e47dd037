"""Where values may be tagged: calls that take wrappers off, where a value leaves the variables without an event.

The interpreter itself carries out a comprehension, a `return` or an f-string. Where a context type tags values,
`insert_unwrapping` adds a call of the runtime there. It runs before events are built; the names of the functions that
it calls start with ``@``, so these calls are no events.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import binding_statements
from cassette_import.rewriting.forms.binding_statements import (
    Names,
    async_clause,
    async_loop,
    import_statement,
    match_statement,
    with_block,
)
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.annotations import AROUND, LITERAL, NOOVERDUB, has, is_number
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Function,
    clone,
    is_suspendable,
    reads_locals,
    survey,
)
from cassette_import.rewriting.trees.traversal import children, rebuild

# ---- the plain branch of a closure: it reads its free variables without wrappers
#
# A variable of an overdubbed function may hold a wrapper, and a function in it may run where the context is not active:
# in another thread, or after the end. So if any value may be tagged, such a function runs a copy of its plain body in
# which each load of a free variable takes the wrapper off. A generator has one body for all contexts; it asks which is
# active.


def free_names(function: Function, around: Iterable[str]) -> frozenset[str]:
    """The names of the functions around a function that it may read; `around` are those that are not in the tree."""
    known = getattr(function, AROUND, (None, ()))[1]
    nonlocal_names: set[str] = set()
    if not isinstance(function, ast.Lambda):
        work: list[ast.AST] = list(function.body)
        while work:
            part = work.pop()
            if isinstance(part, ast.Nonlocal):
                nonlocal_names.update(part.names)
            elif not isinstance(part, (*FUNCTIONS, ast.ClassDef, ast.expr)):
                work += ast.iter_child_nodes(part)
    own = survey(function).bound - nonlocal_names
    return (frozenset(known) | frozenset(around) | nonlocal_names) - own - survey(function).declared


def with_plain_reads(block: list[ast.stmt], names: frozenset[str]) -> list[ast.stmt] | None:
    """A copy of a block whose free variables are read without wrappers; None if it reads none."""
    reads = _Reads(names, symbols.READ_PLAIN)
    made: list[Any] = [reads.visit(clone(statement)) for statement in block]
    return made if reads.found else None


def with_plain_reads_of(value: ast.expr, names: frozenset[str]) -> ast.expr | None:
    """The same for the body of a lambda."""
    reads = _Reads(names, symbols.READ_PLAIN)
    made: Any = reads.visit(clone(value))
    return made if reads.found else None


def insert_reads_where_active(node: Any, names: frozenset[str]) -> Any:
    """A statement or expression of a generator, changed in place: it takes wrappers off where no context is active."""
    return _Reads(names, symbols.READ_WHERE_ACTIVE, in_use=True).visit(node)


class _Reads(ast.NodeTransformer):
    """Puts a call around each load of some names; functions and classes in the block are left out."""

    def __init__(self, names: frozenset[str], function: str, in_use: bool = False) -> None:
        self._names = names
        self._function = function
        self._in_use = in_use
        self.found = False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names or not isinstance(node.ctx, ast.Load) or hasattr(node, NOOVERDUB):
            return node
        self.found = True
        at = At(node)
        call = at.call(at.symbol(self._function), [node])
        if not self._in_use:
            return call
        made = at.either(at.symbol(symbols.METADATA_EXISTS), call, node)
        setattr(made, NOOVERDUB, True)
        return made

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        self.visit(node.args)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self.visit(node.args)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        node.bases = [self.visit(one) for one in node.bases]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [self.visit(part) for part in node.body]
        return node


# ---- where values may be tagged: values that are returned while code is still to run, and keep their wrappers
#
# A function leaves the wrapper of what it returns in the state of the thread. The `__exit__` of a manager, a `finally`
# clause and the method `__del__` run after that, and what they return would take its place. So the wrapper is left
# again behind them.

_WITH = (ast.With, ast.AsyncWith)
_TRY = (ast.Try, ast.TryStar)


def with_returns_kept(function: Function, block: list[ast.stmt]) -> list[ast.stmt]:
    """The block of a function, in which wrappers are left again behind code that runs after `return`."""
    keeper = _InStack() if reads_locals(function) else _InVariable()
    if getattr(function, "name", None) == "__del__":
        return keeper.around(keeper.kept_before(), block)
    return _kept(block, is_suspendable(function), keeper)


class _InVariable:
    """Where what is returned is kept: in a variable of the function."""

    def nothing(self) -> ast.stmt:
        """Before a block whose results are kept."""
        return self._assigned(At.nowhere(), At.nowhere().constant(None))

    def kept_before(self) -> ast.stmt:
        """Keep what was returned before."""
        nowhere = At.nowhere()
        return self._assigned(nowhere, _done(nowhere, symbols.RETURNED_BEFORE))

    def kept(self, at: At, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        """Keep a value that is about to be returned: statements, and what is returned then."""
        assigned: ast.stmt = at.put(ast.Assign([at.store(temporaries.RETURNED_VALUE)], value))
        return [assigned], at.load(temporaries.RETURNED_VALUE)

    def is_kept(self, value: ast.expr) -> bool:
        """Whether `value` is what an inner block has kept."""
        return isinstance(value, ast.Name) and value.id == temporaries.RETURNED_VALUE

    def around(self, begin: ast.stmt, block: list[ast.stmt]) -> list[ast.stmt]:
        """A block that runs between two statements of any other function."""
        nowhere = At.nowhere()
        return [begin, nowhere.put(ast.Try(block, [], [], [self._left_again(nowhere)]))]

    def finally_clause(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """A clause that runs after `return`."""
        return [self.kept_before(), *block, self._left_again(At.nowhere())]

    def _assigned(self, at: At, value: ast.expr) -> ast.stmt:
        setattr(value, NOOVERDUB, True)
        return at.put(ast.Assign([at.store(temporaries.RETURNED_VALUE)], value))

    def _left_again(self, at: At) -> ast.stmt:
        left = _done(at, symbols.LEFT_AGAIN, at.load(temporaries.RETURNED_VALUE))
        made: ast.stmt = at.put(ast.Expr(at.either(at.symbol(symbols.METADATA_EXISTS), left, at.constant(None))))
        setattr(made, NOOVERDUB, True)
        return made


class _InStack(_InVariable):
    """Where what is returned is kept: in a stack of the frame, because the function would see variables."""

    def nothing(self) -> ast.stmt:
        return _step(symbols.STACK_RETURNED, At.nowhere().constant(None))

    def kept_before(self) -> ast.stmt:
        nowhere = At.nowhere()
        return _step(symbols.STACK_RETURNED, _done(nowhere, symbols.RETURNED_BEFORE))

    def kept(self, at: At, value: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
        return [], _done(at, symbols.KEEP_RETURNED, value)

    def is_kept(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and hasattr(value, _KEEPS)

    def finally_clause(self, block: list[ast.stmt]) -> list[ast.stmt]:
        return self.around(self.kept_before(), block)  # the stack is emptied also where the clause fails

    def _left_again(self, at: At) -> ast.stmt:
        return _step(symbols.LEFT_FROM_STACK)


_KEEPS: Final = "_keeps"


def _done(at: At, symbol: str, *operands: ast.expr) -> ast.expr:
    """The call of a function of our own, which is no event."""
    made = at.call(at.symbol(symbol), operands)
    setattr(made, NOOVERDUB, True)
    if symbol == symbols.KEEP_RETURNED:
        setattr(made, _KEEPS, True)
    return made


def _step(symbol: str, *operands: ast.expr) -> ast.stmt:
    nowhere = At.nowhere()
    made: ast.stmt = nowhere.put(ast.Expr(_done(nowhere, symbol, *operands)))
    setattr(made, NOOVERDUB, True)
    return made


def _kept(block: list[ast.stmt], may_be_closed: bool, keeper: _InVariable) -> list[ast.stmt]:
    """A block; a generator may be closed anywhere, after `return` as well, and runs its `finally` clauses then."""
    made: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            made.append(statement)
            continue
        returns = isinstance(statement, (*_WITH, *_TRY)) and any(_returns_in([statement], keeper))
        for owner, name in _blocks_of(statement):
            setattr(owner, name, _kept(getattr(owner, name), may_be_closed, keeper))
        if isinstance(statement, _TRY) and statement.finalbody and (returns or may_be_closed):
            statement.finalbody = keeper.finally_clause(statement.finalbody)
        made += _around_block(statement, keeper) if isinstance(statement, _WITH) and returns else [statement]
    return made


def _around_block(statement: ast.With | ast.AsyncWith, keeper: _InVariable) -> list[ast.stmt]:
    """`with`: each value that is returned out of the block is kept, and left again behind `__exit__`."""
    for block, number, found in _returns_in([statement], keeper):
        statements, found.value = keeper.kept(At(found), found.value)
        block[number:number] = statements
    return keeper.around(keeper.nothing(), [statement])


def _returns_in(block: list[ast.stmt], keeper: _InVariable) -> Iterator[tuple[list[ast.stmt], int, Any]]:
    """The statements in a block that return a value that may have metadata, last ones first."""
    for number in reversed(range(len(block))):
        statement = block[number]
        if isinstance(statement, ast.Return):
            value = statement.value
            if not (value is None or isinstance(value, ast.Constant) or keeper.is_kept(value)):
                yield block, number, statement
        elif not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            for owner, name in _blocks_of(statement):
                yield from _returns_in(getattr(owner, name), keeper)


def _blocks_of(statement: ast.stmt) -> Iterator[tuple[Any, str]]:
    for owner in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(owner, name, None), list):
                yield owner, name


# ---- where values may be tagged: calls that take wrappers off, where a value leaves the variables without an event

VARIABLES: Final = Names(frozenset())
CATCHING: Final = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
OF_MODULE: Final = Names(None)


def insert_unwrapping(node: Any, shapes: Iterable[Shape], names: Names = OF_MODULE) -> Any:
    """Add the calls to a statement or expression, in place. Bodies of nested functions are left out.

    Literals, which are never tagged, become events only if some hook or overload wants them.
    """
    if not any(Events.DISPLAYS in context.events for shape in shapes for context in shape.contexts):
        return rebuild(node, names, _enter, _leave_with_literals)
    return rebuild(node, names, _enter, _leave)


def _leave_with_literals(node: Any, names: Names, depth: int) -> Any:
    constant = isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and bool(node.elts)
    if is_number(node) or (constant and all(has(part, LITERAL) for part in node.elts)):
        setattr(node, NOOVERDUB, True)
    return _leave(node, names, depth)


def rest_parameters(at: At, function: Any) -> list[ast.expr]:
    """Assignment expressions that take the wrappers out of the `*args` and `**kwargs` of a function."""
    rest = [part.arg for part in (function.args.vararg, function.args.kwarg) if part is not None]
    return [at.let(name, _call(at, symbols.ENTERED_REST, at.load(name))) for name in rest]


def parameters(at: At, function: Any, is_suspendable: bool) -> list[ast.stmt]:
    """A statement that restores the wrappers of parameters: a leaf passes plain values to functions that it calls."""
    names = _parameter_names(function)
    if not names:
        return []
    helper = at.symbol(symbols.RESUMED if is_suspendable else symbols.ENTERED)
    targets = at.put(ast.Tuple([at.store(name) for name in names], ast.Store()))
    assignment = at.put(ast.Assign([targets], at.call(helper, [at.load(name) for name in names])))
    restored = at.put(ast.If(at.symbol(symbols.METADATA_EXISTS), [assignment], []))
    setattr(restored, NOOVERDUB, True)
    return [restored]


def lambda_parameters(at: At, function: ast.Lambda) -> list[ast.expr]:
    """The same for a lambda: an expression for each parameter."""
    found: list[ast.expr] = []
    for name in _parameter_names(function):
        value = _call(at, symbols.ENTERED_WITH, at.load(name))
        found.append(at.either(at.symbol(symbols.METADATA_EXISTS), at.let(name, value), at.constant(None)))
    return found


def _parameter_names(function: Any) -> list[str]:
    given = function.args
    return [part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def returned(value: ast.expr) -> ast.expr:
    """A value that is returned or yielded."""
    return _call(At(value), symbols.RETURNED, value)


def _is_call_of(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


# ---- the walk


def _enter(node: ast.AST, names: Names) -> list[tuple[str, int | None, ast.AST, Names]]:
    if hasattr(node, NOOVERDUB):
        return []
    found = children(node, _UNVISITED.get(node.__class__, ()))
    if isinstance(node, ast.ClassDef):
        inside = binding_statements.names_of_class(node)
        return [(name, index, child, inside if name == "body" else names) for name, index, child in found]
    if (names.of_class or names.may_be_prepared) and isinstance(node, (*COMPREHENSIONS, ast.comprehension)):
        # The first iterable is evaluated in the class, everything else in a scope of its own.
        outside = node.iter if isinstance(node, ast.comprehension) else node.generators[0]
        return [(name, index, child, names if child is outside else OF_MODULE) for name, index, child in found]
    return [(name, index, child, names) for name, index, child in found]


_UNVISITED: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    **dict.fromkeys(FUNCTIONS, ("body", "returns", "type_params")),
    ast.match_case: ("pattern",),
    ast.AnnAssign: ("annotation",),
    ast.arg: ("annotation",),
}
"""The fields of nodes that the walk leaves out."""
if hasattr(ast, "TypeAlias"):  # 3.12
    _UNVISITED[ast.TypeAlias] = ("value", "type_params")


def _call(at: At, name: str, value: ast.expr) -> ast.expr:
    return at.call(at.symbol(name), [value])


def _plain(node: Any, field: str) -> None:
    value = getattr(node, field)
    if value is not None and not isinstance(value, ast.Constant):
        setattr(node, field, _call(At(value), symbols.PLAIN, value))


def _leave(node: Any, names: Names, depth: int) -> Any:
    if hasattr(node, NOOVERDUB):
        return node
    kind = type(node)
    bind = None if names.leaving is not None and not names.leaving else _BINDING.get(kind)
    if names.of_class or names.may_be_prepared:
        if kind is ast.Name:
            return binding_statements.read(node) if binding_statements.is_read(node, names) else node
        if kind is ast.NamedExpr and node.target.id in names.of_class:
            return binding_statements.bound_by_expression(node)
        bind = binding_statements.BINDING.get(kind, bind)
    if bind is not None:
        bind(node, names)
    if kind in _ANNOTATED:
        _annotate(node)
    handler = _HANDLERS.get(kind)
    return node if handler is None else handler(node, names)


# ---- what is bound to the names of a module or class without an event loses its wrapper


def _bind_expression(node: ast.NamedExpr, names: Names) -> None:
    if not names.is_variable(node.target.id):
        _plain(node, "value")


def _bind_definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, names: Names) -> None:
    if node.decorator_list and not names.is_variable(node.name):
        node.decorator_list.insert(0, At(node.decorator_list[0]).symbol(symbols.PLAIN))


_BINDING: Final[dict[type[ast.AST], Callable[[Any, Names], None]]] = {
    ast.NamedExpr: _bind_expression,
    ast.FunctionDef: _bind_definition,
    ast.AsyncFunctionDef: _bind_definition,
    ast.ClassDef: _bind_definition,
}


# ---- other nodes in which a value leaves the variables without an event


def _comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp, names: Names) -> ast.expr:
    return _call(At(node), symbols.TIDY, node)


def _generator(node: ast.GeneratorExp, names: Names) -> ast.expr:
    node.elt = returned(node.elt)
    return node


def _pass_out(node: ast.Return | ast.Yield, names: Names) -> None:
    if node.value is not None and (names.is_catching or not isinstance(node.value, ast.Constant)):
        node.value = returned(node.value)


def _return(node: ast.Return, names: Names) -> ast.stmt:
    _pass_out(node, names)
    return node


def _yield(node: ast.Yield, names: Names) -> ast.expr:
    _pass_out(node, names)
    return _call(At(node), symbols.RECEIVED, node)


def _wait(node: ast.Await | ast.YieldFrom, names: Names) -> ast.expr:
    node.value = _call(At(node.value), symbols.WAITING, node.value)
    return _call(At(node), symbols.FINISHED, node)


def _expression_statement(node: ast.Expr, names: Names) -> ast.stmt:
    call = node.value
    if isinstance(call, ast.Call) and (_is_call_of(call, symbols.RECEIVED) or _is_call_of(call, symbols.FINISHED)):
        waits = call.args[0]  # the value is not used
        # A `yield` without a value keeps the call: that is how the body is known for one that passes wrappers on.
        if not (isinstance(waits, ast.Yield) and (waits.value is None or isinstance(waits.value, ast.Constant))):
            node.value = waits
    return node


def _reader_call(node: ast.Call, names: Names) -> ast.expr:
    is_reader = isinstance(node.func, ast.Name) and node.func.id in _READERS
    return _hand_over(node, names) if is_reader else node


def _keyword(node: ast.keyword, names: Names) -> ast.keyword:
    if node.arg is None:
        node.value = _call(At(node.value), symbols.MAPPING, node.value)
    return node


def _dict(node: ast.Dict, names: Names) -> ast.expr:
    for index, key in enumerate(node.keys):
        if key is None:
            node.values[index] = _call(At(node.values[index]), symbols.MAPPING, node.values[index])
    return node


def _subscript(node: ast.Subscript, names: Names) -> ast.expr:
    """An index with several slices, as arrays have it."""
    index = node.slice
    if isinstance(index, ast.Tuple) and any(isinstance(part, ast.Slice) for part in index.elts):
        for number, part in enumerate(index.elts):
            if not isinstance(part, (ast.Slice, ast.Constant, ast.Starred)):
                index.elts[number] = _call(At(part), symbols.PLAIN_BOUND, part)
    return node


def _class(node: ast.ClassDef, names: Names) -> ast.stmt:
    return binding_statements.with_decorator(node)


def _has_defaults(node: Any) -> bool:
    """Whether defaults of a function may have metadata."""
    values = [*node.args.defaults, *node.args.kw_defaults]
    return not all(value is None or isinstance(value, ast.Constant) for value in values)


def _lambda(node: ast.Lambda, names: Names) -> ast.expr:
    return _call(At(node), symbols.DEFAULTS, node) if _has_defaults(node) else node


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, names: Names) -> ast.stmt:
    if _has_defaults(node):
        node.decorator_list.append(At(node).symbol(symbols.DEFAULTS))
    return node


def _slice(node: ast.Slice, names: Names) -> ast.Slice:
    for field in ("lower", "upper", "step"):
        value = getattr(node, field)
        if value is not None and not isinstance(value, ast.Constant):
            setattr(node, field, _call(At(value), symbols.PLAIN_BOUND, value))
    return node


def _assert(node: ast.Assert, names: Names) -> ast.Assert:
    """The message becomes the argument of an exception that the interpreter makes."""
    if node.msg is not None and not isinstance(node.msg, ast.Constant):
        node.msg = _call(At(node.msg), symbols.MESSAGE, node.msg)
    return node


def _plain_fields(*fields: str) -> Callable[[Any, Names], ast.AST]:
    """A handler that takes the wrappers off the values in some fields."""

    def handler(node: ast.AST, names: Names) -> ast.AST:
        for field in fields:
            _plain(node, field)
        return node

    return handler


def _manager(node: ast.withitem, names: Names) -> ast.withitem:
    node.context_expr = _call(At(node.context_expr), symbols.MANAGER, node.context_expr)
    return node


def _annotate(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    """Leave annotations as they are written, and take their wrappers off once they have been evaluated."""
    at = At(node)
    if not isinstance(node, ast.ClassDef):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        found = [node.returns, *(part.annotation for part in every if part is not None)]
        if not all(annotation is None or isinstance(annotation, ast.Constant) for annotation in found):
            node.decorator_list.append(at.symbol(symbols.ANNOTATED))
    elif any(isinstance(statement, ast.AnnAssign) for statement in node.body):
        at = At(node.body[-1])
        read = at.call(at.symbol(symbols.ANNOTATIONS), [at.load("__annotations__")])
        setattr(read, NOOVERDUB, True)
        node.body.append(at.put(ast.Expr(read)))


_ANNOTATED: Final[tuple[type[ast.AST], ...]] = (
    (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef) if sys.version_info < (3, 14) else ()
)
"""What evaluates its annotations when it is defined, and not when they are read (PEP 649)."""


def _format(node: ast.JoinedStr, names: Names) -> ast.expr:
    """Format the values in an f-string by a call; in a format specification, their metadata is lost."""
    for index, part in enumerate(node.values):
        if not isinstance(part, ast.FormattedValue):
            continue
        at = At(part)
        if has(node, LITERAL):
            part.value = at.call(at.symbol(symbols.SPECIFIED), [part.value])
            continue
        arguments: list[ast.expr] = [part.value]
        if part.conversion != -1 or part.format_spec is not None:
            arguments.append(at.constant(part.conversion))
        if part.format_spec is not None:
            arguments.append(part.format_spec)
        node.values[index] = at.call(at.symbol(symbols.FORMATTED), arguments)
    return node


_READERS = frozenset({"eval", "exec", "locals", "vars", "dir", "__import__", "type"})
"""Builtins that read the frame they are called from, so that their calls are no events; `type` on 3.11."""


def _hand_over(node: ast.Call, names: Names) -> ast.expr:
    """Take wrappers off the arguments of such a function and off the variables that it reads.

    Whether the name holds that function is tested when the call runs.
    """
    at, name = At(node), node.func.id  # type: ignore[attr-defined]  # its kind is known

    def function() -> ast.Name:
        found = at.put(ast.Name(name, ast.Load()))
        setattr(found, NOOVERDUB, True)
        return found

    for index, argument in enumerate(node.args):
        is_constant = isinstance(argument, ast.Constant) and name not in ("eval", "exec")
        if not isinstance(argument, ast.Starred) and not is_constant:
            node.args[index] = at.call(at.symbol(symbols.HANDED), [function(), argument])
    if names.leaving is None or node.keywords:
        return node
    if len(node.args) == 1 and name in ("eval", "exec") and not isinstance(node.args[0], ast.Starred):
        scope = [at.call(at.symbol(read), []) for read in (symbols.GLOBALS, symbols.LOCALS)]
        given = at.put(ast.Starred(at.call(at.symbol(symbols.SCOPE), [function(), *scope]), ast.Load()))
        setattr(given, NOOVERDUB, True)
        node.args.append(given)
    elif not node.args and name in ("locals", "vars"):
        return at.call(at.symbol(symbols.SNAPSHOT), [function(), node])
    return node


_HANDLERS: Final[dict[type[ast.AST], Callable[[Any, Names], Any]]] = {
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _generator,
    ast.JoinedStr: _format,
    ast.Call: _reader_call,
    ast.Return: _return,
    ast.Yield: _yield,
    ast.Expr: _expression_statement,
    ast.keyword: _keyword,
    ast.Dict: _dict,
    ast.Subscript: _subscript,
    ast.ClassDef: _class,
    ast.comprehension: async_clause,
    ast.Lambda: _lambda,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Assert: _assert,
    ast.Await: _wait,
    ast.YieldFrom: _wait,
    ast.With: with_block,
    ast.AsyncWith: with_block,
    ast.AsyncFor: async_loop,
    ast.ExceptHandler: _plain_fields("type"),
    ast.Match: match_statement,
    ast.ImportFrom: import_statement,
    ast.Raise: _plain_fields("exc", "cause"),
    ast.Slice: _slice,
    ast.withitem: _manager,
}
if hasattr(ast, "Interpolation"):  # 3.14
    _HANDLERS[ast.Interpolation] = _plain_fields("value")
