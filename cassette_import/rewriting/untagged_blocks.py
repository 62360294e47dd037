"""Statements in the untagged form: simple ones, and blocks.

All statements without a handler take the inlined form.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.forms.bound_variables import BoundVariables
from cassette_import.rewriting.forms.inlined import InlinedForm, Variables
from cassette_import.rewriting.forms.untagged import ExpressionSteps, in_order
from cassette_import.rewriting.forms.untagged_branches import (
    PlainCalls,
    Value,
    VariantEvents,
    is_temporary,
    is_too_deep,
    spans_lines,
)
from cassette_import.rewriting.modes import Mode
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.syntax import assignments
from cassette_import.rewriting.syntax.assignments import is_event
from cassette_import.rewriting.syntax.expressions import attribute_name, global_name, namespace
from cassette_import.rewriting.syntax.statements import replaced
from cassette_import.rewriting.trees.annotations import CLASS_NAME, GLOBAL, NOOVERDUB, PRIVATE, has
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import bound_by_expressions, clone
from cassette_import.rewriting.variant_names import VariantNames

# ---- simple statements in the untagged form: those whose expressions become steps (`forms.untagged`)
#
# A handler returns whether it has rewritten its statement.


class Rewriter(Protocol):
    """What rewrites the parts that are no steps."""

    def rewrite(self, node: ast.AST, mode: Mode, shape: Shape | None) -> Any:
        """Rewrite a node."""


class SimpleStatements:
    """Rewrites simple statements.

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
        self._events = VariantEvents(VariantNames(shape.prefix))
        calls = PlainCalls(shape.prefix, file, objects, self._events.plain, shape.tags_beside_targets)
        self._steps = ExpressionSteps(
            shape, self._rewrite, self._events, calls, self._bound, clause=self._clause, whole=self._comprehension
        )

    def _rewrite(self, node: ast.AST) -> Any:
        """What replaces a node in the inlined form."""
        return self._rewriter.rewrite(node, Mode.INLINED, self._shape)

    def _clause(self, node: ast.comprehension, is_inner: bool) -> Any:
        """What replaces a clause of a comprehension, whose conditions have been rewritten."""
        if is_inner:  # the first iterable is evaluated before the comprehension
            node.iter = self._rewriter.rewrite(node.iter, Mode.BARE, self._shape)
        return replaced(node, self._inlined, 0)

    def _comprehension(self, node: ast.expr) -> Any:
        """What replaces a comprehension whose parts have been rewritten."""
        return replaced(node, self._inlined, 0)

    def _end(self, at: At) -> None:
        """End a statement: its temporaries are cleared."""
        self._steps.clear(at, self._steps.taken(0))
        self._steps.target = None

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
            if (
                isinstance(target, ast.Subscript)
                and _has_slice(target.slice)
                and not isinstance(target.slice, ast.Slice)
            ):
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
        elif isinstance(target.slice, ast.Slice):
            name = "operator.setitem"
            owner, owner_full, index_full = steps.sliced(at, target.value, target.slice)
            arguments = [owner_full, index_full, full]
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
        value = steps.value(node.value)
        if value.is_inlined:
            value = Value(*steps.kept(at, value, 0))
        if value.light is value.full:
            steps.flush(at, settle=True)
        steps.emit(at, value, lambda made: ast.Return(made))
        steps.use_only([])
        steps.pending, steps.is_unsettled = [], False
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


SIMPLE_HANDLERS: Final[dict[type[ast.stmt], Callable[[SimpleStatements, Any], bool]]] = {
    ast.Assign: SimpleStatements._assign,
    ast.AnnAssign: SimpleStatements._annotated,
    ast.AugAssign: SimpleStatements._augmented,
    ast.Expr: SimpleStatements._expression,
    ast.Return: SimpleStatements._return,
    ast.Assert: SimpleStatements._assert,
    ast.Break: SimpleStatements._jump,
    ast.Continue: SimpleStatements._jump,
}
"""What rewrites a statement, by its type."""


# ---- blocks of statements in the untagged form: compound statements, and the statements in them


