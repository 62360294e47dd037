"""The inlined form of events: hooks are called in the body itself, for one shape.

``f(x)`` for a context with a prehook and a posthook, without the branches for bound methods and the like::

    (@f0 := f, @a0 := x,
     (@7.pre0.1.3(@c0, @f0, @a0), @r0 := @f0(@a0), @7.post0.1.4(@c0, @r0, @f0, @a0))[1],
     @f0 := @a0 := @r0 := None)[2]

Temporaries are numbered by how deeply events nest (see `temporaries`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting import symbols, temporaries, variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.forms import tagged_events
from cassette_import.rewriting.forms.bound_variables import NO_VARIABLES, LastingVariables
from cassette_import.rewriting.forms.callee import JUMPS_ARE_LINES, ArgumentFreeForm, CalleeForm
from cassette_import.rewriting.forms.guarded import GuardedForm
from cassette_import.rewriting.primitives import EVENT_OF
from cassette_import.rewriting.shape import TAGGED, Interest, Shape
from cassette_import.rewriting.symbols import When
from cassette_import.rewriting.syntax.expressions import is_own_callee, is_own_decorator
from cassette_import.rewriting.syntax.operation import Operation, Slot
from cassette_import.rewriting.trees.annotations import DEBUGGER, has
from cassette_import.rewriting.trees.node_builder import At, debugged, is_plain_super, with_arguments_of_super
from cassette_import.rewriting.variant_names import VariantNames

# ---- the note of a pending event: kind and operands, kept in a variable of the frame for the handler of exceptions
#
# The handler passes them to the errorhooks. Where temporaries hold the operands, the note is a constant that names the
# temporaries: building tuples would take as long as a Python call.


def note(
    at: At,
    event: Events,
    below: int,
    positional: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    """The note of an event.

    Parameters
    ----------
    at:
        The position of the event.
    event:
        Its kind.
    below:
        The errorhooks of the contexts below this level are called if the event fails.
    positional, keywords:
        The operands, as errorhooks are called with them.
    read_by_handlers:
        The temporaries that the handler of exceptions reads. Those of this event are added.
    """
    places = _places(positional, keywords)
    if None in places:
        return at.pending(int(event), below, positional, keywords)
    return _note(at, event, below, places, keywords, read_by_handlers)


def note_of_callee(
    at: At,
    event: Events,
    below: int,
    callee: str,
    positional: Sequence[ast.expr] | None,
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    """The note of a call whose callee the handler splits into its function and the arguments that it carries.

    Parameters
    ----------
    at, event, below, keywords, read_by_handlers:
        As for `note`.
    callee:
        The temporary that holds the callee.
    positional:
        The arguments, which are constants or in temporaries; None if errorhooks get the function alone.
    """
    first = callee, temporaries.FUNCTION_OF_CALLEE if positional is None else temporaries.SPLIT_CALLEE
    return _note(at, event, below, [first, *_places(positional or (), keywords)], keywords, read_by_handlers)


def _note(
    at: At,
    event: Events,
    below: int,
    places: Sequence[_Place | None],
    keywords: Sequence[ast.keyword],
    read_by_handlers: set[str],
) -> ast.expr:
    read_by_handlers.update(
        place[0] for place in places if place is not None and temporaries.is_numbered_temporary(place[0])
    )
    names = tuple(keyword.arg for keyword in keywords)
    return at.constant((int(event), below, (*places,), names, None))


def _places(positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[_Place | None]:
    return [_place(value) for value in (*positional, *(keyword.value for keyword in keywords))]


_Place = tuple[str, Any]
"""Where the handler finds an operand: the name of a variable, and an attribute of its value or None.

