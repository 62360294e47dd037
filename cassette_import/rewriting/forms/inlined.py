"""The inlined form of events: hooks are called in the body itself, for one shape.

``f(x)`` for a context with a prehook and a posthook, without the branches for bound methods and the like::

    (@f0 := f, @a0 := x,
     (@7.pre0.1.3(@c0, @f0, @a0), @r0 := @f0(@a0), @7.post0.1.4(@c0, @r0, @f0, @a0))[1],
     @f0 := @a0 := @r0 := None)[2]

Temporaries are numbered by how deeply events nest (see `temporaries`).
"""

from __future__ import annotations

import ast
from typing import Any

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged_events
from cassette_import.rewriting.forms.accelerated_call import accelerated_call
from cassette_import.rewriting.forms.argument_free import ArgumentFreeForm
from cassette_import.rewriting.forms.callee import CalleeForm
from cassette_import.rewriting.forms.guarded import GuardedForm
from cassette_import.rewriting.forms.hooked_event import (
    HookedEvents,
    OperandsOfPrimitive,
    Read,
    Variables,
    as_written,
    into_temporaries,
)
from cassette_import.rewriting.forms.inlined_call import InlinedCall
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import TAGGED, Interest, Shape
from cassette_import.rewriting.syntax.expressions import is_own_callee, is_own_decorator
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import DEBUGGER, has
from cassette_import.rewriting.trees.node_builder import At, debugged, is_plain_super, with_arguments_of_super
from cassette_import.rewriting.variant_names import VariantNames


