"""Running an event: the hooks around a call, and between them the innermost overload that matches, or the callee.

Every function here that runs between the program's frames is hidden.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from cassette_import.interpreter.callables import PROPERTIES, CallableProxy, joined, keywords_of, lookup, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import run_if_active
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.event_plan import EventPlan, LevelHook
from cassette_import.runtime.dispatch.failed_events import notify_errorhooks
from cassette_import.runtime.dispatch.frame_readers import READERS, STAND_INS, for_frame, reads_frame, stand_in_of
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.dispatch.made_takers import MAKERS, making
from cassette_import.runtime.state import ACTIVE, Activation, hook_activation

_CALLS: Final = int(Events.CALLS)


class Callbacks:
    """Targets among the arguments of a higher-order leaf: each runs its event when the leaf calls it."""

    def __init__(self, targets: dict[int, Any], event: Any = None) -> None:
        self._targets = targets
        self.event = event

    @hidden
    def as_events(
        self, callee: Any, function: Any, leading: Any, arguments: Any, keywords: Any
    ) -> tuple[Any, Any, Any, Any]:
        """The call of a leaf, with targets among the arguments replaced by what runs their events.

        The result has the callee, leading arguments, arguments and keywords. A partial object is replaced by its
        function, because it may carry targets.
        """
        if type(callee) is partial:
            arguments, keywords = joined(leading, arguments), {**callee.keywords, **keywords}
            callee, leading = function, ()
        if keywords:
            keywords = {name: self._as_event(value) for name, value in keywords.items()}
        if id(function) in MAKERS:
            callee = making(callee)
        first = HIGHER_ORDER.first.get(id(function), 0)
        if id(function) in HIGHER_ORDER.registers and arguments and is_a(arguments[0], type):
            first = 1
        return callee, leading, (*arguments[:first], *map(self._as_event, arguments[first:])), keywords

    @hidden
    def _as_event(self, argument: Any) -> Any:
        if callable(argument) and id(split(argument)[0]) in self._targets:
            return Callee(self.event, argument)
        return argument


def make_call(plan: EventPlan, callbacks: Callbacks) -> Callable[..., Any]:
    """`call(activation, below, callee, function, leading, arguments, keywords)`, without hooks.

    It calls the innermost overload of the contexts below a level that matches, or else the callee. The callee consists
    of `function` and the `leading` arguments that it carries (see `callables.split`).
    """
    overloads, targets, propagation = plan.overloads, plan.targets, plan.propagation
    keepers = HIGHER_ORDER.keepers
    higher_order, as_events, getter_of = HIGHER_ORDER.by_id, callbacks.as_events, _make_getter_of(targets)
    put = ACTIVE.set
    if propagation is not None:
        propagate, run_overload = propagation.propagate, propagation.call_overload

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
        # The overload is run here and not in a function of its own, which would cost a frame per event.
        for number, find in overloads:
            if number < below:
                context = activation.contexts[number]
                full = joined(leading, arguments) if leading else arguments
                named = {**keywords_of(callee), **keywords}
                handler = find(context, function, full, named)
                if handler is not None:
                    if id(function) in READERS and reads_frame(function, full):
                        is_shown = type(callee) is CallableProxy  # an overload of a context further in goes on with it
                        function = callee if is_shown else for_frame(function, sys._getframe(1))
                    suspend, resume = DISPATCH.suspending
                    token = suspend(activation, number) if suspend else put(hook_activation(activation, number))
                    try:
                        if propagation is not None:
                            return run_overload(handler, context, function, full, named)
                        return handler(context, function, *full, **named)
                    finally:
                        resume(token)
        if targets:
            if id(function) in higher_order and (propagation is None or id(function) not in keepers):
                callee, leading, arguments, keywords = as_events(callee, function, leading, arguments, keywords)
            if PROPERTIES and function is getattr and len(arguments) == 2:
                getter = getter_of(*arguments)
                if getter is not None:
                    return activation.variant.runners[_CALLS].event(getter, arguments[0])  # type: ignore[union-attr]
        if id(function) in STAND_INS:
            callee = stand_in_of(callee, function)
        if propagation is not None:
            return propagate(activation, callee, function, leading, arguments, keywords)
        return callee(*arguments, **keywords)

    return call


def _make_getter_of(targets: dict[int, Any]) -> Callable[[Any, Any], Any]:
    """`getter_of(instance, name)`: the function of a property, if it is a target, else None."""

    @hidden
    def getter_of(instance: Any, name: Any) -> Any:
        found = lookup(type(instance), name) if type(name) is str else None
        return found.fget if type(found) is property and id(found.fget) in targets else None

    return getter_of


def make_event(
    plan: EventPlan,
    call: Callable[..., Any],
    variant: Any,
    prehooks: list[LevelHook],
    posthooks: list[LevelHook],
    errorhooks: list[LevelHook],
) -> Callable[..., Any]:
    """`event(callee, *arguments, **keywords)`: a whole event with these hooks around `call`.

    Code that was specialised for `variant` may run while another variant is active, which then runs the event. There is
    no such check if `variant` is None.
    """
    goes_to_callee, kind = plan.goes_to_callee, int(plan.kind)

    @hidden
    def event(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        activation = ACTIVE.get()
        if variant is not None and activation.variant is not variant:
            return run_if_active(kind, callee, arguments, keywords)
        contexts = activation.contexts
        function, *leading = split(callee)
        full = joined(leading, arguments) if leading else arguments
        named = {**keywords_of(callee), **keywords}
        reached = 0
        try:
            for reached, hook in prehooks:
                hook(contexts[reached], function, *full, **named)
            reached = len(contexts)
            if goes_to_callee:
                if id(function) in STAND_INS:
                    callee = stand_in_of(callee, function)
                result = callee(*arguments, **keywords)
            else:
                result = call(activation, len(contexts), callee, function, tuple(leading), arguments, keywords)
            for reached, hook in posthooks:
                hook(contexts[reached], result, function, *full, **named)
        except BaseException as error:
            raised = notify_errorhooks(errorhooks, activation, reached, error, (function, *full), named)
            if raised is not error:
                raise raised  # noqa: B904  # a hook raised it while it handled this one
            raise
        return result

    return event
