"""Running passes: each gets what the one before returned, and what comes back is checked before it is used.

Knows trees and functions; must not know activations or which code is live.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from cassette_import.errors import PassError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.rewriter import NOOVERDUB, PASSED
from cassette_import.rewriting.trees.code_matching import Index, nested_functions
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, clone, is_suspendable, split_docstring
from cassette_import.rewriting.trees.traversal import children
from cassette_import.runtime.names import PROVIDED
from cassette_import.specialization.passes.name_resolution import HOME
from cassette_import.specialization.passes.reflection import Reflection
from cassette_import.specialization.passes.tree_tools import SLOT, nooverdub, replace_match
from cassette_import.specialization.passes.validation import Unfit, check, compiled

_HISTORY: Final = "_history"
"""The attribute of a function's node that says which passes made it, and of what."""
_ORIGIN: Final = "_origin"
"""The attribute of a function's node that holds it as it was before any pass."""
_NUMBER: Final = "_number"
"""The attribute of a nested function's node that tells which of the origin's it is, whatever a pass did to it."""
_DEEP: Final = 200
"""From so many frames on, a `RecursionError` may be the program's, and specialising tries again on a fresh stack."""

_FAILURE: Final = "_failure"
"""The attribute of a function's node that says which error stands in the place of its body."""

_failures: list[PassError] = []
_made: dict[Any, Function] = {}
"""What passes made, so that each runs once for a body, however often the code of the function is put together."""


def apply(
    passes: Sequence[Any], context_type: type, level: int, function: FunctionType, tree: Function, source: str
) -> Function:
    """Run the passes of one context, the `level`th of its stack, each on what the one before returned.

    If a pass raises, or returns something that cannot take the place of the body, the body raises a `PassError`
    whenever the function runs in the context. The code is made for other contexts too, which have no part in that.
    """
    if failure_of(tree) is not None:
        return tree
    if not hasattr(tree, _ORIGIN):
        for number, inner in enumerate(_nested(tree)):
            setattr(inner, _NUMBER, number)
    key = (_history(function, tree), context_type, tuple(passes), level)
    if key not in _made:
        made = tree
        try:
            for one in passes:
                made = _pass(one, context_type, function, made, source)
            _fill_slots(made, level)
            _pass_nested(passes, context_type, level, function, made, source)
        except PassError as error:
            made = _failing(tree, error)
        setattr(made, _HISTORY, key)
        _made[key] = made
    return _copy(_made[key])


def failure_of(tree: Function) -> PassError | None:
    """Why there is no body to be had from a pass, if it failed."""
    number = getattr(tree, _FAILURE, None)
    return None if number is None else _failures[number]


def _failing(tree: Function, error: PassError) -> Function:
    """The function with a body that raises the error."""
    failing = _copy(tree)
    at = At(_first(tree))
    call = nooverdub(at.call(at.load("@pass_failed"), [at.constant(len(_failures))]))
    failing.body = call if isinstance(failing, ast.Lambda) else [at.put(ast.Expr(call))]
    setattr(failing, _FAILURE, len(_failures))
    _failures.append(error.with_traceback(None))
    return failing


@hidden
def _raise_failure(number: int) -> None:
    raise PassError(*_failures[number].args) from _failures[number].__cause__


PROVIDED.add({"@pass_failed": _raise_failure})


def _first(tree: Function) -> ast.AST:
    """What the body begins with, but for a docstring."""
    if isinstance(tree, ast.Lambda):
        return tree.body
    docstring, body = split_docstring(tree.body)
    return (body or docstring)[0]


def _copy(tree: Function) -> Function:
    copied: Any = clone(tree)
    return copied  # type: ignore[no-any-return]


def _history(function: FunctionType, tree: Function) -> Any:
    """What tells a body from all others: where it stands, and what it says; and what passes have done to it."""
    known = getattr(tree, _HISTORY, None)
    if known is not None:
        return known
    body: list[Any] = tree.body if isinstance(tree.body, list) else [tree.body]
    code = function.__code__
    place = code.co_filename, code.co_qualname, body[0].lineno, body[0].col_offset
    return (*place, id(function.__globals__), *(_told(node) for part in body for node in ast.walk(part)))


def _told(node: ast.AST) -> tuple[Any, ...]:
    """What a node says, but for its parts. (`ast.dump` recurses, and expressions may be deep.)"""
    said: list[Any] = [type(node)]
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            said.append(tuple(type(item) if isinstance(item, ast.AST) else item for item in value))
        else:
            said.append(type(value) if isinstance(value, ast.AST) else (type(value), repr(value)))
    return tuple(said)


