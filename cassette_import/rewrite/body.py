"""A function, lambda or module with its events: the tree that is compiled in place of the plain one.

Knows where a site stands and so which form it takes; `sites` knows the forms.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any

from cassette_import.events import Events
from cassette_import.rewrite import callee_form
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.primitives import BINARY, COMPARE, INPLACE, UNARY
from cassette_import.rewrite.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Function,
    clone,
    hoist_declarations,
    is_suspendable,
    looks_at_locals,
    split_docstring,
)
from cassette_import.rewrite.shape import Shape
from cassette_import.rewrite.sites import Sites
from cassette_import.rewrite.walk import children, rebuild

NOOVERDUB = "_nooverdub"
"""The attribute of a node whose events are left out: the node stays as a pass made it."""

_COMPREHENSIONS_ARE_INLINED = sys.version_info >= (3, 12)  # PEP 709


class Mode(Enum):
    """Which form events take."""

    PLAIN = 0  # none: only nested functions are rewritten
    INLINED = 1
    CALLEE = 2  # asks for the active context each time; temporaries are allowed
    BARE = 3  # the same, without temporaries


def overdub_function(
    function: Function,
    shapes: Sequence[Shape],
    entry: Entry | None = None,
    bodies: Mapping[str, Function] | None = None,
) -> Function:
    """Give `function` a branch per shape besides the plain body, and the same to all functions in it. In place.

    `bodies` are what passes made of the function, by the prefix of the shape that they are for.
    """
    return _Rewriter(tuple(shapes), entry or Entry()).function(function, bodies or {})


def overdub_module(module: ast.Module, shapes: Sequence[Shape]) -> ast.Module:
    """Overdub the module level and the class bodies of `module`; its functions stay as they are. In place."""
    rewriter = _Rewriter(tuple(shapes), Entry(), keep_functions=True)
    for index, statement in enumerate(module.body):
        module.body[index] = rewriter.rewrite(statement, Mode.BARE, None)
    module.body = [s for item in module.body for s in (item if isinstance(item, list) else [item])]
    return module


class Entry:
    """The test at a function's entry. `root` names a module that is overdubbed for the sake of a root function only."""

    def __init__(self, root: str | None = None) -> None:
        self.root = root

    def test(self, at: At, shape: Shape, first: bool, temporaries: bool, only: bool = True) -> ast.expr:
        """`@on and (@a := @get()).variant is @7`; for further branches `@v is @7`."""
        if not temporaries:
            variant: ast.expr = at.attribute(at.call(at.load("@get"), []), "variant")
            tests: list[ast.expr] = [at.load("@on"), at.same(variant, at.load(shape.prefix))]
        elif first and only:
            variant = at.attribute(at.let("@a", at.call(at.load("@get"), [])), "variant")
            tests = [at.load("@on"), at.same(variant, at.load(shape.prefix))]
        elif first:
            variant = at.attribute(at.let("@a", at.call(at.load("@get"), [])), "variant")
            read = at.let("@v", at.put(ast.BoolOp(ast.And(), [at.load("@on"), variant])))
            tests = [at.same(read, at.load(shape.prefix))]
        else:
            tests = [at.same(at.load("@v"), at.load(shape.prefix))]
        if self.root is not None:
            roots = at.attribute(at.call(at.load("@get"), []), "roots")
            tests.append(at.put(ast.Compare(at.constant(self.root), [ast.In()], [roots])))
        return at.put(ast.BoolOp(ast.And(), tests)) if len(tests) > 1 else tests[0]


class _Rewriter:
    def __init__(self, shapes: tuple[Shape, ...], entry: Entry, keep_functions: bool = False) -> None:
        self.shapes = tuple(shape for shape in shapes if not shape.silent)
        self.entry = entry
        self.keep_functions = keep_functions
        self.callee = callee_form.CalleeForm(self.shapes)

    # ---- functions

    def function(self, node: Function, bodies: Mapping[str, Function] = MappingProxyType({})) -> Function:
        if not self.shapes:
            return node
        if isinstance(node, ast.Lambda):
            return self._lambda(node, bodies)
        docstring, body = split_docstring(node.body)
        declarations = hoist_declarations(node, body)
        at = At(body[0] if body else node.body[0])
        body = body or [at.put(ast.Pass())]
        blocks = {prefix: _own_block(made, declarations) for prefix, made in bodies.items()}
        bare = looks_at_locals(node)
        if is_suspendable(node):
            rewritten = self._suspendable(at, body, blocks, Mode.BARE if bare else Mode.CALLEE)
        else:
            rewritten = self._branches(at, body, blocks, bare)
        node.body = [*docstring, *declarations, *rewritten]
        return node

    def _suspendable(
        self, at: At, body: list[ast.stmt], blocks: dict[str, list[ast.stmt]], mode: Mode
    ) -> list[ast.stmt]:
        """One body for all contexts: it may be resumed in another one. Only a body made by passes has a branch."""
        chain = self._block(body, mode, None)
        for shape in self.shapes:
            if shape.prefix in blocks:
                branch = self._block(blocks[shape.prefix], mode, None)
                chain = [at.put(ast.If(self.entry.test(at, shape, True, False), branch, chain))]
        return chain

    def _branches(
        self, at: At, body: list[ast.stmt], blocks: dict[str, list[ast.stmt]], bare: bool
    ) -> list[ast.stmt]:
        copies = [
            blocks[shape.prefix] if shape.prefix in blocks else [clone(statement) for statement in body]
            for shape in self.shapes
        ]
        chain: list[ast.stmt] = self._block(body, Mode.PLAIN, None)
        for number in reversed(range(len(self.shapes))):
            shape = self.shapes[number]
            branch = self._block(copies[number], Mode.BARE if bare else Mode.INLINED, shape)  # type: ignore[arg-type]
            if not bare:
                branch = [*self._prologue(at, shape), *branch]
            chain = [
                at.put(
                    ast.If(
                        self.entry.test(at, shape, number == 0, not bare, len(self.shapes) == 1),
                        branch,
                        chain,
                    )
                )
            ]
        return chain

    def _prologue(self, at: At, shape: Shape) -> list[ast.stmt]:
        return [
            at.put(ast.Assign([at.store(f"@c{number}")], self._context(at, number)))
            for number in range(len(shape.contexts))
        ]

    def _context(self, at: At, number: int) -> ast.expr:
        return at.put(ast.Subscript(at.attribute(at.load("@a"), "contexts"), at.constant(number), ast.Load()))

    def _lambda(self, node: ast.Lambda, bodies: Mapping[str, Function]) -> ast.Lambda:
        at = At(node.body)
        if is_suspendable(node):
            node.body = self.rewrite(node.body, Mode.BARE, None)
            return node
        bare = looks_at_locals(node)
        copies = [
            bodies[shape.prefix].body if shape.prefix in bodies else clone(node.body) for shape in self.shapes
        ]
        value: ast.expr = self.rewrite(node.body, Mode.PLAIN, None)
        for number in reversed(range(len(self.shapes))):
            shape = self.shapes[number]
            branch = self.rewrite(copies[number], Mode.BARE if bare else Mode.INLINED, shape)
            if not bare:
                lets = [
                    at.let(f"@c{index}", self._context(at, index)) for index in range(len(shape.contexts))
                ]
                branch = at.pick([*lets, branch], len(lets))
            value = at.either(
                self.entry.test(at, shape, number == 0, not bare, len(self.shapes) == 1), branch, value
            )
        node.body = value
        return node

    # ---- blocks and expressions

    def _block(self, statements: list[ast.stmt], mode: Mode, shape: Shape | None) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for statement in statements:
            result = self.rewrite(statement, mode, shape)
            rewritten.extend(result) if isinstance(result, list) else rewritten.append(result)
        return rewritten

    def rewrite(self, node: ast.AST, mode: Mode, shape: Shape | None) -> Any:
        sites = Sites(shape) if shape is not None else None

        def leave(node: ast.AST, mode: Mode) -> Any:
            return self._leave(node, mode, sites)

        return rebuild(node, mode, self._enter, leave)

    def _enter(self, node: ast.AST, mode: Mode) -> list[tuple[str, int | None, ast.AST, Mode]]:
        if hasattr(node, NOOVERDUB):
            return []
        skip, inner = _SKIPPED.get(type(node), ()), mode
        if isinstance(node, FUNCTIONS):
            skip = ("body", "returns", "type_params")
        elif isinstance(node, ast.ClassDef):
            body = mode if mode is Mode.PLAIN else Mode.BARE
            generic = (
                body if getattr(node, "type_params", None) else mode
            )  # PEP 695: no walrus in a generic's bases
            return [
                (
                    name,
                    index,
                    child,
                    body if name == "body" else generic if name in ("bases", "keywords") else mode,
                )
                for name, index, child in children(node, skip=("type_params",))
            ]
        elif isinstance(node, COMPREHENSIONS) and mode is not Mode.PLAIN:
            if not (_COMPREHENSIONS_ARE_INLINED and mode is Mode.INLINED) or isinstance(
                node, ast.GeneratorExp
            ):
                inner = Mode.BARE
        elif isinstance(node, (ast.With, ast.AsyncWith)) and mode is Mode.INLINED:
            # The block may run in a context that was entered by this very statement.
            return [
                (name, index, child, Mode.CALLEE if name == "body" else mode)
                for name, index, child in children(node)
            ]
        elif isinstance(node, ast.comprehension) and mode is not Mode.PLAIN:
            # No assignment expression may stand in a comprehension's iterable.
            return [
                (name, index, child, Mode.BARE if name == "iter" else mode)
                for name, index, child in children(node)
            ]
        return [(name, index, child, inner) for name, index, child in children(node, skip=skip)]

    def _leave(self, node: ast.AST, mode: Mode, sites: Sites | None) -> Any:
        if hasattr(node, NOOVERDUB):
            return node
        if isinstance(node, FUNCTIONS):
            if not isinstance(node, ast.Lambda) and mode is not Mode.PLAIN:
                self._decorators(node, mode, sites)
            return node if self.keep_functions else self.function(node)
        if mode is Mode.PLAIN:
            return node
        if isinstance(node, ast.ClassDef):
            self._decorators(node, mode, sites)
            return node
        if mode is Mode.INLINED and sites is not None:
            return _inlined(node, sites)
        return self.callee.leave(node, temporaries=mode is Mode.CALLEE)

    def _decorators(self, node: Any, mode: Mode, sites: Sites | None) -> None:
        make = sites.decorator if mode is Mode.INLINED and sites is not None else self.callee.decorator
        node.decorator_list = [make(decorator) for decorator in node.decorator_list]


