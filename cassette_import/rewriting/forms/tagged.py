"""Where values may be tagged: calls that take wrappers off, where a value leaves the variables without an event.

The interpreter itself carries out a comprehension, a `return` or an f-string. Where a context type tags values,
`insert_unwrapping` adds a call of the runtime there. It runs before events are built; the names of the functions that
it calls start with ``@``, so these calls are no events.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import class_bodies
from cassette_import.rewriting.forms.binding_statements import (
    Names,
    async_clause,
    async_loop,
    import_statement,
    match_statement,
    with_block,
)
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.trees.annotations import LITERAL, NOOVERDUB, has, is_number
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import COMPREHENSIONS, FUNCTIONS
from cassette_import.rewriting.trees.traversal import children, rebuild

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
        inside = class_bodies.names_of_class(node)
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
            return class_bodies.read(node) if class_bodies.is_read(node, names) else node
        if kind is ast.NamedExpr and node.target.id in names.of_class:
            return class_bodies.bound_by_expression(node)
        bind = class_bodies.BINDING.get(kind, bind)
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
    return class_bodies.with_decorator(node)


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
