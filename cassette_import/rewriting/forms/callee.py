"""The callee form of events, ``@pick.1(f)(x)``: each event looks up the active context.

It is for code that may be resumed in another context. Without temporaries, it is for places where assignment
expressions are not allowed or where the program would see the temporaries.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.argument_free import ArgumentFreeForm
from cassette_import.rewriting.forms.guarded import GuardedForm, is_small
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import Interest, Shape
from cassette_import.rewriting.syntax.expressions import is_own_callee, is_own_decorator
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import DEBUGGER, has
from cassette_import.rewriting.trees.node_builder import At, debugged, is_plain_super, with_arguments_of_super
from cassette_import.rewriting.trees.scopes import clone


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
