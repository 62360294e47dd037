"""Callee interception: whether a call is an event because of its callee, and what the call site calls then.

A call site passes its callee to one of the functions that are made here, and calls what it gets back: the callee
itself, or a proxy (`callee_proxy.Callee`) that runs the event.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from cassette_import.interpreter.callables import CALLS_OF_INSTANCES, CARRIERS, PROPERTIES, BuiltinMethodOfClass, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.primitives import load_global
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.direct_events import DirectEvents, directly_called
from cassette_import.runtime.dispatch.event_plan import EventPlan
from cassette_import.runtime.dispatch.frame_readers import FRAME_READERS
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.dispatch.shortcut_events import ShortcutTable
from cassette_import.runtime.state import ACTIVE


@hidden
def intercept_nothing(callee: Any) -> Any:
    """`intercept` where no callee is intercepted."""
    return callee


def make_intercept_everything(plan: EventPlan, event: Callable[..., Any], variant: Any) -> Callable[[Any], Any]:
    """`intercept(callee)` where every call is an event. The code may run while another variant is active."""
    get, intercept_elsewhere = ACTIVE.get, intercept_if_active(plan.kind)
    if plan.leaves_alone_while_untagged:
        return _make_intercept_unless_plain(plan, event, variant)

    @hidden
    def intercept_everything(callee: Any) -> Any:
        return Callee(event, callee) if get().variant is variant else intercept_elsewhere(callee)

    return intercept_everything


def _make_intercept_unless_plain(plan: EventPlan, event: Callable[..., Any], variant: Any) -> Callable[[Any], Any]:
    """The same where values may be tagged, and no hook or overload takes calls of functions that are no targets."""
    get, intercept_elsewhere = ACTIVE.get, intercept_if_active(plan.kind)
    is_plain, call_plainly = plan.propagation.is_plain_while_untagged, plan.propagation.make_plain_call(event)
    targets = plan.targets_and_leaves

    @hidden
    def intercept_unless_plain(callee: Any) -> Any:
        if id(callee) in FRAME_READERS:
            return callee
        if get().variant is not variant:
            return intercept_elsewhere(callee)
        if is_plain(callee) and (not targets or id(split(callee)[0]) not in targets):
            return Callee(call_plainly, callee)
        return Callee(event, callee)

    if not DISPATCH.is_used:
        return intercept_unless_plain
    names = plan.builtin_names if targets else frozenset()
    tagging = plan.propagation
    tables = (
        *(tagging.rewrapped_result_of, FRAME_READERS, *tagging.TABLES_OF_FAST_PATH),
        *(next, tagging.LOCAL, "wants_wrapped", tagging.claimed_item, tagging.claimed_stop),
    )
    return DISPATCH.PlainInterception(
        intercept_unless_plain, variant, event, targets, names, plan.is_call, (*tables, load_global)
    )


def make_intercept_targets(
    plan: EventPlan,
    variant: Any,
    leaves: dict[int, Any],
    by_keyword: dict[int, Any],
    shortcuts: ShortcutTable,
) -> Callable[[Any], Any]:
    """`intercept(callee)` where only calls of targets, and of higher-order leaves, are events.

    `leaves` are the higher-order leaves that the call site may hand a callback to, `by_keyword` those that a partial
    object, which carries keywords, may hand one to. `shortcuts` run the events. The code may run while another variant
    is active.
    """
    targets, names, carriers = {**leaves, **plan.targets}, plan.builtin_names, CARRIERS
    has_python_methods = any(type(target) is FunctionType for target in (*plan.targets.values(), *leaves.values()))
    get, intercept_elsewhere = ACTIVE.get, intercept_if_active(plan.kind)

    @hidden
    def intercept_target(callee: Any) -> Any:
        kind = type(callee)
        if kind is MethodType and type(callee.__func__) is FunctionType:
            if not has_python_methods:
                return callee
            key = id(callee.__func__)
        elif (kind is BuiltinFunctionType or kind is BuiltinMethodOfClass) and callee.__name__ not in names:
            return callee
        elif id(kind) not in carriers and not CALLS_OF_INSTANCES:
            key = id(callee)
        else:
            key = id(split(callee)[0])
        if key not in targets and (kind is not functools.partial or key not in by_keyword):
            return callee
        return Callee(shortcuts[key], callee) if get().variant is variant else intercept_elsewhere(callee)

    return intercept_target


def make_with_overloads(plan: EventPlan, call: Callable[..., Any]) -> Callable[[Any], Any]:
    """`with_overloads(callee)`, for events whose hooks run at the call site: only an overload may take the call."""
    targets, everything = plan.overload_targets, plan.redirects_everything
    if plan.targets and plan.is_call:
        targets = {**HIGHER_ORDER.by_id, **targets}

    propagate = None if plan.propagation is None or plan.overloads_everything else plan.propagation.propagate

    @hidden
    def overloaded(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        activation = ACTIVE.get()
        function, *leading = split(callee)
        if propagate is not None and id(function) not in targets and not (PROPERTIES and function is getattr):
            return propagate(activation, callee, function, tuple(leading), arguments, keywords)
        return call(activation, len(activation.contexts), callee, function, tuple(leading), arguments, keywords)

    @hidden
    def with_overloads(callee: Any) -> Any:
        if everything or (id(callee) if type(callee) is FunctionType else id(split(callee)[0])) in targets:
            return Callee(overloaded, callee)
        return callee

    if plan.propagation is None or plan.overloads_everything:
        return with_overloads
    direct = DirectEvents(plan, call)
    if not plan.is_call:
        return direct.__getitem__
    called = directly_called(plan)
    is_plain, call_plainly = plan.propagation.is_plain_while_untagged, plan.propagation.call_plainly
    call_function = plan.propagation.call_function

    @hidden
    def with_overloads_unless_plain(callee: Any) -> Any:
        if id(callee) in called:
            return direct[id(callee)]
        kind = type(callee)
        if kind is FunctionType:
            if id(callee) not in targets:
                return Callee(call_function, callee)
        elif kind is type:
            if id(callee) not in targets and id(callee) not in FRAME_READERS:
                return Callee(call_function, callee)
        elif kind is MethodType and type(callee.__func__) is FunctionType and id(callee.__func__) not in targets:
            return Callee(call_function, callee)
        if id(callee) in FRAME_READERS:
            return callee
        if is_plain(callee) and (not targets or id(split(callee)[0]) not in targets):
            return Callee(call_plainly, callee)
        return with_overloads(callee)

    return with_overloads_unless_plain