def _pass(one: Any, context_type: type, function: FunctionType, tree: Function, source: str) -> Function:
    code = function.__code__
    name = getattr(one, "__qualname__", None) or repr(one)
    where = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
    shown = _with_surroundings(_copy(tree), source, code)
    reflection = Reflection(function, shown, source, code.co_filename, code.co_firstlineno, context_type)
    try:
        result = one(context_type, reflection)
    except RecursionError as error:
        if _is_deep():
            raise
        raise PassError(f"pass {name} failed on {where}: RecursionError: {error}") from error
    except Exception as error:
        raise PassError(f"pass {name} failed on {where}: {type(error).__name__}: {error}") from error
    origin = getattr(tree, _ORIGIN, tree)
    try:
        made = _taken_over(result, tree)
        _leave_nested_alone(made, origin)
        check(made, origin, function)
    except Unfit as error:
        raise PassError(f"pass {name} {error} for {where}") from error.__cause__
    setattr(made, _ORIGIN, origin)
    return made


def _is_deep() -> bool:
    try:
        sys._getframe(_DEEP)
    except ValueError:
        return False
    return True


def _with_surroundings(tree: Function, source: str, code: CodeType) -> Function:
    """The node with its decorators, defaults and annotations, which specialising has taken away.

    They are there to be looked at: they are evaluated once, where the function is made, so a pass cannot change them.
    """
    if isinstance(tree, ast.Lambda):
        return tree
    try:
        (written,) = ast.parse(source).body
    except (SyntaxError, ValueError):
        return tree
    if isinstance(written, type(tree)) and written.name == tree.name:
        ast.increment_lineno(written, code.co_firstlineno - 1)
        tree.decorator_list, tree.args, tree.returns = written.decorator_list, written.args, written.returns
        if hasattr(written, "type_params"):
            tree.type_params = written.type_params  # type: ignore[union-attr]
    return tree


# ---- functions in the function


def _nested(tree: Function) -> list[Any]:
    return [node for node in ast.walk(tree) if node is not tree and isinstance(node, FUNCTIONS)]


def _leave_nested_alone(made: Function, origin: Function) -> None:
    """Functions in the function keep their own bodies: those are bodies of their own, and made for all contexts.

    A function that was not there before, or has other parameters now, is the pass's own.
    """
    before = _nested(origin)
    for inner in _nested(made):
        number = getattr(inner, _NUMBER, None)
        if number is None:
            continue
        if _parameters(inner) == _parameters(before[number]):
            copied: Any = clone(before[number])
            inner.body = copied.body
        else:
            delattr(inner, _NUMBER)


def _pass_nested(
    passes: Sequence[Any], context_type: type, level: int, function: FunctionType, made: Function, source: str
) -> None:
    """Run the passes on the functions in the function, each by itself, as it was written."""
    origin = getattr(made, _ORIGIN)
    before = _nested(origin)
    numbers = {number: inner for inner in _nested(made) if (number := getattr(inner, _NUMBER, None)) is not None}
    deeper = {getattr(inner, _NUMBER) for node in before for inner in _nested(node)}
    index = Index(ast.Module([ast.Expr(origin) if isinstance(origin, ast.Lambda) else origin], []))
    codes = _functions_in(compiled(origin, function.__code__.co_freevars)) if before else []
    found = {id(place.node): (path, code) for path, code in codes if (place := index.find(code)) is not None}
    for number, inner in numbers.items():
        written = before[number]
        if number in deeper or id(written) not in found:
            continue
        path, code = found[id(written)]
        earlier = getattr(inner, PASSED, None)
        like = _like(function, path, code)
        tree = _copy(written if earlier is None else earlier)
        if earlier is None and hasattr(tree, _ORIGIN):
            delattr(tree, _ORIGIN)
        first = code.co_firstlineno - function.__code__.co_firstlineno
        last = written.end_lineno - function.__code__.co_firstlineno + 1
        text = textwrap.dedent("".join(source.splitlines(keepends=True)[first:last]))
        setattr(inner, PASSED, apply(passes, context_type, level, like, tree, text))


def _functions_in(code: CodeType, path: str = "") -> list[tuple[str, CodeType]]:
    """The functions in a function's code, and how they are reached from there."""
    found: list[tuple[str, CodeType]] = []
    for inner in nested_functions(code):
        name = inner.co_qualname.removeprefix(code.co_qualname)
        found.append((path + name, inner))
        found += _functions_in(inner, path + name)
    return found


def _like(function: FunctionType, path: str, code: CodeType) -> FunctionType:
    """A function like those that will be made from the code: with the same globals, and with nothing in its cells."""
    outer = function.__code__
    named = code.replace(co_qualname=outer.co_qualname + path, co_filename=outer.co_filename)
    cells = tuple(CellType() for _ in code.co_freevars)
    return FunctionType(named, function.__globals__, code.co_name, None, cells)


