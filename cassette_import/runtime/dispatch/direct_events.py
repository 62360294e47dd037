"""Direct events: where values may be tagged, the function that runs the events of one callee, made when it is needed.

A call site of a primitive or of a target gets this function and calls it with the arguments. What does not change from
event to event is decided when it is made: which overload takes the calls, for example. The hooks around the event run
at the call site.

The author of an overload may know a *quick form* of it: a function that does the same for the usual arguments with
fewer steps, and passes all other ones to the overload.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import PROPERTIES
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.records import Record
from cassette_import.runtime.dispatch import accelerator
from cassette_import.runtime.dispatch.event_plan import EventPlan, SoleOverload
from cassette_import.runtime.state import ACTIVE, hook_activation

__all__ = ["DirectEvents", "QuickSite", "directly_called", "quick_form"]


class QuickSite(Record):
    """What the maker of a quick form gets."""

    target: Any
    """The function that is called."""
    level: int
    """The number of the context whose overload takes the calls: its place in the activation."""
    context_type: type
    """The type of this context."""
    is_call: bool
    """Whether the program calls the function, with any arguments. Otherwise the arguments are operands of syntax."""
    general: Callable[..., Any]
    """Runs an event with any arguments, by the overload."""
    beside: Callable[..., Any]
    """Runs an event with any positional arguments as if the overload were not there."""


QuickMaker = Callable[[QuickSite], Callable[..., Any] | None]

_QUICK_FORMS: Final[dict[int, tuple[Any, QuickMaker]]] = {}
"""The functions that were registered as overloads, by identity, and what makes their quick forms."""


def quick_form(overload: Callable[..., Any]) -> Callable[[QuickMaker], QuickMaker]:
    """Decorator: what makes the quick form of an overload for a target. It may return None: there is none."""

    def register(maker: QuickMaker) -> QuickMaker:
        _QUICK_FORMS[id(overload)] = overload, maker
        return maker

    return register


_KINDS: Final = (FunctionType, BuiltinFunctionType, MethodDescriptorType)


def directly_called(plan: EventPlan) -> frozenset[int]:
    """The targets of overloads, by identity, that are themselves what a program calls."""
    return frozenset(key for key, target in plan.overload_targets.items() if type(target) in _KINDS)


class DirectEvents(dict[Any, Callable[..., Any]]):
    """The direct events of one plan, by primitive, or by the identity of a target where a program calls it."""

    def __init__(self, plan: EventPlan, call: Callable[..., Any]) -> None:
        super().__init__()
        self._plan = plan
        self._call = call

    @hidden
    def __missing__(self, key: Any) -> Callable[..., Any]:
        function = self._plan.targets[key] if self._plan.is_call else key
        made = self[key] = self._make(function)
        return made

    def _make(self, function: Any) -> Callable[..., Any]:
        plan, general = self._plan, _general(self._call, function)
        if plan.overloads_everything or (PROPERTIES and function is getattr):
            return general
        sole = plan.sole_overload(function)
        if sole is None:
            is_overloaded = plan.is_call or id(function) in plan.overload_targets
            rule: Any = None if is_overloaded else plan.propagation.QUICK_RULES.get(id(function))
            return general if rule is None else rule(general)
        sole.handler.is_applied = True
        run = _by_sole_overload(plan, function, sole, general)
        if id(sole.handler.function) not in _QUICK_FORMS:
            return run
        _, maker = _QUICK_FORMS[id(sole.handler.function)]
        beside = _beside(self._call, function, sole.level)
        return maker(QuickSite(function, sole.level, sole.context_type, plan.is_call, run, beside)) or run


def _general(call: Callable[..., Any], function: Any) -> Callable[..., Any]:
    """The events of a function, whatever takes them."""
    get = ACTIVE.get

    @hidden
    def general(*arguments: Any, **keywords: Any) -> Any:
        activation = get()
        return call(activation, len(activation.contexts), function, function, (), arguments, keywords)

    return general


def _beside(call: Callable[..., Any], function: Any, level: int) -> Callable[..., Any]:
    """The events of a function without the overload of a context, which is the only one."""
    get = ACTIVE.get

    @hidden
    def beside(*arguments: Any) -> Any:
        return call(get(), level, function, function, (), arguments, {})

    return beside


def _by_sole_overload(
    plan: EventPlan, function: Any, sole: SoleOverload, general: Callable[..., Any]
) -> Callable[..., Any]:
    """The events of a function that one context overloads, by one overload for arguments of any types."""
    handler, level = sole.handler, sole.level
    fewest, most = handler.required, sys.maxsize if handler.has_rest else len(handler.types)
    overload, run_overload = handler.call, plan.propagation.call_overload
    get, put = ACTIVE.get, ACTIVE.set

    @hidden
    def event(*arguments: Any, **keywords: Any) -> Any:
        if keywords or not fewest <= len(arguments) <= most:
            return general(*arguments, **keywords)
        activation = get()
        if level >= len(activation.contexts):  # the activation was left while this function runs
            return general(*arguments, **keywords)
        suspend, resume = accelerator.DISPATCH.suspending
        token = suspend(activation, level) if suspend else put(hook_activation(activation, level))
        try:
            return run_overload(overload, activation.contexts[level], function, arguments, keywords)
        finally:
            resume(token)

    return event
