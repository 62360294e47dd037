"""Statements and parts of statements as events: loops, tests, and values that control flow passes on.

The parts of a node are rewritten before the node.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any, TypeGuard

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.syntax import assignments
from cassette_import.rewriting.syntax.expressions import expression, held, namespace, truth_of
from cassette_import.rewriting.syntax.operation import Form, Itself, Operation
from cassette_import.rewriting.trees.annotations import GLOBAL, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.traversal import DEPTH

# ---- statements and parts of statements as events: loops, tests, and values that control flow passes on

_LOOPS_BEGIN_AT_THEIR_STATEMENT = sys.version_info < (3, 13)
"""Whether a traceback shows the whole loop, not its iterable, when the iterable has no iterator."""

_JUMPS_ARE_LINES = sys.version_info[:2] == (3, 12)
"""Whether tracers are notified of the line again at the target of a jump, although the line did not change."""


def statement(node: ast.AST, form: Form, depth: int) -> Any:
    """What replaces a node: a node, or a list of statements."""
    handler = _HANDLERS.get(type(node))
    return node if handler is None else handler(node, form, depth)


# ---- tests


def _tested(node: ast.If | ast.While | ast.Assert, form: Form, depth: int) -> ast.stmt:
    node.test = truth_of(node.test, form, depth)
    return node


def _case(node: ast.match_case, form: Form, depth: int) -> ast.match_case:
    if node.guard is not None:
        node.guard = truth_of(node.guard, form, depth)
    return node


# ---- iteration


def _loop(iterable: ast.expr, target: ast.expr, form: Form, asynchronous: bool) -> ast.expr:
    """The iterable of a loop, whose steps may be events."""
    at = At(iterable)
    spec = assignments.spec_of(target) if assignments.iterates(form) else None
    extra = [at.constant(spec)] if spec is not None else []
    if asynchronous:
        wanted = form.wanted("aiter") or form.wanted("anext")
        return at.call(at.symbol(symbols.LOOP_ASYNC), [iterable]) if wanted else iterable
    return at.call(at.symbol(symbols.LOOP), [iterable, *extra]) if assignments.iterates(form) else iterable


def _for(node: ast.For | ast.AsyncFor, form: Form, depth: int) -> ast.stmt:
    iterable = node.iter
    if _is_plain_while_untagged(node, form):
        at = At(node if _LOOPS_BEGIN_AT_THEIR_STATEMENT else iterable)
        iterator = temporaries.iterator(node.lineno, node.col_offset)
        node.iter = at.let(iterator, at.call(at.symbol(symbols.LOOP_HERE), [iterable]))
        node.target, first = _bound_by_item(node.target, form, iterator)
        _clear_at_breaks(node.body, iterator)
        node.body = [*first, *node.body]
        return node
    if assignments.is_event(node.target, form):
        node.target, first = assignments.bound_by_block(node.target, form, depth)
        node.body = [*first, *node.body]
    node.iter = _loop(iterable, node.target, form, isinstance(node, ast.AsyncFor))
    if node.iter is not iterable and _LOOPS_BEGIN_AT_THEIR_STATEMENT:
        At(node).put(node.iter)
    return node


def _is_plain_while_untagged(node: ast.For | ast.AsyncFor, form: Form) -> bool:
    """Whether the interpreter may take the steps of a loop itself as long as no value is tagged.

    What is added to the block is on the line of the target. If the block begins there, a jump would show.
    """
    target = node.target
    if isinstance(node, ast.AsyncFor) or not (form.only_tags("iter") and form.only_tags("next")):
        return False
    if assignments.is_event(target, form) or (_JUMPS_ARE_LINES and node.body[0].lineno == target.lineno):
        return False
    spec = assignments.spec_of(target)
    return (isinstance(target, ast.Name) and not has(target, GLOBAL)) if spec is None else not any(spec[2])


def _clear_at_breaks(block: list[ast.stmt], iterator: str) -> None:
    """Clear the temporary before each `break` of a loop. At its end, the iterator itself releases what it reads."""
    for place, statement in reversed(list(enumerate(block))):
        if isinstance(statement, ast.Break):
            at = At(statement)
            block.insert(place, at.put(ast.Assign([at.store(iterator)], at.constant(None))))
        for inner in _blocks_in_loop(statement):
            _clear_at_breaks(inner, iterator)


def _blocks_in_loop(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks in a statement whose `break` ends the loop that the statement is in."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    of_loop = isinstance(statement, (ast.For, ast.AsyncFor, ast.While))
    names = ("orelse",) if of_loop else ("body", "orelse", "finalbody")
    blocks = [getattr(statement, name, []) for name in names]
    parts = [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]
    return [*blocks, *(part.body for part in parts)]


def _bound_by_item(target: ast.expr, form: Form, iterator: str) -> tuple[ast.expr, list[ast.stmt]]:
    """The target of such a loop, and what its block begins with: an item may have got metadata meanwhile."""
    at = At(target)
    name = target.id if isinstance(target, ast.Name) else temporaries.UNPACKED
    again = at.put(
        ast.Assign([at.store(name)], at.call(at.symbol(symbols.ITEM_HERE), [at.load(name), at.load(iterator)]))
    )
    block: list[ast.stmt] = [at.put(ast.If(at.symbol(symbols.METADATA_EXISTS), [again], []))]
    if not isinstance(target, ast.Name):
        block.append(at.put(ast.Assign([target], assignments.unpacking(at.load(name), target, form))))
    return at.store(name), block


def _comprehensions(node: Any, form: Form, depth: int) -> Any:
    """A comprehension; its clauses, which are rewritten before it, have no position."""
    if _LOOPS_BEGIN_AT_THEIR_STATEMENT:
        for generator in node.generators:
            is_of_items = isinstance(generator.iter, ast.Name) and generator.iter.id.startswith(symbols.MARK)
            if is_of_items or _calls(generator.iter, symbols.LOOP, symbols.LOOP_ASYNC):
                At(node).put(generator.iter)
            elif isinstance(generator.iter, ast.Tuple):
                for item in generator.iter.elts[:1]:
                    if _calls(item, symbols.LOOP_HERE):
                        At(node).put(item)  # see `_clauses_of_items`
    return node


def splats(node: Any) -> None:
    """Set the position of splats to that of their call or display, where tracebacks show the errors of unpacking."""
    at = At(node)
    parts, keywords = (node.args, node.keywords) if isinstance(node, ast.Call) else (node.elts, [])
    for part in parts:
        if isinstance(part, ast.Starred) and _calls(part.value, symbols.SPLAT, symbols.SPLAT_IN_CALL):
            at.put(part.value)
            if isinstance(node, ast.Set):  # between two items runs the `__hash__` of one
                part.value.func = at.symbol(symbols.LOOP)
            elif len(parts) == 1 and keywords:  # unpacked by the call itself
                part.value.func = at.symbol(symbols.SPLAT_IN_CALL)


def _calls(node: ast.expr, *names: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _comprehension(node: ast.comprehension, form: Form, depth: int) -> Any:
    ifs = [truth_of(condition, form, depth, f"_{number}") for number, condition in enumerate(node.ifs)]
    if isinstance(node.target, ast.Name) and not node.is_async and form.only_tags("iter") and form.only_tags("next"):
        return _clauses_of_items(node, ifs)
    if not assignments.is_event(node.target, form):
        node.iter, node.ifs = _loop(node.iter, node.target, form, bool(node.is_async)), ifs
        return node
    node.target, first = assignments.bound_by_block(node.target, form.bare, depth)
    node.iter, node.ifs = _loop(node.iter, node.target, form, bool(node.is_async)), []
    clauses = [node]
    for stored in first:
        if isinstance(stored, ast.Assign):  # `for x in (value,)`, which the compiler knows as an assignment
            at = At(stored)
            value = at.put(ast.Tuple([stored.value], ast.Load()))
            clauses.append(ast.comprehension(stored.targets[0], value, [], 0))
        else:
            assert isinstance(stored, ast.Expr)
            at = At(stored.value)
            clauses[-1].ifs.append(at.pick([stored.value, at.constant(True)], 1))
    clauses[-1].ifs += ifs
    return clauses


def _clauses_of_items(node: ast.comprehension, ifs: list[ast.expr]) -> list[ast.comprehension]:
    """Such a loop in a comprehension: ``for @l in (@loop.here(xs),) for x in @l for x in (… x …,)``.

    The compiler knows the last clause as an assignment.
    """
    assert isinstance(node.target, ast.Name)
    of_iter, of_target, name = At(node.iter), At(node.target), node.target.id
    iterator = temporaries.iterator(node.target.lineno, node.target.col_offset)
    made = of_iter.call(of_iter.symbol(symbols.LOOP_HERE), [node.iter])
    first = ast.comprehension(of_iter.store(iterator), of_iter.put(ast.Tuple([made], ast.Load())), [], 0)
    steps = ast.comprehension(node.target, of_iter.load(iterator), [], 0)
    again = of_target.call(of_target.symbol(symbols.ITEM_HERE), [of_target.load(name), of_target.load(iterator)])
    item = of_target.either(of_target.symbol(symbols.METADATA_EXISTS), again, of_target.load(name))
    last = ast.comprehension(of_target.store(name), of_target.put(ast.Tuple([item], ast.Load())), ifs, 0)
    return [first, steps, last]


def _starred(node: ast.Starred, form: Form, depth: int) -> ast.Starred:
    if isinstance(node.ctx, ast.Load) and assignments.iterates(form):
        at = At(node)
        node.value = at.call(at.symbol(symbols.SPLAT), [node.value])
    return node


def _yield_from(node: ast.YieldFrom, form: Form, depth: int) -> ast.YieldFrom:
    if assignments.iterates(form):
        at = At(node)
        node.value = at.call(at.symbol(symbols.DELEGATE), [node.value])
    return node


# ---- values that control flow passes on


def _passed(name: str, value: ast.expr, form: Form, depth: int) -> ast.expr:
    """A value that control flow passes on; the value of the event takes its place."""
    return form.operate(Operation(name, value, [Itself(value)], native=lambda read: read[0], whole=True), depth)


def _without_value(name: str, node: ast.stmt, form: Form, depth: int) -> list[ast.stmt]:
    at = At(node)
    plain = at.call(at.symbol(symbols.primitive(name)), [])
    return [at.put(ast.Expr(form.operate(Operation(name, plain, []), depth))), node]


def _return(node: ast.Return, form: Form, depth: int) -> Any:
    name = "primitives.return_value"
    if not form.wanted(name):
        return node
    if node.value is None:
        return _without_value(name, node, form, depth)
    node.value = _passed(name, node.value, form, depth)
    return node


def _yield(node: ast.Yield, form: Form, depth: int) -> ast.expr:
    if form.wanted("primitives.yield_value"):
        node.value = _passed("primitives.yield_value", node.value or At(node).constant(None), form, depth)
    return node


def _await(node: ast.Await, form: Form, depth: int) -> ast.expr:
    if form.wanted("primitives.await_value"):
        node.value = _passed("primitives.await_value", node.value, form, depth)
    return node


def _raise(node: ast.Raise, form: Form, depth: int) -> Any:
    name = "primitives.raise_exception"
    if not form.wanted(name):
        return node
    if node.exc is None:
        return _without_value(name, node, form, depth)
    if node.cause is None or form.is_argument_free(name):
        node.exc = _passed(name, node.exc, form, depth)
        return node
    at = At(node.cause)
    cause = (
        at.let(temporaries.CAUSE, node.cause) if form.temporaries else at.call(at.symbol(symbols.KEEP), [node.cause])
    )
    operands = [Itself(node.exc), Itself(cause)]
    node.exc = form.operate(Operation(name, node.exc, [*operands], native=lambda read: read[0]), depth)
    node.cause = held(at, form, temporaries.CAUSE)
    return node


def _with(node: ast.With | ast.AsyncWith, form: Form, depth: int) -> ast.stmt:
    asynchronous = isinstance(node, ast.AsyncWith)
    names = ("enter_async_context", "exit_async_context") if asynchronous else ("enter_context", "exit_context")
    managed = any(form.wanted(f"primitives.{name}") for name in names)
    stored = [item.optional_vars is not None and assignments.is_event(item.optional_vars, form) for item in node.items]
    if len(node.items) > 1 and any(stored):  # the first target is stored before the second manager is made
        inner = At(node).put(type(node)(node.items[1:], node.body))
        node.items, node.body = node.items[:1], [_with(inner, form, depth)]
        stored = stored[:1]
    for item, is_stored in zip(node.items, stored, strict=True):
        if managed:
            at = At(item.context_expr)
            helper = symbols.MANAGED_ASYNC if asynchronous else symbols.MANAGED
            item.context_expr = at.call(at.symbol(helper), [item.context_expr])
        if item.optional_vars is not None and is_stored:
            item.optional_vars, first = assignments.bound_by_block(item.optional_vars, form, depth)
            node.body = [*first, *node.body]
    return node


# ---- imports


def _import(node: ast.Import, form: Form, depth: int) -> Any:
    if not form.wanted("primitives.import_name") or getattr(node, "is_lazy", False):
        return node
    at = At(node)
    statements: list[ast.stmt] = []
    for alias in node.names:
        module = _module(at, alias.name, None, 0, form, depth)
        first, *rest = alias.name.split(".")
        if alias.asname is not None:
            for part in rest:
                module = at.call(at.symbol(symbols.IMPORT_FROM), [module, at.constant(part)])
        statements.append(at.put(ast.Assign([at.store(alias.asname or first)], module)))
    return statements


def _import_from(node: ast.ImportFrom, form: Form, depth: int) -> Any:
    if not form.wanted("primitives.import_name") or node.module == "__future__" or getattr(node, "is_lazy", False):
        return node
    at = At(node)
    names = tuple(alias.name for alias in node.names)
    module = _module(at, node.module or "", names, node.level, form, depth)
    if names == ("*",):
        return [at.put(ast.Expr(module)), node]
    statements: list[ast.stmt] = [at.put(ast.Expr(at.call(at.symbol(symbols.KEEP), [module])))]
    for number, alias in enumerate(node.names):
        kept = at.call(at.symbol(symbols.KEPT if number == len(names) - 1 else symbols.PEEK), [])
        value = at.call(at.symbol(symbols.IMPORT_FROM), [kept, at.constant(alias.name)])
        statements.append(at.put(ast.Assign([at.store(alias.asname or alias.name)], value)))
    return statements


def _module(at: At, name: str, names: tuple[str, ...] | None, above: int, form: Form, depth: int) -> ast.expr:
    def arguments(read: list[ast.expr]) -> list[ast.expr]:
        constants = [at.constant(name), namespace(at), at.constant(None), at.constant(names), at.constant(above)]
        return [*constants]

    plain = at.call(at.symbol(symbols.primitive("primitives.import_name")), arguments([]))
    return form.operate(Operation("primitives.import_name", plain, [], arguments), depth)


_HANDLERS: dict[type[ast.AST], Callable[[Any, Form, int], Any]] = {
    ast.Assign: assignments.assign,
    ast.AnnAssign: assignments.annotated,
    ast.AugAssign: assignments.augmented,
    ast.Delete: assignments.delete,
    ast.If: _tested,
    ast.While: _tested,
    ast.Assert: _tested,
    ast.match_case: _case,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.comprehension: _comprehension,
    ast.ListComp: _comprehensions,
    ast.SetComp: _comprehensions,
    ast.DictComp: _comprehensions,
    ast.GeneratorExp: _comprehensions,
    ast.Starred: _starred,
    ast.YieldFrom: _yield_from,
    ast.Yield: _yield,
    ast.Await: _await,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}


# ---- what replaces a node: that of an expression, or else of a statement


def replaced(node: ast.AST, form: Form, depth: int) -> Any:
    """What replaces a node whose parts are rewritten. Expressions carry the depth of their temporaries."""
    if isinstance(node, _SPLATTING):
        splats(node)
    result: Any = expression(node, form, depth) if isinstance(node, ast.expr) else node
    if result is node:
        result = statement(node, form, depth)
    made = result[0] if isinstance(result, list) and isinstance(node, ast.comprehension) else result
    if isinstance(made, ast.AST) and not isinstance(made, ast.stmt):
        depth += result is not node or type(node) in _CHANGED_IN_PLACE
        if depth:
            setattr(made, DEPTH, depth)
    return result


_SPLATTING = (ast.Call, ast.List, ast.Tuple, ast.Set)
_CHANGED_IN_PLACE = (ast.IfExp, ast.BoolOp, ast.comprehension, ast.Starred)