# ---- what a pass returned


def _taken_over(result: Any, before: Function) -> Function:
    """What a pass returned, as a node in the place of `before`: a tree of its own, with the positions of `before`."""
    if isinstance(result, ast.Expression):
        result = result.body
    if isinstance(result, ast.Module) and len(result.body) == 1:
        result = result.body[0]
    if isinstance(result, ast.Expr):
        result = result.value
    is_lambda = isinstance(before, ast.Lambda)
    if not isinstance(result, (*FUNCTIONS, ast.expr)):
        raise Unfit(f"returned {result!r}, and not the function's node or an expression,")
    if isinstance(result, FUNCTIONS) and isinstance(result, ast.Lambda) == is_lambda:
        if _parameters(result) != _parameters(before):
            raise Unfit(f"returned the parameters {_listed(result)} instead of {_listed(before)}")
        body: Any = result.body
    elif isinstance(result, ast.expr):
        body = result if is_lambda else [ast.Return(result)]
    else:
        raise Unfit("returned statements, which a lambda cannot have,")
    made = _copy(before)
    made.body = body
    try:
        made = _copy(made)  # a tree of its own: a pass may return what it keeps, or one node in two places
    except (AttributeError, TypeError) as error:
        raise Unfit(f"returned what is no tree ({error})") from error
    _adopt_positions(made, before)
    return made


def _parameters(tree: Any) -> tuple[tuple[str, ...], ...]:
    arguments = tree.args
    extra = [part.arg if part is not None else "" for part in (arguments.vararg, arguments.kwarg)]
    names = [[part.arg for part in parts] for parts in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)]
    return (*map(tuple, names), tuple(extra))


def _listed(tree: Any) -> str:
    arguments: Any = clone(tree.args)
    for part in ast.walk(arguments):
        if isinstance(part, ast.arg):
            part.annotation = None
    return f"({ast.unparse(arguments)})"


def _adopt_positions(made: Function, before: Function) -> None:
    """Nodes that a pass made get the position of what they stand with: of the next statement, or of the node around.

    A node whose position is not one of the original's was parsed from other text, whose lines mean nothing here.
    """
    known = {_position(node) for node in ast.walk(before) if "lineno" in node._attributes}
    first = _first(before)
    work: list[tuple[ast.AST, ast.AST]] = (
        list(zip(made.body, _neighbours(made.body, first, known), strict=True))
        if isinstance(made.body, list)
        else [(made.body, first)]
    )
    while work:
        node, near = work.pop()
        if hasattr(node, HOME):
            delattr(node, HOME)
        if "lineno" in node._attributes:
            if _position(node) not in known:
                At(near).put(node)
            near = node
        for _, _, child in children(node):
            if not isinstance(child, ast.stmt):
                work.append((child, near))
        for field in node._fields:
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                work.extend(zip(block, _neighbours(block, near, known), strict=True))


def _neighbours(block: list[ast.stmt], around: ast.AST, known: set[Any]) -> list[ast.AST]:
    """For each statement, the next one that has a position of the original; the last one before; what is around."""
    found: list[ast.AST] = []
    near: ast.AST = next((one for one in reversed(block) if _position(one) in known), around)
    for statement in reversed(block):
        if _position(statement) in known:
            near = statement
        found.append(near)
    return found[::-1]


def _position(node: ast.AST) -> Any:
    return tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def _fill_slots(tree: Function, level: int) -> None:
    """Let `contextslot()` be the context.

    What can be suspended may be resumed where another context is active, or none, so it takes hold of it at entry.
    """

    def is_slot(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == SLOT

    def the_active_one(node: ast.AST) -> ast.expr:
        at = At(node)
        contexts = at.attribute(at.call(at.load("@get"), []), "contexts")
        return nooverdub(at.put(ast.Subscript(contexts, at.constant(level), ast.Load())))

    def the_kept_one(node: ast.AST) -> ast.expr:
        at = At(node)  # the name alone would look like a callee of ours, whose calls are no events
        return nooverdub(at.pick([at.load(name), at.constant(None)], 0))

    if not any(map(is_slot, ast.walk(tree))):
        return
    name = f"@slot{level}"
    if isinstance(tree, ast.Lambda) or not is_suspendable(getattr(tree, _ORIGIN)):
        body: Any = tree.body
        tree.body = replace_match(the_active_one, is_slot, body)
        return
    replace_match(the_kept_one, is_slot, tree.body)
    at = At(tree.body[0])
    keep = at.put(ast.Assign([at.store(name)], the_active_one(tree.body[0])))
    setattr(keep, NOOVERDUB, True)
    tree.body.insert(0, keep)
