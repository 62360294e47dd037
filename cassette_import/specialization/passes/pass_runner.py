"""Running passes: each pass gets the result of the one before, and each result is checked before it is used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from cassette_import.errors import PassError
from cassette_import.interpreter.code_objects import DERIVED, CodeTable
from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.nested_bodies import PASSED
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.places import Index
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function, clone, is_suspendable
from cassette_import.rewriting.trees.traversal import children
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.specialization.passes.failures import failing, failure_of
from cassette_import.specialization.passes.function_nodes import (
    HISTORY,
    NUMBER,
    ORIGIN,
    first_of_body,
    nested_in,
    number_nested,
    origin_of,
    parameter_names,
    parameter_text,
)
from cassette_import.specialization.passes.name_resolution import SCOPE
from cassette_import.specialization.passes.reflection import Reflection
from cassette_import.specialization.passes.tree_tools import SLOT, nooverdub, replace_match
from cassette_import.specialization.passes.validation import Unfit, check, compiled
from cassette_import.specialization.source_text import dedented

# ---- results of passes: a returned node becomes the body of a copy of the function, with the original's positions


def function_of(result: Any, before: Function) -> Function:
    """The function `before` with the body that a pass returned: a new tree with the positions of `before`."""
    made = clone(before)
    made.body = _body_of(result, before)
    try:
        made = clone(made)  # a tree of its own: a pass may return a node that it keeps, or one node in two places
    except (AttributeError, TypeError) as error:
        raise Unfit(f"returned what is no tree ({error})") from error
    _set_positions(made, before)
    return made


def _body_of(result: Any, before: Function) -> Any:
    """The body that a pass returned: that of a function's node, or an expression."""
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
        if parameter_names(result) != parameter_names(before):
            raise Unfit(f"returned the parameters {parameter_text(result)} instead of {parameter_text(before)}")
        return result.body
    if isinstance(result, ast.expr):
        return result if is_lambda else [ast.Return(result)]
    raise Unfit("returned statements, which a lambda cannot have,")


def _set_positions(made: Function, before: Function) -> None:
    """Set the position of new nodes to that of the next statement, or of the node around them.

    A node whose position does not occur in the original was parsed from other text, whose lines mean nothing here.
    """
    known = {_position(node) for node in ast.walk(before) if "lineno" in node._attributes}
    first = first_of_body(before)
    work: list[tuple[ast.AST, ast.AST]] = (
        list(zip(made.body, _neighbours(made.body, first, known), strict=True))
        if isinstance(made.body, list)
        else [(made.body, first)]
    )
    while work:
        node, near = work.pop()
        if hasattr(node, SCOPE):
            delattr(node, SCOPE)
        if "lineno" in node._attributes:
            if _position(node) not in known:
                At(near).put(node)
            near = node
        for _, _, child in children(node):
            # What a pass has put there may be no node; compiling the tree reports that.
            if not isinstance(child, ast.stmt) and hasattr(child, "_attributes"):
                work.append((child, near))
        for field in node._fields:
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                work.extend(zip(block, _neighbours(block, near, known), strict=True))


def _neighbours(block: list[ast.stmt], around: ast.AST, known: set[Any]) -> list[ast.AST]:
    """For each statement the node whose position a new one takes.

    That is the next statement with a position of the original; else the last one before it; else the node around.
    """
    found: list[ast.AST] = []
    near: ast.AST = next((one for one in reversed(block) if _position(one) in known), around)
    for statement in reversed(block):
        if _position(statement) in known:
            near = statement
        found.append(near)
    return found[::-1]


def _position(node: ast.AST) -> Any:
    return tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


# ---- context slots: the placeholder `contextslot()` becomes the expression for the active context


def fill_module(tree: ast.Module, level: int) -> None:
    """Replace each slot in a module level by the context of this level of the stack."""
    replace_match(lambda node: _active(node, level), _is_slot, tree)


