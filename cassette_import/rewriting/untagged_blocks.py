"""Statements in the untagged form: simple ones, blocks, and bodies that another context may resume.

All statements without a handler take the inlined form.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.bound_variables import BoundVariables
from cassette_import.rewriting.forms.callee import CalleeForm
from cassette_import.rewriting.forms.inlined import InlinedForm, Variables
from cassette_import.rewriting.forms.untagged import ExpressionSteps, has_untagged_form, in_order
from cassette_import.rewriting.forms.untagged_branches import (
    Claim,
    EventsAnywhere,
    EventsHere,
    PlainCalls,
    Value,
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
from cassette_import.rewriting.uninterrupted import suspends
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

    _steps_type: type[ExpressionSteps] = ExpressionSteps

    def __init__(
        self,
        shape: Shape,
        rewriter: Rewriter,
        inlined: InlinedForm | CalleeForm,
        file: str,
        objects: frozenset[str],
        variables: Variables,
    ) -> None:
        self._variables = variables.names
        self._inlined = inlined
        self._shape, self._rewriter = shape, rewriter
        self._bound = BoundVariables(variables.lasting)
        self._events = self._events_of(VariantNames(shape.prefix))
        calls = PlainCalls(shape.prefix, file, objects, self._events.plain, shape.tags_beside_targets)
        self._steps = self._steps_type(
            shape, self._rewrite, self._events, calls, self._bound, clause=self._clause, whole=self._comprehension
        )

    @staticmethod
    def _events_of(names: VariantNames) -> EventsHere:
        return EventsHere(names)

    def _rewrite(self, node: ast.AST) -> Any:
        """What replaces a node in the inlined form."""
        return self._rewriter.rewrite(node, Mode.INLINED, self._shape)

    def _clause(self, node: ast.comprehension, is_inner: bool) -> Any:
        """What replaces a clause of a comprehension, whose conditions have been rewritten."""
        if is_inner:  # the first iterable is evaluated before the comprehension
            node.iter = self._rewriter.rewrite(node.iter, Mode.BARE, self._shape_of_bare)
        return replaced(node, self._inlined, 0)

    def _comprehension(self, node: ast.expr) -> Any:
        """What replaces a comprehension whose parts have been rewritten."""
        return replaced(node, self._inlined, 0)

    @property
    def _shape_of_bare(self) -> Shape | None:
        """The shape whose events are rewritten where no temporaries are possible; None if any may be active."""
        return self._shape

    def bind(self, names: frozenset[str]) -> None:
        """Note which variables are bound where a block begins."""
        self._bound.names = names

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

    make_others: Callable[[frozenset[str]], UntaggedBlocks] | None = None
    """Makes what rewrites blocks that may run in any context, of the variables that are bound there."""

    _settles_at_end = True

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
        return [plain, first, *self._block(statements, settle=self._settles_at_end)]

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

    def _with(self, node: ast.With) -> bool:
        """A block of `with`, in which the context may be active that it enters, or another one afterwards."""
        blocks = self.in_any_context()
        return blocks is not None and self._block_elsewhere(node, blocks)

    def in_any_context(self) -> UntaggedBlocks | None:
        """What rewrites blocks that may run in any context; None if they look it up at each event."""
        return None if self.make_others is None else self.make_others(self._bound.names)

    def _block_elsewhere(self, node: Any, blocks: UntaggedBlocks, begin: Sequence[ast.stmt] = ()) -> bool:
        """`with` and `async for`, whose head takes the inlined form; `begin` is what the block begins with."""
        steps, at = self._steps, At(node)
        steps.flush(at)
        places: list[tuple[ast.stmt, list[ast.stmt]]] = []
        for name in ("body", "orelse"):
            given = getattr(node, name, None)
            if given:
                place = _placeholder(given[0])
                blocks._steps.is_unsettled = False
                added = begin if name == "body" else ()
                places.append((place, [blocks.resumed(At(given[0])), *added, *blocks._block(given)]))
                setattr(node, name, [place])
        made = self._rewrite(node)
        statements = made if isinstance(made, list) else [made]
        for place, block in places:
            _put_in_place(statements, place, block)
        steps.out.extend(statements)
        steps.out.append(self.resumed(at))
        steps.is_unsettled = False
        return True

    def resumed(self, at: At) -> ast.stmt:
        """The statement where a frame goes on that others could not notify, or in another context."""
        return at.put(ast.Assign([at.store(temporaries.EPOCH)], at.symbol(self._events.begun)))

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
    ast.With: UntaggedBlocks._with,
}


# ---- bodies that another context may resume, in the untagged form: generators and coroutines
#
# As long as nothing is tagged and no hook takes any event, an event is plain whichever context is active, and none has
# to be looked up. What the frame tests is set anew where the body goes on after a suspension: no notification reaches
# the frame of a suspended body.


def shape_of_untagged_body(shapes: Sequence[Shape]) -> Shape | None:
    """The shape whose names such a body uses; None if it has to look up the context at each event."""
    known = [shape for shape in shapes if not variant_names.is_wildcard(shape.prefix)]
    others = [shape for shape in shapes if variant_names.is_wildcard(shape.prefix)]
    only_move = all(
        has_untagged_form(shape)
        and not (shape.tags_beside_targets or shape.follows_bodies)
        and not any(context.prehook or context.posthook for context in shape.contexts)
        for shape in known
    )
    are_asked = any((Events.TRUTH | Events.CONTROL) & shape.everything for shape in others)
    return known[0] if known and only_move and not are_asked else None


class NoStepError(Exception):
    """An expression that suspends the body is no step where it is."""


class ResumedSteps(ExpressionSteps):
    """Makes steps of expressions, of those that suspend the body too."""

    blocks: ResumedBlocks

    def __init__(self, shape: Shape, rewrite: Callable[[ast.AST], Any], *given: Any, **more: Any) -> None:
        def rewrite_part(node: ast.AST) -> Any:
            if suspends(node):
                raise NoStepError
            return rewrite(node)

        super().__init__(shape, rewrite_part, *given, **more)

    def _helped(self, node: ast.Call) -> Value | None:
        """A call, which may be that of a helper that gets the value of a suspension."""
        waits = node.args[0] if len(node.args) == 1 else None
        if isinstance(waits, (ast.Await, ast.YieldFrom)) and _is_helper(node, symbols.FINISHED):
            return self.blocks.waited(node, waits)
        if isinstance(waits, ast.Yield) and _is_helper(node, symbols.RECEIVED):
            return self.blocks.yielded(node, waits)
        return self._call(node)

    makers = {**ExpressionSteps.makers, ast.Call: _helped}


class ResumedBlocks(UntaggedBlocks):
    """Rewrites the statements of such a body."""

    _steps_type: type[ExpressionSteps] = ResumedSteps

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if isinstance(self._steps, ResumedSteps):
            self._steps.blocks = self

    @staticmethod
    def _events_of(names: VariantNames) -> EventsHere:
        return EventsAnywhere(names)

    def _rewrite(self, node: ast.AST) -> Any:
        """What replaces a node in the form that looks up the context."""
        return self._rewriter.rewrite(node, Mode.CALLEE, None)

    @property
    def _shape_of_bare(self) -> Shape | None:
        return None

    _settles_at_end = False  # a body that ends in a block of `with` must not discard what was returned out of that

    def _go_on(self, at: At) -> None:
        """Go on behind a suspension: a wrapper that others have left meanwhile is not to be discarded."""
        self._steps.out.append(self.resumed(at))
        self._steps.is_unsettled = False

    def _handled(self, statement: ast.stmt) -> bool:
        """Rewrite a statement, unless it takes the form that looks up the context."""
        if not isinstance(statement, _COMPOUND):
            if not suspends(statement):
                return super()._handled(statement)
            return self._suspending(statement) or self._suspending_inside(statement, super()._handled)
        handler = _OF_RESUMED.get(type(statement))
        return super()._handled(statement) if handler is None else handler(self, statement)

    def _suspending_inside(self, statement: Any, handle: Callable[[Any], bool]) -> bool:
        """A statement that suspends the body in the middle of an expression; nothing is changed if that is no step."""
        steps, original = self._steps, clone(statement)
        kept = steps.out, len(steps.out), [*steps.pending], [*steps.deferred], steps.is_unsettled, [*steps.used]
        bound = self._bound.names
        try:
            if handle(statement):
                return True
        except NoStepError:
            pass
        steps.out, length, steps.pending, steps.deferred, steps.is_unsettled, used = kept
        steps.use_only(used)
        del steps.out[length:]
        steps.target, self._bound.names = None, bound
        statement.__dict__ = original.__dict__
        return False

    def _other(self, statement: ast.stmt) -> None:
        """A statement in the form that looks up the context."""
        is_suspended = suspends(statement)
        super()._other(statement)
        if is_suspended:
            self._go_on(At(statement))

    def _blocks_of(self, statement: ast.stmt) -> list[tuple[Any, str]]:
        """None if the head of the statement suspends the body: behind that, what the frame tests is to be set anew."""
        tests = [part.test for part, _ in super()._blocks_of(statement) if isinstance(part, ast.If)]
        heads = [*tests, *(getattr(statement, name, None) for name in ("iter", "subject"))]
        heads += [case.guard for case in getattr(statement, "cases", ())]
        return [] if any(head is not None and suspends(head) for head in heads) else super()._blocks_of(statement)

    # ---- simple statements

    def _suspending(self, statement: ast.stmt) -> bool:
        """A statement that suspends the body, if what it waits for, or what it yields, is evaluated before all else."""
        waiting, calls = _waiting_in(statement, self._inlined)
        if waiting is None or is_too_deep(waiting):
            return False
        if isinstance(statement, ast.AugAssign):  # its target is read before the suspension
            target = statement.target
            if not isinstance(target, ast.Name) or target.id not in self._bound.names & self._variables:
                return False
        if isinstance(waiting, ast.Yield):
            if calls or not isinstance(statement, ast.Expr):
                return False
            self._yield(statement, waiting)
            self._go_on(At(statement))
        else:
            self._wait(statement, waiting, calls)
        if isinstance(statement, ast.Assign):
            self._bound.bind(statement.targets[0])
        return True

    def _yield(self, statement: ast.Expr, node: ast.Yield) -> None:
        """`yield value`, of which nothing is used that is sent."""
        steps, at = self._steps, At(node)
        assert node.value is not None
        value = steps.value(node.value)
        if value.is_inlined:
            value = Value(*steps.kept(at, value, 0))
        if value.light is value.full:
            steps.flush(at, settle=True)
        used = steps.taken(0)

        def made(value: ast.expr) -> ast.stmt:
            last = at.pick([value, at.clear(used)], 0) if used else value
            return At(statement).put(ast.Expr(at.put(ast.Yield(last))))

        steps.emit(At(statement), value, made)
        steps.pending = []

    def _wait(self, statement: ast.stmt, node: ast.Await | ast.YieldFrom, calls: list[ast.Call]) -> None:
        """`await value` or `yield from value`, whose result may be assigned or returned."""
        steps, at = self._steps, At(node)
        holder = node.value
        assert isinstance(holder, ast.Call)
        light, full = steps.operand(holder.args[0], True)
        assert isinstance(light, ast.Name)
        steps.flush(at, settle=True)
        setattr(light, NOOVERDUB, True)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        name = (
            target.id
            if isinstance(target, ast.Name)
            else None
            if isinstance(statement, ast.Expr)
            else steps.temporary()
        )

        def waiting(value: ast.expr, is_claimed: bool) -> ast.stmt:
            made: ast.expr = at.put(type(node)(value))
            made = made if isinstance(node, ast.Await) else self._rewrite(made)
            made = at.call(at.symbol(symbols.FINISHED), [made]) if is_claimed and calls else made
            if name is None:
                return At(statement).put(ast.Expr(made))
            return At(statement).put(ast.Assign([target or at.store(name)], made))

        holder.args[0] = full
        full_test = steps.asked_of_metadata(at)
        steps.out.append(at.put(ast.If(full_test, [waiting(holder, True)], [waiting(light, False)])))
        self._go_on(at)
        if name is not None:
            steps.pending.append((name, _finished(light), light.id))
        if isinstance(statement, ast.Return):
            assert name is not None
            value = at.load(name)
            self._return(At(statement).put(ast.Return(at.call(at.symbol(symbols.RETURNED), [value]))))
        elif isinstance(statement, ast.AugAssign):
            assert name is not None
            statement.value = at.load(name)
            self._augmented(statement)
        elif light.id in steps.used:
            steps.flush(at)
            self._end(at)

    def waited(self, node: ast.Call, waits: ast.Await | ast.YieldFrom) -> Value:
        """`await value` or `yield from value` in an expression."""
        steps, at, holder = self._steps, At(node), waits.value
        if not isinstance(holder, ast.Call) or not _is_helper(holder, symbols.WAITING):
            raise NoStepError
        light, full = steps.operand(holder.args[0], True)
        if not isinstance(light, ast.Name):
            raise NoStepError
        steps.flush(at, settle=True)
        setattr(light, NOOVERDUB, True)
        name = steps.temporary()

        def waiting(value: ast.expr, is_claimed: bool) -> ast.stmt:
            made: ast.expr = at.put(type(waits)(value))
            made = made if isinstance(waits, ast.Await) else self._rewrite(made)
            made = at.call(at.symbol(symbols.FINISHED), [made]) if is_claimed else made
            return at.put(ast.Assign([at.store(name)], made))

        holder.args[0] = full
        test = steps.asked_of_metadata(at)
        steps.out.append(at.put(ast.If(test, [waiting(holder, True)], [waiting(light, False)])))
        self._go_on(at)
        steps.pending.append((name, _finished(light), light.id))
        read = at.load(name)
        return Value(read, read)

    def yielded(self, node: ast.Call, waits: ast.Yield) -> Value:
        """`yield value` in an expression, whose value is what is sent."""
        steps, at = self._steps, At(node)
        mark, given = len(steps.used), waits.value
        light, full = steps.operand(given) if given is not None else (None, None)
        steps.flush(at, settle=True)
        used = steps.taken(mark)
        name = steps.temporary()

        def made(value: ast.expr | None, is_claimed: bool) -> ast.stmt:
            last = at.pick([value, at.clear(used)], 0) if used and value is not None else value
            sent: ast.expr = at.put(ast.Yield(last))
            sent = at.call(node.func, [sent]) if is_claimed else sent
            return at.put(ast.Assign([at.store(name)], sent))

        test = steps.asked_of_metadata(at)
        steps.out.append(at.put(ast.If(test, [made(full, True)], [made(light, False)])))
        self._go_on(at)
        steps.pending.append((name, _received, None))
        read = at.load(name)
        return Value(read, read)

    # ---- blocks

    def _test_or_block(self, node: ast.If | ast.While) -> bool:
        is_suspended = suspends(node.test)
        if is_suspended and self._suspending_inside(node, super()._handled):
            return True
        if is_suspended:
            self._steps.flush(At(node))
            node.test = self._rewrite(node.test)
            setattr(node.test, NOOVERDUB, True)
        handled = super()._handled(node)
        if is_suspended and handled:
            at = At(node)
            node.body.insert(0, self.resumed(at))
            node.orelse.insert(0, self.resumed(at))
        return handled

    def _loop(self, node: ast.For) -> bool:
        if suspends(node.iter):
            return self._suspending_inside(node, super()._handled)
        return super()._handled(node)

    def _watched(self, node: Any) -> bool:
        """`try`: its handlers may catch what was thrown into the suspended body."""
        is_suspended = suspends(node)
        if not super()._handled(node):
            return False
        if is_suspended:
            for block in (*(handler.body for handler in node.handlers), node.finalbody):
                if block:
                    block.insert(0, self.resumed(At(block[0])))
        return True

    def _of_block(self, node: Any) -> bool:
        return self._block_elsewhere(node, self)

    def _async_loop(self, node: ast.AsyncFor) -> bool:
        """`async for`: an item may have a wrapper once something was tagged. Which code yields it is noted before."""
        source, first = node.iter, node.body[0]
        is_known = isinstance(source, ast.Call) and _is_helper(source, symbols.ASYNC_SOURCE)
        if not is_known or not _is_item(first) or is_event(node.target, self._inlined):
            return self._of_block(node)
        assert isinstance(source, ast.Call)
        if suspends(source) or is_too_deep(source):
            return self._of_block(node)
        assert isinstance(first, ast.Assign)
        steps, at = self._steps, At(source)
        self._bound.begin(source)
        given, _ = steps.operand(source.args[0], True)
        steps.flush(at)
        known = temporaries.async_source(node.lineno, node.col_offset)
        read = at.call(at.symbol(symbols.PLAIN), [given])
        source_here = at.let(known, read)
        is_generator = at.same(at.call(at.symbol(symbols.TYPE), [source_here]), at.kind("async_generator"))
        code = at.either(is_generator, at.attribute(at.load(known), "ag_code"), at.constant(None))
        steps.out.append(at.put(ast.Assign([at.store(known)], code)))
        used = steps.taken(0)
        node.iter = at.pick([read, at.clear(used)], 0) if used else read
        setattr(node.iter, NOOVERDUB, True)
        at = At(first)
        first.value = at.call(at.symbol(symbols.ASYNC_ITEM_OF), [first.value.args[0], at.load(known)])  # type: ignore[attr-defined]
        del node.body[0]
        return self._block_elsewhere(node, self, [at.put(ast.If(steps.asked_of_metadata(at), [first], []))])


def _waiting_in(statement: ast.stmt, form: Any) -> tuple[Any, list[ast.Call]]:
    """What suspends a statement, if nothing else is evaluated in it; and the helpers that get its result."""
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Name) or is_event(target, form):
            return None, []
    elif not isinstance(statement, (ast.Expr, ast.Return, ast.AugAssign)):
        return None, []
    calls: list[ast.Call] = []
    while isinstance(value, ast.Call) and _is_helper(value, symbols.RECEIVED, symbols.FINISHED, symbols.RETURNED):
        calls.append(value)
        value = value.args[0]
    if isinstance(value, ast.Yield):
        return (None if value.value is None or suspends(value.value) else value), calls
    if isinstance(value, (ast.Await, ast.YieldFrom)):
        given = value.value
        if not (isinstance(given, ast.Call) and _is_helper(given, symbols.WAITING)) or suspends(given):
            return None, calls
        return (None if isinstance(given.args[0], ast.Constant) else value), calls  # no variable keeps a constant
    return None, []


def _finished(waited: ast.Name) -> Claim:
    """The claim of the result of what was waited for while nothing was tagged at first."""

    def claim(at: At, name: str) -> ast.expr:
        return at.call(at.symbol(symbols.FINISHED_LATE), [at.load(waited.id), at.load(name)])

    return claim


def _received(at: At, name: str) -> ast.expr:
    """The claim of what was sent while nothing was tagged at first."""
    return at.call(at.symbol(symbols.RECEIVED), [at.load(name)])


def _is_item(statement: ast.stmt) -> bool:
    """Whether a statement wraps the item of `async for`, which is in a variable."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and _is_helper(value, symbols.ASYNC_ITEM) and isinstance(value.args[0], ast.Name)


def _is_helper(node: ast.Call, *names: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in names


_COMPOUND: Final = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)

_OF_RESUMED: Final[dict[type[ast.stmt], Any]] = {
    ast.If: ResumedBlocks._test_or_block,
    ast.While: ResumedBlocks._test_or_block,
    ast.For: ResumedBlocks._loop,
    ast.Try: ResumedBlocks._watched,
    ast.With: ResumedBlocks._of_block,
    ast.AsyncWith: ResumedBlocks._of_block,
    ast.AsyncFor: ResumedBlocks._async_loop,
}
