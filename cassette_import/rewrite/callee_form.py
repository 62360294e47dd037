"""The callee form of events, `@pick(f)(x)`: no temporaries, the active context is asked for each time.

Also holds what both forms need to take apart subscripts and augmented assignments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from cassette_import.events import Events
from cassette_import.rewrite.blind_form import BlindForm
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.primitives import BINARY, COMPARE, INPLACE, UNARY
from cassette_import.rewrite.shape import Interest, Shape


class CalleeForm:
    """Rewrites single nodes, whose parts are done, for a set of shapes."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.shapes = shapes
        self.calls = any(shape.interest(Events.CALLS) is not Interest.NOTHING for shape in shapes)
        self.blind = BlindForm(None)
        self.blind_kinds = [kind for kind in (Events.CALLS, Events.OPERATORS) if self._is_blind(kind)]

    def _is_blind(self, event: Events) -> bool:
        """Whether the hooks of all shapes that want such events need no arguments."""
        wanted = [shape for shape in self.shapes if shape.interest(event) is not Interest.NOTHING]
        return bool(wanted) and all(
            event in shape.blind and shape.interest(event) is Interest.EVERYTHING for shape in wanted
        )

    def wanted(self, name: str) -> bool:
        return any(shape.interest(Events.OPERATORS, name) is not Interest.NOTHING for shape in self.shapes)

    def picked(self, at: At, function: ast.expr, event: Events = Events.CALLS) -> ast.expr:
        return at.call(at.load(f"@pick.{int(event)}"), [function])

    def decorator(self, node: ast.expr) -> ast.expr:
        return self.picked(At(node), node) if self.calls and not is_ours(node) else node

    def operator(self, at: At, name: str, operands: list[ast.expr]) -> ast.expr:
        return at.call(self.picked(at, at.load(f"@operator.{name}"), Events.OPERATORS), operands)

    def leave(self, node: ast.AST, temporaries: bool) -> Any:
        if Events.OPERATORS in self.blind_kinds:
            found = self._leave_blind(node)
            if found is not None:
                return found
        if isinstance(node, ast.Call):
            function = node.func
            if self.calls and Events.CALLS in self.blind_kinds:
                return node if is_ours(function) or is_plain_super(node) else self.blind.call(node)
            if self.calls and not is_ours(function) and not is_plain_super(node):
                node.func = self.picked(At(function), function)
        elif isinstance(node, ast.BinOp) and self.wanted(BINARY[type(node.op)]):
            return self.operator(At(node), BINARY[type(node.op)], [node.left, node.right])
        elif isinstance(node, ast.UnaryOp) and self.wanted(UNARY[type(node.op)]) and not is_negative_number(node):
            return self.operator(At(node), UNARY[type(node.op)], [node.operand])
        elif isinstance(node, ast.Compare):
            return self._compare(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self.wanted("getitem"):
            return self.operator(At(node), "getitem", [node.value, index_value(node.slice)])
        elif isinstance(node, ast.Assign):
            return self._assign(node)
        elif isinstance(node, ast.Delete):
            return self._delete(node)
        elif isinstance(node, ast.AugAssign) and self.wanted(INPLACE[type(node.op)]):
            return self._augmented(node, temporaries)
        return node

    def _leave_blind(self, node: ast.AST) -> Any:
        """Operators whose hooks need no operands; None for what takes another form."""
        if isinstance(node, ast.BinOp) and self.wanted(BINARY[type(node.op)]):
            return self.blind.binary(node)
        if isinstance(node, ast.UnaryOp) and self.wanted(UNARY[type(node.op)]) and not is_negative_number(node):
            return self.blind.unary(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and self.wanted(COMPARE[type(node.ops[0])]):
            return self.blind.compare(node)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self.wanted("getitem"):
            return self.blind.subscript(node)
        if isinstance(node, ast.AugAssign) and self.wanted(INPLACE[type(node.op)]):
            return None if isinstance(node.target, ast.Subscript) else self.blind.augmented(node)
        return None

    def _compare(self, node: ast.Compare) -> ast.expr:
        """A chained comparison needs temporaries, and stays as it is."""
        name = COMPARE[type(node.ops[0])]
        if len(node.ops) > 1 or not self.wanted(name):
            return node
        at = At(node)
        operands = [node.left, node.comparators[0]]
        if name != "contains":
            return self.operator(at, name, operands)
        found = at.call(at.load("@in"), operands)
        return at.put(ast.UnaryOp(ast.Not(), found)) if isinstance(node.ops[0], ast.NotIn) else found

    def _assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript) or not self.wanted("setitem"):
            return node
        return self._store(target, node.value)

    def _store(self, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        at = At(target)
        return at.put(ast.Expr(at.call(at.load("@setitem"), [value, target.value, index_value(target.slice)])))

    def _delete(self, node: ast.Delete) -> Any:
        if not self.wanted("delitem"):
            return node
        at = At(node)
        return [
            at.put(ast.Expr(self.operator(At(target), "delitem", [target.value, index_value(target.slice)])))
            if isinstance(target, ast.Subscript)
            else at.put(ast.Delete([target]))
            for target in node.targets
        ]

    def _augmented(self, node: ast.AugAssign, temporaries: bool) -> Any:
        if not temporaries and not isinstance(node.target, ast.Name):
            return node
        at, name = At(node), INPLACE[type(node.op)]

        def load(target: ast.Subscript) -> ast.expr:
            return self.leave(target, temporaries)  # type: ignore[no-any-return]

        def store(target: ast.Subscript, value: ast.expr) -> list[ast.stmt]:
            return [self._store(target, value) if self.wanted("setitem") else at.put(ast.Assign([target], value))]

        return augmented(node, lambda current, value: self.operator(at, name, [current, value]), load, store)


def augmented(
    node: ast.AugAssign,
    inplace: Callable[[ast.expr, ast.expr], ast.expr],
    load: Callable[[ast.Subscript], ast.expr],
    store: Callable[[ast.Subscript, ast.expr], list[ast.stmt]],
) -> list[ast.stmt]:
    """`target op= value` as load, operation and store; the parts of the target are evaluated once."""
    at, target = At(node), node.target
    if isinstance(target, ast.Name):
        return [at.put(ast.Assign([target], inplace(At(target).load(target.id), node.value)))]
    place = At(target)
    before: list[ast.stmt] = [at.put(ast.Assign([at.store("@t")], target.value))]
    names = ["@t"]
    if isinstance(target, ast.Attribute):
        current: ast.expr = place.attribute(place.load("@t"), target.attr)
        store_attribute = place.put(ast.Attribute(place.load("@t"), target.attr, ast.Store()))
        after: list[ast.stmt] = [at.put(ast.Assign([store_attribute], inplace(current, node.value)))]
    else:
        before.append(at.put(ast.Assign([at.store("@i")], index_value(target.slice))))
        names.append("@i")
        current = load(place.put(ast.Subscript(place.load("@t"), place.load("@i"), ast.Load())))
        after = store(
            place.put(ast.Subscript(place.load("@t"), place.load("@i"), ast.Store())),
            inplace(current, node.value),
        )
    return [*before, *after, at.put(ast.Expr(at.clear(names)))]


def index_value(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: slices become calls of `slice`."""
    if isinstance(index, ast.Slice):
        at = At(index)
        parts = [part if part is not None else at.constant(None) for part in (index.lower, index.upper, index.step)]
        return at.call(at.load("@slice"), parts)
    if isinstance(index, ast.Tuple) and any(isinstance(item, ast.Slice) for item in index.elts):
        index.elts = [index_value(item) for item in index.elts]
    return index


def is_negative_number(node: ast.UnaryOp) -> bool:
    """`-1` is a literal to its reader, and a constant to the compiler."""
    return (
        isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and isinstance(node.operand.value, (int, float, complex))
    )


def is_ours(function: ast.expr) -> bool:
    """Whether the callee is a name of ours, or of pytest's assertion rewriting: no identifier (checklist P1)."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id.startswith("@")


def is_plain_super(node: ast.Call) -> bool:
    """`super()`: the interpreter finds the class and the instance by looking at the frame (R6)."""
    return isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords
