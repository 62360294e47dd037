"""Accelerated hooks: the functions that call sites of the accelerated form call, in C if there is C."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import run_if_active
from cassette_import.runtime.dispatch.callee_proxy import shown_callee
from cassette_import.runtime.dispatch.frame_readers import STAND_INS, stand_in_of
from cassette_import.runtime.state import ACTIVE, Activation


def no_leave(recorder: Any, result: Any, /, *ignored: Any) -> Any:
    """The posthook of a context that has none; call sites do not call it."""
    return result


class AcceleratedHooks(NamedTuple):
    """The hooks of one context type; their first argument is the `recorder` of a context.

    `enter(recorder, callee, ...)` returns the callee, `leave(recorder, result, callee, ...)` the result. Both ignore
    what call sites pass in addition. `fail(recorder, callee)` is the errorhook. There may be `enter` alone.
    """

    enter: Callable[..., Any]
    leave: Callable[..., Any] = no_leave
    fail: Callable[..., Any] = no_leave


def make_failed(hooks: AcceleratedHooks) -> Callable[[Activation, Any, BaseException, Any], None]:
    """`failed(activation, callee, error, variables)`, which the handler of a rewritten function calls."""
    fail = hooks.fail

    @hidden
    def failed(activation: Activation, callee: Any, error: BaseException, variables: Any) -> None:
        fail(activation.contexts[0].recorder, callee)

    return failed


def make_accelerated_event(hooks: AcceleratedHooks, kind: int, variant: Any) -> Callable[..., Any]:
    """`event(callee, *arguments, **keywords)` for the only context of a stack, see `event_execution.make_event`.

    `enter` gets the recorder as a further argument, by which it knows an event that takes longer than others.
    """
    slowly = _event_in_python(hooks, kind, variant)
    return DISPATCH.AcceleratedEvent(slowly, variant, *hooks) if DISPATCH.is_used else slowly


def _event_in_python(hooks: AcceleratedHooks, kind: int, variant: Any) -> Callable[..., Any]:
    """The same where the accelerator of dispatch is not used, or calls are nested deeply."""
    enter, leave, fail = hooks
    get = ACTIVE.get

    @hidden
    def event(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        activation = get()
        if activation.variant is not variant:
            return run_if_active(kind, callee, arguments, keywords)
        recorder = activation.contexts[0].recorder
        enter(recorder, callee, recorder)
        function = callee.func if type(callee) is functools.partial else callee
        called = stand_in_of(callee, function) if id(function) in STAND_INS else callee
        try:
            result = called(*arguments, **keywords)
        except BaseException:
            fail(recorder, callee)
            raise
        return leave(recorder, result, callee)

    return event


def with_missing(hooks: AcceleratedHooks, with_missing_hooks: Callable[[Any], Any]) -> AcceleratedHooks:
    """The same for call sites that lack hooks or overloads, because these were registered while the code ran.

    Parameters
    ----------
    hooks:
        The hooks.
    with_missing_hooks:
        Returns for a callee a proxy that runs what is missing.
    """
    enter_plainly, leave_plainly, fail = hooks

    @hidden
    def enter(recorder: Any, callee: Any, /, *ignored: Any) -> Any:
        return with_missing_hooks(enter_plainly(recorder, callee))

    @hidden
    def leave(recorder: Any, result: Any, callee: Any, /, *ignored: Any) -> Any:
        return leave_plainly(recorder, result, shown_callee(callee))

    return AcceleratedHooks(enter, leave, fail)
