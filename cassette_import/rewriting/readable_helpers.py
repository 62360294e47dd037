"""Rewritten trees without the helpers that only the interpreter needs. The results are for readers.

Where no temporaries are allowed, rewritten code keeps values outside the frame (see `syntax.operand_stack` of the
runtime). Readers get the value itself in both places if it is a name, else a variable: ``(_1 := f(x)) < y and _1 …``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from copy import copy
from typing import Any, Final, TypeVar

from cassette_import.rewriting import symbols
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.trees.node_builder import At

MARK: Final = "@"
"""The mark of an event."""
IN_ORDER: Final = "in_order_of_evaluation"
"""The attribute of a call with its operands in the order in which they are evaluated."""


def without_helpers(tree: ast.AST) -> ast.AST:
    """The tree in which helpers are replaced by what they mean; it is changed in place."""
    made = _Reader().visit(tree)
    assert isinstance(made, ast.AST)
    return made


def is_namespace(node: ast.expr) -> bool:
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
        if name in _PRIMITIVES and not hasattr(node, IN_ORDER):  # no event: what a statement does apart from its events
            node.func = At(node.func).load(_PRIMITIVES[name])
        made = {id(operand): self.visit(operand) for operand in getattr(node, IN_ORDER, ())}
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
        return At(node).load(f"{MARK}{node.args[-1].value}")

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
        return at.call(at.load(MARK + name), [self.visit(node.args[0])])


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
