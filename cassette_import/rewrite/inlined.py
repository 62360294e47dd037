"""The inlined form, node by node: what takes the place of a node whose parts are done.

Knows which function of the table a node belongs to; `sites` and `blind_form` know what an event looks like.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

from cassette_import.events import Events
from cassette_import.rewrite import callee_form
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.primitives import BINARY, COMPARE, INPLACE, UNARY
from cassette_import.rewrite.sites import Sites
from cassette_import.rewrite.walk import children


def inlined(node: ast.AST, sites: Sites) -> Any:
    """What takes the place of `node`: a node, or a list of statements."""
    level = max((getattr(child, "_level", 0) for _, _, child in children(node)), default=0)
    handler = _INLINED.get(type(node))
    result = handler(node, sites, level) if handler is not None else node
    if result is not node and isinstance(result, ast.AST):
        level += 1
    if isinstance(result, ast.AST) and not isinstance(result, ast.stmt):
        result._level = level  # type: ignore[attr-defined]
    return result


def _inlined_call(node: ast.Call, sites: Sites, level: int) -> ast.expr:
    return sites.call(node, level)[0]


def _inlined_binary(node: ast.BinOp, sites: Sites, level: int) -> ast.expr:
    name = BINARY[type(node.op)]
    if not sites.wanted(name):
        return node
    if sites.is_blind(Events.OPERATORS):
        return sites.blind.binary(node)
    at = At(node)
    return sites.operator(
        node, name, [node.left, node.right], level, lambda read: at.put(ast.BinOp(read[0], node.op, read[1]))
    )


def _inlined_unary(node: ast.UnaryOp, sites: Sites, level: int) -> ast.expr:
    name = UNARY[type(node.op)]
    if not sites.wanted(name) or callee_form.is_negative_number(node):
        return node
    if sites.is_blind(Events.OPERATORS):
        return sites.blind.unary(node)
    at = At(node)
    return sites.operator(node, name, [node.operand], level, lambda read: at.put(ast.UnaryOp(node.op, read[0])))


def _inlined_compare(node: ast.Compare, sites: Sites, level: int) -> ast.expr:
    names = [COMPARE[type(op)] for op in node.ops]
    if not any(sites.wanted(name) for name in names):
        return node
    if len(names) == 1 and sites.is_blind(Events.OPERATORS):
        return sites.blind.compare(node)
    if len(names) == 1:
        return _comparison(node, sites, level, node.left, node.ops[0], node.comparators[0], "")
    at = At(node)
    middles = [f"@m{level}_{number}" for number in range(len(names) - 1)]
    parts: list[ast.expr] = []
    left = node.left
    for number, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if number < len(middles):
            right = At(right).let(middles[number], right)
        parts.append(_comparison(node, sites, level, left, op, right, f"_{number}"))
        if number < len(middles):
            left = At(node.comparators[number]).load(middles[number])
    return at.pick([at.put(ast.BoolOp(ast.And(), parts)), at.clear(middles)], 0)


def _comparison(
    node: ast.Compare, sites: Sites, level: int, left: ast.expr, op: ast.cmpop, right: ast.expr, suffix: str
) -> ast.expr:
    name, at = COMPARE[type(op)], At(node)
    if not sites.wanted(name):
        return at.put(ast.Compare(left, [op], [right]))
    if name != "contains":
        return sites.operator(
            node,
            name,
            [left, right],
            level,
            lambda read: at.put(ast.Compare(read[0], [op], [read[1]])),
            suffix=suffix,
        )
    found = sites.operator(
        node,
        name,
        [left, right],
        level,
        lambda read: at.put(ast.Compare(read[0], [ast.In()], [read[1]])),
        order=(1, 0),
        suffix=suffix,
    )
    return at.put(ast.UnaryOp(ast.Not(), found)) if isinstance(op, ast.NotIn) else found


def _inlined_subscript(node: ast.Subscript, sites: Sites, level: int) -> ast.expr:
    if not isinstance(node.ctx, ast.Load) or not sites.wanted("getitem"):
        return node
    if sites.is_blind(Events.OPERATORS):
        return sites.blind.subscript(node)
    at = At(node)
    return sites.operator(
        node,
        "getitem",
        [node.value, callee_form.index_value(node.slice)],
        level,
        lambda read: at.put(ast.Subscript(read[0], read[1], ast.Load())),
    )


def _inlined_assign(node: ast.Assign, sites: Sites, level: int) -> Any:
    if not sites.wanted("setitem") or not any(map(has_subscript, node.targets)):
        return node
    value, at, before, after = node.value, At(node), [], []
    if len(node.targets) > 1:
        before = [at.put(ast.Assign([at.store("@v")], value))]
        value = at.load("@v")
        after = [at.put(ast.Assign([at.store("@v")], at.constant(None)))]
    statements: list[ast.stmt] = []
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            statements += _store(target, value, sites, level)
        else:
            made, stores = _unpacked(target, sites, level)
            statements += [at.put(ast.Assign([made], value)), *stores]
    return [*before, *statements, *after]


def _inlined_for(node: ast.For, sites: Sites, level: int) -> Any:
    if sites.wanted("setitem") and has_subscript(node.target):
        node.target, stores = _unpacked(node.target, sites, level)
        node.body = [*stores, *node.body]
    return node


def _inlined_with(node: ast.With, sites: Sites, level: int) -> Any:
    """`with a as b[0]:` stores within the block."""
    last = node.items[-1].optional_vars
    if len(node.items) == 1 and last is not None and sites.wanted("setitem") and has_subscript(last):
        node.items[0].optional_vars, stores = _unpacked(last, sites, level)
        node.body = [*stores, *node.body]
    return node


def has_subscript(target: ast.expr) -> bool:
    """Whether something is stored by index in a target."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(map(has_subscript, target.elts))
    return isinstance(target.value if isinstance(target, ast.Starred) else target, ast.Subscript)


def _unpacked(target: ast.expr, sites: Sites, level: int) -> tuple[ast.expr, list[ast.stmt]]:
    """A target that unpacks into temporaries, from the first subscript on, and the statements that store them, in
    order."""
    stores: list[ast.stmt] = []
    names: list[str] = []

    def visit(part: ast.expr) -> ast.expr:
        if isinstance(part, (ast.Tuple, ast.List)):
            part.elts = [visit(element) for element in part.elts]
            return part
        if isinstance(part, ast.Starred):
            part.value = visit(part.value)
            return part
        if not names and not isinstance(part, ast.Subscript):
            return part
        at, name = At(part), f"@u{len(names)}"
        names.append(name)
        value = at.load(name)
        if isinstance(part, ast.Subscript):
            stores.extend(_store(part, value, sites, level))
        else:
            stores.append(at.put(ast.Assign([part], value)))
        return at.store(name)

    made = visit(target)
    at = At(target)
    return made, [*stores, at.put(ast.Expr(at.clear(names)))]


def _store(target: ast.Subscript, value: ast.expr, sites: Sites, level: int) -> list[ast.stmt]:
    at = At(target)
    if sites.is_blind(Events.OPERATORS):
        return sites.blind.stored(target, at.put(ast.Assign([target], value)))
    event = sites.operator(
        target,
        "setitem",
        [value, target.value, callee_form.index_value(target.slice)],
        level,
        lambda read: at.call(at.load("@operator.setitem"), [read[1], read[2], read[0]]),
        order=(1, 2, 0),
    )
    return [at.put(ast.Expr(event))]


def _inlined_delete(node: ast.Delete, sites: Sites, level: int) -> Any:
    if not sites.wanted("delitem") or not any(isinstance(target, ast.Subscript) for target in node.targets):
        return node
    at = At(node)
    statements: list[ast.stmt] = []
    for target in node.targets:
        if not isinstance(target, ast.Subscript):
            statements.append(at.put(ast.Delete([target])))
        elif sites.is_blind(Events.OPERATORS):
            statements += sites.blind.stored(target, at.put(ast.Delete([target])))
        else:
            place = At(target)
            event = sites.operator(
                target,
                "delitem",
                [target.value, callee_form.index_value(target.slice)],
                level,
                functools.partial(place.call, place.load("@operator.delitem")),
            )
            statements.append(place.put(ast.Expr(event)))
    return statements


def _inlined_augmented(node: ast.AugAssign, sites: Sites, level: int) -> Any:
    at = At(node)
    if sites.is_blind(Events.OPERATORS) and not isinstance(node.target, ast.Subscript):
        return sites.blind.augmented(node)

    def inplace(current: ast.expr, value: ast.expr) -> ast.expr:
        name = INPLACE[type(node.op)]
        if not sites.wanted(name):
            return at.call(at.load(f"@operator.{name}"), [current, value])
        return sites.operator(
            node,
            name,
            [current, value],
            level,
            lambda read: at.call(at.load(f"@operator.{name}"), read),
            suffix="i",
        )

    def load(target: ast.Subscript) -> ast.expr:
        return _inlined_subscript(target, sites, level)

    def store(target: ast.Subscript, value: ast.expr) -> list[ast.stmt]:
        if not sites.wanted("setitem"):
            return [at.put(ast.Assign([target], value))]
        return _store(target, value, sites, level + 2)

    wanted = sites.wanted(INPLACE[type(node.op)])
    if isinstance(node.target, ast.Subscript):
        wanted = wanted or sites.wanted("getitem") or sites.wanted("setitem")
    return callee_form.augmented(node, inplace, load, store) if wanted else node


_INLINED: dict[type[ast.AST], Any] = {
    ast.Call: _inlined_call,
    ast.BinOp: _inlined_binary,
    ast.UnaryOp: _inlined_unary,
    ast.Compare: _inlined_compare,
    ast.Subscript: _inlined_subscript,
    ast.Assign: _inlined_assign,
    ast.For: _inlined_for,
    ast.With: _inlined_with,
    ast.Delete: _inlined_delete,
    ast.AugAssign: _inlined_augmented,
}
