"""The inlined form of a call: which function the hooks get depends on the kind of the callee.

Knows kinds of callees; must not know which hooks there are.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from cassette_import.rewriting import symbols, temporaries
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged_events
from cassette_import.rewriting.forms.hooked_event import HookedEvents, Operands, as_written, into_temporaries
from cassette_import.rewriting.trees.node_builder import At

Leading = Callable[[], ast.expr]
"""Returns a new node for what precedes the arguments of a call: the function, or a receiver."""


class InlinedCall:
    """One call without splats, and the event that takes its place.

    Parameters
    ----------
    events:
        Builds events.
    node:
        The call.
    depth:
        How deeply events nest in its operands.
    """

    def __init__(self, events: HookedEvents, node: ast.Call, depth: int) -> None:
        self._events = events
        self._names = events.names
        self._at = At(node)
        self._callee, self._result = temporaries.callee(depth), temporaries.result(depth)
        self._parts = temporaries.callee_parts(self._callee)
        self._may_be_bound = isinstance(node.func, ast.Attribute)
        self._positional_count = len(node.args)
        self._keywords = [keyword.arg for keyword in node.keywords]
        self._values = [*node.args, *(keyword.value for keyword in node.keywords)]
        self._only_native = events.has_no_hooks(Events.CALLS)
        self._steps: list[ast.expr] = [At(node.func).let(self._callee, node.func)]
        self._used = [self._callee, self._result]
        self._reads = into_temporaries(
            self._at, self._values, temporaries.arguments(depth), self._steps, self._used, self._only_native
        )

    def build(self) -> ast.expr:
        """The event."""
        at = self._at
        if self._only_native:
            value = self._native()
        else:
            value = self._by_kind_of_callee()
            self._used.append(self._parts)
        return at.pick([*self._steps, value, at.clear(self._used)], len(self._steps))

    def _by_kind_of_callee(self) -> ast.expr:
        at, callee = self._at, self._callee
        positional, keywords = self._arguments()
        runner = at.load(self._names.event(Events.CALLS))
        partial: ast.expr = at.call(runner, [self._read_callee(), *positional], keywords)
        value = at.either(at.kind_is(callee, at.kind("partial")), partial, self._event_of_carrying())
        value = at.either(at.is_whole(callee), self._event(self._read_callee), value)
        if self._may_be_bound:
            bound = self._event(self._read_function, self._read_receiver)
            value = at.either(at.kind_is(callee, at.kind("method")), bound, value)
        return value

    def _event(self, *leading: Leading) -> ast.expr:
        return self._events.event(self._at, Events.CALLS, self._operands(*leading), self._native(), self._result)

    def _event_of_carrying(self) -> ast.expr:
        """The event of a callee that may carry arguments, as a method of C does: it is split for hooks.

        What it carries is kept only as long as hooks need it: `array.resize` refuses if there are more references to
        the array than there would be.
        """
        at, events = self._at, self._events
        contexts = events.shape.contexts
        alone = later = self._operands(self._read_parts)
        if any(events.reads_arguments(context, hook) for context in contexts for hook in ("posthook", "errorhook")):
            later = self._operands(self._splat_of_split_callee)
        if not any(events.reads_arguments(context, "prehook") for context in contexts):
            event = events.event(at, Events.CALLS, alone, self._native(), self._result, ([], later))
            return at.pick([self._keep_function_of(self._split_callee()), event], 1)
        forget_rest = self._keep_function_of(self._read_parts())
        carried = self._operands(self._splat_of_parts)
        event = events.event(at, Events.CALLS, carried, self._native(), self._result, ([forget_rest], later))
        # Compared, because an item of the tuple whose part is picked would live until then.
        return at.pick([at.same(at.let(self._parts, self._split_callee()), at.constant(None)), event], 1)

    def _native(self) -> ast.expr:
        """The call itself, or that of an overload."""
        at, shape = self._at, self._events.shape
        positional, keywords = self._arguments(written=True)
        if shape.tagging:
            return tagged_events.call(at, shape.prefix, self._callee, self._result, positional, keywords)
        callee: ast.expr = self._read_callee()
        if Events.CALLS in shape.overloads:
            over = at.call(at.load(self._names.overload(Events.CALLS)), [self._read_callee()])
            callee = at.either(at.load(self._names.is_overloaded), over, callee)
        return at.call(callee, positional, keywords)

    # ---- operands

    def _arguments(self, written: bool = False) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The arguments; `written` is for the call itself, whose constants stay where they were written."""
        found = as_written(self._values, self._reads) if written else [read() for read in self._reads]
        count = self._positional_count
        named = zip(self._keywords, found[count:], strict=True)
        return found[:count], [At(value).put(ast.keyword(name, value)) for name, value in named]

    def _operands(self, *leading: Leading) -> Operands:
        return functools.partial(self._leading_and_arguments, leading)

    def _leading_and_arguments(self, leading: tuple[Leading, ...]) -> tuple[list[ast.expr], list[ast.keyword]]:
        positional, keywords = self._arguments()
        return [read() for read in leading] + positional, keywords

    def _read_callee(self) -> ast.expr:
        return self._at.load(self._callee)

    def _read_function(self) -> ast.expr:
        """The function of a bound method."""
        return self._at.attribute(self._read_callee(), "__func__")

    def _read_receiver(self) -> ast.expr:
        """The receiver of a bound method."""
        return self._at.attribute(self._read_callee(), "__self__")

    def _split_callee(self) -> ast.expr:
        """The function of the callee, and the arguments that it carries."""
        return self._at.call(self._at.load(symbols.SPLIT), [self._read_callee()])

    def _keep_function_of(self, split: ast.expr) -> ast.expr:
        """Clear the temporary with the arguments that the callee carries."""
        at = self._at
        return at.let(self._parts, at.put(ast.Subscript(split, at.constant(0), ast.Load())))

    def _read_parts(self) -> ast.expr:
        return self._at.load(self._parts)

    def _splat_of_parts(self) -> ast.expr:
        return self._at.put(ast.Starred(self._read_parts(), ast.Load()))

    def _splat_of_split_callee(self) -> ast.expr:
        return self._at.put(ast.Starred(self._split_callee(), ast.Load()))