class UntaggedBlocks(SimpleStatements):
    """Rewrites the statements of one block, and those in it."""

    def build(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that replace those of a block that no other one is around."""
        at = At(statements[0])
        plain = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(self._events.begun)))
        begin = at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(symbols.EPOCH)))
        restored: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            if _tests_metadata(statement):
                assert isinstance(statement, ast.If)
                restored = statement.body
                statements = [*statements[:number], *statements[number + 1 :]]
                break
        first = at.put(ast.If(self._steps.notified(at, at.symbol(symbols.METADATA_EXISTS)), [*restored, begin], []))
        return [plain, first, *self._block(statements, settle=True)]

    def build_expression(self, node: ast.expr, restored: list[ast.expr]) -> ast.expr:
        """What replaces the body of a lambda; `restored` takes the wrappers of its parameters."""
        steps, at = self._steps, At(node)
        begun = at.let(temporaries.EPOCH, at.symbol(self._events.begun))
        begin = at.let(temporaries.EPOCH, at.symbol(symbols.EPOCH))
        exists = self._steps.notified(at, at.symbol(symbols.METADATA_EXISTS))
        first = at.either(exists, in_order(at, [*restored, begin]), at.constant(None))
        made = steps.inside(at, lambda: steps.chosen(at, steps.value(node)))
        return in_order(at, [begun, first, made])

    def _block(self, statements: list[ast.stmt], settle: bool = False, branch: bool = False) -> list[ast.stmt]:
        """The statements that replace those of a block; at its end, all values are claimed.

        Behind any other block than the branch of an `if`, what it has bound may be unbound.
        """
        steps = self._steps
        outer, steps.out = steps.out, []
        bound = self._bound.names
        for statement in statements:
            self._bound.begin(statement)
            if not self._handled(statement):
                self._other(statement)
        if statements:
            steps.flush(At(statements[-1]), settle)
        made, steps.out = steps.out, outer
        self._bound.names = self._bound.names if branch else bound
        return made

    def _handled(self, statement: ast.stmt) -> bool:
        """Rewrite a statement, unless it takes the inlined form."""
        handler = None if hasattr(statement, NOOVERDUB) else _HANDLERS.get(type(statement))
        return handler is not None and handler(self, statement)

    def _other(self, statement: ast.stmt) -> None:
        """A statement in the inlined form. If it has blocks, that is the form of its head."""
        steps, at = self._steps, At(statement)
        steps.flush(at)
        places: list[tuple[ast.stmt, list[ast.stmt]]] = []
        for owner, name in self._blocks_of(statement):
            given = getattr(owner, name)
            place = _placeholder(given[0])
            setattr(owner, name, [place])
            steps.is_unsettled = True
            places.append((place, self._block(given)))
        made = self._rewrite(statement)
        statements = made if isinstance(made, list) else [made]
        for place, block in places:
            _put_in_place(statements, place, block)
        steps.out.extend(statements)
        steps.is_unsettled = steps.is_unsettled or bool(places)

    def _blocks_of(self, statement: ast.stmt) -> list[tuple[Any, str]]:
        """The blocks of a statement that run in the same context as it, each by what has it and its name there."""
        found: list[tuple[Any, str]] = []
        if isinstance(statement, ast.For):
            found = [(statement, "body"), (statement, "orelse")]
        elif isinstance(statement, ast.Match):
            found = [(case, "body") for case in statement.cases]
        elif isinstance(statement, ast.If):
            found, part = [(statement, "body")], statement
            while len(part.orelse) == 1 and isinstance(part.orelse[0], ast.If):
                part = part.orelse[0]
                found.append((part, "body"))
            found.append((part, "orelse"))
        return [(owner, name) for owner, name in found if getattr(owner, name)]

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
        """A loop, whose test is evaluated again and again: the steps of that are parts of one expression."""
        steps = self._steps
        steps.flush(At(node))
        self._bound.begin(node.test)
        is_deciding = isinstance(node.test, (ast.BoolOp, ast.Compare, ast.IfExp))
        if is_too_deep(node.test) or (is_deciding and spans_lines(node.test)):
            node.test = self._rewrite(node.test)
        else:
            node.test = steps.test_inside(node.test)
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
        unpacked = self._item_unpacked(node.target)
        self._bound.bind(node.target)
        node.body = self._block(node.body)
        self._bound.names = bound
        steps.is_unsettled = True
        node.orelse = self._block(node.orelse)
        made = replaced(node, self._inlined, 0)
        for statement in made if isinstance(made, list) else [made]:
            if isinstance(statement, ast.For) and _tests_metadata(statement.body[0]):
                assert isinstance(statement.body[0], ast.If)
                statement.body[0].test = steps.notified(at, at.symbol(symbols.METADATA_EXISTS))
                if isinstance(statement.target, ast.Name) and statement.target.id == temporaries.UNPACKED:
                    statement.body[1:2] = unpacked
            steps.out.append(statement)
        steps.is_unsettled = True
        return True

    def _item_unpacked(self, target: ast.expr) -> list[ast.stmt]:
        """The statements that unpack the item of a loop."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            return []
        steps, at = self._steps, At(target)
        item = at.put(ast.Assign([clone(target)], at.load(temporaries.UNPACKED)))

        def make() -> None:
            if self._unpack(item, item.targets[0]):
                steps.out += steps.cleared(at, [temporaries.UNPACKED])

        made = steps.apart(make)
        steps.is_unsettled = True
        return made

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

    def _return(self, node: ast.Return) -> bool:
        """`return a if b else c` becomes an `if` with two returns."""
        at, given = At(node), node.value
        chosen = given.args[0] if isinstance(given, ast.Call) and is_returned(given) else None
        if not isinstance(chosen, ast.IfExp) or is_too_deep(node):
            return super()._return(node)
        then, otherwise = (
            [at.put(ast.Return(at.call(at.symbol(symbols.RETURNED), [part])))] for part in (chosen.body, chosen.orelse)
        )
        return self._if(at.put(ast.If(chosen.test, [*then], [*otherwise])))


_LEAVING: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)

