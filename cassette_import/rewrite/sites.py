"""One piece of syntax to one event, in the inlined form and in the callee form.

Knows the names that the runtime provides (`runtime.py` lists them); must not know where in a program a site stands.

Inlined form of ``f(x)`` for a context with a prehook and a posthook, without the branches for bound methods and the
like::

    (@f0 := f, @a0 := x,
     (@7.pre0.1(@c0, @f0, @a0), @r0 := @f0(@a0), @7.post0.1(@c0, @r0, @f0, @a0))[1],
     @f0 := @a0 := @r0 := None)[2]

Temporaries are numbered by how deeply sites nest: two sites of the same level are never evaluated within each other.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from cassette_import.events import Events
from cassette_import.rewrite.blind_form import BlindForm
from cassette_import.rewrite.callee_form import is_ours, is_plain_super
from cassette_import.rewrite.nodes import At
from cassette_import.rewrite.shape import Interest, Shape

PENDING = "@p"
"""Kind and operands of the event that is going on in this frame, while errorhooks wait for its end."""


class Sites:
    """Builds events for one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.blind = BlindForm(shape)

    def is_blind(self, event: Events) -> bool:
        """Whether the hooks of such events need no arguments."""
        return event in self.shape.blind and self.shape.interest(event) is Interest.EVERYTHING

    # ---- the parts of an inlined event

    def _hooks(
        self,
        at: At,
        which: str,
        event: Events,
        operands: Callable[[], tuple[list[ast.expr], list[ast.keyword]]],
        result: str,
    ) -> list[ast.expr]:
        """The calls of all prehooks (outermost first) or posthooks (innermost first) of an event."""
        calls: list[ast.expr] = []
        contexts = list(enumerate(self.shape.contexts))
        if which == "post":
            contexts.reverse()
        for number, context in contexts:
            if event not in context.events or not (context.prehook if which == "pre" else context.posthook):
                continue
            positional, keywords = operands()
            leading: list[ast.expr] = [at.load(f"@c{number}")]
            if which == "post":
                leading.append(at.load(result))
            calls.append(
                at.call(
                    at.load(f"{self.shape.prefix}.{which}{number}.{int(event)}"),
                    leading + positional,
                    keywords,
                )
            )
        return calls

    def _event(
        self,
        at: At,
        event: Events,
        operands: Callable[[], tuple[list[ast.expr], list[ast.keyword]]],
        native: ast.expr,
        result: str,
    ) -> ast.expr:
        """`(prehooks…, result := native, posthooks…)[…]`."""
        before = self._hooks(at, "pre", event, operands, result)
        after = self._hooks(at, "post", event, operands, result)
        if event in self.shape.watched:
            positional, keywords = operands()
            before.append(at.let(PENDING, at.pending(int(event), positional, keywords)))
            after.insert(0, at.let(PENDING, at.constant(None)))
        return at.pick([*before, at.let(result, native) if after else native, *after], len(before))

    # ---- calls

    def call(self, node: ast.Call, level: int) -> tuple[ast.expr, bool]:
        """The inlined form of a call; the flag tells whether temporaries were used."""
        interest = self.shape.interest(Events.CALLS)
        if interest is Interest.NOTHING or is_ours(node.func) or is_plain_super(node):
            return node, False
        at = At(node)
        splat = any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        )
        if self.is_blind(Events.CALLS):
            return self.blind.call(node), False
        if interest is Interest.TARGETS or splat:
            # Splats: only the call instruction itself gives Python's own errors for f(*1) and repeated keywords.
            node.func = At(node.func).call(At(node.func).load(f"{self.shape.prefix}.pick.1"), [node.func])
            return node, False
        return self._inlined_call(at, node, level), True

    def _inlined_call(self, at: At, node: ast.Call, level: int) -> ast.expr:
        function, result, parts, prefix = f"@f{level}", f"@r{level}", f"@q{level}", self.shape.prefix
        steps: list[ast.expr] = [At(node.func).let(function, node.func)]
        used = [function, result]
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        reads = _keep(values, f"@a{level}", steps, used)
        names = [keyword.arg for keyword in node.keywords]
        positional_count = len(node.args)

        def arguments() -> tuple[list[ast.expr], list[ast.keyword]]:
            values = [read() for read in reads]
            keywords = [
                At(value).put(ast.keyword(name, value))
                for name, value in zip(names, values[positional_count:], strict=True)
            ]
            return values[:positional_count], keywords

        def with_leading(
            *leading: Callable[[], ast.expr],
        ) -> Callable[[], tuple[list[ast.expr], list[ast.keyword]]]:
            def operands() -> tuple[list[ast.expr], list[ast.keyword]]:
                positional, keywords = arguments()
                return [lead() for lead in leading] + positional, keywords

            return operands

        def native() -> ast.expr:
            positional, keywords = arguments()
            callee: ast.expr = at.load(function)
            if Events.CALLS in self.shape.overloads:
                callee = at.call(at.load(f"{self.shape.prefix}.over.1"), [callee])
            return at.call(callee, positional, keywords)

        def event(*leading: Callable[[], ast.expr]) -> ast.expr:
            return self._event(at, Events.CALLS, with_leading(*leading), native(), result)

        positional, keywords = arguments()
        partial: ast.expr = at.call(at.load(f"{prefix}.event.1"), [at.load(function), *positional], keywords)
        split = at.let(parts, at.call(at.load("@split"), [at.load(function)]))
        anything = at.pick([split, event(lambda: at.put(ast.Starred(at.load(parts), ast.Load())))], 1)
        used.append(parts)
        value = at.either(at.kind_is(function, "@partial"), partial, anything)
        value = at.either(at.is_whole(function), event(lambda: at.load(function)), value)
        if isinstance(node.func, ast.Attribute):
            bound = event(
                lambda: at.attribute(at.load(function), "__func__"),
                lambda: at.attribute(at.load(function), "__self__"),
            )
            value = at.either(at.kind_is(function, "@method"), bound, value)
        return at.pick([*steps, value, at.clear(used)], len(steps))

    def decorator(self, node: ast.expr) -> ast.expr:
        """`@decorator`: the callee form, since the call itself is the interpreter's."""
        if self.shape.interest(Events.CALLS) is Interest.NOTHING or is_ours(node):
            return node
        return At(node).call(At(node).load(f"{self.shape.prefix}.pick.1"), [node])

    # ---- operators

    def wanted(self, name: str) -> bool:
        """Whether the operator function `name` is intercepted."""
        return self.shape.interest(Events.OPERATORS, name) is not Interest.NOTHING

    def operator(
        self,
        origin: ast.AST,
        name: str,
        evaluated: list[ast.expr],
        level: int,
        native: Callable[[list[ast.expr]], ast.expr],
        order: tuple[int, ...] | None = None,
        suffix: str = "",
    ) -> ast.expr:
        """The inlined form of an operator.

        `evaluated` are the operands in order of evaluation, `order` their places in the arguments of the function, and
        `native` makes the plain operation on the temporaries, in order of evaluation.
        """
        at = At(origin)
        result = f"@r{level}{suffix}"
        steps: list[ast.expr] = []
        used = [result]
        reads = _keep(evaluated, f"@o{level}{suffix}", steps, used)
        places = order or tuple(range(len(evaluated)))

        def operands() -> tuple[list[ast.expr], list[ast.keyword]]:
            return [at.load(f"@operator.{name}"), *(reads[place]() for place in places)], []

        if self.shape.interest(Events.OPERATORS, name) is Interest.EVERYTHING:
            if Events.OPERATORS in self.shape.overloads or name in self.shape.operators:
                over = at.call(at.load(f"{self.shape.prefix}.over.2"), [at.load(f"@operator.{name}")])
                plain: ast.expr = at.call(over, operands()[0][1:])
            else:
                plain = native([read() for read in reads])
            value = self._event(at, Events.OPERATORS, operands, plain, result)
        else:
            value = at.call(at.load(f"{self.shape.prefix}.event.2"), operands()[0])
        return at.pick([*steps, value, at.clear(used)], len(steps))


def _keep(values: list[ast.expr], prefix: str, steps: list[ast.expr], used: list[str]) -> list[Callable[[], ast.expr]]:
    """Evaluate values into temporaries; what reads each of them. A constant needs none."""
    reads: list[Callable[[], ast.expr]] = []
    for number, value in enumerate(values):
        if isinstance(value, ast.Constant):
            reads.append(functools.partial(_itself, value))
            continue
        name, at = f"{prefix}_{number}", At(value)
        steps.append(at.let(name, value))
        used.append(name)
        reads.append(functools.partial(at.load, name))
    return reads


def _itself(value: ast.expr) -> ast.expr:
    return value
