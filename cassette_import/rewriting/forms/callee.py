"""The callee form of events, ``@pick.1(f)(x)``: each event looks up the active context.

It is for code that may be resumed in another context. Without temporaries, it is for places where assignment
expressions are not allowed or where the program would see the temporaries.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.guarded import GuardedForm, is_small
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import Interest, Shape
from cassette_import.rewriting.symbols import When
from cassette_import.rewriting.syntax.expressions import is_own_callee, is_own_decorator
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import DEBUGGER, has
from cassette_import.rewriting.trees.node_builder import At, debugged, is_plain_super, with_arguments_of_super
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.variant_names import VariantNames

# ---- the argument-free form: events whose hooks read nothing but their context, as a counting hook does
#
# ``f(x, y)`` becomes ``@7.freepost0.1(@c0, f(x, @7.freepre0.1(@c0, y)))``. The prehook runs when all operands have been
# evaluated, the posthook when there is a result, and each returns the value that it is given. The form needs no
# temporaries and no copies of arguments, and method calls stay method calls.

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


# ---- the callee form of events, ``@pick.1(f)(x)``: each event looks up the active context


class CalleeForm:
    """Builds events for whichever of several shapes is active.

    Parameters
    ----------
    shapes:
        The shapes; an event that none of them wants stays as it is written.
    temporaries:
        Whether assignment expressions are allowed there.
    in_branch:
        Whether a context is almost certainly active there.
    guarded:
        The form of calls, if guards serve.
    """

    def __init__(
        self, shapes: Sequence[Shape], temporaries: bool, in_branch: bool = False, guarded: GuardedForm | None = None
    ) -> None:
        self.temporaries = temporaries
        self._in_branch = in_branch
        self._guarded = guarded
        self._shapes = shapes
        self._argument_free = ArgumentFreeForm(None, in_branch)
        self._argument_free_kinds = [kind for kind in Events if self._is_argument_free(kind)]
        self._calls = any(shape.interest(Events.CALLS) is not Interest.NOTHING for shape in shapes)

    @property
    def bare(self) -> CalleeForm:
        """The same without temporaries."""
        return CalleeForm(self._shapes, False, self._in_branch) if self.temporaries else self

    def _is_argument_free(self, event: Events) -> bool:
        """Whether the hooks of all shapes that want such events are argument-free."""
        wanted = [shape for shape in self._shapes if shape.interest(event) is not Interest.NOTHING]
        return bool(wanted) and all(
            event in shape.argument_free and shape.interest(event) is Interest.EVERYTHING for shape in wanted
        )

    def is_argument_free(self, name: str) -> bool:
        """Whether the hooks of the primitive `name` are argument-free."""
        return EVENT_OF[name] in self._argument_free_kinds

    def wanted(self, name: str) -> bool:
        """Whether some shape intercepts the primitive `name`."""
        event = EVENT_OF[name]
        return any(shape.interest(event, name) is not Interest.NOTHING for shape in self._shapes)

    @property
    def tags(self) -> bool:
        """Whether values may be tagged."""
        return any(shape.tagging for shape in self._shapes)

    def only_tags(self, name: str) -> bool:
        """Whether the primitive `name` is an event only since values may be tagged: another context may run it."""
        return False

    def unpacking(self, at: At, value: ast.expr, spec: Any) -> ast.expr:
        """A value that is about to be unpacked."""
        return at.call(at.symbol(symbols.UNPACK), [value, at.constant(spec)])

    def _picked(self, at: At, function: ast.expr, event: Events) -> ast.expr:
        return at.call(at.symbol(symbols.pick_anywhere(event)), [function])

    def operate(self, operation: Operation, depth: int, suffix: str = "") -> ast.expr:
        """The event of an operation."""
        at, event = operation.place, EVENT_OF[operation.name]
        if event in self._argument_free_kinds:
            return self._argument_free.operate(operation)
        values = [slot.get() for slot in operation.slots]
        if operation.late is not None:
            return at.call(at.symbol(operation.late), [*(values or [operation.node]), *operation.constants])
        return at.call(
            self._picked(at, at.symbol(symbols.primitive(operation.name)), event), operation.arguments(values)
        )

    def argument_free_statement(self, name: str, last: Slot, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statement between argument-free hooks; None if some hook reads the operands."""
        event = EVENT_OF[name]
        return self._argument_free.statement(event, last, statement) if event in self._argument_free_kinds else None

    def call(self, node: ast.Call, depth: int) -> ast.expr:
        """The event of a call."""
        if not self._calls or is_own_callee(node.func):
            return node
        if is_plain_super(node) and not any(shape.sees_super for shape in self._shapes):
            return node
        if has(node, DEBUGGER):
            return debugged(node)
        if is_plain_super(node) and Events.CALLS not in self._argument_free_kinds:
            node = with_arguments_of_super(node)
        if self._guarded is not None:
            return self._guarded.call(node)
        if Events.CALLS not in self._argument_free_kinds:
            node.func = self._picked(At(node.func), node.func, Events.CALLS)
            return node
        if not is_small(node, whole=True):
            return self._argument_free.call(node)
        # A context that is entered while this code is suspended, or by the `with` statement around it, may read them.
        argument_free: Any = clone(node)
        node.func = self._picked(At(node.func), node.func, Events.CALLS)
        return At(node).either(
            At(node).symbol(symbols.ONLY_ARGUMENT_FREE), self._argument_free.call(argument_free), node
        )

    def decorator(self, node: ast.expr) -> ast.expr:
        """A decorator: the interpreter itself makes the call."""
        return self._picked(At(node), node, Events.CALLS) if self._calls and not is_own_decorator(node) else node