_LONGEST_CHAIN: Final = 30
"""How many `elif` an `if` may have: each is a block in that of the one before."""


def _placeholder(statement: ast.stmt) -> ast.stmt:
    """A statement that stands for a block that begins with another one."""
    place: ast.stmt = At(statement).put(ast.Pass())
    setattr(place, NOOVERDUB, True)
    return place


def _put_in_place(statements: list[ast.stmt], place: ast.stmt, block: list[ast.stmt]) -> None:
    """Put a block in the place of a statement that stands for it."""
    work = [statements]
    while work:
        known = work.pop()
        for number, statement in enumerate(known):
            if statement is place:
                known[number : number + 1] = block
                return
            work += [part for name in ("body", "orelse") if isinstance(part := getattr(statement, name, None), list)]
            work += [case.body for case in getattr(statement, "cases", ())]


def _tests_metadata(statement: ast.stmt) -> bool:
    """Whether it is the statement of `tagged.parameters`, or that for an item of a loop."""
    test = statement.test if isinstance(statement, ast.If) else None
    return isinstance(test, ast.Name) and test.id == symbols.METADATA_EXISTS


def is_returned(node: ast.Call) -> bool:
    """Whether it is the call of the helper for returned values."""
    return isinstance(node.func, ast.Name) and node.func.id == symbols.RETURNED


def _chain(node: ast.If) -> int:
    """How many tests a chain of `elif` has."""
    count = 1
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        count, node = count + 1, node.orelse[0]
    return count


_HANDLERS: Final[dict[type[ast.stmt], Callable[[UntaggedBlocks, Any], bool]]] = {
    **SIMPLE_HANDLERS,
    ast.Return: UntaggedBlocks._return,
    ast.If: UntaggedBlocks._if,
    ast.While: UntaggedBlocks._while,
    ast.For: UntaggedBlocks._for,
    ast.Try: UntaggedBlocks._try,
}
