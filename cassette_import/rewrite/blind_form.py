"""The form of an event whose hooks look at nothing but their context (they count, say): the operation stays as it is
written.

``f(x, y)`` becomes ``(f(x, (y, @7.blindpre0.1(@c0))[0]), @7.blindpost0.1(@c0))[0]``: the prehook runs when all
operands have been
evaluated, the posthook when there is a result. No temporaries, no copies of arguments, and method calls stay method
calls.
"""

from __future__ import annotations

import ast

from cassette_import.events import Events
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.shape import Shape


class BlindForm:
    """Builds such events for one shape."""

    def __init__(self, shape: Shape | None) -> None:
        self.shape = shape

    def hooks(self, at: At, which: str, event: Events) -> list[ast.expr]:
        """The calls of all prehooks (outermost first) or posthooks (innermost first).

        Without a shape, one call that asks which context is active: for what may be resumed in another one.
        """
        if self.shape is None:
            hook = at.call(at.load(f"@blind{which}.{int(event)}"), [])
            return [at.put(ast.BoolOp(ast.And(), [at.load("@on"), hook]))]
        calls: list[ast.expr] = [
            at.call(at.load(f"{self.shape.prefix}.blind{which}{number}.{int(event)}"), [at.load(f"@c{number}")])
            for number, context in enumerate(self.shape.contexts)
            if event in context.events and (context.prehook if which == "pre" else context.posthook)
        ]
        return calls if which == "pre" else calls[::-1]

    def last(self, operand: ast.expr, event: Events) -> ast.expr:
        """The operand that is evaluated last, with the prehooks after it."""
        at = At(operand)
        before = self.hooks(at, "pre", event)
        if not before:
            return operand
        if isinstance(operand, ast.Constant):
            for hook in before:  # a hook returns None
                operand = at.either(hook, operand, operand)
            return operand
        return at.pick([operand, *before], 0)

    def after(self, at: At, result: ast.expr, event: Events) -> ast.expr:
        """The result, with the posthooks after it."""
        return at.pick([result, *self.hooks(at, "post", event)], 0)

    def call(self, node: ast.Call) -> ast.expr:
        if node.keywords:
            last = node.keywords[-1]
            last.value = self.last(last.value, Events.CALLS)
        elif node.args:
            argument = node.args[-1]
            if isinstance(argument, ast.Starred):
                argument.value = self.last(argument.value, Events.CALLS)
            else:
                node.args[-1] = self.last(argument, Events.CALLS)
        else:
            node.func = self.last(node.func, Events.CALLS)
        return self.after(At(node), node, Events.CALLS)

    def binary(self, node: ast.BinOp) -> ast.expr:
        node.right = self.last(node.right, Events.OPERATORS)
        return self.after(At(node), node, Events.OPERATORS)

    def unary(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.last(node.operand, Events.OPERATORS)
        return self.after(At(node), node, Events.OPERATORS)

    def compare(self, node: ast.Compare) -> ast.expr:
        node.comparators[-1] = self.last(node.comparators[-1], Events.OPERATORS)
        return self.after(At(node), node, Events.OPERATORS)

    def subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice):
            self._slice(node.slice)
        else:
            node.slice = self.last(node.slice, Events.OPERATORS)
        return self.after(At(node), node, Events.OPERATORS)

    def _slice(self, node: ast.Slice) -> None:
        """`a[b:c]` stays a slice: the interpreter has an instruction for it."""
        if node.step is not None:
            node.step = self.last(node.step, Events.OPERATORS)
        else:
            node.upper = self.last(node.upper or At(node).constant(None), Events.OPERATORS)

    def stored(self, target: ast.Subscript, statement: ast.stmt) -> list[ast.stmt]:
        """A statement that stores to or deletes `target`, with the hooks around it."""
        if isinstance(target.slice, ast.Slice):
            self._slice(target.slice)
        else:
            target.slice = self.last(target.slice, Events.OPERATORS)
        at = At(target)
        return [statement, *(at.put(ast.Expr(hook)) for hook in self.hooks(at, "post", Events.OPERATORS))]

    def augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        node.value = self.last(node.value, Events.OPERATORS)
        at = At(node)
        return [node, *(at.put(ast.Expr(hook)) for hook in self.hooks(at, "post", Events.OPERATORS))]