def _own_block(made: Function, declarations: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a body that passes made; its declarations go to the top of the function."""
    assert not isinstance(made, ast.Lambda)
    _, body = split_docstring(made.body)
    known = {name for declaration in declarations for name in declaration.names}  # type: ignore[attr-defined]
    for declaration in hoist_declarations(made, body):
        if not known.issuperset(declaration.names):  # type: ignore[attr-defined]
            declarations.append(declaration)
    return body or [At(made).put(ast.Pass())]


_SKIPPED: dict[type[ast.AST], tuple[str, ...]] = {
    ast.AnnAssign: ("annotation",),  # R1: annotations are left alone
    ast.arg: ("annotation",),
    ast.match_case: ("pattern",),  # R5: patterns allow names, attributes and literals only
}
if sys.version_info >= (3, 12):
    _SKIPPED[ast.TypeAlias] = ("value", "type_params")


# ---- the inlined form of a node whose parts are done


def _inlined(node: ast.AST, sites: Sites) -> Any:
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
    at = At(node)
    return sites.operator(
        node, name, [node.operand], level, lambda read: at.put(ast.UnaryOp(node.op, read[0]))
    )


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
    if not sites.wanted("setitem") or not any(isinstance(target, ast.Subscript) for target in node.targets):
        return node
    value, at, before, after = node.value, At(node), [], []
    if len(node.targets) > 1:
        before = [at.put(ast.Assign([at.store("@v")], value))]
        value = at.load("@v")
        after = [at.put(ast.Assign([at.store("@v")], at.constant(None)))]
    statements: list[ast.stmt] = []
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            statements.append(_store(target, value, sites, level, at))
        else:
            statements.append(at.put(ast.Assign([target], value)))
    return [*before, *statements, *after]


def _store(target: ast.Subscript, value: ast.expr, sites: Sites, level: int, at: At) -> ast.stmt:
    event = sites.operator(
        target,
        "setitem",
        [value, target.value, callee_form.index_value(target.slice)],
        level,
        lambda read: at.call(at.load("@operator.setitem"), [read[1], read[2], read[0]]),
        order=(1, 2, 0),
    )
    return at.put(ast.Expr(event))


def _inlined_delete(node: ast.Delete, sites: Sites, level: int) -> Any:
    if not sites.wanted("delitem") or not any(isinstance(target, ast.Subscript) for target in node.targets):
        return node
    at, statements = At(node), []
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            event = sites.operator(
                target,
                "delitem",
                [target.value, callee_form.index_value(target.slice)],
                level,
                lambda read: at.call(at.load("@operator.delitem"), read),
            )
            statements.append(at.put(ast.Expr(event)))
        else:
            statements.append(at.put(ast.Delete([target])))
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

    def store(target: ast.Subscript, value: ast.expr) -> ast.stmt:
        if not sites.wanted("setitem"):
            return at.put(ast.Assign([target], value))
        return _store(target, value, sites, level + 2, at)

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
    ast.Delete: _inlined_delete,
    ast.AugAssign: _inlined_augmented,
}