def fill(tree: Function, level: int) -> None:
    """Replace each slot by the context of this level of the stack.

    A generator or coroutine may be resumed while another context is active, or none. So it reads its context at entry
    and holds it in a local variable.
    """
    if not any(map(_is_slot, ast.walk(tree))):
        return

    def held(node: ast.AST) -> ast.expr:
        at = At(node)  # the name alone would count as a callee of the rewriter's, whose calls are no events
        return nooverdub(at.pick([at.load(name), at.constant(None)], 0))

    name = temporaries.slot(level)
    if isinstance(tree, ast.Lambda) or not is_suspendable(origin_of(tree)):
        body: Any = tree.body
        tree.body = replace_match(lambda node: _active(node, level), _is_slot, body)
        return
    replace_match(held, _is_slot, tree.body)
    at = At(tree.body[0])
    hold = at.put(ast.Assign([at.store(name)], _active(tree.body[0], level)))
    setattr(hold, NOOVERDUB, True)
    tree.body.insert(0, hold)


def _active(node: ast.AST, level: int) -> ast.expr:
    at = At(node)
    contexts = at.attribute(at.call(at.symbol(symbols.GET_ACTIVATION), []), "contexts")
    return nooverdub(at.put(ast.Subscript(contexts, at.constant(level), ast.Load())))


