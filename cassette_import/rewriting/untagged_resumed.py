"""Bodies that another context may resume, in the untagged form: generators and coroutines.

As long as nothing is tagged and no hook takes any event, an event is plain whichever context is active, and none has
to be looked up. What the frame tests is set anew where the body goes on after a suspension: no notification reaches
the frame of a suspended body.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms.untagged import ExpressionSteps, has_untagged_form
from cassette_import.rewriting.forms.untagged_branches import is_too_deep
from cassette_import.rewriting.forms.untagged_steps import Claim, EventsAnywhere, EventsHere, Value
from cassette_import.rewriting.modes import Mode
from cassette_import.rewriting.shape import Shape
from cassette_import.rewriting.syntax.assignments import is_event
from cassette_import.rewriting.trees.annotations import NOOVERDUB
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.scopes import clone
from cassette_import.rewriting.uninterrupted import suspends
from cassette_import.rewriting.untagged_blocks import UntaggedBlocks
from cassette_import.rewriting.variant_names import VariantNames


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
