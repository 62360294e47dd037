"""Expressions: conditional ones, `and`, `or`, `not`, comparisons, calls, subscripts and displays become calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

from cassette_import.rewriting import temporaries
from cassette_import.specialization.passes import contextslot

__all__ = ["CONTEXT", "Expressions", "Names", "assign", "call", "load", "method", "store"]

# ---- the pieces of code that the conversion inserts: names, calls of the context's methods, stores

CONTEXT: Final = temporaries.IF_CONTEXT
"""The variable that holds the active context. It is no identifier, so no program has it."""


class Names:
    """Names for temporary variables of one function."""

    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        """A name that is not in use."""
        self._count += 1
        return temporaries.converted(self._count)


def load(name: str) -> ast.Name:
    """An expression that reads a variable."""
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    """A target that binds a variable."""
    return ast.Name(name, ast.Store())


def method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a method of a value."""
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])


def call(in_lambda: bool, name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a method of the active context."""
    return method(contextslot() if in_lambda else load(CONTEXT), name, *arguments)


def assign(names: Sequence[str], value: ast.expr) -> ast.stmt:
    """A statement that unpacks a tuple into variables, or drops it if there are none."""
    if not names:
        return ast.Expr(value)
    return ast.Assign([ast.Tuple([store(name) for name in names], ast.Store())], value)


# ---- expressions: conditional ones, `and`, `or`, `not`, comparisons, calls, subscripts and displays become calls

_FRAME_READERS: Final = frozenset({"super", "locals", "vars", "dir", "globals", "__class__"})
"""Functions that look at the frame which calls them."""

_OPERATORS: Final[dict[type, str]] = {ast.Mod: "mod", ast.MatMult: "matmul"}
_TESTS: Final[dict[type, str]] = {ast.Is: "is_", ast.IsNot: "is_not", ast.In: "contains", ast.NotIn: "lacks"}


class Expressions(ast.NodeTransformer):
    """Converts the expressions of one function.

    Attributes
    ----------
    guarded:
        The names that may hold the mark for an unbound variable where they are read.
    """

    def __init__(self, names: Names, in_lambda: bool = False, heads: bool = False) -> None:
        self.names = names
        self._heads = heads
        self.guarded: frozenset[str] = frozenset()
        self._in_lambda = in_lambda
        self._in_iterable = 0
        self._hidden: list[set[str]] = []

    def context(self, name: str, *arguments: ast.expr) -> ast.Call:
        """A call of a method of the active context."""
        return call(self._in_lambda, name, *arguments)

    def converted(self, node: Any) -> Any:
        """The converted expression; None for None."""
        return None if node is None else self.visit(node)

    # ---- choices

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """`x if test else y`."""
        if self._in_iterable or _has_effects_on_variables(node.body) or _has_effects_on_variables(node.orelse):
            return self._generic(node)
        return self._choice(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """`x and y`, `x or y`: the first operand is a side, too."""
        if self._in_iterable or any(map(_has_effects_on_variables, node.values)):
            return self._generic(node)
        operands = [self.visit(value) for value in node.values]
        result = operands.pop()
        while operands:
            name = self.names.new()
            test = ast.NamedExpr(store(name), operands.pop())
            sides = (result, load(name)) if isinstance(node.op, ast.And) else (load(name), result)
            result = self._choice(test, *sides)
        return result

    def _choice(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Any:
        name = self.names.new()
        choice = ast.NamedExpr(store(name), self.context("choice", test))
        one = ast.IfExp(method(load(name), "one"), body, ast.Constant(None))
        two = ast.IfExp(method(load(name), "two"), orelse, ast.Constant(None))
        return method(choice, "value", one, two)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """`not x`."""
        if not isinstance(node.op, ast.Not):
            return self._generic(node)
        return self.context("not_", self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Chains become conjunctions; `is` and `in` become calls."""
        if len(node.ops) == 1:
            name = _TESTS.get(type(node.ops[0]))
            made: Any = self._generic(node)
            return made if name is None else self.context(name, made.left, made.comparators[0])
        if self._in_iterable or _has_effects_on_variables(node):
            return self._generic(node)
        parts: list[ast.expr] = []
        left = node.left
        for number, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            if number + 1 < len(node.ops):
                name = self.names.new()
                parts.append(self._pair(left, operator, ast.NamedExpr(store(name), self.visit(right)), number == 0))
                left = load(name)
            else:
                parts.append(self._pair(left, operator, self.visit(right), False))
        result = parts.pop()
        while parts:
            name = self.names.new()
            result = self._choice(ast.NamedExpr(store(name), parts.pop()), result, load(name))
        return result

    def _pair(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, first: bool) -> Any:
        left = self.visit(left) if first else left
        name = _TESTS.get(type(operator))
        return ast.Compare(left, [operator], [right]) if name is None else self.context(name, left, right)

    # ---- calls and parts

    def visit_Call(self, node: ast.Call) -> Any:
        """Every call, but those of functions that look at their caller's frame."""
        if isinstance(node.func, ast.Name) and node.func.id in _FRAME_READERS and not (node.args or node.keywords):
            return node
        made: Any = self._generic(node)
        return ast.copy_location(ast.Call(self.context("call").func, [made.func, *made.args], made.keywords), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """`x[key]`, but not slices."""
        made: Any = self._generic(node)
        if not isinstance(node.ctx, ast.Load) or any(isinstance(part, ast.Slice) for part in ast.walk(node.slice)):
            return made
        return self.context("item", made.value, made.slice)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """`x % y` may format text, and the classes of operands of `x @ y` may be in C."""
        is_list = isinstance(node.op, ast.Mult) and ast.List in (type(node.left), type(node.right))
        made: Any = self._generic(node)
        if is_list and self._heads:  # `[0.0] * n`
            return self.context("made", made)
        name = _OPERATORS.get(type(node.op))
        return made if name is None else self.context(name, made.left, made.right)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """f-strings."""
        parts: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                spec = ast.Constant("") if part.format_spec is None else self.visit(part.format_spec)
                parts.append(ast.Tuple([self.visit(part.value), ast.Constant(part.conversion), spec], ast.Load()))
            else:
                parts.append(part)
        return self.context("text", *parts)

    def visit_Starred(self, node: ast.Starred) -> Any:
        """`*x` in a call or display."""
        made: Any = self._generic(node)
        if isinstance(node.ctx, ast.Load):
            made.value = self.context("iterated", made.value)
        return made

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        """`yield from x`."""
        made: Any = self._generic(node)
        made.value = self.context("iterated", made.value)
        return made

    # ---- displays

    def _display(self, node: ast.expr) -> Any:
        made: Any = self._generic(node)
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return made
        return self.context("made", made)

    visit_List = visit_Dict = visit_Set = _display

    def _comprehension(self, node: Any) -> Any:
        """The targets of a comprehension hide variables; its iterables may not bind any."""
        targets = {name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}
        for number, part in enumerate(node.generators):
            self._in_iterable += 1
            if number:
                self._hidden.append(targets)
            part.iter = self.visit(part.iter)
            if not isinstance(node, ast.GeneratorExp):  # a generator expression iterates later
                part.iter = self.context("iterated", part.iter)
            if number:
                self._hidden.pop()
            self._in_iterable -= 1
        self._hidden.append(targets)
        for part in node.generators:
            part.ifs = [self.visit(test) for test in part.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self._hidden.pop()
        return self.context("made", node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    # ---- names and scopes

    def visit_Name(self, node: ast.Name) -> Any:
        """A variable that may be unbound in some lanes."""
        if (
            isinstance(node.ctx, ast.Load)
            and node.id in self.guarded
            and not any(node.id in one for one in self._hidden)
        ):
            return self.context("bound", node, ast.Constant(node.id))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Passes get nested functions by themselves; their defaults belong to this one."""
        node.args.defaults = [self.visit(one) for one in node.args.defaults]
        node.args.kw_defaults = [self.converted(one) for one in node.args.kw_defaults]
        return node

    def _generic(self, node: ast.AST) -> Any:
        return super().generic_visit(node)


def _has_effects_on_variables(node: ast.AST) -> bool:
    """Whether an expression binds a variable, or suspends the function: it is no side of a choice."""
    return any(isinstance(part, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(node))
