"""Blocks of statements in the untagged form: the statements whose expressions become steps (`forms.untagged`).

All other statements take the inlined form. Knows statements and the order in which their parts are evaluated; must not
know how a step is built.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.protocols import Protocol
from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.forms.bound_variables import BoundVariables
from cassette_import.rewriting.forms.hooked_event import Variables
from cassette_import.rewriting.forms.inlined import InlinedForm
from cassette_import.rewriting.forms.untagged import Steps
from cassette_import.rewriting.forms.untagged_branches import is_still, is_too_deep, spans_lines
from cassette_import.rewriting.forms.untagged_calls import PlainCalls
from cassette_import.rewriting.forms.untagged_steps import Value, is_temporary
from cassette_import.rewriting.modes import Mode
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.syntax import assignments
from cassette_import.rewriting.syntax.assignments import is_event
from cassette_import.rewriting.syntax.expressions import attribute_name, global_name, namespace
from cassette_import.rewriting.syntax.replacement import replaced
from cassette_import.rewriting.trees.annotations import CLASS_NAME, GLOBAL, NOOVERDUB, PRIVATE, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import bound_by_expressions, clone


class Rewriter(Protocol):
    """What rewrites the parts that are no steps."""

    def rewrite(self, node: ast.AST, mode: Mode, shape: Shape | None) -> Any:
        """Rewrite a node."""


class UntaggedBlocks:
    """Rewrites the statements of one block, and those in it.

    Parameters
    ----------
    shape:
        The stack of contexts.
    rewriter:
        Rewrites the parts that are no steps.
    inlined:
        The form of these parts.
    file:
        A digest of the name of the file, for guards.
    objects:
        The names that the module assigns.
    variables:
        The variables of the function that no other code can assign.
    """

    def __init__(
        self,
        shape: Shape,
        rewriter: Rewriter,
        inlined: InlinedForm,
        file: str,
        objects: frozenset[str],
        variables: Variables,
    ) -> None:
        self._variables = variables.names
        self._inlined = inlined
        self._shape, self._rewriter = shape, rewriter
        self._bound = BoundVariables(variables.lasting)
        self._steps = Steps(shape, self._rewrite, PlainCalls(shape.prefix, file, objects), self._bound)

    def build(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that replace those of a block that no other one is around."""
        at = At(statements[0])
        plain = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(self._steps.names.begun)))
        begin = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(symbols.EPOCH)))
        restored: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            if _tests_metadata(statement):
                assert isinstance(statement, ast.If)
                restored = statement.body
                statements = [*statements[:number], *statements[number + 1 :]]
                break
        first = at.put(ast.If(self._steps.told(at, symbols.METADATA_EXISTS), [*restored, begin], []))
        return [plain, first, *self._block(statements, settle=True)]

    def _rewrite(self, node: ast.AST) -> Any:
        """What replaces a node in the inlined form."""
        return self._rewriter.rewrite(node, Mode.INLINED, self._shape)

    def _block(self, statements: list[ast.stmt], settle: bool = False, branch: bool = False) -> list[ast.stmt]:
        """The statements that replace those of a block; at its end, all values are claimed.

        Behind any other block than the branch of an `if`, what it has bound may be unbound.
        """
        steps = self._steps
        outer, steps.out = steps.out, []
        bound = self._bound.names
        for statement in statements:
            self._bound.begin(statement)
            handler = None if hasattr(statement, NOOVERDUB) else _HANDLERS.get(type(statement))
            if handler is None or not handler(self, statement):
                self._other(statement)
        if statements:
            steps.flush(At(statements[-1]), settle)
        made, steps.out = steps.out, outer
        self._bound.names = self._bound.names if branch else bound
        return made

    def _other(self, statement: ast.stmt) -> None:
        """A statement in the inlined form."""
        self._steps.flush(At(statement))
        made = self._rewrite(statement)
        self._steps.out.extend(made if isinstance(made, list) else [made])

    def _end(self, at: At) -> None:
        """End a statement: its temporaries are cleared."""
        self._steps.clear(at, self._steps.taken(0))
        self._steps.target = None

    # ---- simple statements

    def _assign(self, node: ast.Assign) -> bool:
        if is_too_deep(node):
            return False
        if len(node.targets) != 1:
            return self._assign_all(node)
        steps, target, at = self._steps, node.targets[0], At(node)
        if isinstance(target, ast.Name):
            if has(target, CLASS_NAME):
                return False
            if is_event(target, self._inlined):
                self._store_global(target, steps.operand(node.value, True))
                self._end(at)
                return True
            steps.target = target.id
            steps.assign(at, target.id, steps.value(node.value), target)
            self._bound.bind(target)
        elif isinstance(target, (ast.Attribute, ast.Subscript)):
            if isinstance(target, ast.Subscript) and _has_slice(target.slice):
                return False
            self._store(target, steps.operand(node.value, True))
        elif not self._unpack(node, target):
            return False
        self._end(at)
        return True

    def _assign_all(self, node: ast.Assign) -> bool:
        """`a = b.c = value`: the value is assigned to one target after the other."""
        if not all(map(_is_simple_target, node.targets)):
            return False
        steps, bound = self._steps, self._bound
        read = steps.operand(node.value, True)
        for target in node.targets:
            light: Any = clone(read[0])
            full: Any = light if read[0] is read[1] else clone(read[1])
            value = light, full
            if not isinstance(target, ast.Name):
                assert isinstance(target, (ast.Attribute, ast.Subscript))
                self._store(target, value)
            elif is_event(target, self._inlined):
                self._store_global(target, value)
            else:
                steps.emit(At(node), Value(light, full), _storing(target))
                bound.bind(target)
        self._end(At(node))
        return True

    def _unpack(self, node: ast.Assign, target: ast.expr) -> bool:
        """`a, b = value`, with variables as targets."""
        steps, value = self._steps, node.value
        assert isinstance(target, (ast.Tuple, ast.List))
        if not all(isinstance(part, ast.Name) and not is_event(part, self._inlined) for part in target.elts):
            return False
        at, spec = At(target), assignments.spec_of(target)
        tests: tuple[ast.expr, ...] = ()
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            if any(isinstance(part, ast.Starred) for part in value.elts):
                return False
            made = steps.value(value)
            light, full = made.light, made.full
        else:
            light, full = steps.operand(value)
            if not isinstance(light, ast.Name):
                light, full = steps.kept(At(value), Value(light, full), 0)
            kinds: list[ast.expr] = [
                at.same(at.call(at.symbol(symbols.TYPE), [light]), at.kind(kind)) for kind in ("tuple", "list")
            ]
            tests = (at.put(ast.UnaryOp(ast.Not(), at.put(ast.BoolOp(ast.Or(), kinds)))),)
        full = at.call(at.symbol(symbols.UNPACK), [full, at.constant(spec)])
        steps.emit(At(node), Value(light, full, tests=tests), lambda value: ast.Assign([target], value))
        self._bound.bind(target)
        return True

    def _store(self, target: ast.Attribute | ast.Subscript, value: tuple[ast.expr, ast.expr]) -> None:
        """A value is stored that has been evaluated."""
        steps, at = self._steps, At(target)
        light, full = value
        if isinstance(target, ast.Attribute):
            name = "setattr"
            ((owner, owner_full),) = steps.operands(at, [target.value])
            arguments = [owner_full, at.constant(attribute_name(target)), full]
        else:
            name = "operator.setitem"
            (owner, owner_full), (index, index_full) = steps.operands(at, [target.value, target.slice])
            arguments = [owner_full, index_full, full]
            target.slice = index
        target.value = owner
        stored = at.put(ast.Assign([target], light))
        event = at.put(ast.Expr(steps.over(at, name, arguments)))
        steps.choose(at, event, stored)

    def _store_global(self, target: ast.Name, value: tuple[ast.expr, ast.expr]) -> None:
        """A value is stored to a name of the module that has been evaluated."""
        steps, at = self._steps, At(target)
        light, full = value
        arguments = [namespace(at), at.constant(global_name(target)), full]
        event = at.put(ast.Expr(steps.over(at, "primitives.store_global", arguments)))
        steps.choose(at, event, at.put(ast.Assign([target], light)))

    def _augmented(self, node: ast.AugAssign) -> bool:
        if is_too_deep(node):
            return False
        target, at = node.target, At(node)
        if isinstance(target, ast.Name):
            if has(target, CLASS_NAME):
                return False
            if is_event(target, self._inlined) and has(target, GLOBAL):
                return self._augmented_global(node, target)
            if is_event(target, self._inlined) or has(target, GLOBAL):
                return False
            if not at.is_variable_here(node.value):
                if self._may_change(target, node.value):
                    return False
                self._steps.flush(at)
                self._steps.out.append(At(target).put(ast.Expr(At(target).load(target.id))))  # it may be unbound
            self._steps.target = target.id
            self._steps.augment(at, target.id, node)
            self._end(at)
            return True
        if isinstance(target, ast.Subscript) and _has_slice(target.slice):
            return False
        steps = self._steps
        place = At(target)
        load: Any
        if isinstance(target, ast.Attribute):
            owner, _ = steps.operand(target.value, self._may_change(target.value, node.value))
            load = place.put(ast.Attribute(owner, target.attr, ast.Load()))
            store: Any = place.put(ast.Attribute(owner, target.attr, ast.Store()))
            for made in (load, store):
                if hasattr(target, "_private"):
                    made._private = attribute_name(target)
        else:
            assert isinstance(target, ast.Subscript)
            owner, _ = steps.operand(target.value, self._may_change(target.value, target.slice, node.value))
            index, _ = steps.operand(target.slice, self._may_change(target.slice, node.value))
            load = place.put(ast.Subscript(owner, index, ast.Load()))
            store = place.put(ast.Subscript(owner, index, ast.Store()))
        value, _ = steps.operand(load, True)
        assert isinstance(value, ast.Name)
        steps.augment(at, value.id, node)
        self._store(store, (value, value))
        self._end(at)
        return True

    def _augmented_global(self, node: ast.AugAssign, target: ast.Name) -> bool:
        """``name op= value`` for a name of the module."""
        steps, at = self._steps, At(node)
        read: Any = At(target).load(target.id)
        for kept in (GLOBAL, PRIVATE):
            if hasattr(target, kept):
                setattr(read, kept, getattr(target, kept))
        light, _ = steps.operand(read, True)
        if not is_temporary(light):
            return False
        assert isinstance(light, ast.Name)
        steps.augment(at, light.id, node)
        self._store_global(target, (light, light))
        self._end(at)
        return True

    def _may_change(self, node: ast.expr, *others: ast.expr) -> bool:
        """Whether an expression that is read twice is no variable that stays as it is while others are evaluated."""
        if not isinstance(node, ast.Name) or node.id not in self._variables:
            return True
        return any(node.id in bound_by_expressions(other) for other in others)

    def _annotated(self, node: ast.AnnAssign) -> bool:
        """The annotation of a variable is not evaluated."""
        if node.value is None or not node.simple:
            return False
        return self._assign(At(node).put(ast.Assign([node.target], node.value)))

    def _expression(self, node: ast.Expr) -> bool:
        if isinstance(node.value, (ast.Constant, ast.Name)) or is_too_deep(node):
            return False
        at, steps = At(node), self._steps
        value = steps.value(node.value)
        if value.is_inlined:
            node.value = value.light
            steps.out.append(node)
        else:
            steps.emit(at, value, lambda made: ast.Expr(made))
        self._end(at)
        return True

    def _return(self, node: ast.Return) -> bool:
        at, steps = At(node), self._steps
        if node.value is None:
            steps.flush(at, settle=True)
            steps.out.append(node)
            return True
        if is_too_deep(node):
            return False
        given = node.value
        if isinstance(given, ast.Call) and is_returned(given) and isinstance(given.args[0], ast.IfExp):
            chosen = given.args[0]
            then, otherwise = (
                [at.put(ast.Return(at.call(at.symbol(symbols.RETURNED), [part])))]
                for part in (chosen.body, chosen.orelse)
            )
            return self._if(at.put(ast.If(chosen.test, [*then], [*otherwise])))
        value = steps.value(given)
        if value.is_inlined:
            value = Value(*steps.kept(at, value, 0))
        if value.light is value.full:
            steps.flush(at, settle=True)
        steps.emit(at, value, lambda made: ast.Return(made))
        steps.used, steps.pending, steps.is_unsettled = [], [], False
        return True

    def _assert(self, node: ast.Assert) -> bool:
        """The test of an assertion, which nothing evaluates where Python ignores assertions."""
        is_chain = isinstance(node.test, (ast.BoolOp, ast.Compare, ast.IfExp))
        if is_too_deep(node.test) or (is_chain and spans_lines(node.test)):
            return False
        steps, at = self._steps, At(node)
        steps.flush(at)

        def make() -> None:
            node.test = steps.tested(node.test)
            if node.msg is not None:
                node.msg = self._rewrite(node.msg)
            steps.out.append(node)
            steps.is_unsettled = True
            self._end(at)

        made = steps.apart(make)
        steps.out.append(at.put(ast.If(at.put(ast.Name("__debug__", ast.Load())), made, [])))
        return True

    def _jump(self, node: ast.Break | ast.Continue) -> bool:
        self._steps.flush(At(node))
        self._steps.out.append(node)
        return True

    # ---- compound statements

    def _if(self, node: ast.If) -> bool:
        if _chain(node) > _LONGEST_CHAIN or is_too_deep(node.test):
            return False
        steps, at = self._steps, At(node.test)
        if isinstance(node.test, (ast.BoolOp, ast.Compare, ast.IfExp)) and spans_lines(node.test):
            steps.flush(at)
            node.test = self._rewrite(node.test)
        else:
            self._bound.begin(node.test)
            node.test = steps.tested(node.test)
        cleared = steps.cleared(at, steps.taken(0))
        before = steps.pending, steps.is_unsettled
        blocks: list[list[ast.stmt]] = []
        unsettled = False
        bound, after = self._bound.names, []
        for block in (node.body, node.orelse):
            self._bound.names = bound
            steps.pending, steps.is_unsettled = before
            steps.pending = list(steps.pending)
            goes_on = not (block and isinstance(block[-1], _LEAVING))
            blocks.append([*cleared, *self._block(block, branch=True)])
            after += [self._bound.names] if goes_on else []
            unsettled = unsettled or steps.is_unsettled
        node.body, node.orelse = blocks
        self._bound.names = frozenset.intersection(*after) if after else bound
        steps.out.append(node)
        steps.pending, steps.is_unsettled = [], unsettled
        return True

    def _while(self, node: ast.While) -> bool:
        steps = self._steps
        steps.flush(At(node))
        steps.is_unsettled = True
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        are_steps = all(map(is_still, tests)) and not spans_lines(node.test)
        self._bound.begin(node.test)
        node.test = steps.tested(node.test) if are_steps else self._rewrite(node.test)
        steps.is_unsettled = True
        node.body = self._block(node.body)
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        steps.out.append(node)
        steps.is_unsettled = True
        return True

    def _for(self, node: ast.For) -> bool:
        if is_event(node.target, self._inlined) or is_too_deep(node.iter):
            return False
        steps, at = self._steps, At(node.iter)
        self._bound.begin(node.iter)
        light, _ = steps.operand(node.iter)
        node.iter = light
        steps.flush(at)
        used = steps.taken(0)
        if used:
            node.iter = at.pick([light, at.clear(used)], 0)
        steps.is_unsettled = True
        bound = self._bound.names
        self._bound.bind(node.target)
        node.body = self._block(node.body)
        self._bound.names = bound
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        made = replaced(node, self._inlined, 0)
        for statement in made if isinstance(made, list) else [made]:
            if isinstance(statement, ast.For) and _tests_metadata(statement.body[0]):
                assert isinstance(statement.body[0], ast.If)
                statement.body[0].test = steps.told(at, symbols.METADATA_EXISTS)
            steps.out.append(statement)
        steps.is_unsettled = True
        return True

    def _try(self, node: Any) -> bool:
        steps = self._steps
        steps.flush(At(node))
        node.body = self._block(node.body)
        for handler in node.handlers:
            if handler.type is not None:
                handler.type = self._rewrite(handler.type)
            steps.is_unsettled = True
            handler.body = self._block(handler.body)
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        steps.is_unsettled = True
        node.finalbody = self._block(node.finalbody)
        steps.out.append(node)
        steps.is_unsettled = True
        return True


