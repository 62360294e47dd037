"""Statements: branches, loops and returns, at which each lane may go its own way, and stores into objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from cassette_import.passes.if_conversion.code import Names, assign, load, method, store
from cassette_import.passes.if_conversion.expressions import Expressions
from cassette_import.passes.if_conversion.jumps import jumps, leaves, raises
from cassette_import.passes.if_conversion.patterns import converted_pattern
from cassette_import.passes.if_conversion.stores import Stores
from cassette_import.passes.if_conversion.variables import Liveness, bound_names
from cassette_import.specialization.passes.private_names import PrivateNames

__all__ = ["Statements"]


class _Loop(NamedTuple):
    """A loop around the present statement."""

    name: str
    variables: tuple[str, ...]
    live: tuple[str, ...]


class Statements(Stores):
    """Converts the statements of one function.

    Parameters
    ----------
    names, expressions:
        What makes temporary names, and converts expressions.
    liveness:
        Which variables are read later; None if branches, loops and returns stay as they are.
    local, declared:
        The names of the function's variables, and those declared `global` and `nonlocal`.
    private:
        The names of private attributes.
    heads:
        Whether the variables of a loop are replaced where it begins, and after each turn.
    """

    def __init__(
        self,
        names: Names,
        expressions: Expressions,
        liveness: Liveness | None,
        merged: frozenset[str],
        declared: tuple[set[str], set[str]],
        private: PrivateNames,
        heads: bool = False,
    ) -> None:
        super().__init__(names, expressions, merged, declared, private)
        self.liveness = liveness
        self.heads = heads
        self.unbound_at_start: set[str] = set()
        self.frame: str | None = None
        self.loops: list[_Loop] = []
        self.hard = False
        self.is_special = False
        """Whether the function is a special method whose result code in C checks."""
        self.is_protected = False
        """Whether a `try` or `with` statement is around the present one, with loops between them or not."""

    # ---- blocks

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Convert a block. What follows a statement that some lanes leave by a jump runs if any lanes are left."""
        made: list[ast.stmt] = []
        for number, statement in enumerate(body):
            made += self.statement(statement)
            if self.liveness is not None and number + 1 < len(body) and self._may_leave(statement):
                rest = self.block(body[number + 1 :])
                return [*made, ast.If(self.expressions.context("alive"), rest, [])]
        return made

    def _may_leave(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.While, ast.For, ast.AsyncFor)):
            inside = jumps(statement.body) | jumps(statement.orelse)
            return "return" in inside or bool(jumps(statement.orelse))
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):  # what follows is never reached
            return True
        return isinstance(statement, (ast.If, ast.Match)) and bool(jumps([statement]))

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements in the place of one."""
        self.expressions.guarded = frozenset(self.merged - self.bound)
        convert = getattr(self, f"_{type(node).__name__.lower()}", None)
        made: list[ast.stmt] = self._other(node) if convert is None else convert(node)
        for one in made:
            if not hasattr(one, "lineno"):  # then what is inside of it has this line, too
                ast.copy_location(one, node)
        self.bound |= bound_names(node) if isinstance(node, (ast.Assign, ast.Import, ast.ImportFrom)) else set()
        return made

    def _other(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement without blocks: its expressions are converted."""
        made: Any = self.expressions.generic_visit(node)
        return [made]

    def _functiondef(self, node: Any) -> list[ast.stmt]:
        node.decorator_list = [self._expression(one) for one in node.decorator_list]
        node.args.defaults = [self._expression(one) for one in node.args.defaults]
        node.args.kw_defaults = [self._expression(one) for one in node.args.kw_defaults]
        self.bound.add(node.name)
        return [node]

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef) -> list[ast.stmt]:
        self.bound.add(node.name)
        return [node]

    def _assert(self, node: ast.Assert) -> list[ast.stmt]:
        """`assert` raises for some lanes; without assertions, its test does not run."""
        if not __debug__:
            return []
        test = self.expressions.context("unless", self.expressions.context("not_", self._expression(node.test)))
        failed = ast.Assert(ast.Constant(False), self._expression(node.msg))
        return [ast.If(test, [failed], [])]

    def _import(self, node: ast.Import) -> list[ast.stmt]:
        """Modules are executed outside of the context: what they make outlives the call."""
        calls = [self._imports(alias.name, (), 0) for alias in node.names]
        return [*calls, *self._declared(node), node]

    def _importfrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        names = tuple(alias.name for alias in node.names)
        return [self._imports(node.module or "", names, node.level), *self._declared(node), node]

    def _imports(self, name: str, names: tuple[str, ...], level: int) -> ast.stmt:
        made = ast.Tuple([ast.Constant(one) for one in names], ast.Load())
        what = ast.Constant(name), made, ast.Constant(level)
        return ast.Expr(self.expressions.context("imports", *what))

    def _global(self, node: ast.stmt) -> list[ast.stmt]:
        return [node]

    _nonlocal = _global

    # ---- branches

    def _variables(self, node: ast.stmt, blocks: Iterable[ast.AST]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The variables that a construct binds and that are read later: all, and those that are live after it."""
        assert self.liveness is not None
        bound = {name for name in bound_names(blocks) if name in self.merged}
        live = sorted(bound & self.liveness.after[id(node)])
        also = sorted(bound & self.liveness.head[id(node)] - set(live))
        return (*live, *also), tuple(live)

    def _values(self, names: Iterable[str]) -> list[ast.expr]:
        """The values of variables, or the mark for unbound ones."""
        names = list(names)
        self.unbound_at_start |= {name for name in names if name not in self.bound}
        return [load(name) for name in names]

    def _if(self, node: ast.If) -> list[ast.stmt]:
        if self.liveness is None:
            test = self._expression(node.test)
            return [ast.If(test, *self._sides(node.body, node.orelse))]
        if raises(node.body) and not node.orelse:
            test = self.expressions.context("unless", self._expression(node.test))
            before = set(self.bound)
            body = [*self.block(node.body[:-1]), *self._other(node.body[-1])]
            self.bound = before
            return [ast.If(test, body, [])]
        variables, live = self._variables(node, [*node.body, *node.orelse])
        name = self.names.new()
        test = self._expression(node.test)
        made: list[ast.stmt] = [ast.Assign([store(name)], self._named(live, "choice", test, *self._values(variables)))]
        before = set(self.bound)
        body = self.block(node.body)
        after_body = None if leaves(node.body) else set(self.bound)
        self.bound = set(before)
        orelse = self.block(node.orelse)
        after_orelse = None if leaves(node.orelse) else set(self.bound)
        both = ast.Attribute(load(name), "both", ast.Load())
        self.bound = set(before)
        swap = [assign(variables, method(load(name), "swap", *self._values(variables)))] if variables else []
        second = [*([ast.If(both, swap, [])] if swap else []), *orelse] or [ast.Pass()]
        made.append(ast.If(method(load(name), "one"), body, []))
        made.append(ast.If(method(load(name), "two"), second, []))
        join = assign(live, method(load(name), "join", *self._values(live)))
        made.append(ast.If(both, [join], []))
        ends = [one for one in (after_body, after_orelse) if one is not None]
        self.bound = set.intersection(*ends) if ends else before
        return made

    def _sides(self, *blocks: list[ast.stmt]) -> list[list[ast.stmt]]:
        """Blocks of which one runs, unconverted themselves."""
        before, made, after = set(self.bound), [], []
        for block in blocks:
            self.bound = set(before)
            made.append(self.block(block))
            if not leaves(block):
                after.append(set(self.bound))
        self.bound = set.intersection(*after) if after else before
        return made

    def _match(self, node: ast.Match) -> list[ast.stmt]:
        node.subject = self.expressions.context("subject", self._expression(node.subject))
        before = set(self.bound)
        for case in node.cases:
            self.bound = before | bound_names(case.pattern)
            case.pattern = converted_pattern(case.pattern)
            case.guard = self._expression(case.guard)
            case.body = self.block(case.body)
        self.bound = before
        return [node]

    # ---- loops

    def _while(self, node: ast.While) -> list[ast.stmt]:
        if self.liveness is None:
            node.test = self._expression(node.test)
            node.body, node.orelse = self._inside(node.body), self._inside(node.orelse)
            return [node]
        variables, live = self._variables(node, [node.test, *node.body, *node.orelse])
        name, made, before = self._begin(variables, None)
        test = method(load(name), "goes", self._expression(node.test), *self._values(variables))
        goes = ast.IfExp(method(load(name), "more"), test, ast.Constant(False))
        body = self._loop_body(node.body, _Loop(name, variables, live))
        made.append(ast.While(goes, [*body, *self._again(node.body, name, variables)], []))
        return [*made, *self._end(node, name, live, before)]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        if self.liveness is None:
            before = set(self.bound)
            iterable: Any = self.expressions.context("iterated", self._expression(node.iter))
            target, stores = self._target(node.target)
            self.bound |= bound_names(target)
            body = self._inside(node.body)
            self.bound = before
            return [
                ast.For(target, iterable, [*self._declared(node.target), *stores, *body], self._inside(node.orelse))
            ]
        variables, live = self._variables(node, [node.target, *node.body, *node.orelse])
        iterable = self._expression(node.iter)
        first: list[ast.stmt] = []
        if self.heads:
            kept = self.names.new()
            first.append(ast.Assign([store(kept)], iterable))
            iterable = load(kept)
        name, made, before = self._begin(variables, node.target, *([iterable] if first else []))
        made = [*first, *made]
        item = self.names.new()
        turn: list[ast.stmt] = [ast.Expr(method(load(name), "turn", *self._values(variables)))]
        turn += self._declared(node.target)
        target, stores = self._target(node.target)
        turn += [ast.Assign([target], load(item)), *stores]
        self.bound |= bound_names(target)
        body = self._loop_body(node.body, _Loop(name, variables, live))
        self.bound = set(before)
        items = method(load(name), "items", iterable)
        ends: list[ast.stmt] = [ast.Expr(method(load(name), "ends", *self._values(variables)))] if node.orelse else []
        whole = [*turn, *body, *self._again(node.body, name, variables)]
        made.append(ast.For(store(item), items, whole, ends))
        return [*made, *self._end(node, name, live, before)]

    def _begin(
        self, variables: tuple[str, ...], target: ast.expr | None, *iterable: ast.expr
    ) -> tuple[str, list[ast.stmt], set[str]]:
        name = self.names.new()
        named = (*variables, target.id if isinstance(target, ast.Name) else "")
        made: list[ast.stmt] = [ast.Assign([store(name)], self._named(named, "loop", *iterable))]
        if self.heads:
            made.append(assign(variables, method(load(name), "enters", *self._values(variables))))
        return name, made, set(self.bound)

    def _named(self, variables: Iterable[str], name: str, *arguments: ast.expr) -> ast.expr:
        """A call of the context, which gets the names of variables."""
        made = self.expressions.context(name, *arguments)
        if self.heads:
            names = ast.Tuple([ast.Constant(one) for one in variables], ast.Load())
            made.keywords.append(ast.keyword("names", names))
        return made

    def _loop_body(self, body: list[ast.stmt], loop: _Loop) -> list[ast.stmt]:
        self.loops.append(loop)
        hard, self.hard = self.hard, False
        made = self.block(body)
        self.hard = hard
        self.loops.pop()
        return made

    def _inside(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a loop that is not converted."""
        before = set(self.bound)
        made = self.block(body)
        self.bound = before
        return made

    def _again(self, body: list[ast.stmt], name: str, variables: tuple[str, ...]) -> list[ast.stmt]:
        if not self.heads and "continue" not in jumps(body):
            return []
        return [assign(variables, method(load(name), "again", *self._values(variables)))]

    def _end(self, node: Any, name: str, live: tuple[str, ...], before: set[str]) -> list[ast.stmt]:
        self.bound = set(before)
        made: list[ast.stmt] = []
        if node.orelse:
            variables, _ = self._variables(node, [getattr(node, "test", None) or node.target, *node.body, *node.orelse])
            begin = assign(variables, method(load(name), "otherwise", *self._values(variables)))
            orelse = self.block(node.orelse)
            self.bound = set(before)
            made.append(ast.If(method(load(name), "ended"), [begin, *orelse], []))
        made.append(assign(live, method(load(name), "over", *self._values(live))))
        return made

    # ---- jumps

    def leaving(self, value: ast.expr) -> ast.stmt:
        """A `return`: what a special method returns goes to C code."""
        return ast.Return(self.expressions.context("special", value) if self.is_special else value)

    def _return(self, node: ast.Return) -> list[ast.stmt]:
        value = self._expression(node.value) or ast.Constant(None)
        if self.frame is None:
            return [self.leaving(value)]
        if self.is_protected:
            kept = self.names.new()
            alone = ast.Expr(method(load(self.frame), "alone"))
            return [ast.Assign([store(kept)], value), alone, self.leaving(load(kept))]
        leave = self.leaving(ast.Attribute(load(self.frame), "value", ast.Load()))
        return [ast.If(method(load(self.frame), "returns", value), [leave], [])]

    def _raise(self, node: ast.Raise) -> list[ast.stmt]:
        made = self._other(node)
        if self.liveness is None or node.exc is None:
            return made
        return [ast.If(self.expressions.context("raises"), made, [])]

    def _break(self, node: ast.Break) -> list[ast.stmt]:
        return self._jump(node, "breaks")

    def _continue(self, node: ast.Continue) -> list[ast.stmt]:
        return self._jump(node, "continues")

    def _jump(self, node: ast.stmt, name: str) -> list[ast.stmt]:
        if self.liveness is None or not self.loops:
            return [node]
        loop = self.loops[-1]
        if self.hard:
            return [ast.Expr(method(load(loop.name), "alone")), node]
        return [ast.If(method(load(loop.name), name, *self._values(loop.variables)), [node], [])]

    # ---- exceptions

    def _try(self, node: Any) -> list[ast.stmt]:
        before = set(self.bound)
        self._make_hard(True)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        after = set(self.bound)
        for handler in node.handlers:
            self.bound = set(before)
            handler.type = self._expression(handler.type)
            caught: ast.stmt = ast.Expr(self.expressions.context("caught"))
            handler.body = [caught, *self.block(handler.body)]
            if not leaves(handler.body):
                after &= self.bound
        self.bound = set(before)
        if node.finalbody:
            leaving: ast.stmt = ast.Expr(self.expressions.context("leaving"))
            node.finalbody = [leaving, *self.block(node.finalbody)]
        self._restore_hard()
        self.bound = after & before if node.finalbody else after
        return [node]

    _trystar = _try

    def _with(self, node: Any) -> list[ast.stmt]:
        before = set(self.bound)
        active = self.names.new()
        begin: ast.stmt = ast.Assign([store(active)], self.expressions.context("here"))
        stores: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self._expression(item.context_expr)
            if item.optional_vars is not None:
                item.optional_vars, after = self._target(item.optional_vars)
                stores += after
                self.bound |= bound_names(item.optional_vars)
        self._make_hard(True)
        node.body = [*stores, *self.block(node.body)]
        self._restore_hard()
        self.bound = before
        end: ast.stmt = ast.Expr(self.expressions.context("still", load(active)))
        return [begin, node, end]

    def _make_hard(self, value: bool) -> None:
        self._kept = [*getattr(self, "_kept", []), (self.hard, self.is_protected)]
        self.hard = self.is_protected = value

    def _restore_hard(self) -> None:
        self.hard, self.is_protected = self._kept.pop()