A constant is in no temporary, so the note has the constant, and no name.
"""


def _place(value: ast.expr) -> _Place | None:
    if isinstance(value, ast.Constant):
        return "", value.value
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.value.id, value.attr
    return (value.id, None) if isinstance(value, ast.Name) else None


# ---- the steps of an event that is carried out in the body itself: prehooks, the operation, posthooks

Read = Callable[[], ast.expr]
"""Returns a node that reads a temporary or a constant."""

_WHENS: Final[tuple[When, ...]] = ("pre", "post")


class Operands(Protocol):
    """What the hooks of an event are called with, after their context and the result."""

    def passed_to(self, hook: str, leading: list[ast.expr], alone: bool) -> ast.expr:
        """The call of a hook. `alone` says that the hook gets the function without its arguments."""

    def noted(self, event: Events, below: int, alone: bool) -> ast.expr:
        """The note of the pending event (see the section of that name)."""


class OperandsOfPrimitive:
    """The operands of an event that is no call: a primitive and its arguments.

    Parameters
    ----------
    at:
        The position of the event.
    function:
        The primitive.
    arguments:
        Its arguments.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    """

    def __init__(self, at: At, function: ast.expr, arguments: list[ast.expr], read_by_handlers: set[str]) -> None:
        self._at = at
        self._operands = [function, *arguments]
        self._has_splats = any(isinstance(argument, ast.Starred) for argument in arguments)
        self._read_by_handlers = read_by_handlers

    def passed_to(self, hook: str, leading: list[ast.expr], alone: bool) -> ast.expr:
        """The call of a hook."""
        at, given = self._at, [*leading, *self._of(alone)]
        if alone:
            hook = variant_names.without_arguments(hook)
        elif not self._has_splats:
            hook = variant_names.with_arity(hook, len(given))
        return at.call(at.symbol(hook), given)

    def noted(self, event: Events, below: int, alone: bool) -> ast.expr:
        """The note of the event."""
        return note(self._at, event, below, self._of(alone), (), self._read_by_handlers)

    def _of(self, alone: bool) -> list[ast.expr]:
        return self._operands[:1] if alone else self._operands


Stays = Callable[[str], bool]


def _always(name: str) -> bool:
    return True


def _never(name: str) -> bool:
    return False


class Variables:
    """The variables of the function that is being rewritten which no other code can assign.

    While an event runs, they keep their values. An operand that is such a variable is read several times, and needs no
    temporary, if no other operand is evaluated after it. Nested functions have none: their code is not known.
    """

    __slots__ = ("lasting", "names")

    def __init__(self, names: frozenset[str] = frozenset(), lasting: LastingVariables = NO_VARIABLES) -> None:
        self.names = names
        self.lasting = lasting


class HookedEvents:
    """Builds events of one shape.

    Parameters
    ----------
    shape:
        The stack of contexts.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    variables:
        The variables of the function that need no temporaries.
    """

    def __init__(self, shape: Shape, read_by_handlers: set[str], variables: Variables) -> None:
        self.shape = shape
        self._variables = variables
        self.names = VariantNames(shape.prefix)
        self.read_by_handlers = read_by_handlers
        self._levels = {when: functools.cache(functools.partial(self._levels_of, when)) for when in _WHENS}
        self._errorhooks_get_function_alone = all(
            "errorhook" in context.without_arguments for context in self.shape.contexts
        )

    def event(
        self, at: At, event: Events, operands: Operands, steps: list[ast.expr], native: ast.expr, result: str
    ) -> tuple[list[ast.expr], int]:
        """``steps..., prehooks..., result := native, posthooks...``, and the place of the result among them.

        Parameters
        ----------
        at, event:
            The position of the event, and its kind.
        operands:
            What hooks are called with.
        steps:
            What is evaluated first.
        native:
            The operation.
        result:
            The temporary for its value.
        """
        before = self._hooks(at, "pre", event, operands, result)
        after = self._hooks(at, "post", event, operands, result)
        if event in self.shape.has_errorhooks:
            before = self._pending_before(at, event, operands, before)
            before.append(self._note(at, event, len(self.shape.contexts), operands))
            after = self._pending_after(at, event, operands, after)
        return [*steps, *before, at.let(result, native) if after else native, *after], len(steps) + len(before)

    def has_no_hooks(self, event: Events) -> bool:
        """Whether no hook is called at a kind of event, but values may be tagged there."""
        if not self.shape.tagging or event not in TAGGED or event in self.shape.has_errorhooks:
            return False
        return not (self._levels["pre"](event) or self._levels["post"](event))

    def stays(self, event: Events) -> Stays:
        """Tells of a variable whether an operand that is read last may stay in it, and needs no temporary."""
        if self.has_no_hooks(event):  # it is read once
            return _always
        if self.shape.tagging or event in self.shape.has_errorhooks:
            return _never
        return self._variables.names.__contains__

    def alone(self, when: When, event: Events) -> list[bool]:
        """Of each prehook or posthook, whether it gets the function without its arguments."""
        contexts, name = self.shape.contexts, f"{when}hook"
        return [name in contexts[number].without_arguments for number in self._levels[when](event)]

    def _levels_of(self, when: When, event: Events) -> list[int]:
        """The levels of the contexts with such a hook, in the order in which the hooks are called.

        Prehooks are called outermost first, posthooks innermost first.
        """
        levels = [
            number
            for number, context in enumerate(self.shape.contexts)
            if event in context.events and (context.prehook if when == "pre" else context.posthook)
        ]
        return levels if when == "pre" else levels[::-1]

    def _hooks(self, at: At, when: When, event: Events, operands: Operands, result: str) -> list[ast.expr]:
        """The calls of all prehooks or posthooks of an event."""
        calls: list[ast.expr] = []
        for number in self._levels[when](event):
            leading: list[ast.expr] = [at.load(temporaries.context(number))]
            if when == "post":
                leading.append(at.load(result))
            alone = f"{when}hook" in self.shape.contexts[number].without_arguments
            calls.append(operands.passed_to(self.names.hook(when, number, event), leading, alone))
        return calls

    def _pending_before(self, at: At, event: Events, operands: Operands, prehooks: list[ast.expr]) -> list[ast.expr]:
        """The prehooks, with a note before each: if it fails, the contexts whose prehook has returned are notified."""
        steps: list[ast.expr] = []
        for number, prehook in zip(self._levels["pre"](event), prehooks, strict=True):
            if number > 0:
                steps.append(self._note(at, event, number, operands))
            steps.append(prehook)
        return steps

    def _pending_after(self, at: At, event: Events, operands: Operands, posthooks: list[ast.expr]) -> list[ast.expr]:
        """The posthooks, with a note before each: if it fails, the contexts further out are notified."""
        levels = self._levels["post"](event)
        steps: list[ast.expr] = []
        for number, posthook in zip(levels, posthooks, strict=True):
            if number > 0:
                steps.append(self._note(at, event, number, operands))
            else:
                steps.append(at.let(temporaries.PENDING, at.constant(None)))
            steps.append(posthook)
        return [*steps, at.let(temporaries.PENDING, at.constant(None))] if 0 not in levels else steps

    def _note(self, at: At, event: Events, below: int, operands: Operands) -> ast.expr:
        noted = at.let(temporaries.PENDING, operands.noted(event, below, self._errorhooks_get_function_alone))
        # A note that is no constant holds the operands. As a step of its own it would live as long as the other steps.
        return at.same(noted, at.constant(None)) if isinstance(noted.value, ast.Tuple) else noted


def into_temporaries(
    at: At, values: list[ast.expr], prefix: str, steps: list[ast.expr], used: list[str], stays: Stays = _never
) -> list[Read]:
    """Evaluate values into temporaries.

    Temporaries are read on the line of the event, since tracers are notified when the line changes.

    Parameters
    ----------
    at:
        The position of the event.
    values:
        The operands. Constants need no temporary.
    prefix:
        What the names of the temporaries start with.
    steps, used:
        The assignments and the names of the temporaries are added to these.
    stays:
        Tells which variables need no temporary either if they are among the last values.

    Returns
    -------
    For each value, what makes a node that reads it.
    """
    reads: list[Read] = []
    first_read = len(values)
    while first_read and _stays(at, values[first_read - 1], stays):
        first_read -= 1
    for number, value in enumerate(values):
        if number >= first_read and isinstance(value, ast.Name):
            reads.append(functools.partial(_identity, value))
            continue
        if isinstance(value, ast.Constant):
            reads.append(functools.partial(at.constant, value.value))
            continue
        name = temporaries.part(prefix, number)
        steps.append(At(value).let(name, value))
        used.append(name)
        reads.append(functools.partial(at.load, name))
    return reads


def _stays(at: At, value: ast.expr, stays: Stays) -> bool:
    return at.is_variable_here(value) and (not isinstance(value, ast.Name) or stays(value.id))


def _identity(value: ast.expr) -> ast.expr:
    return value


def as_written(values: list[ast.expr], reads: list[Read]) -> list[ast.expr]:
    """The operands for the operation itself, whose constants stay where they were written."""
    return [value if isinstance(value, ast.Constant) else read() for value, read in zip(values, reads, strict=True)]


# ---- the inlined form of a call: which function the hooks get depends on the kind of the callee
#
# A test before the prehooks finds the kind of the callee, and keeps it in two temporaries::
#
#     @k0 := (@m0 := (@k0 := @type(@f0)) is <method>) or @k0 is <function> or @k0 is <type> or ...
#
# - If ``@m0`` is true, the callee is a bound method. Hooks get its function and its receiver.
# - Otherwise, if ``@k0`` is true, the callee carries no receiver. Hooks get it as it is.
# - Otherwise, it is any other callee, such as a method of a C type. A helper splits it, and calls the hook
#   (`variant_names.splitting`).
#
# The call itself, which no other frame may make, is there once.


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


# ---- the accelerated form of a call: the hooks are two functions that take the callee as it is, in C if there is C
#
# ``f(g(x), y)`` becomes::
#
#     @7.leave(@c0, (@p := @7.enter(@c0, f, @a0_0 := g(x)))(@a0_0, y), @p, @a0_0, @p := @a0_0 := None)
#
# `enter` returns the callee, and `leave` the result. Both ignore further arguments, which are evaluated before they are
# called, and keep what they get alive until they return. So there is no tuple, except for many arguments. The pending
# event, for the handler of exceptions, is the callee itself.

IGNORED: Final = 4
"""How many arguments more than their own `enter` takes at most; `leave` takes one more, which clears temporaries."""


def accelerated_call(
    node: ast.Call, names: VariantNames, variables: Variables, depth: int, has_posthook: bool = True
) -> ast.expr:
    """The event of a call without splats.

    Parameters
    ----------
    node:
        The call.
    names:
        The names of the variant.
    variables:
        The variables of the function that need no temporaries.
    depth:
        How deeply events nest in its operands.
    has_posthook:
        Whether there is `leave`. If not, there is no errorhook either.
    """
    at = At(node)
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    steps: list[ast.expr] = []
    used: list[str] = []
    stays = variables.names.__contains__
    reads = into_temporaries(at, values, temporaries.arguments(depth), steps, used, stays)
    read = as_written(values, reads)
    count = len(node.args)
    keywords = [
        At(value).put(ast.keyword(keyword.arg, value))
        for keyword, value in zip(node.keywords, read[count:], strict=True)
    ]
    recorder = temporaries.context(0)
    entered = at.call(at.symbol(names.enter), [at.load(recorder), node.func, *_few(at, steps)])
    if not has_posthook:
        result = at.call(entered, read[:count], keywords)
        return at.pick([result, at.clear(used)], 0) if used else result
    result = at.call(at.let(temporaries.PENDING, entered), read[:count], keywords)
    kept = [at.load(temporaries.PENDING), *_few(at, [at.load(name) for name in used])]
    cleared = at.clear([temporaries.PENDING, *used])
    return at.call(at.symbol(names.leave), [at.load(recorder), result, *kept, cleared])


def _few(at: At, values: list[ast.expr]) -> list[ast.expr]:
    """What hooks ignore, as so few arguments that those in Python have a parameter for each."""
    if len(values) <= IGNORED:
        return values
    rest = at.put(ast.Tuple(values[IGNORED - 1 :], ast.Load()))
    return [*values[: IGNORED - 1], rest]


# ---- the inlined form of events: hooks are called in the body itself, for one shape


class InlinedForm:
    """Builds events for one shape.

    Parameters
    ----------
    shape:
        The stack of contexts.
    file, objects:
        For guards, see `GuardedForm`.
    read_by_handlers:
        The temporaries that the handler of exceptions reads; those of each event are added.
    variables:
        The variables of the function that need no temporaries.
    asks_containers:
        See `GuardedForm`.
    """

    temporaries = True

    def __init__(
        self,
        shape: Shape,
        file: str = "",
        objects: frozenset[str] = frozenset(),
        read_by_handlers: set[str] | None = None,
        variables: Variables | None = None,
        asks_containers: bool = False,
    ) -> None:
        self.shape = shape
        self._names = VariantNames(shape.prefix)
        handlers = read_by_handlers if read_by_handlers is not None else set()
        self._variables = variables or Variables()
        self._events = HookedEvents(shape, handlers, self._variables)
        self._argument_free = ArgumentFreeForm(shape)
        self._guarded = GuardedForm(shape.prefix, file, objects, asks_containers=asks_containers)

    @property
    def bare(self) -> CalleeForm:
        """The form of places where there may be no temporaries."""
        return CalleeForm([self.shape], temporaries=False, in_branch=True)

    def wanted(self, name: str) -> bool:
        """Whether the primitive `name` is intercepted."""
        return self.shape.interest(EVENT_OF[name], name) is not Interest.NOTHING

    def _is_argument_free(self, event: Events) -> bool:
        """Whether the hooks of such events are argument-free."""
        return event in self.shape.argument_free and self.shape.interest(event) is Interest.EVERYTHING

    def is_argument_free(self, name: str) -> bool:
        """Whether the hooks of the primitive `name` are argument-free."""
        return self._is_argument_free(EVENT_OF[name])

    @property
    def tags(self) -> bool:
        """Whether values may be tagged."""
        return self.shape.tagging

    def only_tags(self, name: str) -> bool:
        """Whether the primitive `name` is an event only since values may be tagged: there are no hooks."""
        return self._events.has_no_hooks(EVENT_OF[name])

    def unpacking(self, at: At, value: ast.expr, spec: Any) -> ast.expr:
        """A value that is about to be unpacked."""
        if self.only_tags("next") and not any(spec[2]):
            return tagged_events.unpacking(at, self.shape.prefix, value, spec)
        return at.call(at.symbol(symbols.UNPACK), [value, at.constant(spec)])

    # ---- primitives

    def operate(self, operation: Operation, depth: int, suffix: str = "") -> ast.expr:
        """The event of an operation."""
        name, at = operation.name, operation.place
        event = EVENT_OF[name]
        if self._is_argument_free(event):
            return self._argument_free.operate(operation)
        values = [slot.get() for slot in operation.slots]
        if self.shape.interest(event, name) is Interest.EVERYTHING:
            return self._inlined_operation(operation, event, values, depth, suffix)
        if operation.late is None:
            return self._runner(at, event, name, operation.arguments(values))
        steps: list[ast.expr] = []
        used: list[str] = []
        reads = into_temporaries(at, values, temporaries.operands(depth, suffix), steps, used)
        value = self._runner(at, event, name, operation.arguments([read() for read in reads]))
        return at.pick([*steps, value, at.clear(used)], len(steps)) if used else value

    def _inlined_operation(
        self, operation: Operation, event: Events, values: list[ast.expr], depth: int, suffix: str
    ) -> ast.expr:
        name, at = operation.name, operation.place
        steps: list[ast.expr] = []
        used: list[str] = []
        only_native = self._events.has_no_hooks(event)
        prefix = temporaries.operands(depth, suffix)
        reads = into_temporaries(at, values, prefix, steps, used, self._events.stays(event))
        result = temporaries.result(depth, suffix)
        if not only_native or tagged_events.helper_after(name) is not None:
            used.insert(0, result)
        arguments = operation.arguments([read() for read in reads])
        operands = OperandsOfPrimitive(at, at.symbol(symbols.primitive(name)), arguments, self._events.read_by_handlers)
        if event in self.shape.overloads or name in self.shape.primitives:
            native = self._overloaded_operation(operation, event, values, reads, result)
        else:
            native = operation.plain(as_written(values, reads))
        steps, place = self._events.event(at, event, operands, steps, native, result)
        return at.pick([*steps, at.clear(used)] if used else steps, place)

    def _overloaded_operation(
        self, operation: Operation, event: Events, values: list[ast.expr], reads: list[Read], result: str
    ) -> ast.expr:
        """An operation that an overload may take."""
        name, at = operation.name, operation.place
        over = at.call(at.symbol(self._names.overload(event)), [at.symbol(symbols.primitive(name))])
        call: ast.expr = at.call(over, operation.arguments([read() for read in reads]))
        if not self.shape.tagging or event not in TAGGED:
            return call
        plain = operation.plain(as_written(values, reads))
        untagged = tagged_events.after(at, plain, tagged_events.helper_after(name), result)
        arguments = operation.arguments([read() for read in reads])
        test = tagged_events.tested(at, self.shape.prefix, event, name, arguments)
        return at.either(test, call, untagged)

    def _runner(self, at: At, event: Events, name: str, arguments: list[ast.expr]) -> ast.expr:
        runner = at.symbol(self._names.event(event))
        return at.call(runner, [at.symbol(symbols.primitive(name)), *arguments])

    def argument_free_statement(self, name: str, last: Slot, statement: ast.stmt) -> list[ast.stmt] | None:
        """The statement between argument-free hooks; None if some hook reads the operands."""
        event = EVENT_OF[name]
        return self._argument_free.statement(event, last, statement) if self._is_argument_free(event) else None

    # ---- calls

    def call(self, node: ast.Call, depth: int) -> ast.expr:
        """The event of a call."""
        interest = self.shape.interest(Events.CALLS)
        if self.shape.tagging and is_own_callee(node.func):
            return tagged_events.left(node, temporaries.result(depth))
        if interest is Interest.NOTHING or is_own_callee(node.func):
            return node
        if is_plain_super(node) and not self.shape.sees_super:
            return node
        if has(node, DEBUGGER):
            return debugged(node)
        splat = any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        )
        if self._is_argument_free(Events.CALLS):
            return self._argument_free.call(node)
        if is_plain_super(node):
            node, splat = with_arguments_of_super(node), True
        if interest is Interest.TARGETS:
            return self._guarded.call(node)
        if splat:
            # Splats: only the call instruction itself raises Python's own errors for f(*1) and repeated keywords.
            node.func = self.decorator(node.func)
            return node
        if self.shape.is_accelerated:
            has_posthook = self.shape.contexts[0].posthook
            return accelerated_call(node, self._names, self._variables, depth, has_posthook)
        return InlinedCall(self._events, node, depth).build()

    def decorator(self, node: ast.expr) -> ast.expr:
        """A decorator: the callee form, since the interpreter itself makes the call."""

        if self.shape.interest(Events.CALLS) is Interest.NOTHING or is_own_decorator(node):
            return node
        return At(node).call(At(node).symbol(self._names.pick(Events.CALLS)), [node])
