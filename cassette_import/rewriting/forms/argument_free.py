"""The argument-free form: events whose hooks read nothing but their context, as a counting hook does.

``f(x, y)`` becomes ``@7.freepost0.1(@c0, f(x, @7.freepre0.1(@c0, y)))``. The prehook runs when all operands have been
evaluated, the posthook when there is a result, and each returns the value that it is given. The form needs no
temporaries and no copies of arguments, and method calls stay method calls.
"""

from __future__ import annotations

import ast
import sys

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.symbols import When
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames

JUMPS_ARE_LINES = sys.version_info[:2] == (3, 12)
"""Whether tracers are notified of the line again at the target of a jump, although the line did not change."""


class ArgumentFreeForm:
    """Builds argument-free events.

    Parameters
    ----------
    shape:
        The shape whose hooks are called; None for the hooks of whichever context is active.
    in_branch:
        Whether a context is almost certainly active there, so that no test of it is worth its time.
    """

    def __init__(self, shape: Shape | None, in_branch: bool = False) -> None:
        self.shape = shape
        self._in_branch = in_branch

    def hooks(self, at: At, which: When, event: Events) -> list[ast.expr]:
        """The calls of all prehooks (outermost first) or posthooks (innermost first) that pass no value through.

        Without a shape it is one call, which calls the hooks of the active context.
        """
        if self.shape is None:
            hook = at.call(at.symbol(symbols.argument_free_hooks_anywhere(which, event)), [])
            if self._in_branch:
                return [hook]
            return [at.put(ast.BoolOp(ast.And(), [at.symbol(symbols.IS_ANY_ACTIVE), hook]))]
        return [at.call(hook, [context, at.constant(None)]) for hook, context in self._hooks(at, which, event)]

    def _hooks(self, at: At, which: When, event: Events) -> list[tuple[ast.expr, ast.expr]]:
        """The hooks and their contexts, in the order in which they run."""
        assert self.shape is not None
        names = VariantNames(self.shape.prefix)
        found: list[tuple[ast.expr, ast.expr]] = [
            (at.symbol(names.argument_free_hook(which, number, event)), at.load(temporaries.context(number)))
            for number, context in enumerate(self.shape.contexts)
            if event in context.events and (context.prehook if which == "pre" else context.posthook)
        ]
        return found if which == "pre" else found[::-1]

    def last(self, operand: ast.expr, event: Events, place: At) -> ast.expr:
        """The operand that is evaluated last, with the prehooks after it; `place` is that of the event."""
        at = place.on_line_of(operand)
        if self.shape is not None and isinstance(operand, (ast.Name, ast.Constant)):
            return self._passed_through(at, operand, "pre", event)
        # Evaluating the operand may register another hook, so the hook is loaded after it.
        before = self.hooks(at, "pre", event)
        if not before:
            return operand
        if isinstance(operand, ast.Constant) and not JUMPS_ARE_LINES:
            for hook in before:  # a hook returns None
                operand = at.either(hook, operand, operand)
            return operand
        return at.pick([operand, *before], 0)

    def after(self, at: At, result: ast.expr, event: Events) -> ast.expr:
        """The result, with the posthooks after it."""
        if self.shape is not None:
            return self._passed_through(at, result, "post", event)
        return at.pick([result, *self.hooks(at, "post", event)], 0)

    def _passed_through(self, at: At, value: ast.expr, which: When, event: Events) -> ast.expr:
        for hook, context in self._hooks(at, which, event):
            value = at.call(hook, [context, value])
        return value

    def operate(self, operation: Operation) -> ast.expr:
        """The event of an operation, which stays as it is written."""
        at, event = operation.place, EVENT_OF[operation.name]
        if operation.settled is not None:
            operand = at.pick([operation.node, *self.hooks(at, "pre", event)], 0)
            return self.after(at, operation.settled(operand), event)
        if operation.whole:
            return self.after(at, at.pick([operation.node, *self.hooks(at, "pre", event)], 0), event)
        if operation.slots:
            self._put_before(operation.slots[-1], event, at)
            return self.after(at, operation.node, event)
        before = self.hooks(at, "pre", event)
        return self.after(at, at.pick([*before, operation.node], len(before)), event)

    def statement(self, event: Events, last: Slot, statement: ast.stmt) -> list[ast.stmt]:
        """A statement whose last operand is `last`, with the hooks around it."""
        at = At(statement)
        self._put_before(last, event, at)
        return [statement, *(at.put(ast.Expr(hook)) for hook in self.hooks(at, "post", event))]

    def _put_before(self, last: Slot, event: Events, place: At) -> None:
        """Put the prehooks after the operand that is evaluated last."""
        plain = Slot(last.holder, last.field, last.index)
        node = plain.get()
        if isinstance(node, ast.Slice):  # `a[b:c]` stays a slice: the interpreter has an instruction for it
            if node.step is not None:
                node.step = self.last(node.step, event, place)
            else:
                node.upper = self.last(node.upper or At(node).constant(None), event, place)
        else:
            plain.set(self.last(node, event, place))

    def call(self, node: ast.Call) -> ast.expr:
        last = Slot(node, "func")
        if node.keywords:
            last = Slot(node.keywords[-1], "value")
        elif node.args:
            argument = node.args[-1]
            last = Slot(argument, "value") if isinstance(argument, ast.Starred) else Slot(node, "args", -1)
        at = At(node)
        self._put_before(last, Events.CALLS, at)
        return self.after(at, node, Events.CALLS)
