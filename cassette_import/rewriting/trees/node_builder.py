"""Building AST nodes at the position of another node, so that tracebacks, coverage and debuggers show the user's code.

Knows nodes and positions; must not know events.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from cassette_import.rewriting import symbols, temporaries

Node = TypeVar("Node", bound=ast.AST)

KINDS: Final = ("function", "method", "builtin", "module")
"""The types that `symbols.TYPES` holds, in their order. They have no names of their own: a type in `builtins` would be
taken for a builtin."""

_LOAD = ast.Load()
_STORE = ast.Store()


class At:
    """Builds nodes at the position of `origin`."""

    __slots__ = ("_loads", "_position")

    def __init__(self, origin: ast.AST) -> None:
        self._position = (
            getattr(origin, "lineno", 1),
            getattr(origin, "col_offset", 0),
            getattr(origin, "end_lineno", None) or getattr(origin, "lineno", 1),
            getattr(origin, "end_col_offset", None) or getattr(origin, "col_offset", 0),
        )
        self._loads: dict[str, ast.Name] = {}

    def put(self, node: Node) -> Node:
        """Set the position of `node`."""
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = self._position  # type: ignore[attr-defined]
        return node

    def load(self, name: str) -> ast.Name:
        """A load of a name. One node may be in many places: nothing changes it, and the compiler only reads it."""
        node = self._loads.get(name)
        if node is None:
            node = self._loads[name] = self.put(ast.Name(name, _LOAD))
        return node

    def store(self, name: str) -> ast.Name:
        return self.put(ast.Name(name, _STORE))

    def constant(self, value: Any) -> ast.Constant:
        return self.put(ast.Constant(value))

    def attribute(self, value: ast.expr, name: str) -> ast.Attribute:
        node = self.put(ast.Attribute(value, name, _LOAD))
        # The compiler puts the load of an attribute that spans several lines on the last of them.
        node.end_lineno, node.end_col_offset = node.lineno, node.col_offset + 1
        return node

    def call(self, function: ast.expr, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
        return self.put(ast.Call(function, list(arguments), list(keywords)))

    def let(self, name: str, value: ast.expr) -> ast.NamedExpr:
        """`(name := value)`."""
        return self.put(ast.NamedExpr(self.store(name), value))

    def pick(self, elements: Sequence[ast.expr], index: int) -> ast.expr:
        """``(first, second, ...)[index]``: evaluates all in order; the value is that of one."""
        if len(elements) == 1:
            return elements[0]
        return self.put(ast.Subscript(self.put(ast.Tuple(list(elements), _LOAD)), self.constant(index), _LOAD))

    def pending(
        self, kind: int, below: int, positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> ast.expr:
        """``(kind, below, (positional...), {keyword: ...})``: the note of an event for `forms.pending_event`."""
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
        report = self.put(ast.Expr(self.call(self.load(failed), [*passed, variables])))
        forget = self.put(ast.Assign([self.store(pending)], self.constant(None)))
        block = [self.put(ast.If(is_pending, [report, forget], [])), self.put(ast.Raise())]
        exception = self.load(symbols.BASE_EXCEPTION)
        handler = self.put(ast.ExceptHandler(exception, temporaries.EXCEPTION, block))
        return self.put(ast.Try(body, [handler], [], []))

    def either(self, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> ast.IfExp:
        return self.put(ast.IfExp(test, then, otherwise))

    def same(self, left: ast.expr, right: ast.expr) -> ast.Compare:
        return self.put(ast.Compare(left, [ast.Is()], [right]))

    def kind_is(self, name: str, kind: ast.expr) -> ast.Compare:
        """`type(name) is kind`."""
        return self.same(self.call(self.load(symbols.TYPE), [self.load(name)]), kind)

    def kind(self, kind: str) -> ast.expr:
        """One of `KINDS`."""
        return self.item(symbols.TYPES, KINDS.index(kind))

    def item(self, name: str, index: int) -> ast.expr:
        return self.put(ast.Subscript(self.load(name), self.constant(index), _LOAD))

    def is_whole(self, name: str, first: ast.expr, kind: ast.expr) -> list[ast.expr]:
        """Tests of which one is true if a callable carries no receiver.

        It is a Python function, a class, or a function of a C module. `kind` reads its type, and `first` does so in the
        first test.
        """
        receiver = self.call(self.load(symbols.TYPE), [self.attribute(self.load(name), "__self__")])
        of_module: list[ast.expr] = [
            self.same(kind, self.kind("builtin")),
            self.same(receiver, self.kind("module")),
        ]
        return [
            self.same(first, self.kind("function")),
            self.same(kind, self.load(symbols.TYPE)),
            self.put(ast.BoolOp(ast.And(), of_module)),
        ]

    def is_variable_here(self, node: ast.expr) -> bool:
        """Whether a node is a name or a constant on this line."""
        return isinstance(node, (ast.Name, ast.Constant)) and node.lineno == self._position[0]

    def clear(self, names: Sequence[str]) -> ast.expr:
        """``(a := (b := None))``: the values of temporaries die when they would die in the plain program."""
        value: ast.expr = self.constant(None)
        for name in names:
            value = self.let(name, value)
        return value


def index_value(index: ast.expr) -> ast.expr:
    """An index as an expression of its own: slices become calls of `slice`."""
    if isinstance(index, ast.Slice):
        at = At(index)
        parts = [part if part is not None else at.constant(None) for part in (index.lower, index.upper, index.step)]
        return at.call(at.load(symbols.SLICE), parts)
    if isinstance(index, ast.Tuple) and any(isinstance(item, ast.Slice) for item in index.elts):
        index.elts = [index_value(item) for item in index.elts]
    return index


def debugged(node: ast.Call) -> ast.Call:
    """A call that may start a debugger: its event ends before the call is made."""
    at = At(node.func)
    node.func = at.call(at.load(symbols.DEBUGGER), [node.func])
    return node


def is_plain_super(node: ast.Call) -> bool:
    """Whether a call is `super()`, whose class and instance the interpreter takes from the frame (R6)."""
    return isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords
