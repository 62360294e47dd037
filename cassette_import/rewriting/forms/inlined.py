"""The inlined form of events: hooks are called in the body itself, for one shape.

Knows the names that the runtime provides (`runtime.py` lists them); must not know where in a program a site stands.

``f(x)`` for a context with a prehook and a posthook, without the branches for bound methods and the like::

    (@f0 := f, @a0 := x,
     (@7.pre0.1.3(@c0, @f0, @a0), @r0 := @f0(@a0), @7.post0.1.4(@c0, @r0, @f0, @a0))[1],
     @f0 := @a0 := @r0 := None)[2]

Temporaries are numbered by how deeply sites nest: two sites of the same level are never evaluated within each other.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged
from cassette_import.rewriting.forms.argument_free import BlindForm
from cassette_import.rewriting.forms.callee import CalleeForm
from cassette_import.rewriting.forms.guarded import GuardedForm
from cassette_import.rewriting.forms.pending_event import note, split_one
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import TAGGED, ContextShape, Interest, Shape
from cassette_import.rewriting.symbols import VariantNames, When
from cassette_import.rewriting.syntax.expressions import is_ours
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import DEBUGGER, has
from cassette_import.rewriting.trees.node_builder import At, debugged, is_plain_super

Operands = Callable[[], tuple[list[ast.expr], list[ast.keyword]]]


class InlinedForm:
    """Builds events for one shape."""

    temporaries = True

    def __init__(
        self, shape: Shape, file: str = "", objects: frozenset[str] = frozenset(), told: set[str] | None = None
    ) -> None:
        self.shape = shape
        self._names = VariantNames(shape.prefix)
        self._told_of = told if told is not None else set()  # temporaries that handlers are to read
        self.blind = BlindForm(shape)
        self._guarded = GuardedForm(shape.prefix, file, objects)

    @property
    def bare(self) -> CalleeForm:
        """The form of places where there may be no temporaries."""
        return CalleeForm([self.shape], temporaries=False, in_branch=True)

    def wanted(self, name: str) -> bool:
        """Whether the primitive `name` is intercepted."""
        return self.shape.interest(EVENT_OF[name], name) is not Interest.NOTHING

    def _is_blind(self, event: Events) -> bool:
        """Whether the hooks of such events need no arguments."""
        return event in self.shape.blind and self.shape.interest(event) is Interest.EVERYTHING

    def is_blind(self, name: str) -> bool:
        """Whether the hooks of the primitive `name` look at nothing but their context."""
        return self._is_blind(EVENT_OF[name])

    # ---- the parts of an inlined event

    def _hooks(self, at: At, which: When, event: Events, operands: Operands, result: str) -> list[ast.expr]:
        """The calls of all prehooks (outermost first) or posthooks (innermost first) of an event."""
        calls: list[ast.expr] = []
        contexts = list(enumerate(self.shape.contexts))
        if which == "post":
            contexts.reverse()
        for number, context in contexts:
            if event not in context.events or not (context.prehook if which == "pre" else context.posthook):
                continue
            positional, keywords = operands()
            leading: list[ast.expr] = [at.load(symbols.context(number))]
            if which == "post":
                leading.append(at.load(result))
            given = leading + positional
            hook = self._names.hook(which, number, event)
            if f"{which}hook" in context.without_arguments:
                hook, given, keywords = symbols.without_arguments(hook), leading + self._alone(positional), []
            elif not keywords and not any(isinstance(argument, ast.Starred) for argument in given):
                hook = symbols.with_arity(hook, len(given))
            calls.append(at.call(at.load(hook), given, keywords))
        return calls

    @staticmethod
    def _alone(positional: list[ast.expr]) -> list[ast.expr]:
        """What was called, without what it was called with."""
        first = positional[0]
        if not isinstance(first, ast.Starred):
            return [first]
        at, carried = At(first), first.value
        callee = split_one(carried)
        if callee is not None:  # `*@split(@f0)`, whose first part is in @q0
            return [at.load(symbols.callee_parts(callee))]
        return [at.put(ast.Subscript(carried, at.constant(0), ast.Load()))]  # of `*@q0`

    def _pending_before(self, at: At, event: Events, operands: Operands, prehooks: list[ast.expr]) -> list[ast.expr]:
        """The prehooks, each with a note of who is to be told if it fails: those whose prehook has been."""
        operands = self._told(operands)
        levels = [
            number for number, context in enumerate(self.shape.contexts) if event in context.events and context.prehook
        ]
        steps: list[ast.expr] = []
        for number, prehook in zip(levels, prehooks, strict=True):
            if number > 0:
                steps.append(self._going_on(at, event, number, operands))
            steps.append(prehook)
        return steps

    def _pending_after(self, at: At, event: Events, operands: Operands, posthooks: list[ast.expr]) -> list[ast.expr]:
        """The posthooks, with a note of who is to be told if one of them fails: the contexts further out."""
        levels = [
            number for number, context in enumerate(self.shape.contexts) if event in context.events and context.posthook
        ]
        steps: list[ast.expr] = []
        for number, posthook in zip(reversed(levels), posthooks, strict=True):
            if number > 0:
                steps.append(self._going_on(at, event, number, self._told(operands)))
            else:
                steps.append(at.let(symbols.PENDING, at.constant(None)))
            steps.append(posthook)
        return [*steps, at.let(symbols.PENDING, at.constant(None))] if 0 not in levels else steps

    def _going_on(self, at: At, event: Events, below: int, operands: Operands) -> ast.expr:
        told = at.let(symbols.PENDING, note(at, event, below, *operands(), self._told_of))
        # What is no constant holds operands; it is not to stand among the steps, where it would live as long as they.
        return told if isinstance(told.value, ast.Constant) else at.same(told, at.constant(None))

    def _told(self, operands: Operands) -> Operands:
        """What errorhooks are told of the operands."""
        if not self._tells_functions_only():
            return operands
        return lambda: (self._alone(operands()[0]), [])

    def _tells_functions_only(self) -> bool:
        return all("errorhook" in context.without_arguments for context in self.shape.contexts)

    def _event(
        self,
        at: At,
        event: Events,
        operands: Operands,
        native: ast.expr,
        result: str,
        later: tuple[list[ast.expr], Operands] | None = None,
    ) -> ast.expr:
        """`(prehooks…, result := native, posthooks…)[…]`. With `later`, steps after the prehooks, and what the
        operands are from then on."""
        before = self._hooks(at, "pre", event, operands, result)
        steps, told = later if later is not None else ([], operands)
        after = self._hooks(at, "post", event, told, result)
        if event in self.shape.watched:
            before = self._pending_before(at, event, operands if self._tells_functions_only() else told, before)
            steps.append(self._going_on(at, event, len(self.shape.contexts), self._told(told)))
            after = self._pending_after(at, event, told, after)
        before += steps
        return at.pick([*before, at.let(result, native) if after else native, *after], len(before))

    # ---- primitives

    def operate(self, operation: Operation, level: int, suffix: str = "") -> ast.expr:
        """The event of an operation."""
        name, at = operation.name, operation.place
        event = EVENT_OF[name]
        if self._is_blind(event):
            return self.blind.operate(operation)
        inlined = self.shape.interest(event, name) is Interest.EVERYTHING
        values = [slot.get() for slot in operation.slots]
        if not inlined and operation.late is None:
            return self._runner(at, event, name, operation.arguments(values))
        steps: list[ast.expr] = []
        used: list[str] = []
        lean = inlined and self._unheeded(event)
        reads = _keep(at, values, symbols.operands(level, suffix), steps, used, lean)

        def operands() -> tuple[list[ast.expr], list[ast.keyword]]:
            return [at.load(symbols.primitive(name)), *operation.arguments([read() for read in reads])], []

        if not inlined:
            value = self._runner(at, event, name, operands()[0][1:])
        else:
            result = symbols.result(level, suffix)
            helper = tagged.helper_after(name)
            if not lean or helper is not None:
                used.insert(0, result)
            if event in self.shape.overloads or name in self.shape.primitives:
                over = at.call(at.load(self._names.overload(event)), [at.load(symbols.primitive(name))])
                plain: ast.expr = at.call(over, operands()[0][1:])
                if self.shape.tagging and event in TAGGED:
                    untagged = tagged.after(at, operation.plain(_as_written(values, reads)), helper, result)
                    test = tagged.tested(at, self.shape.prefix, event, name, reads)
                    plain = at.either(test, plain, untagged)
            else:
                plain = operation.plain(_as_written(values, reads))
            value = self._event(at, event, operands, plain, result)
        return at.pick([*steps, value, at.clear(used)], len(steps)) if used else value

    def _unheeded(self, event: Events) -> bool:
        """Whether there are no hooks at a kind of event, but values may be tagged there."""
        if not self.shape.tagging or event not in TAGGED or event in self.shape.watched:
            return False
        return not any(
            event in context.events and (context.prehook or context.posthook) for context in self.shape.contexts
        )

    def _runner(self, at: At, event: Events, name: str, arguments: list[ast.expr]) -> ast.expr:
        runner = at.load(self._names.event(event))
        return at.call(runner, [at.load(symbols.primitive(name)), *arguments])

    def blind_statement(self, name: str, last: Slot, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statement between hooks that need no operands; None if hooks need them."""
        event = EVENT_OF[name]
        return self.blind.statement(event, last, statement) if self._is_blind(event) else None

    # ---- calls

    def call(self, node: ast.Call, level: int) -> ast.expr:
        """The event of a call."""
        interest = self.shape.interest(Events.CALLS)
        if self.shape.tagging and is_ours(node.func):
            return tagged.left(node, symbols.result(level))
        if interest is Interest.NOTHING or is_ours(node.func) or is_plain_super(node):
            return node
        if has(node, DEBUGGER):
            return debugged(node)
        splat = any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        )
        if self._is_blind(Events.CALLS):
            return self.blind.call(node)
        if interest is Interest.TARGETS:
            return self._guarded.call(node)
        if splat:
            # Splats: only the call instruction itself gives Python's own errors for f(*1) and repeated keywords.
            node.func = self.decorator(node.func)
            return node
        return self._inlined_call(At(node), node, level)

    def _inlined_call(self, at: At, node: ast.Call, level: int) -> ast.expr:
        function, result, prefix = symbols.callee(level), symbols.result(level), self.shape.prefix
        steps: list[ast.expr] = [At(node.func).let(function, node.func)]
        used = [function, result]
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        lean = self._unheeded(Events.CALLS)
        reads = _keep(at, values, symbols.arguments(level), steps, used, lean)
        names = [keyword.arg for keyword in node.keywords]
        positional_count = len(node.args)

        def arguments(written: bool = False) -> tuple[list[ast.expr], list[ast.keyword]]:
            found = _as_written(values, reads) if written else [read() for read in reads]
            keywords = [
                At(value).put(ast.keyword(name, value))
                for name, value in zip(names, found[positional_count:], strict=True)
            ]
            return found[:positional_count], keywords

        def with_leading(*leading: Callable[[], ast.expr]) -> Operands:
            def operands() -> tuple[list[ast.expr], list[ast.keyword]]:
                positional, keywords = arguments()
                return [lead() for lead in leading] + positional, keywords

            return operands

        def native() -> ast.expr:
            positional, keywords = arguments(written=True)
            callee: ast.expr = at.load(function)
            if self.shape.tagging:
                return tagged.call(at, prefix, function, result, positional, keywords)
            if Events.CALLS in self.shape.overloads:
                over = at.call(at.load(self._names.overload(Events.CALLS)), [at.load(function)])
                callee = at.either(at.load(self._names.is_overloaded), over, callee)
            return at.call(callee, positional, keywords)

        def event(*leading: Callable[[], ast.expr]) -> ast.expr:
            return self._event(at, Events.CALLS, with_leading(*leading), native(), result)

        if lean:
            return at.pick([*steps, native(), at.clear(used)], len(steps))
        positional, keywords = arguments()
        runner = at.load(self._names.event(Events.CALLS))
        partial: ast.expr = at.call(runner, [at.load(function), *positional], keywords)
        anything = self._carrying(at, symbols.callee_parts(function), function, with_leading, native(), result)
        used.append(symbols.callee_parts(function))
        value = at.either(at.kind_is(function, at.kind("partial")), partial, anything)
        value = at.either(at.is_whole(function), event(lambda: at.load(function)), value)
        if isinstance(node.func, ast.Attribute):
            bound = event(
                lambda: at.attribute(at.load(function), "__func__"),
                lambda: at.attribute(at.load(function), "__self__"),
            )
            value = at.either(at.kind_is(function, at.kind("method")), bound, value)
        return at.pick([*steps, value, at.clear(used)], len(steps))

    def _carrying(
        self,
        at: At,
        parts: str,
        function: str,
        with_leading: Callable[[Callable[[], ast.expr]], Operands],
        native: ast.expr,
        result: str,
    ) -> ast.expr:
        """The event of a callee that may carry arguments, as a method of C does: it is taken apart for hooks.

        What it carries is kept only as long as hooks ask for it: `array.resize` refuses if there are more references to
        the array than there would be.
        """

        def split() -> ast.expr:
            return at.call(at.load(symbols.SPLIT), [at.load(function)])

        def first(value: ast.expr) -> ast.expr:
            return at.let(parts, at.put(ast.Subscript(value, at.constant(0), ast.Load())))

        alone = with_leading(lambda: at.load(parts))
        contexts = self.shape.contexts
        later = alone
        if any(self._asks(context, hook) for context in contexts for hook in ("posthook", "errorhook")):
            later = with_leading(lambda: at.put(ast.Starred(split(), ast.Load())))
        if not any(self._asks(context, "prehook") for context in contexts):
            return at.pick([first(split()), self._event(at, Events.CALLS, alone, native, result, ([], later))], 1)
        carried = with_leading(lambda: at.put(ast.Starred(at.load(parts), ast.Load())))
        event = self._event(at, Events.CALLS, carried, native, result, ([first(at.load(parts))], later))
        # Compared, since what stands in the tuple whose part is picked lives until then.
        return at.pick([at.same(at.let(parts, split()), at.constant(None)), event], 1)

    def _asks(self, context: ContextShape, hook: str) -> bool:
        """Whether a context has a hook of calls that looks at their arguments."""
        if hook == "errorhook":
            has = Events.CALLS in self.shape.watched
        else:
            has = Events.CALLS in context.events and (context.prehook if hook == "prehook" else context.posthook)
        return has and hook not in context.without_arguments

    def decorator(self, node: ast.expr) -> ast.expr:
        """`@decorator`: the callee form, since the call itself is the interpreter's."""
        if self.shape.interest(Events.CALLS) is Interest.NOTHING or is_ours(node):
            return node
        return At(node).call(At(node).load(self._names.pick(Events.CALLS)), [node])


def _keep(
    at: At, values: list[ast.expr], prefix: str, steps: list[ast.expr], used: list[str], lean: bool = False
) -> list[Callable[[], ast.expr]]:
    """Evaluate values into temporaries; what reads each of them. A constant needs none.

    They are read on the line of the event: tracers are told when the line changes. If `lean` says that each is read
    once, the variables among them that come last need none either.
    """
    reads: list[Callable[[], ast.expr]] = []
    first_read = len(values)
    while lean and first_read and at.is_variable_here(values[first_read - 1]):
        first_read -= 1
    for number, value in enumerate(values):
        if number >= first_read and isinstance(value, ast.Name):
            reads.append(functools.partial(_identity, value))
            continue
        if isinstance(value, ast.Constant):
            reads.append(functools.partial(at.constant, value.value))
            continue
        name = symbols.part(prefix, number)
        steps.append(At(value).let(name, value))
        used.append(name)
        reads.append(functools.partial(at.load, name))
    return reads


def _identity(value: ast.expr) -> ast.expr:
    return value


def _as_written(values: list[ast.expr], reads: list[Callable[[], ast.expr]]) -> list[ast.expr]:
    """The operands for the operation itself, whose constants stand where they were written."""
    return [value if isinstance(value, ast.Constant) else read() for value, read in zip(values, reads, strict=True)]
