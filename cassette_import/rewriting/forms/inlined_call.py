"""The inlined form of a call: which function the hooks get depends on the kind of the callee.

A test before the prehooks finds the kind of the callee, and keeps it in two temporaries::

    @k0 := (@m0 := (@k0 := @type(@f0)) is <method>) or @k0 is <function> or @k0 is <type> or ...

- If ``@m0`` is true, the callee is a bound method. Hooks get its function and its receiver.
- Otherwise, if ``@k0`` is true, the callee carries no receiver. Hooks get it as it is.
- Otherwise, it is any other callee, such as a method of a C type. A helper splits it, and calls the hook
  (`variant_names.splitting`).

The call itself, which no other frame may make, is there once.
"""

from __future__ import annotations

import ast

from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged_events
from cassette_import.rewriting.forms.argument_free import JUMPS_ARE_LINES
from cassette_import.rewriting.forms.hooked_event import HookedEvents, as_written, into_temporaries
from cassette_import.rewriting.forms.pending_event import note, note_of_callee
from cassette_import.rewriting.trees.node_builder import At


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
        self._kind, self._is_bound = temporaries.kind_of_callee(depth), temporaries.is_bound(depth)
        self._function, self._is_function_awaited = temporaries.function_of_callee(depth), False
        self._may_be_bound = isinstance(node.func, ast.Attribute)
        self._positional_count = len(node.args)
        self._keywords = [keyword.arg for keyword in node.keywords]
        self._values = [*node.args, *(keyword.value for keyword in node.keywords)]
        self._only_native = events.has_no_hooks(Events.CALLS)
        self._steps: list[ast.expr] = [At(node.func).let(self._callee, node.func)]
        self._used = [self._callee, self._result]
        self._reads = into_temporaries(
            self._at, self._values, temporaries.arguments(depth), self._steps, self._used, events.stays(Events.CALLS)
        )
        self._positional, self._named = self._arguments([read() for read in self._reads])

    def build(self) -> ast.expr:
        """The event."""
        at = self._at
        if self._only_native:
            steps, place = [*self._steps, self._native()], len(self._steps)
        elif self._events.shape.tags_beside_targets:
            place = len(self._steps)
            steps = [*self._steps, self._of_target_or_plain()]
        else:
            self._steps.append(self._find_kind())
            self._find_function()
            steps, place = self._events.event(at, Events.CALLS, self, self._steps, self._native(), self._result)
        return at.pick([*steps, at.clear(self._used)], place)

    def _of_target_or_plain(self) -> ast.expr:
        """The event, or the plain call if the callee is no target and nothing is tagged."""
        at, shape = self._at, self._events.shape
        positional, keywords = self._arguments(as_written(self._values, self._reads))
        plain = tagged_events.plain_call(at, self._callee, self._result, positional, keywords)
        self._steps = [self._find_kind()]
        self._find_function()
        positional, keywords = self._arguments(as_written(self._values, self._reads))
        native = tagged_events.dispatched(at, shape.prefix, self._callee, positional, keywords)
        event = at.pick(*self._events.event(at, Events.CALLS, self, self._steps, native, self._result))
        return at.either(tagged_events.is_dispatched(at, shape, self._callee), event, plain)

    def _find_kind(self) -> ast.expr:
        """The assignment to the temporaries with the kind of the callee."""
        at, kind = self._at, self._kind
        read: ast.expr = at.let(kind, at.call(at.symbol(symbols.TYPE), [at.load(self._callee)]))
        tests: list[ast.expr] = []
        if self._may_be_bound:
            tests.append(at.let(self._is_bound, at.same(read, at.kind("method"))))
            read = at.load(kind)
        tests += at.is_whole(self._callee, read, at.load(kind))
        return at.let(kind, at.put(ast.BoolOp(ast.Or(), tests)))

    def _native(self) -> ast.expr:
        """The call itself, or that of an overload."""
        at, shape = self._at, self._events.shape
        positional, keywords = self._arguments(as_written(self._values, self._reads))
        if shape.tagging:
            return tagged_events.call(at, shape, self._callee, self._result, positional, keywords)
        callee: ast.expr = at.load(self._callee)
        if Events.CALLS in shape.overloads:
            over = at.call(at.symbol(self._names.overload(Events.CALLS)), [callee])
            callee = at.either(at.symbol(self._names.is_overloaded), over, callee)
        return at.call(callee, positional, keywords)

    def _arguments(self, values: list[ast.expr]) -> tuple[list[ast.expr], list[ast.keyword]]:
        """Values as positional arguments and keywords."""
        count = self._positional_count
        named = zip(self._keywords, values[count:], strict=True)
        return values[:count], [At(value).put(ast.keyword(name, value)) for name, value in named]

    # ---- what hooks get

    def passed_to(self, hook: str, leading: list[ast.expr], alone: bool) -> ast.expr:
        """The call of a hook. `alone` says that the hook gets the function without its arguments."""
        at, callee = self._at, self._at.load(self._callee)
        if alone:
            return at.call(at.symbol(variant_names.without_arguments(hook)), [*leading, self._read_function()])
        given = [*leading, callee]
        chosen = at.either(
            at.load(self._kind), self._hook(hook, given), self._hook(variant_names.splitting(hook), given)
        )
        value: ast.expr = at.call(chosen, [*given, *self._positional], self._named)
        if self._is_function_awaited:
            value, self._is_function_awaited = at.let(self._function, value), False
        if not self._may_be_bound:
            return value
        given = [*leading, at.attribute(callee, "__func__"), at.attribute(callee, "__self__")]
        bound = at.call(self._hook(hook, given), [*given, *self._positional], self._named)
        # After a jump to what follows a call immediately, 3.12 would notify tracers of the line again.
        return at.either(
            at.load(self._is_bound), bound, at.same(value, at.constant(None)) if JUMPS_ARE_LINES else value
        )

    def _find_function(self) -> None:
        """Have the function of a callee of another kind in a temporary, if some hook gets it alone.

        A splitting prehook returns it. If no prehook comes first that gets the arguments, the callee is split before.
        """
        at, alone = self._at, self._events.alone("pre", Events.CALLS)
        if not any(alone) and not any(self._events.alone("post", Events.CALLS)):
            return
        self._used.append(self._function)
        self._is_function_awaited = bool(alone) and not alone[0]
        if not self._is_function_awaited:
            split = at.call(at.symbol(symbols.SPLIT), [at.load(self._callee)])
            first = at.put(ast.Subscript(split, at.constant(0), ast.Load()))
            self._steps.append(at.let(self._function, at.either(at.load(self._kind), at.constant(None), first)))

    def _read_function(self) -> ast.expr:
        """The function of the callee, without what that carries."""
        at, callee = self._at, self._at.load(self._callee)
        function = at.either(at.load(self._kind), callee, at.load(self._function))
        if self._may_be_bound:
            return at.either(at.load(self._is_bound), at.attribute(callee, "__func__"), function)
        return function

    def _hook(self, hook: str, first: list[ast.expr]) -> ast.expr:
        """A hook that is called with these arguments, and those of the call."""
        count = len(first) + len(self._positional)
        return self._at.symbol(hook if self._named else variant_names.with_arity(hook, count))

    def noted(self, event: Events, below: int, alone: bool) -> ast.expr:
        """The note of the event."""
        at, handlers = self._at, self._events.read_by_handlers
        rest, named = (None, []) if alone else (self._positional, self._named)
        split = note_of_callee(at, event, below, self._callee, rest, named, handlers)
        if not self._may_be_bound:
            return split
        callee = at.load(self._callee)
        carried: list[ast.expr] = [at.attribute(callee, "__func__")]
        if rest is not None:
            carried += [at.attribute(callee, "__self__"), *rest]
        return at.either(at.load(self._is_bound), note(at, event, below, carried, named, handlers), split)