class InlinedForm:
    """Builds events for one shape.

    Parameters
    ----------
    shape:
        The stack of contexts.
    file, objects:
        For guards, see `GuardedForm`.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    variables:
        The variables of the function that need no temporaries.
    asks_containers:
        See `GuardedForm`.
    """

    temporaries = True

    def __init__(
        self,
        shape: Shape,
        file: str = "",
        objects: frozenset[str] = frozenset(),
        read_by_handlers: set[str] | None = None,
        variables: Variables | None = None,
        asks_containers: bool = False,
    ) -> None:
        self.shape = shape
        self._names = VariantNames(shape.prefix)
        handlers = read_by_handlers if read_by_handlers is not None else set()
        self._variables = variables or Variables()
        self._events = HookedEvents(shape, handlers, self._variables)
        self._argument_free = ArgumentFreeForm(shape)
        self._guarded = GuardedForm(shape.prefix, file, objects, asks_containers=asks_containers)

    @property
    def bare(self) -> CalleeForm:
        """The form of places where there may be no temporaries."""
        return CalleeForm([self.shape], temporaries=False, in_branch=True)

    def wanted(self, name: str) -> bool:
        """Whether the primitive `name` is intercepted."""
        return self.shape.interest(EVENT_OF[name], name) is not Interest.NOTHING

    def _is_argument_free(self, event: Events) -> bool:
        """Whether the hooks of such events are argument-free."""
        return event in self.shape.argument_free and self.shape.interest(event) is Interest.EVERYTHING

    def is_argument_free(self, name: str) -> bool:
        """Whether the hooks of the primitive `name` are argument-free."""
        return self._is_argument_free(EVENT_OF[name])

    @property
    def tags(self) -> bool:
        """Whether values may be tagged."""
        return self.shape.tagging

    def only_tags(self, name: str) -> bool:
        """Whether the primitive `name` is an event only since values may be tagged: there are no hooks."""
        return self._events.has_no_hooks(EVENT_OF[name])

    def unpacking(self, at: At, value: ast.expr, spec: Any) -> ast.expr:
        """A value that is about to be unpacked."""
        if self.only_tags("next") and not any(spec[2]):
            return tagged_events.unpacking(at, self.shape.prefix, value, spec)
        return at.call(at.symbol(symbols.UNPACK), [value, at.constant(spec)])

    # ---- primitives

    def operate(self, operation: Operation, depth: int, suffix: str = "") -> ast.expr:
        """The event of an operation."""
        name, at = operation.name, operation.place
        event = EVENT_OF[name]
        if self._is_argument_free(event):
            return self._argument_free.operate(operation)
        values = [slot.get() for slot in operation.slots]
        if self.shape.interest(event, name) is Interest.EVERYTHING:
            return self._inlined_operation(operation, event, values, depth, suffix)
        if operation.late is None:
            return self._runner(at, event, name, operation.arguments(values))
        steps: list[ast.expr] = []
        used: list[str] = []
        reads = into_temporaries(at, values, temporaries.operands(depth, suffix), steps, used)
        value = self._runner(at, event, name, operation.arguments([read() for read in reads]))
        return at.pick([*steps, value, at.clear(used)], len(steps)) if used else value

    def _inlined_operation(
        self, operation: Operation, event: Events, values: list[ast.expr], depth: int, suffix: str
    ) -> ast.expr:
        name, at = operation.name, operation.place
        steps: list[ast.expr] = []
        used: list[str] = []
        only_native = self._events.has_no_hooks(event)
        prefix = temporaries.operands(depth, suffix)
        reads = into_temporaries(at, values, prefix, steps, used, self._events.stays(event))
        result = temporaries.result(depth, suffix)
        if not only_native or tagged_events.helper_after(name) is not None:
            used.insert(0, result)
        arguments = operation.arguments([read() for read in reads])
        operands = OperandsOfPrimitive(at, at.symbol(symbols.primitive(name)), arguments, self._events.read_by_handlers)
        if event in self.shape.overloads or name in self.shape.primitives:
            native = self._overloaded_operation(operation, event, values, reads, result)
        else:
            native = operation.plain(as_written(values, reads))
        steps, place = self._events.event(at, event, operands, steps, native, result)
        return at.pick([*steps, at.clear(used)] if used else steps, place)

    def _overloaded_operation(
        self, operation: Operation, event: Events, values: list[ast.expr], reads: list[Read], result: str
    ) -> ast.expr:
        """An operation that an overload may take."""
        name, at = operation.name, operation.place
        over = at.call(at.symbol(self._names.overload(event)), [at.symbol(symbols.primitive(name))])
        call: ast.expr = at.call(over, operation.arguments([read() for read in reads]))
        if not self.shape.tagging or event not in TAGGED:
            return call
        plain = operation.plain(as_written(values, reads))
        untagged = tagged_events.after(at, plain, tagged_events.helper_after(name), result)
        arguments = operation.arguments([read() for read in reads])
        test = tagged_events.tested(at, self.shape.prefix, event, name, arguments)
        return at.either(test, call, untagged)

    def _runner(self, at: At, event: Events, name: str, arguments: list[ast.expr]) -> ast.expr:
        runner = at.symbol(self._names.event(event))
        return at.call(runner, [at.symbol(symbols.primitive(name)), *arguments])

    def argument_free_statement(self, name: str, last: Slot, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statement between argument-free hooks; None if some hook reads the operands."""
        event = EVENT_OF[name]
        return self._argument_free.statement(event, last, statement) if self._is_argument_free(event) else None

    # ---- calls

    def call(self, node: ast.Call, depth: int) -> ast.expr:
        """The event of a call."""
        interest = self.shape.interest(Events.CALLS)
        if self.shape.tagging and is_own_callee(node.func):
            return tagged_events.left(node, temporaries.result(depth))
        if interest is Interest.NOTHING or is_own_callee(node.func):
            return node
        if is_plain_super(node) and not self.shape.sees_super:
            return node
        if has(node, DEBUGGER):
            return debugged(node)
        splat = any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        )
        if self._is_argument_free(Events.CALLS):
            return self._argument_free.call(node)
        if is_plain_super(node):
            node, splat = with_arguments_of_super(node), True
        if interest is Interest.TARGETS:
            return self._guarded.call(node)
        if splat:
            # Splats: only the call instruction itself raises Python's own errors for f(*1) and repeated keywords.
            node.func = self.decorator(node.func)
            return node
        if self.shape.is_accelerated:
            has_posthook = self.shape.contexts[0].posthook
            return accelerated_call(node, self._names, self._variables, depth, has_posthook)
        return InlinedCall(self._events, node, depth).build()

    def decorator(self, node: ast.expr) -> ast.expr:
        """A decorator: the callee form, since the interpreter itself makes the call."""

        if self.shape.interest(Events.CALLS) is Interest.NOTHING or is_own_decorator(node):
            return node
        return At(node).call(At(node).symbol(self._names.pick(Events.CALLS)), [node])