def _is_slot(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == SLOT


# ---- running passes: each pass gets the result of the one before, and each result is checked before it is used

_DEEP: Final = 200
"""From this stack depth on, a `RecursionError` may be the program's, and specialising is repeated on a fresh stack."""

_results: Final = CodeTable[dict[Any, Function]](dict)
"""Results of passes by the code that Python compiled, and by body, context type, passes and level: each pass runs once
for a body, however often the function is compiled."""


def apply(
    passes: Sequence[Any], context_type: type, level: int, function: FunctionType, tree: Function, source: str
) -> Function:
    """Run the passes of the context at one level of the stack, each on the result of the one before.

    If a pass raises, or returns a result that cannot replace the body, the body raises a `PassError` whenever
    the function runs in the context. Other contexts, for which the same code object has bodies, are not affected.

    Parameters
    ----------
    passes:
        The passes, in the order in which they run.
    context_type:
        The type of the context, which is passed to them.
    level:
        The position of the context in the stack, from the outside.
    function:
        A function whose body is rewritten.
    tree:
        Its node; after the passes of an outer context, their result.
    source:
        Its source text.

    Returns
    -------
    A copy of the resulting node.
    """
    if failure_of(tree) is not None:
        return tree
    if not hasattr(tree, ORIGIN):
        number_nested(tree)
    key = (_history(function, tree), context_type, tuple(passes), level)
    results = _results[OVERDUBBED.plain_code_of(function.__code__)]
    if key not in results:
        made = tree
        try:
            for one in passes:
                made = _run(one, context_type, function, made, source)
            fill(made, level)
            for inner, like, written, text in _nested_functions(function, made, source):
                setattr(inner, PASSED, apply(passes, context_type, level, like, written, text))
        except PassError as error:
            made = failing(tree, error)
        setattr(made, HISTORY, key)
        results[key] = made
    return clone(results[key])


def apply_to_module(passes: Sequence[Any], level: int, tree: ast.Module) -> None:
    """Run the passes that have a method `on_module_level` on the tree of a module, which they change in place.

    The bodies of functions may be missing in it. Passes for functions get them.
    """
    for one in passes:
        convert = getattr(one, "on_module_level", None)
        if convert is not None:
            convert(tree)
            fill_module(tree, level)


def _history(function: FunctionType, tree: Function) -> Any:
    """What identifies a body: its position and content, or the passes that made it and what they made it of."""
    known = getattr(tree, HISTORY, None)
    if known is not None:
        return known
    body: list[Any] = tree.body if isinstance(tree.body, list) else [tree.body]
    code = function.__code__
    place = code.co_filename, code.co_qualname, body[0].lineno, body[0].col_offset
    return (*place, id(function.__globals__), *(_content(node) for part in body for node in ast.walk(part)))


def _content(node: ast.AST) -> tuple[Any, ...]:
    """The content of a node without its children. (`ast.dump` recurses, and expressions may be deep.)"""
    fields: list[Any] = [type(node)]
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            fields.append(tuple(type(item) if isinstance(item, ast.AST) else item for item in value))
        else:
            fields.append(type(value) if isinstance(value, ast.AST) else (type(value), repr(value)))
    return tuple(fields)


def _run(one: Any, context_type: type, function: FunctionType, tree: Function, source: str) -> Function:
    """Run one pass on the tree of a function; the result is checked, and has the original's nested functions."""
    code = function.__code__
    name = getattr(one, "__qualname__", None) or repr(one)
    where = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
    shown = _with_surroundings(clone(tree), source, code)
    reflection = Reflection(function, shown, source, code.co_filename, code.co_firstlineno, context_type)
    try:
        result = one(context_type, reflection)
    except RecursionError as error:
        if _is_deep():
            raise
        raise PassError(f"pass {name} failed on {where}: RecursionError: {error}") from error
    except Exception as error:
        raise PassError(f"pass {name} failed on {where}: {type(error).__name__}: {error}") from error
    origin = origin_of(tree)
    try:
        made = function_of(result, tree)
        _restore_nested(made, origin)
        check(made, origin, function)
    except Unfit as error:
        raise PassError(f"pass {name} {error} for {where}") from error.__cause__
    setattr(made, ORIGIN, origin)
    return made


def _is_deep() -> bool:
    """Whether the stack is so deep that a `RecursionError` may be the program's."""
    try:
        sys._getframe(_DEEP)
    except ValueError:
        return False
    return True


def _with_surroundings(tree: Function, source: str, code: CodeType) -> Function:
    """The node with its decorators, defaults and annotations, which specialising removes.

    Passes can read them. Changes have no effect, because Python evaluates them once, where the function is made.
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
            tree.type_params = written.type_params  # type: ignore[union-attr]  # no lambda
    return tree


def _restore_nested(made: Function, origin: Function) -> None:
    """Put the original bodies back into nested functions: those are specialised separately, and for all contexts.

    A function that is new, or has other parameters than before, belongs to the pass and keeps the pass's body.
    """
    before = nested_in(origin)
    for inner in nested_in(made):
        number = getattr(inner, NUMBER, None)
        if number is None:
            continue
        if parameter_names(inner) == parameter_names(before[number]):
            inner.body = clone(before[number]).body
        else:
            delattr(inner, NUMBER)


def _nested_functions(
    function: FunctionType, made: Function, source: str
) -> Iterator[tuple[Any, FunctionType, Function, str]]:
    """The functions directly inside a function, for passes to run on each by itself.

    Yields
    ------
    The node in `made`, a function like those that will be made of it, its node as it was written or as the passes of
    an outer context made it, and its source text.
    """
    origin = origin_of(made)
    before = nested_in(origin)
    numbers = {number: inner for inner in nested_in(made) if (number := getattr(inner, NUMBER, None)) is not None}
    deeper = {getattr(inner, NUMBER) for node in before for inner in nested_in(node)}
    index = Index(ast.Module([ast.Expr(origin) if isinstance(origin, ast.Lambda) else origin], []))
    codes = _functions_in(compiled(origin, function.__code__.co_freevars)) if before else []
    found = {id(place.node): (path, code) for path, code in codes if (place := index.find(code)) is not None}
    for number, inner in numbers.items():
        written = before[number]
        if number in deeper or id(written) not in found:
            continue
        path, code = found[id(written)]
        earlier = getattr(inner, PASSED, None)
        tree = clone(written if earlier is None else earlier)
        if earlier is None and hasattr(tree, ORIGIN):
            delattr(tree, ORIGIN)
        first = code.co_firstlineno - function.__code__.co_firstlineno
        last = written.end_lineno - function.__code__.co_firstlineno + 1
        text = dedented("".join(source.splitlines(keepends=True)[first:last]))
        yield inner, _like(function, path, code), tree, text


def _functions_in(code: CodeType, path: str = "") -> list[tuple[str, CodeType]]:
    """The functions in a function's code at any depth, each with its qualified name relative to that function."""
    found: list[tuple[str, CodeType]] = []
    for inner in nested_functions(code):
        name = inner.co_qualname.removeprefix(code.co_qualname)
        found.append((path + name, inner))
        found += _functions_in(inner, path + name)
    return found


def _like(function: FunctionType, path: str, code: CodeType) -> FunctionType:
    """A function like those that will be made from the code: with the same globals, and with empty cells."""
    outer = function.__code__
    named = code.replace(co_qualname=outer.co_qualname + path, co_filename=outer.co_filename)
    cells = tuple(CellType() for _ in code.co_freevars)
    return FunctionType(DERIVED.add(named), function.__globals__, code.co_name, None, cells)
