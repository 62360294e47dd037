"""Expressions of a converted region: calls, operands and comprehensions become calls of methods of the context."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any, Final

from cassette_import.specialization.passes import contextslot
from cassette_import.specialization.passes.private_names import PrivateNames

__all__ = [
    "FRAME_READERS",
    "Candidates",
    "Expressions",
    "NotConvertible",
    "context_call",
    "is_context_call",
    "names_in",
]

FRAME_READERS: Final = frozenset({"super", "locals", "vars", "dir", "globals", "eval", "exec", "__class__"})
"""Functions that look at the frame which calls them."""


class NotConvertible(Exception):
    """An expression or a statement that is left as it is written."""


class Candidates:
    """Which calls may be calls of targets, by their names. Whether they are is known when they are made.

    Parameters
    ----------
    names:
        The names of targets.
    private:
        The names of private attributes; None at module level, where no class is around.
    """

    def __init__(self, names: Collection[str], private: PrivateNames | None = None) -> None:
        self._names = frozenset(names)
        self._private = private

    def attribute_name(self, written: str) -> str:
        """The name of an attribute in the namespace of its object."""
        return written if self._private is None else self._private.name_of(written)

    def is_call(self, node: ast.AST) -> bool:
        """Whether a node is a call of what may be a target."""
        if not isinstance(node, ast.Call):
            return False
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
        return name in self._names

    def are_in(self, *nodes: ast.AST) -> bool:
        """Whether there is such a call in one of the nodes."""
        return any(self.is_call(part) for node in nodes for part in ast.walk(node))


def context_call(place: ast.AST, name: str, *arguments: ast.expr, keywords: Any = ()) -> Any:
    """A call of a method of the active context, at the place of a node."""
    function = ast.Attribute(contextslot(), name, ast.Load())
    call: Any = ast.copy_location(ast.Call(function, list(arguments), list(keywords)), place)
    call.is_context_call = True
    return ast.fix_missing_locations(call)


def is_context_call(node: ast.Call) -> bool:
    """Whether `context_call` has made a node."""
    return hasattr(node, "is_context_call")


def names_in(*nodes: ast.AST) -> set[str]:
    """The names that occur in nodes."""
    return {part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)}


class Expressions:
    """Converts expressions.

    Parameters
    ----------
    candidates:
        The calls that may be tasks.
    pending:
        The variables that may hold a placeholder.
    """

    def __init__(self, candidates: Candidates, pending: frozenset[str] = frozenset()) -> None:
        self._candidates = candidates
        self.pending = pending

    def raw(self, node: ast.expr) -> Any:
        """The converted expression, whose value may be a placeholder."""
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._display(node) if self.may_wait(node) else self.value(node)

    def may_wait(self, node: ast.expr) -> bool:
        """Whether the value of an expression may be a placeholder."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(map(self.may_wait, node.elts))
        if isinstance(node, ast.Dict):
            return any(map(self.may_wait, node.values))
        return self._candidates.is_call(node) or (isinstance(node, ast.Name) and node.id in self.pending)

    def operand(self, node: ast.expr) -> Any:
        """The converted expression as an operand: nothing that computes with its value meets a placeholder."""
        return node if isinstance(node, ast.Constant) else context_call(node, "plain", self.raw(node))

    def value(self, node: ast.expr) -> Any:
        """The converted expression, whose value is no placeholder."""
        convert = getattr(self, f"_{type(node).__name__.lower()}", None)
        if convert is None:
            raise NotConvertible
        made = convert(node)
        if self.may_wait(node):
            made = context_call(node, "value", made)
        return ast.copy_location(made, node)

    def _constant(self, node: ast.Constant) -> Any:
        return node

    _name = _constant

    def _attribute(self, node: ast.Attribute) -> Any:
        name = ast.Constant(self._candidates.attribute_name(node.attr))
        owner = context_call(node, "owner", self.raw(node.value), name)
        return ast.Attribute(owner, node.attr, ast.Load())

    def _subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.slice, ast.Slice):
            parts = [None if one is None else self.operand(one) for one in _parts(node.slice)]
            return ast.Subscript(self.operand(node.value), ast.copy_location(ast.Slice(*parts), node.slice), ast.Load())
        holder = context_call(node, "indexed", self.raw(node.value))
        found = ast.copy_location(ast.Subscript(holder, self.operand(node.slice), ast.Load()), node)
        return context_call(node, "value", found)

    def _binop(self, node: ast.BinOp) -> Any:
        return ast.BinOp(self.operand(node.left), node.op, self.operand(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return ast.UnaryOp(node.op, self.operand(node.operand))

    def _compare(self, node: ast.Compare) -> Any:
        return ast.Compare(self.operand(node.left), node.ops, [self.operand(one) for one in node.comparators])

    def _boolop(self, node: ast.BoolOp) -> Any:
        return ast.BoolOp(node.op, [self.operand(one) for one in node.values])

    def _ifexp(self, node: ast.IfExp) -> Any:
        return ast.IfExp(self.operand(node.test), self.value(node.body), self.value(node.orelse))

    def _joinedstr(self, node: ast.JoinedStr) -> Any:
        return ast.JoinedStr([self.value(part) for part in node.values])

    def _formattedvalue(self, node: ast.FormattedValue) -> Any:
        spec: Any = None if node.format_spec is None else self.value(node.format_spec)
        return ast.FormattedValue(self.operand(node.value), node.conversion, spec)

    # ---- displays and comprehensions

    def _display(self, node: Any) -> Any:
        """A tuple, list or dictionary with results of tasks in it."""
        if isinstance(node, ast.Dict):
            if None in node.keys:
                raise NotConvertible
            keys = [self.operand(one) for one in node.keys if one is not None]
            parts = [part for pair in zip(keys, map(self.raw, node.values), strict=True) for part in pair]
        else:
            parts = [self.raw(one) for one in node.elts]
        return context_call(node, "display", ast.Constant(type(node).__name__), *parts)

    def _list(self, node: ast.List) -> Any:
        return self._display(node) if self.may_wait(node) else ast.List([*map(self.value, node.elts)], ast.Load())

    def _tuple(self, node: ast.Tuple) -> Any:
        return self._display(node) if self.may_wait(node) else ast.Tuple([*map(self.value, node.elts)], ast.Load())

    def _dict(self, node: ast.Dict) -> Any:
        if self.may_wait(node):
            return self._display(node)
        if None in node.keys:
            raise NotConvertible
        keys = [self.operand(one) for one in node.keys if one is not None]
        return ast.Dict(keys, [*map(self.value, node.values)])

    def _listcomp(self, node: ast.ListComp) -> Any:
        made = ast.ListComp(self.raw(node.elt), self._generators(node))
        return context_call(node, "gather", ast.copy_location(made, node))

    def _dictcomp(self, node: ast.DictComp) -> Any:
        key: Any = node.key
        if key is None or node.value is None:
            raise NotConvertible
        made = ast.DictComp(self.operand(key), self.raw(node.value), self._generators(node))
        return context_call(node, "gather", ast.copy_location(made, node))

    def _generators(self, node: Any) -> list[ast.comprehension]:
        made: list[ast.comprehension] = []
        for part in node.generators:
            if part.is_async or not is_simple_target(part.target) or names_in(part.target) & self.pending:
                raise NotConvertible
            tests = [self.operand(test) for test in part.ifs]
            made.append(
                ast.comprehension(part.target, context_call(part.iter, "iterable", self.raw(part.iter)), tests, 0)
            )
        return made

    def _lambda(self, node: ast.Lambda) -> Any:
        if node.args.defaults or any(node.args.kw_defaults):
            raise NotConvertible
        return node

    def _generatorexp(self, node: ast.GeneratorExp) -> Any:
        first = node.generators[0].iter
        if not isinstance(first, ast.Name) or first.id in self.pending:
            raise NotConvertible
        return node

    # ---- calls

    def _call(self, node: ast.Call) -> Any:
        function: Any = node.func
        if isinstance(function, ast.Name) and function.id in FRAME_READERS:
            raise NotConvertible
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise NotConvertible
        is_candidate = self._candidates.is_call(node)
        is_method = isinstance(function, ast.Attribute) and function.attr == "append" and not is_candidate
        if is_method and len(node.args) == 1 and not node.keywords:
            holder = context_call(node, "appendable", self.raw(function.value), ast.Constant("append"))
            return context_call(node, "append", holder, self.raw(node.args[0]))
        keywords = [ast.copy_location(ast.keyword(one.arg, self.raw(one.value)), one) for one in node.keywords]
        arguments = [self.value(function), *map(self.raw, node.args)]
        return context_call(node, "submit" if is_candidate else "call", *arguments, keywords=keywords)


def _parts(node: ast.Slice) -> tuple[Any, ...]:
    return node.lower, node.upper, node.step


def is_simple_target(node: ast.AST) -> bool:
    """Whether a target is a name, or a tuple or list of names."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(isinstance(one, ast.Name) for one in node.elts)
    return isinstance(node, ast.Name)
