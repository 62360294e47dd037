"""What tagging adds to a body before its events are made: calls where a value leaves the variables without an event.

A comprehension, a `return` or an f-string is carried out by the interpreter itself. Where a context type tags values,
a function of ours stands there that takes the wrapper off. Their names start with ``@``, so they are no events.
Knows trees; must not know what a wrapper is.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import BINARY, INPLACE
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.symbols import VariantNames
from cassette_import.rewriting.trees.annotations import LITERAL, has, is_number
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS
from cassette_import.rewriting.trees.traversal import children, rebuild

_NOOVERDUB = "_nooverdub"


class Names(NamedTuple):
    """The names that are bound where a statement stands."""

    leaving: frozenset[str] | None
    """Those that belong to a module or class, bound by statements that are no events; None for all."""
    of_class: bool = False
    """Whether assignments are no events either."""
    is_catching: bool = False
    """Whether exceptions may end there, which have left a wrapper of what was being returned."""


VARIABLES: Final = Names(frozenset())
CATCHING: Final = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
OF_MODULE: Final = Names(None)
_OF_CLASS: Final = Names(None, of_class=True)


def convey(node: Any, shapes: Iterable[Shape], names: Names = OF_MODULE) -> Any:
    """Put the calls into a statement or expression; bodies of functions in it are left for later. In place.

    Literals are events only if some hook or overload asks for them: they are never tagged.
    """
    if not any(Events.DISPLAYS in context.events for shape in shapes for context in shape.contexts):
        return rebuild(node, names, _enter, _leave_with_literals)
    return rebuild(node, names, _enter, _leave)


def _leave_with_literals(node: Any, names: Names, level: int) -> Any:
    constant = isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and bool(node.elts)
    if is_number(node) or (constant and all(has(part, LITERAL) for part in node.elts)):
        setattr(node, _NOOVERDUB, True)
    return _leave(node, names, level)


def parameters(at: At, function: Any) -> list[ast.expr]:
    """Expressions that give `*args` and `**kwargs` of a function as containers without wrappers, by assignment."""
    rest = [part.arg for part in (function.args.vararg, function.args.kwarg) if part is not None]
    return [at.let(name, _call(at, symbols.TIDY, at.load(name))) for name in rest]


def returned(value: ast.expr) -> ast.expr:
    """A value that is returned or yielded."""
    return _call(At(value), symbols.RETURNED, value)


# ---- events, as long as there is no metadata anywhere

_CLAIMING: Final = frozenset(
    {"getattr", "operator.getitem", *BINARY.values(), *INPLACE.values()}
    | {"operator.lt", "operator.le", "operator.eq", "operator.ne", "operator.gt", "operator.ge"}
    | {"operator.neg", "operator.pos", "operator.invert"}
)
"""What gives the values that special methods of the program return."""

_SETTLED: Final = frozenset(
    {"operator.setitem", "operator.delitem", "setattr", "delattr", "operator.contains", "operator.not_"}
    | {"primitives.build_set", "primitives.build_dict"}
)
"""What may run code of the program, and gives another value."""

_OF_WHOLE: Final = frozenset({"operator.iadd", "operator.ior"})
"""What takes items from its right operand, which code of the program may make."""


def helper_after(name: str) -> str | None:
    """What is to be called after a primitive if metadata came into the world while it went on."""
    return symbols.CLAIMED if name in _CLAIMING else symbols.SETTLED if name in _SETTLED else None


def after(at: At, value: ast.expr, helper: str | None, result: str, *arguments: ast.expr) -> ast.expr:
    """A value, handed to a function of ours if there is metadata by then; `result` is a temporary.

    `helper(result) if (result := value) is @nothing or @tagged else result`: nothing is @nothing.
    """
    if helper is None:
        return value
    test = [at.same(at.let(result, value), at.load(symbols.NOTHING)), at.load(symbols.METADATA_EXISTS)]
    handed = at.call(at.load(helper), [*arguments, at.load(result)])
    return at.either(at.put(ast.BoolOp(ast.Or(), [*test])), handed, at.load(result))


def tested(at: At, prefix: str, event: Events, name: str, reads: Sequence[Callable[[], ast.expr]]) -> ast.expr:
    """Whether an event has to be conducted, or an overload may take it."""
    flag = symbols.ATTRIBUTES_WATCHED if name == "getattr" else symbols.METADATA_EXISTS
    tests: list[ast.expr] = [at.load(flag), at.load(VariantNames(prefix).is_overloaded_at(event))]
    if name in _OF_WHOLE:
        kind = at.call(at.load(symbols.ID), [at.call(at.load(symbols.TYPE), [reads[1]()])])
        tests.append(at.put(ast.Compare(kind, [ast.NotIn()], [at.load(symbols.whole_types(name))])))
    return at.put(ast.BoolOp(ast.Or(), tests))


def call(
    at: At, prefix: str, function: str, result: str, positional: list[ast.expr], keywords: list[ast.keyword]
) -> ast.expr:
    """A call of what the temporary `function` holds.

    A Python function gets what it is given; what becomes of others, and of what they give, the runner of calls says.

    Python 3.12 shows tracers a line once more where there is a jump after such a call.
    """
    callee, over = at.load(function), at.call(at.load(VariantNames(prefix).overload(Events.CALLS)), [at.load(function)])
    behind = at.call(at.load(symbols.TYPE), [at.attribute(callee, "__func__")])
    of_function: list[ast.expr] = [
        at.kind_is(function, at.kind("method")),
        at.same(behind, at.kind("function")),
    ]
    python: list[ast.expr] = [
        at.kind_is(function, at.kind("function")),
        at.put(ast.BoolOp(ast.And(), of_function)),
    ]
    other = at.put(ast.UnaryOp(ast.Not(), at.put(ast.BoolOp(ast.Or(), python))))
    test = at.put(ast.BoolOp(ast.Or(), [tested(at, prefix, Events.CALLS, "", ()), other]))
    untagged = after(at, at.call(callee, positional, keywords), symbols.CLAIMED_OF, result, callee)
    return at.either(test, at.call(over, positional, keywords), untagged)


def left(node: ast.Call, result: str) -> ast.expr:
    """A call of ours, which is left out if there is no metadata. What is returned needs no temporary any longer."""
    if _is_ours(node, symbols.RETURNED):
        return after(At(node), node.args[0], symbols.RETURNED, result)
    return node


def _is_ours(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


# ---- the walk


def _enter(node: ast.AST, names: Names) -> list[tuple[str, int | None, ast.AST, Names]]:
    if hasattr(node, _NOOVERDUB):
        return []
    skip: tuple[str, ...] = ("body", "returns", "type_params") if isinstance(node, FUNCTIONS) else ()
    if isinstance(node, ast.match_case):
        skip = ("pattern",)
    elif isinstance(node, (ast.AnnAssign, ast.arg)):
        skip = ("annotation",)
    elif type(node).__name__ == "TypeAlias":
        skip = ("value", "type_params")
    of_class = isinstance(node, ast.ClassDef)
    return [
        (name, index, child, _OF_CLASS if of_class and name == "body" else names)
        for name, index, child in children(node, skip)
    ]


def _call(at: At, name: str, value: ast.expr) -> ast.expr:
    return at.call(at.load(name), [value])


def _plain(node: Any, field: str) -> None:
    value = getattr(node, field)
    if value is not None and not isinstance(value, ast.Constant):
        setattr(node, field, _call(At(value), symbols.PLAIN, value))


def _leave(node: Any, names: Names, level: int) -> Any:
    if hasattr(node, _NOOVERDUB):
        return node
    if names.leaving is None or names.leaving:
        _bind(node, names)
    if _ANNOTATIONS_ARE_EVALUATED and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        _annotate(node)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
        return _call(At(node), symbols.TIDY, node)
    if isinstance(node, ast.JoinedStr):
        _format(node)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _READERS:
            return _hand_over(node, names)
    elif isinstance(node, ast.GeneratorExp):
        node.elt = returned(node.elt)
    elif isinstance(node, (ast.Return, ast.Yield)):
        if node.value is not None and (names.is_catching or not isinstance(node.value, ast.Constant)):
            node.value = returned(node.value)
        return _call(At(node), symbols.RECEIVED, node) if isinstance(node, ast.Yield) else node
    elif isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call) and _is_ours(node.value, symbols.RECEIVED):
            node.value = node.value.args[0]  # nobody looks at it
    elif isinstance(node, ast.keyword):
        if node.arg is None:
            node.value = _call(At(node.value), symbols.MAPPING, node.value)
    elif isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.slice.elts):
            for index, part in enumerate(node.slice.elts):
                if not isinstance(part, (ast.Slice, ast.Constant, ast.Starred)):
                    node.slice.elts[index] = _call(At(part), symbols.PLAIN, part)
    elif isinstance(node, ast.Dict):
        for index, key in enumerate(node.keys):
            if key is None:
                node.values[index] = _call(At(node.values[index]), symbols.MAPPING, node.values[index])
    elif isinstance(node, ast.arguments):
        for values in (node.defaults, node.kw_defaults):
            for index, value in enumerate(values):
                if value is not None and not isinstance(value, ast.Constant):
                    values[index] = _call(At(value), symbols.PLAIN, value)
    elif type(node) in _LEAVING or type(node).__name__ == "Interpolation":  # 3.14
        for field in _LEAVING.get(type(node), ("value",)):
            _plain(node, field)
    return node


def _bind(node: Any, names: Names) -> None:
    """What is bound to the names of a module or class without an event loses its wrapper."""
    if isinstance(node, ast.NamedExpr):
        if names.leaving is None or node.target.id in names.leaving:
            _plain(node, "value")
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if node.decorator_list and (names.leaving is None or node.name in names.leaving):
            node.decorator_list.insert(0, At(node.decorator_list[0]).load(symbols.PLAIN))
    elif names.of_class:
        if isinstance(node, ast.For):
            node.iter = _call(At(node.iter), symbols.PLAIN_ITEMS, node.iter)
        elif isinstance(node, ast.Assign) and any(isinstance(part, (ast.Tuple, ast.List)) for part in node.targets):
            node.value = _call(At(node.value), symbols.PLAIN_ITEMS, node.value)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            _plain(node, "value")


def _annotate(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
    """Annotations stay as they are written, and lose their wrappers when they have been evaluated."""
    at = At(node)
    if not isinstance(node, ast.ClassDef):
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        found = [node.returns, *(part.annotation for part in every if part is not None)]
        if not all(annotation is None or isinstance(annotation, ast.Constant) for annotation in found):
            node.decorator_list.append(at.load(symbols.ANNOTATED))
    elif any(isinstance(statement, ast.AnnAssign) for statement in node.body):
        at = At(node.body[-1])
        read = at.call(at.load(symbols.ANNOTATIONS), [at.load("__annotations__")])
        setattr(read, _NOOVERDUB, True)
        node.body.append(at.put(ast.Expr(read)))


_ANNOTATIONS_ARE_EVALUATED: Final = sys.version_info < (3, 14)
"""With the function or class, and not when they are asked for."""


def _format(node: ast.JoinedStr) -> None:
    """The values in an f-string are formatted by us; in a format specification they only lose their wrappers."""
    for index, part in enumerate(node.values):
        if not isinstance(part, ast.FormattedValue):
            continue
        if has(node, LITERAL):
            _plain(part, "value")
            continue
        at = At(part)
        arguments: list[ast.expr] = [part.value]
        if part.conversion != -1 or part.format_spec is not None:
            arguments.append(at.constant(part.conversion))
        if part.format_spec is not None:
            arguments.append(part.format_spec)
        node.values[index] = at.call(at.load(symbols.FORMATTED), arguments)


_READERS = frozenset({"eval", "exec", "locals", "vars", "dir", "__import__", "type"})
"""Builtins that look at the frame they are called from, so that their calls are no events; `type` on 3.11."""


def _hand_over(node: ast.Call, names: Names) -> ast.expr:
    """What such a function is given, or finds in the variables, loses its wrapper, if it is that function."""
    at, name = At(node), node.func.id  # type: ignore[attr-defined]

    def function() -> ast.Name:
        found = at.put(ast.Name(name, ast.Load()))
        setattr(found, _NOOVERDUB, True)
        return found

    for index, argument in enumerate(node.args):
        if not isinstance(argument, (ast.Starred, ast.Constant)):
            node.args[index] = at.call(at.load(symbols.HANDED), [function(), argument])
    if names.leaving is None or node.keywords:
        return node
    if len(node.args) == 1 and name in ("eval", "exec") and not isinstance(node.args[0], ast.Starred):
        scope = [at.call(at.load(read), []) for read in (symbols.GLOBALS, symbols.LOCALS)]
        given = at.put(ast.Starred(at.call(at.load(symbols.SCOPE), [function(), *scope]), ast.Load()))
        setattr(given, _NOOVERDUB, True)
        node.args.append(given)
    elif not node.args and name in ("locals", "vars"):
        return at.call(at.load(symbols.SNAPSHOT), [function(), node])
    return node


_LEAVING: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Await: ("value",),
    ast.ExceptHandler: ("type",),
    ast.Match: ("subject",),
    ast.Raise: ("exc", "cause"),
    ast.Slice: ("lower", "upper", "step"),
    ast.withitem: ("context_expr",),
}
