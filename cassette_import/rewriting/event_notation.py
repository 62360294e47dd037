"""The event notation of a function: its source, with a mark at each callee that a context gets. It is for readers.

``@max(a, b)`` is an event whose function is `max`; ``@operator.add(a, b)`` is that of ``a + b``. ``?max(a, b)`` is an
event only if `max` is one of the functions that the context has chosen. Displays, literals and names of the module keep
their form: ``@[a, b]``, ``@1.5``, ``@name``. What has no mark runs as it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.modes import Inside, Mode, modes_inside
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.readable_helpers import IN_ORDER, MARK, is_namespace, without_helpers
from cassette_import.rewriting.shape import Interest, Shape
from cassette_import.rewriting.syntax.expressions import is_own_callee
from cassette_import.rewriting.syntax.operation import Itself, Operation, Slot
from cassette_import.rewriting.syntax.replacement import replaced
from cassette_import.rewriting.trees.annotations import NOOVERDUB, annotate
from cassette_import.rewriting.trees.node_builder import At, is_plain_super
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import rebuild

__all__ = ["in_event_notation"]

_READ: Final = "is_read"
"""The attribute of a marked name or display, which is no helper."""
_MARKS: Final = {Interest.EVERYTHING: MARK, Interest.TARGETS: "?"}


def in_event_notation(function: Function, shape: Shape) -> str:
    """The text of a function in which each event of a shape is marked; the node is changed in place."""
    annotate(function)
    form = _Notation(shape)

    def block(owner: Any) -> None:
        """Mark the events in the body of a function."""
        if isinstance(owner, ast.Lambda):
            owner.body = marked(owner.body)
            return
        statements: list[ast.stmt] = []
        for statement in owner.body:
            made = marked(statement)
            statements += made if isinstance(made, list) else [made]
        owner.body = statements

    def marked(node: ast.AST) -> Any:
        return rebuild(node, Mode.INLINED, enter, leave)

    def enter(node: ast.AST, mode: Mode) -> list[Inside]:
        return [] if NOOVERDUB in node.__dict__ else modes_inside(node, mode)

    def leave(node: Any, mode: Mode, depth: int) -> Any:
        if NOOVERDUB in node.__dict__:
            return node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if not isinstance(node, ast.Lambda):
                node.decorator_list = [form.decorator(decorator) for decorator in node.decorator_list]
            if isinstance(node, FUNCTIONS):
                block(node)
            return node
        return replaced(node, form, depth)

    block(function)
    return _text(function)


def _text(tree: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(without_helpers(tree)))


class _Notation:
    """Builds events for readers: calls of marked names, which no compiler would accept."""

    temporaries = False
    tags = False

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    @property
    def bare(self) -> _Notation:
        """Itself: there are no temporaries."""
        return self

    def wanted(self, name: str) -> bool:
        """Whether the primitive `name` is an event."""
        return self._shape.interest(EVENT_OF[name], name) is not Interest.NOTHING

    def is_argument_free(self, name: str) -> bool:
        """Whether hooks read operands makes no difference for readers."""
        return False

    def only_tags(self, name: str) -> bool:
        """Nor does it whether only tags make it an event."""
        return False

    def unpacking(self, at: At, value: ast.expr, spec: Any) -> ast.expr:
        """A value that is about to be unpacked."""
        return at.call(at.symbol(symbols.UNPACK), [value, at.constant(spec)])

    def operate(self, operation: Operation, depth: int, suffix: str = "") -> ast.expr:
        """An operation as a call of its marked primitive, or what is written with a mark."""
        name, at = operation.name, operation.place
        mark = _MARKS[self._shape.interest(EVENT_OF[name], name)]
        values = [slot.get() for slot in operation.slots]
        if name in _WRITTEN:
            read = at.load(mark + _WRITTEN[name](operation, values))
            setattr(read, _READ, True)
            return read
        arguments = [one for one in operation.arguments(values) if not is_namespace(one)]
        made = at.call(at.load(mark + name.removeprefix("primitives.")), arguments)
        setattr(made, IN_ORDER, values)
        return made

    def call(self, node: ast.Call, depth: int) -> ast.expr:
        """A call with a marked callee."""
        if self._shape.sees_super or not is_plain_super(node):
            node.func = self.decorator(node.func)
        return node

    def decorator(self, node: ast.expr) -> ast.expr:
        """A marked callee."""
        mark = _MARKS.get(self._shape.interest(Events.CALLS))
        if mark is None or (is_own_callee(node) and not _is_read(node)):
            return node
        text = _text(node)
        return At(node).load(f"{mark}({text})" if text[0] in _MARKS.values() else mark + text)

    def argument_free_statement(self, name: str, last: Slot, statement: ast.stmt) -> Any:
        """Nothing: statements are shown like expressions."""
        return None


def _is_read(function: ast.expr) -> bool:
    """Whether a callee is reached from a name or display that is an event."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return hasattr(function, _READ)


def _global(operation: Operation, values: list[ast.expr]) -> str:
    """The name of a variable of the module."""
    name = operation.arguments(values)[1]
    assert isinstance(name, ast.Constant)
    return str(name.value)


def _display(operation: Operation, values: list[ast.expr]) -> str:
    """A display, with the events in its elements."""
    for slot, value in zip(operation.slots, values, strict=True):
        if not isinstance(slot, Itself):
            slot.set(value)
    return _text(operation.node)


_WRITTEN: Final[dict[str, Callable[[Operation, list[ast.expr]], str]]] = {
    "primitives.load_global": _global,
    **{name: _display for name, event in EVENT_OF.items() if event is Events.DISPLAYS},
}
"""The events that are shown as they are written, with a mark in front: ``@[a, b]``, ``@1.5``, ``@name``."""
