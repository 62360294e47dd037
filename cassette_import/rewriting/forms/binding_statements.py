"""Where values may be tagged: statements that bind a value to names of a function without an event.

The interpreter binds it plain. A call of the runtime before the statement, and one at the start of its block, restore
the wrapper. Knows trees; must not know what a wrapper is.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from cassette_import.rewriting import symbols
from cassette_import.rewriting.forms.captures import captures_of, is_irrefutable
from cassette_import.rewriting.trees.node_builder import At


class Names(NamedTuple):
    """What the names mean that are bound around a statement."""

    leaving: frozenset[str] | None
    """The names that belong to a module or class, and that statements bind which are no events; None for all names."""
    of_class: bool = False
    """Whether assignments are no events either."""
    is_catching: bool = False
    """Whether exceptions may be caught there: one may have been raised after a returned value was wrapped."""


def _called(value: ast.expr, helper: str) -> ast.expr:
    at = At(value)
    return at.call(at.load(helper), [value])


def _bound(target: ast.Name, helper: str, *arguments: ast.expr) -> ast.stmt:
    """A statement that passes the value of a name, which the interpreter has just bound, to a helper."""
    at = At(target)
    return at.put(ast.Assign([at.store(target.id)], at.call(at.load(helper), [at.load(target.id), *arguments])))


def _is_variable(target: ast.expr | None, names: Names) -> bool:
    """Whether a target is a variable of the function, which may hold a wrapper."""
    return isinstance(target, ast.Name) and names.leaving is not None and target.id not in names.leaving


def with_block(node: ast.With | ast.AsyncWith, names: Names) -> ast.stmt:
    """The names get the wrapped value that the manager has handed on; each manager has a block of its own then."""
    body = node.body
    for number in reversed(range(len(node.items))):
        item = node.items[number]
        if not _is_variable(item.optional_vars, names):
            continue
        assert isinstance(item.optional_vars, ast.Name)
        item.context_expr = _called(item.context_expr, symbols.ENTERING)
        rest = node.items[number + 1 :]
        if rest:
            body = [At(rest[0].context_expr).put(type(node)(rest, body))]
            del node.items[number + 1 :]
        body = [_bound(item.optional_vars, symbols.CLAIMED), *body]
    node.body = body
    return node


def async_loop(node: ast.AsyncFor, names: Names) -> ast.stmt:
    if _is_variable(node.target, names):
        assert isinstance(node.target, ast.Name)
        at = At(node.iter)
        place = at.constant((node.lineno, node.col_offset))
        node.iter = at.call(at.load(symbols.ASYNC_SOURCE), [node.iter, place])
        node.body.insert(0, _bound(node.target, symbols.ASYNC_ITEM, place))
    return node


def match_statement(node: ast.Match, names: Names) -> ast.stmt:
    """The names that patterns capture get their metadata before the guard and the block of the case run."""
    captures = [captures_of(case.pattern) for case in node.cases]
    compares = any(isinstance(part, ast.MatchValue) for case in node.cases for part in ast.walk(case.pattern))
    if names.leaving is None or not (compares or any(captures)):
        if not isinstance(node.subject, ast.Constant):
            node.subject = _called(node.subject, symbols.PLAIN)
        return node
    at = At(node.subject)
    node.subject = at.call(at.load(symbols.SUBJECT), [node.subject, at.constant(compares)])
    for case, ways in zip(node.cases, captures, strict=True):
        at = At(case.pattern)
        read = {
            name: at.call(at.load(symbols.CAPTURED), [at.load(name), at.constant(tuple(found))])
            for name, found in ways.items()
            if name not in names.leaving
        }
        if case.guard is not None and read:
            lets: list[ast.expr] = [at.let(name, value) for name, value in read.items()]
            case.guard = at.pick([*lets, case.guard], len(lets))
            read = {}
        stores = [at.put(ast.Assign([at.store(name)], value)) for name, value in read.items()]
        case.body = [*stores, _subject_is_done(at), *case.body]
    if not is_irrefutable(node.cases[-1]):
        at = At(node.cases[-1].pattern)
        node.cases.append(ast.match_case(at.put(ast.MatchAs()), None, [_subject_is_done(at)]))
    return node


def _subject_is_done(at: At) -> ast.stmt:
    return at.put(ast.Expr(at.call(at.load(symbols.SUBJECT_DONE), [])))
