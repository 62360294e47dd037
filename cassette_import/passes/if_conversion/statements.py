"""Statements: branches, loops and returns, at which each lane may go its own way, and stores into objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from cassette_import.passes.if_conversion.expressions import CONTEXT, Expressions, Names, assign, load, method, store
from cassette_import.passes.if_conversion.variables import Liveness, bound_names, own_nodes
from cassette_import.specialization.passes import nooverdub
from cassette_import.specialization.passes.private_names import PrivateNames

__all__ = ["Statements"]

# ---- stores: assignments to attributes, items and names of other scopes, and deletions, become calls

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


# ---- patterns of `match`: what a pattern decides by identity or in C asks the active context
#
# `None`, `True` and `False` are compared by identity, and C code looks at the class of what a sequence or mapping
# pattern is matched with. Neither can ask an object that stands for the values of many lanes. So these patterns become
# class patterns: their classes are attributes of the context, and `isinstance` asks those.

_CLASSES: Final[dict[Any, str]] = {None: "none_class", True: "true_class", False: "false_class"}


def _converted_pattern(pattern: ast.pattern) -> ast.pattern:
    """The pattern in the place of one, which may be that of a whole case: the subject itself is no lane of objects."""
    if isinstance(pattern, ast.MatchOr):
        return ast.MatchOr([_converted_pattern(one) for one in pattern.patterns])
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return ast.MatchAs(_converted_pattern(pattern.pattern), pattern.name)
    inside: Any = _Inside()
    convert = inside.visit if isinstance(pattern, ast.MatchSingleton) else inside.generic_visit
    converted: ast.pattern = convert(pattern)
    return converted


class _Inside(ast.NodeTransformer):
    """Converts patterns whose subject may be any part of the subject of `match`."""

    def visit_MatchSingleton(self, node: ast.MatchSingleton) -> ast.pattern:
        """`None`, `True`, `False`: a class with one object."""
        return _class(_CLASSES[node.value])

    def visit_MatchSequence(self, node: ast.MatchSequence) -> ast.pattern:
        """`[a, b]`: of a value of lanes, the part that the lanes agree on is tried."""
        self.generic_visit(node)
        return ast.MatchOr([_class("lane_class", agreed=node), node])

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.pattern:
        """`{"key": a}`: as a sequence."""
        self.generic_visit(node)
        return ast.MatchOr([_class("lane_class", agreed=node), node])


def _class(name: str, **attributes: ast.pattern) -> ast.MatchClass:
    kind = ast.Attribute(load(CONTEXT), name, ast.Load())
    return ast.MatchClass(kind, [], list(attributes), list(attributes.values()))


# ---- how a block is left: by a jump, or by an exception

_JUMPS: Final = (ast.Return, ast.Break, ast.Continue)


def _jumps(body: Iterable[ast.AST]) -> set[str]:
    """The kinds of jumps that leave a block: `break` and `continue` of loops inside it do not."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, _JUMPS):
            found.add(type(node).__name__.lower())
        elif isinstance(node, (ast.While, ast.For, ast.AsyncFor)):
            found |= _jumps(node.body) & {"return"} | _jumps(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            found |= _jumps(ast.iter_child_nodes(node))
    return found


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether a block certainly ends by a jump or exception."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (*_JUMPS, ast.Raise)):
        return True
    return isinstance(last, ast.If) and _leaves(last.body) and _leaves(last.orelse)


def _raises(body: Sequence[ast.stmt]) -> bool:
    """Whether a block does nothing but to raise an exception at its end."""
    return bool(body) and isinstance(body[-1], ast.Raise) and not any(isinstance(n, _JUMPS) for n in own_nodes(body))


# ---- statements: branches, loops and returns, at which each lane may go its own way, and stores into objects


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
            inside = _jumps(statement.body) | _jumps(statement.orelse)
            return "return" in inside or bool(_jumps(statement.orelse))
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):  # what follows is never reached
            return True
        return isinstance(statement, (ast.If, ast.Match)) and bool(_jumps([statement]))

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
        if _raises(node.body) and not node.orelse:
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
        after_body = None if _leaves(node.body) else set(self.bound)
        self.bound = set(before)
        orelse = self.block(node.orelse)
        after_orelse = None if _leaves(node.orelse) else set(self.bound)
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
            if not _leaves(block):
                after.append(set(self.bound))
        self.bound = set.intersection(*after) if after else before
        return made

    def _match(self, node: ast.Match) -> list[ast.stmt]:
        node.subject = self.expressions.context("subject", self._expression(node.subject))
        before = set(self.bound)
        for case in node.cases:
            self.bound = before | bound_names(case.pattern)
            case.pattern = _converted_pattern(case.pattern)
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
        if not self.heads and "continue" not in _jumps(body):
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
            if not _leaves(handler.body):
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
