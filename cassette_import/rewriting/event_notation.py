"""The event notation of a function: its source, with a mark at each callee that a context gets. It is for readers.

``@max(a, b)`` is an event whose function is `max`; ``@operator.add(a, b)`` is that of ``a + b``. ``?max(a, b)`` is an
event only if `max` is one of the functions that the context has chosen. Displays, literals and names of the module keep
their form: ``@[a, b]``, ``@1.5``, ``@name``. What has no mark runs as it is written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from typing import Any, Final, TypeVar

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.modes import Inside, Mode, modes_inside
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import Interest, Shape
from cassette_import.rewriting.syntax.expressions import is_own_callee
from cassette_import.rewriting.syntax.operation import Itself, Operation, Slot
from cassette_import.rewriting.syntax.statements import replaced
from cassette_import.rewriting.trees.annotations import NOOVERDUB, annotate
from cassette_import.rewriting.trees.node_builder import At, is_plain_super
from cassette_import.rewriting.trees.scopes import FUNCTIONS, Function
from cassette_import.rewriting.trees.traversal import rebuild

__all__ = ["in_event_notation"]

# ---- rewritten trees without the helpers that only the interpreter needs. The results are for readers
#
# Where no temporaries are allowed, rewritten code keeps values outside the frame (see `syntax.operand_stack` of the
# runtime). Readers get the value itself in both places if it is a name, else a variable: ``(_1 := f(x)) < y and _1 …``.

_MARK: Final = "@"
"""The mark of an event."""
_IN_ORDER: Final = "in_order_of_evaluation"
"""The attribute of a call with its operands in the order in which they are evaluated."""


def _without_helpers(tree: ast.AST) -> ast.AST:
    """The tree in which helpers are replaced by what they mean; it is changed in place."""
    made = _Reader().visit(tree)
    assert isinstance(made, ast.AST)
    return made


def _is_namespace(node: ast.expr) -> bool:
    """Whether an expression is the namespace of the module, as helpers get it."""
    return _helper(node) == symbols.GLOBALS


def _helper(node: ast.AST) -> str | None:
    """The name of the function that a call calls."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


_Node = TypeVar("_Node", bound=ast.AST)


class _Reader(ast.NodeTransformer):
    """Follows the evaluation of a function with the values that are kept at each place."""

    def __init__(self) -> None:
        self._kept: list[ast.expr] = []
        self._variables = 0

    def visit(self, node: ast.AST) -> Any:
        """The node without helpers."""
        helper = _HELPERS.get(_helper(node) or "")
        return super().visit(node) if helper is None else helper(self, node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """A conditional expression; if it stands for `and`, `or` or a chain, one of its branches is the kept value."""
        if _helper(node.orelse) == symbols.KEPT:
            operator: ast.boolop = ast.And()
        elif _helper(node.body) == symbols.KEPT:
            operator = ast.Or()
        else:
            return self._visited(node)
        first = self.visit(node.test)
        last = self.visit(node.body if isinstance(operator, ast.And) else node.orelse)
        rest = last.values if isinstance(last, ast.BoolOp) and type(last.op) is type(operator) else [last]
        return At(node).put(ast.BoolOp(operator, [first, *rest]))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call; its operands are visited in the order in which they are evaluated."""
        name = _helper(node)
        if name in _PRIMITIVES and not hasattr(
            node, _IN_ORDER
        ):  # no event: what a statement does apart from its events
            node.func = At(node.func).load(_PRIMITIVES[name])
        made = {id(operand): self.visit(operand) for operand in getattr(node, _IN_ORDER, ())}
        node.args = [made[id(one)] if id(one) in made else self.visit(one) for one in node.args]
        node.func = self.visit(node.func)
        node.keywords = [self._visited(keyword) for keyword in node.keywords]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """A statement; one that only keeps a value becomes an assignment."""
        helper, value = _helper(node.value), node.value
        if helper == symbols.KEEP_ALL:
            return self._unpacked(value)
        if helper != symbols.KEEP:
            return self._visited(node)
        assert isinstance(value, ast.Call)
        kept = self.visit(value.args[0])
        variable = self._kept_variable(At(node))
        return At(node).put(ast.Assign([At(node).store(variable.id)], kept))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """A target that only keeps what is stored to it becomes a variable."""
        if not (isinstance(node.value, ast.Name) and node.value.id == symbols.SINK):
            return self._visited(node)
        variable = self._kept_variable(At(node))
        return At(node).store(variable.id)

    def visit_For(self, node: Any) -> Any:
        """A loop; its target is bound before its body runs."""
        iterable, target = self.visit(node.iter), self.visit(node.target)
        node.iter = node.target = At(node).load("_")
        self._visited(node).iter, node.target = iterable, target
        return node

    visit_AsyncFor = visit_For

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """An annotation that is evaluated after the store of its target."""
        if isinstance(node.target, ast.Subscript) and isinstance(node.target.value, ast.Constant):
            node.target, node.simple = At(node).store("_"), 1
        return self._visited(node)

    def _visited(self, node: _Node) -> _Node:
        return super().generic_visit(node)  # type: ignore[return-value]  # nodes are changed in place

    def _new_variable(self, at: At) -> ast.Name:
        self._variables += 1
        return at.load(f"_{self._variables}")

    def _kept_variable(self, at: At) -> ast.Name:
        """A new variable, whose value is kept."""
        variable = self._new_variable(at)
        self._kept.append(variable)
        return variable

    def _unpacked(self, node: Any) -> ast.stmt:
        """A value that is unpacked into variables, which are stored one by one."""
        at, (value, count, star) = At(node), node.args
        value = self.visit(value)
        variables = [self._new_variable(at) for _ in range(count.value)]
        self._kept += reversed(variables)
        targets: list[ast.expr] = [at.store(variable.id) for variable in variables]
        if star.value is not None:
            targets[star.value] = at.put(ast.Starred(targets[star.value], ast.Store()))
        return at.put(ast.Assign([at.put(ast.Tuple(targets, ast.Store()))], value))

    # ---- helpers

    def keep(self, node: Any) -> ast.expr:
        """The value; it is kept."""
        value = self.visit(node.args[0])
        if isinstance(value, (ast.Name, ast.Constant)):
            self._kept.append(value)
            return value
        variable = self._kept_variable(At(node))
        return At(node).put(ast.NamedExpr(At(node).store(variable.id), value))

    def kept(self, node: Any) -> ast.expr:
        """The value that was kept last."""
        return copy(self._kept.pop())

    def kept_below(self, node: Any) -> ast.expr:
        """The value that was kept before the last one."""
        return copy(self._kept.pop(-2))

    def peek(self, node: Any) -> ast.expr:
        """The value that was kept last, and stays kept."""
        return copy(self._kept[-1])

    def iterator(self, node: Any) -> ast.expr:
        """The iterator of a value; helpers have further arguments, which readers do not need."""
        return self._called("iter", node)

    def asynchronous_iterator(self, node: Any) -> ast.expr:
        """The same of a loop that awaits."""
        return self._called("aiter", node)

    def managed(self, node: Any) -> ast.expr:
        """The manager of a `with` statement."""
        return self._called("enter_context", node)

    def managed_async(self, node: Any) -> ast.expr:
        """The manager of an `async with` statement."""
        return self._called("enter_async_context", node)

    def imported(self, node: Any) -> ast.expr:
        """A name of a module."""
        return At(node).put(ast.Attribute(self.visit(node.args[0]), node.args[1].value, ast.Load()))

    def of_class(self, node: Any) -> ast.expr:
        """A name in a class body that may be a name of the module."""
        return At(node).load(f"{_MARK}{node.args[-1].value}")

    def class_value(self, node: Any) -> ast.expr:
        """The value of a name in a class body."""
        return self.visit(node.args[0])  # type: ignore[no-any-return]  # the type of visited nodes is not known

    def tested(self, node: Any) -> ast.expr:
        """An operand of `and` or `or`."""
        return self._called("operator.truth", node)

    def compared(self, node: Any) -> ast.expr:
        """A part of a chained comparison."""
        return self.visit(node.args[0])  # type: ignore[no-any-return]  # the type of visited nodes is not known

    def slice(self, node: Any) -> ast.expr:
        """A slice as an object."""
        node.func = At(node.func).load("slice")
        visited: ast.expr = self._visited(node)
        return visited

    def _called(self, name: str, node: ast.Call) -> ast.expr:
        """The event of a function that has the first argument of a helper."""
        at = At(node)
        return at.call(at.load(_MARK + name), [self.visit(node.args[0])])


_PRIMITIVES: Final = {symbols.primitive(name): name for name in EVENT_OF}
"""The primitives as rewritten code calls them where they are no events."""

_HELPERS: Final[dict[str, Callable[[_Reader, Any], ast.expr]]] = {
    symbols.KEEP: _Reader.keep,
    symbols.KEPT: _Reader.kept,
    symbols.KEPT_BELOW: _Reader.kept_below,
    symbols.PEEK: _Reader.peek,
    **dict.fromkeys(
        (symbols.LOOP, symbols.UNPACK, symbols.DELEGATE, symbols.SPLAT, symbols.SPLAT_IN_CALL), _Reader.iterator
    ),
    symbols.LOOP_ASYNC: _Reader.asynchronous_iterator,
    symbols.MANAGED: _Reader.managed,
    symbols.MANAGED_ASYNC: _Reader.managed_async,
    symbols.IMPORT_FROM: _Reader.imported,
    symbols.CLASS_NAME: _Reader.of_class,
    symbols.CLASS_READ: _Reader.of_class,
    symbols.CLASS_VALUE: _Reader.class_value,
    symbols.SLICE: _Reader.slice,
    symbols.AND: _Reader.tested,
    symbols.OR: _Reader.tested,
    symbols.CHAIN: _Reader.compared,
    symbols.CHAIN_TESTED: _Reader.compared,
}
"""How each helper is shown."""


# ---- the event notation of a function: its source, with a mark at each callee that a context gets. It is for readers

_READ: Final = "is_read"
"""The attribute of a marked name or display, which is no helper."""
_MARKS: Final = {Interest.EVERYTHING: _MARK, Interest.TARGETS: "?"}


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
    return ast.unparse(ast.fix_missing_locations(_without_helpers(tree)))


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
        arguments = [one for one in operation.arguments(values) if not _is_namespace(one)]
        made = at.call(at.load(mark + name.removeprefix("primitives.")), arguments)
        setattr(made, _IN_ORDER, values)
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
