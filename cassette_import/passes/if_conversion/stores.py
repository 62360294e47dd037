"""Stores: assignments to attributes, items and names of other scopes, and deletions, become calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final

from cassette_import.passes.if_conversion.code import Names, load, store
from cassette_import.passes.if_conversion.expressions import Expressions
from cassette_import.passes.if_conversion.variables import bound_names
from cassette_import.specialization.passes import nooverdub
from cassette_import.specialization.passes.private_names import PrivateNames

__all__ = ["Stores"]

_OPERATORS: Final[dict[type, str]] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.MatMult: "imatmul",
}


def unpacks(target: ast.expr) -> bool:
    """Whether a target takes an iterable apart."""
    return isinstance(target, (ast.Tuple, ast.List))


class Stores:
    """Converts the statements that store. `Statements` has the parameters."""

    def __init__(
        self,
        names: Names,
        expressions: Expressions,
        merged: frozenset[str],
        declared: tuple[set[str], set[str]],
        private: PrivateNames,
    ) -> None:
        self.names = names
        self.expressions = expressions
        self.merged = merged
        self.global_names, self.nonlocal_names = declared
        self.private = private
        self.bound: set[str] = set()

    def _expression(self, node: Any) -> Any:
        self.expressions.guarded = frozenset(self.merged - self.bound)
        return self.expressions.converted(node)

    def _declared(self, nodes: ast.AST | Iterable[ast.AST]) -> list[ast.stmt]:
        """What comes before a statement that binds names of other scopes."""
        names = bound_names(nodes)
        made: list[ast.stmt] = []
        for name in sorted(names & self.global_names):
            made.append(ast.Expr(self.expressions.context("stores_global", ast.Constant(name))))
        for name in sorted(names & self.nonlocal_names):
            nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            reader = nooverdub(ast.Lambda(nothing, load(name)))  # its closure is the variable itself
            made.append(ast.Expr(self.expressions.context("stores_nonlocal", reader)))
        return made

    def _assign(self, node: ast.Assign) -> list[ast.stmt]:
        made = self._declared(node.targets)
        value = self._expression(node.value)
        if any(map(unpacks, node.targets)) and not isinstance(node.value, (ast.Tuple, ast.List)):
            value = self.expressions.context("iterated", value)
        if len(node.targets) == 1 and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
            return [*made, *self._store(node.targets[0], value)]
        targets, stores = [], []
        for target in node.targets:
            target, after = self._target(target)
            targets.append(target)
            stores += after
        return [*made, ast.Assign(targets, value), *stores]

    def _annassign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return [node] if isinstance(node.target, ast.Name) else []
        if isinstance(node.target, ast.Name):
            made = [*self._declared(node.target), ast.Assign([node.target], self._expression(node.value))]
            self.bound.add(node.target.id)
            return made
        return self._store(node.target, self._expression(node.value))

    def _augassign(self, node: ast.AugAssign) -> list[ast.stmt]:
        operator = ast.Constant(_OPERATORS[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old = self._expression(load(target.id))
            value = self.expressions.context("augmented", operator, old, self._expression(node.value))
            made = [*self._declared(target), ast.Assign([target], value)]
            self.bound.add(target.id)
            return made
        holder = self.names.new()
        before: list[ast.stmt] = [ast.Assign([store(holder)], self._expression(target.value))]
        if isinstance(target, ast.Attribute):
            old = ast.Attribute(load(holder), target.attr, ast.Load())
            value = self.expressions.context("augmented", operator, old, self._expression(node.value))
            return [*before, self._store_attribute(load(holder), target.attr, value)]
        key = self.names.new()
        before.append(ast.Assign([store(key)], self._expression(target.slice)))
        old = self.expressions.context("item", load(holder), load(key))
        value = self.expressions.context("augmented", operator, old, self._expression(node.value))
        return [*before, ast.Expr(self.expressions.context("store_item", load(holder), load(key), value))]

    def _store(self, target: Any, value: ast.expr) -> list[ast.stmt]:
        """A store into an attribute or item. Python evaluates the value first."""
        name = self.names.new()
        made: list[ast.stmt] = [ast.Assign([store(name)], value)]
        holder = self._expression(target.value)
        if isinstance(target, ast.Attribute):
            return [*made, self._store_attribute(holder, target.attr, load(name))]
        key = self._expression(target.slice)
        return [*made, ast.Expr(self.expressions.context("store_item", holder, key, load(name)))]

    def _store_attribute(self, holder: ast.expr, name: str, value: ast.expr) -> ast.stmt:
        constant = ast.Constant(self.private.name_of(name))
        return ast.Expr(self.expressions.context("store_attribute", holder, constant, value))

    def _target(self, target: Any) -> tuple[Any, list[ast.stmt]]:
        """A target with a temporary variable for each attribute and item, and the stores that come after."""
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            name = self.names.new()
            return store(name), self._store(target, load(name))
        if isinstance(target, ast.Starred):
            target.value, after = self._target(target.value)
            return target, after
        after = []
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = []
            for part in target.elts:
                part, more = self._target(part)
                parts.append(part)
                after += more
            target.elts = parts
        return target, after

    def _delete(self, node: ast.Delete) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)):  # `del (a, b)` is `del a, b`
                made += self._delete(ast.Delete(target.elts))
            elif isinstance(target, ast.Attribute):
                name = ast.Constant(self.private.name_of(target.attr))
                call = self.expressions.context("delete_attribute", self._expression(target.value), name)
                made.append(ast.Expr(call))
            elif isinstance(target, ast.Subscript):
                value, key = self._expression(target.value), self._expression(target.slice)
                made.append(ast.Expr(self.expressions.context("delete_item", value, key)))
            else:
                made += [*self._declared(target), ast.Delete([target])]
        return made
