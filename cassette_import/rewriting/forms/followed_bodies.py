"""Followed bodies: code that reports when the body of a generator or coroutine is suspended, resumed and ends.

``yield x`` becomes ``@s.resumed((yield @s.suspended(x)))``, where ``@s`` is the run of the body
(`runtime.followed_bodies`). A generator expression has ``@s`` as the variable of an outermost loop with one step:
``(x for x in y)`` becomes ``(@s.suspended(x) for @s in @body.expression(y, line, False) for x in @s.first_items())``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import FUNCTIONS, OTHER_CODE, SUSPENSIONS, Function, split_docstring
from cassette_import.rewriting.trees.traversal import children, parts, rebuild

FOLLOWED: Final[frozenset[type[ast.AST]]] = frozenset(
    {ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFunctionDef, ast.FunctionDef, ast.Lambda}
)
"""The kinds of nodes that rewriting changes, or whose functions it changes, if bodies are followed."""


def follow_body(body: list[ast.stmt], test: ast.expr | None = None, recorder: ast.expr | None = None) -> list[ast.stmt]:
    """Add reports to the rewritten body of a function that can be suspended, in place.

    Parameters
    ----------
    body:
        The body.
    test, recorder:
        A test for one context, and the recorder of this context, whose method `follow_here` makes the run of the body.
    """
    nowhere = _Reports.nowhere()
    for number, statement in enumerate(body):
        body[number] = rebuild(statement, None, _enter, _leave)
    at = At(body[0])
    run: ast.expr = at.call(at.symbol(symbols.FOLLOWED_BODY), [])
    if test is not None and recorder is not None:
        run = at.either(test, at.call(at.attribute(recorder, "follow_here"), []), run)
    begun = at.put(ast.Assign([at.store(temporaries.BODY)], run))
    return [begun, nowhere.put(ast.Try(body, [], [], [nowhere.report("ended")]))]


def is_entered_otherwise(node: Function, passed: frozenset[str], is_nested: bool) -> bool:
    """Whether a function may well be entered without a call event: by C code, by syntax, or by a decorator.

    The others are called where a program calls them. Following them as well would cost each of these calls.

    Parameters
    ----------
    node:
        The function.
    passed:
        The names of functions that the module may pass to other functions.
    is_nested:
        Whether it is a function in another function.
    """
    if isinstance(node, ast.Lambda) or is_nested or node.name in passed:
        return True
    if node.name[:2] == "__" == node.name[-2:]:
        return True
    return any(not (isinstance(part, ast.Name) and part.id in _PLAIN_DECORATORS) for part in node.decorator_list)


BETWEEN_CALL_AND_BODY: Final = frozenset({"__new__", "__init_subclass__", "__set_name__"})
"""Methods that may run between the event of a class and the `__init__` that this event is of."""

_PLAIN_DECORATORS: Final = frozenset({"staticmethod", "classmethod", "override"})


def follow_call(body: list[ast.stmt], context: str | None, is_accelerated: bool = False) -> list[ast.stmt]:
    """Add reports to the rewritten branch of a function that may be entered without a call event.

    Parameters
    ----------
    body:
        The branch.
    context:
        The variable that holds the only context of the stack; None if there are several. Its attribute `announced`
        is the thread in which the latest event is a call of this function.
    is_accelerated:
        Whether this variable holds a recorder, whose method `begun` does all of this.
    """
    nowhere = _Reports.nowhere()
    at = At(body[0])
    body_runs = nowhere.load(temporaries.BODY)
    begun: ast.stmt = at.put(ast.Assign([at.store(temporaries.BODY)], at.call(at.symbol(symbols.FOLLOWED_CALL), [])))
    if context is not None and is_accelerated:
        begun = at.put(ast.Assign([at.store(temporaries.BODY)], _begun(at, context)))
    elif context is not None:
        announced = ast.Attribute(at.load(context), "announced", ast.Store())
        noted: list[ast.stmt] = [
            at.put(ast.Assign([at.put(announced)], at.constant(0))),
            at.put(ast.Assign([at.store(temporaries.BODY)], at.constant(None))),
        ]
        here = at.call(at.symbol(symbols.THREAD), [])
        test = ast.Compare(at.attribute(at.load(context), "announced"), [ast.Eq()], [here])
        begun = at.put(ast.If(at.put(test), noted, [begun]))
    is_followed = nowhere.put(ast.Compare(body_runs, [ast.IsNot()], [nowhere.constant(None)]))
    ended = nowhere.put(ast.If(is_followed, [nowhere.report("ended")], []))
    return [begun, nowhere.put(ast.Try(body, [], [], [ended]))]


def follow_lambda(value: ast.expr, recorder: str | None = None) -> ast.expr:
    """The same for the rewritten value of a lambda, which has no place to report an exception.

    `recorder` is the variable that holds the recorder, if there is one.
    """
    at = At(value)
    run = at.call(at.symbol(symbols.FOLLOWED_CALL), []) if recorder is None else _begun(at, recorder, at.constant(True))
    return at.call(at.attribute(run, "suspended"), [value])


def _begun(at: At, recorder: str, *is_lambda: ast.expr) -> ast.expr:
    """The run of a function that begins, by a recorder in C."""
    return at.call(at.attribute(at.load(recorder), "begun"), [*is_lambda])


def follow_expression(node: ast.GeneratorExp) -> ast.GeneratorExp:
    """Add reports to a rewritten generator expression, in place."""
    at = At(node)
    first = node.generators[0]
    begin = At(first.iter).call(
        at.symbol(symbols.FOLLOWED_EXPRESSION),
        [first.iter, at.constant(node.lineno), at.constant(bool(first.is_async))],
    )
    outermost = ast.comprehension(at.store(temporaries.BODY), begin, [], 0)
    first.iter = at.call(at.attribute(at.load(temporaries.BODY), "first_items"), [])
    for clause in node.generators:
        clause.target = rebuild(clause.target, None, _enter, _leave)
        clause.ifs = [rebuild(condition, None, _enter, _leave) for condition in clause.ifs]
        if clause is not first:
            own = rebuild(clause.iter, None, _enter, _leave)
            clause.iter = _reported("async_items" if clause.is_async else "items", own)
    node.elt = _reported("suspended", rebuild(node.elt, None, _enter, _leave))
    node.generators.insert(0, outermost)
    return node


def follow_module(body: list[ast.stmt]) -> list[ast.stmt]:
    """Add reports to a rewritten module level: that it begins, and its imports."""
    nowhere = _Reports.nowhere()
    docstring, rest = split_docstring(body)
    while rest and isinstance(rest[0], ast.ImportFrom) and rest[0].module == "__future__":
        docstring = [*docstring, rest.pop(0)]
    begun = nowhere.put(ast.Expr(nowhere.call(nowhere.symbol(symbols.FOLLOWED_MODULE), [])))
    return [*docstring, begun, *_with_imports(rest)]


def _with_imports(block: list[ast.stmt]) -> list[ast.stmt]:
    """A block in which imports are reported. Nested functions and classes stay as they are."""
    nowhere = _Reports.nowhere()
    made: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, (ast.Import, ast.ImportFrom)) and not getattr(statement, "is_lazy", False):
            manager = nowhere.call(nowhere.symbol(symbols.FOLLOWED_IMPORTS), [])
            made.append(nowhere.put(ast.With([ast.withitem(manager, None)], [statement])))
            continue
        made.append(statement)
        if isinstance(statement, (ast.If, ast.Try)):
            for name in ("body", "orelse", "finalbody"):
                if getattr(statement, name, None):
                    setattr(statement, name, _with_imports(getattr(statement, name)))
            for handler in getattr(statement, "handlers", ()):
                handler.body = _with_imports(handler.body)
    return made


class _Reports(At):
    def report(self, step: str) -> ast.stmt:
        """The statement that reports a step."""
        return self.put(ast.Expr(self.call(self.attribute(self.load(temporaries.BODY), step), [])))


def _reported(step: str, value: ast.expr) -> ast.Call:
    at = At(value)
    return at.call(at.attribute(at.load(temporaries.BODY), step), [value])


def _enter(node: ast.AST, _: None) -> list[tuple[str, int | None, ast.AST, None]]:
    """The parts of a node that run in the frame of the same body."""
    kind = node.__class__
    if kind is ast.GeneratorExp:
        first = node.generators[0]  # type: ignore[attr-defined]  # its kind is known
        # An added outermost loop evaluates the iterable of the first loop, as the argument of its call.
        return [("generators", 0, first, None)] if isinstance(first, ast.comprehension) else []
    if kind is ast.comprehension and _is_added(node):
        return [("iter", None, node.iter, None)]  # type: ignore[attr-defined]  # its kind is known
    skip = ("body",) if kind in FUNCTIONS or kind is ast.ClassDef else ()
    return [(name, index, child, None) for name, index, child in children(node, skip)]


def _is_added(node: Any) -> bool:
    return isinstance(node.target, ast.Name) and node.target.id == temporaries.BODY


def _leave(node: ast.AST, _: None, depth: int) -> Any:
    change = _CHANGES.get(node.__class__)
    return node if change is None else change(node)


def _yield(node: ast.Yield) -> ast.expr:
    at = At(node)
    node.value = _reported("suspended", node.value if node.value is not None else at.constant(None))
    return at.call(at.attribute(at.load(temporaries.BODY), "resumed"), [node])


def _yield_from(node: ast.YieldFrom) -> ast.expr:
    node.value = _reported("delegated", node.value)
    return node


def _await(node: ast.Await) -> ast.expr:
    node.value = _reported("awaited", node.value)
    return node


def _async_for(node: ast.AsyncFor) -> ast.stmt:
    node.iter = _reported("async_items", node.iter)
    return node


def _clause(node: ast.comprehension) -> ast.comprehension:
    if node.is_async and not _is_added(node):
        node.iter = _reported("async_items", node.iter)
    return node


def _try(node: ast.Try | ast.TryStar) -> ast.stmt:
    """What catches an exception that was thrown into the body runs in the body."""
    nowhere = _Reports.nowhere()
    if any(map(_suspends, node.body)):
        for handler in node.handlers:
            if handler.name != temporaries.EXCEPTION:  # that of errorhooks only passes exceptions on
                handler.body.insert(0, nowhere.report("caught"))
    if node.finalbody and any(map(_suspends, [*node.body, *node.handlers, *node.orelse])):
        node.finalbody.insert(0, nowhere.report("caught"))
    return node


def _with(node: ast.With | ast.AsyncWith) -> ast.stmt:
    """So does a manager that gets the exception."""
    nowhere = _Reports.nowhere()
    if any(map(_suspends, node.body)):
        handler = nowhere.put(ast.ExceptHandler(None, None, [nowhere.report("caught"), nowhere.put(ast.Raise())]))
        node.body = [nowhere.put(ast.Try(node.body, [handler], [], []))]
    if isinstance(node, ast.AsyncWith):
        for item in node.items:
            item.context_expr = _reported("async_manager", item.context_expr)
    return node


def _suspends(node: ast.AST) -> bool:
    """Whether anything in a statement suspends the body."""
    work = [node]
    while work:
        node = work.pop()
        if node.__class__ in SUSPENSIONS:
            return True
        if node.__class__ not in OTHER_CODE:
            work += parts(node)
    return False


_CHANGES: Final[dict[type[ast.AST], Callable[[Any], Any]]] = {
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Await: _await,
    ast.AsyncFor: _async_for,
    ast.comprehension: _clause,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
}
