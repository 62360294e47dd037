"""What rewritten code calls while it runs: events in the callee form, events of callables that are no Python
functions, overloads.

Every function here that runs between the program's frames is hidden. Knows activations and tables of handlers; must
not know source or how code is made.

Names in `builtins`, where ``@7`` stands for a variant and ``1``/``2`` for the kind of event (calls/operators):

``@7.pre0.1`` / ``@7.post0.1``   the prehook/posthook of context 0 of the stack
``@7.event.1``                   run the whole event: ``event(f, *arguments)``
``@7.over.1``                    the callee, or a callable that chooses an overload
``@7.pick.1``, ``@pick.1``       the callee, or a callable that runs the event; the latter for whatever is active
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from cassette_import.interpreter.callables import (
    CALLS_OF_INSTANCES,
    CARRIERS,
    PROPERTIES,
    joined,
    keywords_of,
    lookup,
    split,
)
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF, NAME_OF
from cassette_import.rewriting.shape import TAGGED, Shape
from cassette_import.runtime.dispatch.callee_proxy import FRAME_READERS, Callee, handing_on, lone
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import ACTIVE, Activation, prefix_of

_Hook = tuple[int, Callable[..., Any]]
"""The number of a context, and its hook."""


class Level:
    """What one context of a stack does with one kind of event. Hooks are ready to be called with the context first."""

    __slots__ = ("errorhook", "number", "overdub", "posthook", "prehook")

    def __init__(
        self,
        number: int,
        prehook: Callable[..., Any] | None,
        posthook: Callable[..., Any] | None,
        errorhook: Callable[..., Any] | None,
        overdub: Callable[..., Callable[..., Any] | None] | None,
    ) -> None:
        self.number = number
        self.prehook = prehook
        self.posthook = posthook
        self.errorhook = errorhook
        self.overdub = overdub


class EventRunner:
    """The events of one kind for one stack: what `event`, `over` and `pick` are made from."""

    def __init__(
        self,
        variant: Any,
        kind: Events,
        levels: list[Level],
        everything: bool,
        overloads_everything: bool,
        targets: dict[int, Any],
        overload_targets: dict[int, Any],
        singles: dict[int, tuple[int, Any]],
        conductor: Any = None,
    ) -> None:
        self.levels = levels
        self._kind = kind
        self.conductor = conductor
        self._everything = everything
        self.knows_targets = not everything
        """Whether a call is an event because of what is called alone."""
        self._takes_everything = overloads_everything
        self._overloads_everything = overloads_everything or (conductor is not None and kind in TAGGED)
        own = [key for key in overload_targets if EVENT_OF.get(NAME_OF.get(key, "")) is kind]
        self.is_overloaded = overloads_everything or bool(targets if kind is Events.CALLS else own)
        """Whether an overload may take an event, or a callback that is handed on in one."""
        self._targets = targets
        self.known_targets = frozenset((*targets, *(HIGHER_ORDER.by_id if targets else ())))
        """The targets and the higher-order leaves, by identity."""
        self.names = frozenset(
            name for target in (*targets.values(), *HIGHER_ORDER.by_id.values()) for name in _names_of(target)
        )
        """The names of the builtin functions and methods among these; a bound method has the same."""
        self._overload_targets = overload_targets
        self._single = {
            key: lone(self, variant, targets[key], *found, of_target_itself=False) for key, found in singles.items()
        }
        self.ready = {
            key: lone(self, variant, targets[key], *found, of_target_itself=True)
            for key, found in singles.items()
            if type(targets[key]) in (FunctionType, BuiltinFunctionType, MethodDescriptorType)
        }
        """What calls targets themselves, by identity, for call sites without keywords and splats."""
        self.failed = [(level.number, level.errorhook) for level in reversed(levels) if level.errorhook is not None]
        self.before = [(level.number, level.prehook) for level in levels if level.prehook is not None]
        self.after = [(level.number, level.posthook) for level in reversed(levels) if level.posthook is not None]
        self.is_idle = not (self.is_overloaded or self.failed) and conductor is not None
        """Whether nobody does but for the sake of what is tagged."""
        self.may_fail = bool(self.failed) or any(level.overdub is not None for level in levels) or conductor is not None
        """Whether somebody gives the value of an event, or is told of its exception."""
        self.call = self._make_call()
        self.event = self._make_event(variant, self.before, self.after, self.failed)
        self.over = self._make_over()
        self.of_leaves: tuple[Callable[..., Any], ...] = ()
        """What calls higher-order leaves, given the callee first."""
        self.pick = self._make_pick(variant, with_callbacks=True)
        self.pick_positional = self._make_pick(variant, with_callbacks=False)

    def _make_call(self) -> Callable[..., Any]:
        """`call(activation, below, callee, function, leading, arguments, keywords)`: the innermost overload below a
        level, or the callee."""
        overloads = [(level.number, level.overdub) for level in reversed(self.levels) if level.overdub is not None]
        higher_order = HIGHER_ORDER.by_id
        targets, conductor = self._targets, self.conductor
        if conductor is not None:
            propagate, run_overload = conductor.propagate, conductor.call_overload

        @hidden
        def call(
            activation: Activation,
            below: int,
            callee: Any,
            function: Any,
            leading: Any,
            arguments: Any,
            keywords: Any,
        ) -> Any:
            for number, find in overloads:
                if number < below:
                    context = activation.contexts[number]
                    full = joined(leading, arguments) if leading else arguments
                    named = {**keywords_of(callee), **keywords}
                    handler = find(context, function, full, named)
                    if handler is not None:
                        token = ACTIVE.set(prefix_of(activation, number))
                        try:
                            if conductor is not None:
                                return run_overload(handler, context, function, full, named)
                            return handler(context, function, *full, **named)
                        finally:
                            ACTIVE.reset(token)
            if targets and id(function) in higher_order:
                if type(callee) is functools.partial:
                    arguments, keywords = joined(leading, arguments), {**keywords_of(callee), **keywords}
                    callee, leading = function, ()
                arguments = tuple(map(met, arguments))
                keywords = {name: met(value) for name, value in keywords.items()}
            if PROPERTIES and function is getattr and len(arguments) == 2 and (found := getter(*arguments)) is not None:
                return activation.variant.runners[int(Events.CALLS)].event(found, arguments[0])  # type: ignore[union-attr]
            if conductor is not None:
                return propagate(activation, callee, function, leading, arguments, keywords)
            return callee(*arguments, **keywords)

        @hidden
        def met(argument: Any) -> Any:
            """An argument of a higher-order leaf: a target runs its event when the leaf calls it."""
            if callable(argument) and id(split(argument)[0]) in targets:
                return Callee(self.event, argument)
            return argument

        @hidden
        def getter(instance: Any, name: str) -> Any:
            """The function of a property, if it is a target."""
            found = lookup(type(instance), name) if type(name) is str else None
            return found.fget if type(found) is property and id(found.fget) in targets else None

        return call

    def _make_event(
        self, variant: Any, before: list[_Hook], after: list[_Hook], failed: list[_Hook]
    ) -> Callable[..., Any]:
        """The whole event with some hooks; for a variant, if the code may run while another one is active."""
        overloads = any(level.overdub is not None for level in self.levels) or bool(self._targets)
        overloads = overloads or self.conductor is not None
        call, kind = self.call, int(self._kind)

        @hidden
        def event(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
            activation = ACTIVE.get()
            if variant is not None and activation.variant is not variant:
                return run_anywhere(kind, callee, arguments, keywords)
            contexts = activation.contexts
            function, *leading = split(callee)
            full = joined(leading, arguments) if leading else arguments
            named = {**keywords_of(callee), **keywords}
            reached = 0
            try:
                for reached, hook in before:
                    hook(contexts[reached], function, *full, **named)
                reached = len(contexts)
                if overloads:
                    result = call(activation, len(contexts), callee, function, tuple(leading), arguments, keywords)
                else:
                    result = callee(*arguments, **keywords)
                for reached, hook in after:
                    hook(contexts[reached], result, function, *full, **named)
            except BaseException as error:
                raised = error
                for number, hook in failed:
                    if number < reached:
                        try:
                            hook(contexts[number], raised, function, *full, **named)
                        except BaseException as other:  # which is what those further out are told of
                            raised = other
                if raised is not error:
                    raise raised  # noqa: B904  # a hook raised it, while this one was handled
                raise
            return result

        return event

    def over_beside(self, shape: Shape, beside: dict[tuple[str, int], Any]) -> Callable[[Any], Any]:
        """`over` for the call sites of bodies that were made for a shape: it runs the hooks that they lack.

        `beside` has what is to run in the place of a hook whose method runs at the site itself.
        """

        def lacking(which: str, hooks: list[_Hook]) -> list[_Hook]:
            found = []
            for number, hook in hooks:
                context = shape.contexts[number]
                is_there = self._kind in context.events and getattr(context, which)
                wanted = beside.get((which, number)) if is_there else hook
                if wanted is not None:
                    found.append((number, wanted))
            return found

        failed = [] if self._kind in shape.watched else self.failed
        run = self._make_event(None, lacking("prehook", self.before), lacking("posthook", self.after), failed)

        @hidden
        def over(callee: Any) -> Any:
            return callee if id(callee) in FRAME_READERS else Callee(run, callee)

        return over

    def _make_over(self) -> Callable[[Any], Any]:
        targets, everything, call = self._overload_targets, self._overloads_everything, self.call
        if self._targets and self._kind is Events.CALLS:
            targets = {**HIGHER_ORDER.by_id, **targets}

        @hidden
        def overloaded(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
            activation = ACTIVE.get()
            function, *leading = split(callee)
            return call(activation, len(activation.contexts), callee, function, tuple(leading), arguments, keywords)

        @hidden
        def over_unless_harmless(callee: Any) -> Any:
            if id(callee) in FRAME_READERS:
                return callee
            if is_harmless(callee) and (not targets or id(split(callee)[0]) not in targets):
                return Callee(plainly, callee)
            return over(callee)

        @hidden
        def over(callee: Any) -> Any:
            if id(callee) in FRAME_READERS:
                return callee
            if everything or (id(callee) if type(callee) is FunctionType else id(split(callee)[0])) in targets:
                return Callee(overloaded, callee)
            return callee

        if self.conductor is None or self._kind is not Events.CALLS or self._takes_everything:
            return over
        is_harmless, plainly = self.conductor.is_plain_while_untagged, self.conductor.call_plainly
        return over_unless_harmless

    def functions(self, with_callbacks: bool) -> frozenset[FunctionType]:
        """The Python functions whose calls are events here."""
        higher_order = HIGHER_ORDER.by_id if with_callbacks else HIGHER_ORDER.positional
        targets = [*self._targets.values(), *higher_order.values()]
        return frozenset(target for target in targets if type(target) is FunctionType)

    def _make_pick(self, variant: Any, with_callbacks: bool) -> Callable[[Any], Any]:
        """`pick` for call sites that may hand callbacks on by keyword, and for others.

        They need not be of code that runs only while the variant is active.
        """
        event, targets = self.event, self._targets
        with_keywords: dict[int, Any] = {}  # which a partial object may carry
        if targets and self._kind is Events.CALLS:
            with_keywords = HIGHER_ORDER.by_id
            targets = {**(HIGHER_ORDER.by_id if with_callbacks else HIGHER_ORDER.positional), **targets}
        python_methods = any(type(target) is FunctionType for target in self._targets.values())

        single, get, pick_elsewhere = self._single, ACTIVE.get, pick_anywhere(self._kind)

        @hidden
        def pick_any(callee: Any) -> Any:
            if id(callee) in FRAME_READERS:
                return callee
            return Callee(event, callee) if get().variant is variant else pick_elsewhere(callee)

        names, carriers = self.names, CARRIERS
        if self.conductor is None:
            of_leaf = handing_on(event, targets)
            self.of_leaves += (of_leaf,)
            single = {**{key: of_leaf for key in targets if key not in self._targets}, **single}

        @hidden
        def pick_target(callee: Any) -> Any:
            kind = type(callee)
            if kind is MethodType and type(callee.__func__) is FunctionType:
                if not python_methods:
                    return callee
                key = id(callee.__func__)
            elif kind is BuiltinFunctionType and callee.__name__ not in names:
                return callee
            elif id(kind) not in carriers and not CALLS_OF_INSTANCES:
                key = id(callee)
            else:
                key = id(split(callee)[0])
            if key not in targets and (kind is not functools.partial or key not in with_keywords):
                return callee
            return Callee(single.get(key, event), callee) if get().variant is variant else pick_elsewhere(callee)

        @hidden
        def pick_nothing(callee: Any) -> Any:
            return callee

        if self._everything:
            return pick_any
        return pick_target if targets else pick_nothing


def _names_of(target: Any) -> list[str]:
    name = getattr(target, "__name__", None)
    return [] if type(target) is FunctionType or not isinstance(name, str) else [name]


@hidden
def run_anywhere(kind: int, callee: Any, arguments: Any, keywords: Any) -> Any:
    """An event of code that was made for one variant and runs while another is active."""
    variant = ACTIVE.get().variant
    if variant is None:
        return callee(*arguments, **keywords)
    return variant.runners[kind].pick(callee)(*arguments, **keywords)


def pick_anywhere(kind: Events) -> Callable[[Any], Any]:
    """`pick` of whatever is active, for one kind of event."""
    number = int(kind)

    @hidden
    def pick(callee: Any) -> Any:
        variant = ACTIVE.get().variant
        return callee if variant is None else variant.runners[number].pick(callee)

    return pick


@hidden
def _told(pending: Any, held: dict[str, Any]) -> tuple[int, int, list[Any], dict[str, Any]]:
    """The event that a note is about, its operands read where the note says that they are."""
    kind, below, places, names, _ = pending
    values: list[Any] = []
    for name, part in places:
        value = part if not name else held[name] if name in held else NAMES[name]
        if name and part == "*":
            values += split(value)
        else:
            values.append(getattr(value, part) if name and part is not None else value)
    count = len(values) - len(names)
    return kind, below, values[:count], dict(zip(names, values[count:], strict=True))


def make_failed(runners: dict[int, EventRunner]) -> Callable[[Activation, Any, BaseException, dict[str, Any]], None]:
    """What a function's handler calls when the event that was going on in it has failed."""

    @hidden
    def failed(activation: Activation, pending: Any, error: BaseException, held: dict[str, Any]) -> None:
        kind, below, operands, keywords = pending if len(pending) == 4 else _told(pending, held)
        raised = error
        for number, hook in runners[kind].failed:
            if number < below:  # else its prehook had not been, or its posthook had
                try:
                    hook(activation.contexts[number], raised, *operands, **keywords)
                except BaseException as other:  # which is what those further out are told of
                    raised = other
        if raised is not error:
            raise raised

    return failed
