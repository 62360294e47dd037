"""`Operation`: a piece of syntax as a call of a primitive. `Form`: what builds an event from an operation.

`expressions`, `statements` and `assignments` make operations, and `forms` implements the protocol.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting.trees.node_builder import At, index_value

Expressions = list[ast.expr]


class Slot:
    """The place of an operand in a tree."""

    __slots__ = ("field", "holder", "index")

    def __init__(self, holder: Any, field: str, index: int | None = None) -> None:
        self.holder = holder
        self.field = field
        self.index = index

    def get(self) -> ast.expr:
        value = getattr(self.holder, self.field)
        return value if self.index is None else value[self.index]  # type: ignore[no-any-return]  # a node

    def set(self, value: ast.expr) -> None:
        if self.index is None:
            setattr(self.holder, self.field, value)
        else:
            getattr(self.holder, self.field)[self.index] = value


class IndexSlot(Slot):
    """The index of a subscript: slices are operands as `slice` objects."""

    __slots__ = ()

    def get(self) -> ast.expr:
        return index_value(super().get())


class Itself(Slot):
    """An operand that no field of the operation's node holds: a value that is an operand itself."""

    __slots__ = ("_node",)

    def __init__(self, node: ast.expr) -> None:
        super().__init__(None, "")
        self._node = node

    def get(self) -> ast.expr:
        return self._node


class Operation:
    """A plain operation, and what hooks get of it.

    Parameters
    ----------
    name:
        The primitive: ``operator.add``.
    node:
        The plain operation.
    slots:
        Its operands, in order of evaluation.
    arguments:
        Builds the primitive's arguments from the operands, if they are not the operands in order.
    native:
        Builds the plain operation from the operands, if it is not `node` with the operands in its slots.
    late:
        The name of a helper that takes the operands in order of evaluation and runs the event, for the callee form,
        where that is not the order of the primitive's arguments.
    constants:
        Further arguments of that helper.
    whole:
        Whether the plain operation stays as it is written, for argument-free hooks.
    settled:
        For such hooks, builds the operation that computes the value, if `node` does not (the truth of a condition).

    at:
        The position of the operation, if it is not that of `node`.
    """

    __slots__ = ("arguments", "at", "constants", "late", "name", "native", "node", "settled", "slots", "whole")

    def __init__(
        self,
        name: str,
        node: ast.expr,
        slots: list[Slot],
        arguments: Callable[[Expressions], Expressions] = list,
        native: Callable[[Expressions], ast.expr] | None = None,
        late: str | None = None,
        constants: Expressions | None = None,
        whole: bool = False,
        settled: Callable[[ast.expr], ast.expr] | None = None,
        at: At | None = None,
    ) -> None:
        self.name = name
        self.node = node
        self.slots = slots
        self.arguments = arguments
        self.native = native
        self.late = late
        self.constants = constants or []
        self.whole = whole
        self.settled = settled
        self.at = at

    @property
    def place(self) -> At:
        """The position of the event."""
        return self.at or At(self.node)

    def plain(self, operands: Expressions) -> ast.expr:
        """The plain operation on `operands`. It can be built once only."""
        if self.native is not None:
            return self.native(operands)
        for slot, operand in zip(self.slots, operands, strict=True):
            slot.set(operand)
        return self.node


class Form(Protocol):
    """Builds events: inlined ones, or ones that look up the active context each time."""

    temporaries: bool
    """Whether assignment expressions are allowed here."""

    @property
    def tags(self) -> bool:
        """Whether values may be tagged."""

    @property
    def bare(self) -> Form:
        """The form for places nearby where they are not: targets and iterables of comprehensions."""

    def wanted(self, name: str) -> bool:
        """Whether the primitive `name` is intercepted."""

    def is_argument_free(self, name: str) -> bool:
        """Whether the hooks of the primitive `name` are argument-free."""

    def only_tags(self, name: str) -> bool:
        """Whether the primitive `name` is an event only since values may be tagged, and no other context can run it."""

    def unpacking(self, at: At, value: ast.expr, spec: Any) -> ast.expr:
        """A value that is about to be unpacked, as `spec` says (see `assignments.spec_of`)."""

    def operate(self, operation: Operation, depth: int, suffix: str = "") -> ast.expr:
        """The event of an operation. `depth` is how deeply events nest in its operands."""

    def call(self, node: ast.Call, depth: int) -> ast.expr:
        """The event of a call."""

    def decorator(self, node: ast.expr) -> ast.expr:
        """A decorator whose call, which the interpreter itself makes, is an event."""

    def argument_free_statement(self, name: str, last: Slot, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statement between argument-free hooks; None if some hook reads the operands."""