_LEAVING: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)

_LONGEST_CHAIN: Final = 30
"""How many `elif` an `if` may have: each is a block in that of the one before."""


def _tests_metadata(statement: ast.stmt) -> bool:
    """Whether it is the statement of `tagged.parameters`, or that for an item of a loop."""
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Name) and test.id == symbols.METADATA_EXISTS


def is_returned(node: ast.Call) -> bool:
    """Whether it is the call of the helper for returned values."""
    return isinstance(node.func, ast.Name) and node.func.id == symbols.RETURNED


def _storing(target: ast.expr) -> Callable[[ast.expr], ast.stmt]:
    return lambda value: ast.Assign([target], value)


def _is_simple_target(target: ast.expr) -> bool:
    """Whether a value is stored to one place."""
    if isinstance(target, ast.Subscript):
        return not _has_slice(target.slice)
    return isinstance(target, (ast.Name, ast.Attribute)) and not has(target, CLASS_NAME)


def _has_slice(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.Slice) for part in parts)


def _chain(node: ast.If) -> int:
    """How many tests a chain of `elif` has."""
    count = 1
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        count, node = count + 1, node.orelse[0]
    return count


_HANDLERS: Final[dict[type[ast.stmt], Callable[[UntaggedBlocks, Any], bool]]] = {
    ast.Assign: UntaggedBlocks._assign,
    ast.AnnAssign: UntaggedBlocks._annotated,
    ast.AugAssign: UntaggedBlocks._augmented,
    ast.Expr: UntaggedBlocks._expression,
    ast.Return: UntaggedBlocks._return,
    ast.Assert: UntaggedBlocks._assert,
    ast.Break: UntaggedBlocks._jump,
    ast.Continue: UntaggedBlocks._jump,
    ast.If: UntaggedBlocks._if,
    ast.While: UntaggedBlocks._while,
    ast.For: UntaggedBlocks._for,
    ast.Try: UntaggedBlocks._try,
}
