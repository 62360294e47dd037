"""Building AST nodes at the position of another node, so that tracebacks, coverage and debuggers show the
user's code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final, Self, TypeVar

from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.trees.traversal import declare_leaves

Node = TypeVar("Node", bound=ast.AST)

KINDS: Final = ("function", "method", "builtin", "module", "tuple", "list", "int", "float", "str")
"""The types of callees that call sites test, and of values that the interpreter may unpack."""

_LOAD = ast.Load()
_STORE = ast.Store()
_IS = ast.Is()

_new: Final[Callable[[type[Node]], Node]] = ast.AST.__new__
"""Makes a node without fields: to set them all at once takes less time than the constructor of its class."""


class _Constant(ast.Name, ast.IfExp):
    """A load of a symbol whose value is a constant of the code.

    For the rewriter it is a name, and for the compiler ``constant if True else True``, of which it makes the load of
    the constant. It would warn of a call of a constant.
    """

    __slots__ = ()
    _fields = ("id",)


class _OfCell(ast.Name, ast.Attribute):
    """A load of a symbol that is in a cell: for the rewriter it is a name, and for the compiler an attribute."""

    __slots__ = ()
    _fields = ("id",)


declare_leaves(_Constant, _OfCell)
for _kind in (_Constant, _OfCell):
    _kind.__name__ = "Name"  # `ast.unparse` and visitors know nodes by the names of their classes


class At:
    """Builds nodes at the position of `origin`."""

    __slots__ = ("_end_of_attribute", "_loads", "_position", "_true")

    def __init__(self, origin: ast.AST) -> None:
        known = origin.__dict__
        line, column = known.get("lineno", 1), known.get("col_offset", 0)
        self._position = {
            "lineno": line,
            "col_offset": column,
            "end_lineno": known.get("end_lineno") or line,
            "end_col_offset": known.get("end_col_offset") or column,
        }
        self._end_of_attribute = line, column + (line > 0)
        self._loads: dict[str, ast.Name] = {}
        self._true: ast.Constant | None = None

    @classmethod
    def nowhere(cls) -> Self:
        """What builds nodes without a line of their own: no tracer sees them."""
        return cls(ast.Pass(lineno=-1, col_offset=-1, end_lineno=-1, end_col_offset=-1))

    def on_line_of(self, operand: ast.expr | ast.stmt) -> At:
        """This position; if the operand begins on another line, its first character.

        So tracers are notified of no other line than that of the operand.
        """
        line, column = operand.lineno, operand.col_offset
        if line == self._position["lineno"]:
            return self
        return At(ast.Pass(lineno=line, col_offset=column, end_lineno=line, end_col_offset=column + 1))

    def put(self, node: Node) -> Node:
        """Set the position of `node`."""
        node.__dict__.update(self._position)
        return node

    def symbol(self, name: str) -> ast.Name:
        """A load of one of `symbols`."""
        node = self._loads.get(name)
        if node is None:
            place = variant_names.place_of(name)
            node = self._loads[name] = self._constant(name) if place is None else self._of_cell(name, *place)
        return node

    def _constant(self, name: str) -> ast.Name:
        true = self._true
        if true is None:
            true = self._true = self.constant(True)
        node, body = _new(_Constant), self.constant(variant_names.placeholder(name))
        node.__dict__ = {"id": name, "ctx": _LOAD, "test": true, "body": body, "orelse": true, **self._position}
        return node

    def _of_cell(self, name: str, cell: str, attribute: str) -> ast.Name:
        node, position = _new(_OfCell), self._position
        value = self.constant(variant_names.placeholder(cell))
        node.__dict__ = {"id": name, "value": value, "attr": attribute, "ctx": _LOAD, **position}
        # As in `attribute`.
        node.end_lineno, node.end_col_offset = self._end_of_attribute
        return node

    def load(self, name: str) -> ast.Name:
        """A load of a variable. One node may be in many places: nothing changes it, and the compiler only reads it."""
        node = self._loads.get(name)
        if node is None:
            node = self._loads[name] = _new(ast.Name)
            node.__dict__ = {"id": name, "ctx": _LOAD, **self._position}
        return node

    def store(self, name: str) -> ast.Name:
        node = _new(ast.Name)
        node.__dict__ = {"id": name, "ctx": _STORE, **self._position}
        return node

    def constant(self, value: Any) -> ast.Constant:
        node = _new(ast.Constant)
        node.__dict__ = {"value": value, "kind": None, **self._position}
        return node

    def attribute(self, value: ast.expr, name: str) -> ast.Attribute:
        node, position = _new(ast.Attribute), self._position
        node.__dict__ = {"value": value, "attr": name, "ctx": _LOAD, **position}
        # The compiler puts the load of an attribute that spans several lines on the last of them.
        node.end_lineno, node.end_col_offset = self._end_of_attribute
        return node

    def call(self, function: ast.expr, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
        node = _new(ast.Call)
        node.__dict__ = {"func": function, "args": [*arguments], "keywords": [*keywords], **self._position}
        return node

    def let(self, name: str, value: ast.expr) -> ast.NamedExpr:
        """`(name := value)`."""
        node = _new(ast.NamedExpr)
        node.__dict__ = {"target": self.store(name), "value": value, **self._position}
        return node

    def pick(self, elements: Sequence[ast.expr], index: int) -> ast.expr:
        """``(first, second, ...)[index]``: evaluates all in order; the value is that of one."""
        if len(elements) == 1:
            return elements[0]
        return self.put(ast.Subscript(self.put(ast.Tuple(list(elements), _LOAD)), self.constant(index), _LOAD))

    def pending(
        self, kind: int, below: int, positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> ast.expr:
        """``(kind, below, (positional...), {keyword: ...})``: the note of an event for `forms.inlined`."""
        operands = self.put(ast.Tuple(list(positional), _LOAD))
        names: list[ast.expr | None] = [self.constant(keyword.arg) for keyword in keywords]
        named = self.put(ast.Dict(names, [keyword.value for keyword in keywords]))
        return self.put(ast.Tuple([self.constant(kind), self.constant(below), operands, named], _LOAD))

    def watch(self, body: list[ast.stmt], failed: str, pending: str, read: Sequence[str]) -> ast.stmt:
        """`try: body`, and if it raises while an event is pending: ``failed(@a, pending, exception, {...})``.

        The dictionary holds the variables in `read` by their names.
        """
        names: list[ast.expr | None] = [self.constant(name) for name in read]
        variables = self.put(ast.Dict(names, [self.load(name) for name in read]))
        is_pending = self.put(ast.Compare(self.load(pending), [ast.IsNot()], [self.constant(None)]))
        passed = [self.load(name) for name in (temporaries.ACTIVATION, pending, temporaries.EXCEPTION)]
        report = self.put(ast.Expr(self.call(self.symbol(failed), [*passed, variables])))
        forget = self.put(ast.Assign([self.store(pending)], self.constant(None)))
        block = [self.put(ast.If(is_pending, [report, forget], [])), self.put(ast.Raise())]
        exception = self.symbol(symbols.BASE_EXCEPTION)
        handler = self.put(ast.ExceptHandler(exception, temporaries.EXCEPTION, block))
        return self.put(ast.Try(body, [handler], [], []))

    def either(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.IfExp:
        node = _new(ast.IfExp)
        node.__dict__ = {"test": test, "body": then, "orelse": otherwise, **self._position}
        return node

    def compare(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.Compare:
        node = _new(ast.Compare)
        node.__dict__ = {"left": left, "ops": [operator], "comparators": [right], **self._position}
        return node

    def same(self, left: ast.expr, right: ast.expr) -> ast.Compare:
        return self.compare(left, _IS, right)

    def kind_is(self, name: str, kind: ast.expr) -> ast.Compare:
        """`type(name) is kind`."""
        return self.same(self.call(self.symbol(symbols.TYPE), [self.load(name)]), kind)

    def kind(self, kind: str) -> ast.expr:
        """One of `KINDS`."""
        return self.symbol(symbols.kind(kind))

    def item(self, name: str, index: int) -> ast.expr:
        node = _new(ast.Subscript)
        node.__dict__ = {"value": self.symbol(name), "slice": self.constant(index), "ctx": _LOAD, **self._position}
        return node

    def is_whole(self, name: str, first: ast.expr, kind: ast.expr) -> list[ast.expr]:
        """Tests of which one is true if a callable carries no receiver.

        It is a Python function, a class, or a function of a C module. `kind` reads its type, and `first` does so in the
        first test.
        """
        receiver = self.call(self.symbol(symbols.TYPE), [self.attribute(self.load(name), "__self__")])
        of_module: list[ast.expr] = [
            self.same(kind, self.kind("builtin")),
            self.same(receiver, self.kind("module")),
        ]
        return [
            self.same(first, self.kind("function")),
            self.same(kind, self.symbol(symbols.TYPE)),
            self.put(ast.BoolOp(ast.And(), of_module)),
        ]

    def is_variable_here(self, node: ast.expr) -> bool:
        """Whether a node is a name or a constant on this line."""
        return isinstance(node, (ast.Name, ast.Constant)) and node.lineno == self._position["lineno"]

    def clear(self, names: Sequence[str]) -> ast.expr:
        """``(a := (b := None))``: the values of temporaries die when they would die in the plain program."""
        values: list[ast.expr] = []
        for start in range(0, max(len(names), 1), _MOST_NESTED):
            value: ast.expr = self.constant(None)
            for name in names[start : start + _MOST_NESTED]:
                value = self.let(name, value)
            values.append(value)
        return values[0] if len(values) == 1 else self.pick(values, 0)

    def taken(self, name: str) -> ast.expr:
        """The value of a temporary, which lets go of it."""
        return self.pick([self.load(name), self.clear([name])], 0)


_MOST_NESTED: Final = 50


def index_value(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: slices become calls of `slice`."""
    if isinstance(index, ast.Slice):
        at = At(index)
        parts = [part if part is not None else at.constant(None) for part in (index.lower, index.upper, index.step)]
        return at.call(at.symbol(symbols.SLICE), parts)
    if isinstance(index, ast.Tuple) and any(isinstance(item, ast.Slice) for item in index.elts):
        index.elts = [index_value(item) for item in index.elts]
    return index


def debugged(node: ast.Call) -> ast.Call:
    """A call that may start a debugger: its event ends before the call is made."""
    at = At(node.func)
    node.func = at.call(at.symbol(symbols.DEBUGGER), [node.func])
    return node


def with_arguments_of_super(node: ast.Call) -> ast.Call:
    """A call `super()` with the arguments that it takes from the frame."""
    at = At(node)
    node.args = [at.put(ast.Starred(at.call(at.symbol(symbols.OF_SUPER), [at.load("super")]), ast.Load()))]
    return node


def is_plain_super(node: ast.Call) -> bool:
    """Whether a call is `super()`, whose class and instance the interpreter takes from the frame (checklist R6)."""
    return isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords
