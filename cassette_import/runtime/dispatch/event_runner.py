"""Event runners: the functions that run the events of one kind for one variant.

A runner puts together what the other files of the package make, and decides nothing at an event. Rewritten code loads
its functions by the names that `rewriting.variant_names.VariantNames` spells.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Container
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import (
    CALLS_OF_INSTANCES,
    CARRIERS,
    PROPERTIES,
    BuiltinMethodOfClass,
    CallableProxy,
    joined,
    keywords_of,
    lookup,
    split,
)
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import load_global
from cassette_import.rewriting.shape import Shape
from cassette_import.runtime.dispatch.accelerated_hooks import AcceleratedHooks, make_accelerated_event
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import intercept_if_active, run_if_active
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.direct_events import DirectEvents, directly_called
from cassette_import.runtime.dispatch.event_plan import EventPlan, LevelHook, notify_errorhooks
from cassette_import.runtime.dispatch.frame_readers import (
    FRAME_READERS,
    READERS,
    STAND_INS,
    for_frame,
    reads_frame,
    stand_in_of,
)
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER, MAKERS, making
from cassette_import.runtime.dispatch.hook_points import Table
from cassette_import.runtime.state import ACTIVE, Activation, hook_activation

# ---- callees that are certainly no targets
#
# Call sites that call a local name ask this: it may hold many functions in turn.


class NoTargetsInPython:
    """Contains Python functions and methods that are one, and, with the extension, methods of builtin types.

    Parameters
    ----------
    functions:
        The Python functions that are targets, or that may get one as a callback.
    names:
        The names of such functions in C.
    """

    __slots__ = ("_functions",)

    @hidden
    def __init__(self, functions: frozenset[FunctionType], names: frozenset[str]) -> None:
        self._functions = functions

    @hidden
    def __contains__(self, callee: Any) -> bool:
        function = callee.__func__ if type(callee) is MethodType else callee
        return type(function) is FunctionType and function not in self._functions


NoTargets: Final[Any] = NoTargetsInPython if DISPATCH.reason else DISPATCH.NoTargets


# ---- running an event: the hooks around a call, and between them the innermost overload that matches, or the callee
#
# Every function here that runs between the program's frames is hidden.

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


# ---- shortcuts for events at which little can happen: targets with overloads of one context, and higher-order leaves

NEVER, SAME_TYPES, SAME_COUNT = range(3)
"""For which further calls of a target an overload is the same: for none, for those with arguments of the same types, or
for those with as many arguments."""
_NO_KEYWORDS: Final[dict[str, Any]] = {}


class ShortcutTable(dict[int, Any]):
    """Shortcuts by the identity of a target: `table[key]` makes one when a call site asks for it first.

    A context may have hundreds of targets, of which a program calls a few, and get more with each import.

    Attributes
    ----------
    owned:
        The targets that have a shortcut. For others, `table[key]` is the default.
    """

    def __init__(self, owned: Container[int], make: Callable[[int], Callable[..., Any]], default: Any = None) -> None:
        super().__init__()
        self.owned = owned
        self._make = make
        self._default = default

    @hidden
    def __missing__(self, key: int) -> Any:
        found = self[key] = self._make(key) if key in self.owned else self._default
        return found


def make_single_overload_event(
    event: Callable[..., Any], variant: Any, target: Any, level: int, handler: Any, of_target_itself: bool
) -> Callable[..., Any]:
    """The event of a target that has one overload, which takes arguments of any type, and no hooks.

    It is `shortcut(callee, …)`, or for calls of the target itself with positional arguments only, `shortcut(…)`. Calls
    that do not fit the overload run the whole `event`.
    """
    fewest = handler.required
    most = sys.maxsize if handler.has_rest else len(handler.types)
    get, put = ACTIVE.get, ACTIVE.set
    suspend, resume = DISPATCH.suspending

    @hidden
    def overload(*arguments: Any) -> Any:
        """The first call: later ones call the overload itself."""
        nonlocal overload
        handler.is_applied, overload = True, handler.call
        return handler.call(*arguments)

    @hidden
    def shortcut_of_target(*arguments: Any) -> Any:
        activation = get()
        if activation.variant is not variant or not fewest <= len(arguments) <= most:
            return event(target, *arguments)
        if suspend is not None:
            token = suspend(activation, level)
        else:
            known = activation.hook_activations
            token = put(known[level] if known and level in known else hook_activation(activation, level))
        try:
            return overload(activation.contexts[level], target, *arguments)
        finally:
            resume(token)

    def choose(context: Any, arguments: tuple[Any, ...]) -> tuple[Any, int]:
        if not fewest <= len(arguments) <= most:
            return None, NEVER
        handler.is_applied = True
        return handler.call, SAME_COUNT

    run = _in_c(event, variant, target, level, choose) or shortcut_of_target

    @hidden
    def shortcut(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if keywords:
            return event(callee, *arguments, **keywords)
        if callee is target:
            return run(*arguments)
        function, *leading = split(callee)
        full = joined(leading, arguments)
        if function is not target or type(callee) is functools.partial or not fewest <= len(full) <= most:
            return event(callee, *arguments)
        return run(*full)

    return run if of_target_itself else shortcut


def make_typed_overload_event(
    event: Callable[..., Any], variant: Any, target: Any, level: int, table: Table
) -> Callable[..., Any]:
    """The event of a target that has overloads of one context, and no hooks.

    It is `shortcut(…)`, for calls of the target itself with positional arguments only. Calls that fit no overload run
    the whole `event`.
    """
    get, put, find = ACTIVE.get, ACTIVE.set, table.find
    suspend, resume = DISPATCH.suspending

    @hidden
    def shortcut_of_target(*arguments: Any) -> Any:
        activation = get()
        if activation.variant is not variant:
            return event(target, *arguments)
        context = activation.contexts[level]
        overload = find(context, target, arguments, _NO_KEYWORDS, None, False)
        if overload is None:
            return event(target, *arguments)
        token = suspend(activation, level) if suspend else put(hook_activation(activation, level))
        try:
            return overload(context, target, *arguments)
        finally:
            resume(token)

    def choose(context: Any, arguments: tuple[Any, ...]) -> tuple[Any, int]:
        overload = find(context, target, arguments, _NO_KEYWORDS, None, False)
        return overload, SAME_TYPES if table.depends_on_types(target, arguments) else NEVER

    return _in_c(event, variant, target, level, choose) or shortcut_of_target


def _in_c(
    event: Callable[..., Any],
    variant: Any,
    target: Any,
    level: int,
    choose: Callable[[Any, tuple[Any, ...]], tuple[Any, int]],
) -> Callable[..., Any] | None:
    """The event in C, which chooses the overload; None if it has to be in Python.

    A call from C to Python takes room on the stack of C. Python functions may recurse deeper than that.
    """
    if not DISPATCH.is_used or type(target) is FunctionType:
        return None
    return DISPATCH.OverloadEvent(event, variant, target, level, choose)


def make_leaf_event(event: Callable[..., Any], targets: Container[int]) -> Callable[..., Any]:
    """The event of a higher-order leaf that is no target itself: an event only if an argument is a target."""

    @hidden
    def leaf_event(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        for argument in (*arguments, *keywords.values()) if keywords else arguments:
            if callable(argument):
                is_function = type(argument) is FunctionType
                if (id(argument) if is_function else id(split(argument)[0])) in targets:
                    return event(callee, *arguments, **keywords)
        if type(callee) is functools.partial or id(callee) in MAKERS:
            return event(callee, *arguments, **keywords)
        return callee(*arguments, **keywords)

    return leaf_event


# ---- callee interception: whether a call is an event because of its callee, and what the call site calls then
#
# A call site passes its callee to one of the functions that are made here, and calls what it gets back: the callee
# itself, or a proxy (`callee_proxy.Callee`) that runs the event.


@hidden
def intercept_nothing(callee: Any) -> Any:
    """`intercept` where no callee is intercepted."""
    return callee


def make_intercept_everything(plan: EventPlan, event: Callable[..., Any], variant: Any) -> Callable[[Any], Any]:
    """`intercept(callee)` where every call is an event. The code may run while another variant is active."""
    get, intercept_elsewhere = ACTIVE.get, intercept_if_active(plan.kind)
    if plan.leaves_alone_while_untagged:
        return _make_intercept_unless_plain(plan, event, variant)
    if DISPATCH.is_used:
        return DISPATCH.EveryCallee(event, variant, intercept_elsewhere)

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


# ---- event runners: the functions that run the events of one kind for one variant

_CALLED_BY_IDENTITY: Final = (FunctionType, BuiltinFunctionType, MethodDescriptorType)


def event_of(plan: EventPlan) -> Callable[..., Any]:
    """`event(callee, *arguments, **keywords)` runs an event of a plan, whichever variant is active."""
    callbacks = Callbacks(plan.targets)
    event = make_event(plan, make_call(plan, callbacks), None, plan.prehooks, plan.posthooks, plan.errorhooks)
    callbacks.event = event
    return event


class EventRunner:
    """The events of one kind for one variant.

    Attributes
    ----------
    event:
        `event(callee, *arguments, **keywords)` runs a whole event.
    with_overloads:
        `with_overloads(callee)` is the callee, or a proxy that chooses an overload. The hooks run at the call site.
    intercept, intercept_positional:
        `intercept(callee)` is the callee, or a proxy that runs the event. The second is for call sites that hand no
        callback on by keyword.
    shortcuts:
        What calls a target itself, by the target's identity, for call sites without keywords and splats.
    leaf_events:
        What calls higher-order leaves; the leaf is its first argument.
    """

    def __init__(self, variant: Any, plan: EventPlan, accelerated: AcceleratedHooks | None = None) -> None:
        self.plan = plan
        self.prehooks, self.posthooks, self.errorhooks = plan.prehooks, plan.posthooks, plan.errorhooks
        self.propagation = plan.propagation
        self.only_propagates, self.may_fail = plan.only_propagates, plan.may_fail
        self.only_moves_metadata = plan.only_moves_metadata
        self._variant = variant
        callbacks = Callbacks(plan.targets)
        self.call = make_call(plan, callbacks)
        if accelerated is None:
            self.event = make_event(plan, self.call, variant, self.prehooks, self.posthooks, self.errorhooks)
        else:
            self.event = make_accelerated_event(accelerated, int(plan.kind), variant)
        callbacks.event = self.event
        self.with_overloads = make_with_overloads(plan, self.call)
        by_identity = {
            key
            for key in (*plan.single_overloads, *plan.typed_overloads)
            if type(plan.targets[key]) in _CALLED_BY_IDENTITY and key not in READERS
        }
        self.shortcuts = ShortcutTable(by_identity, self._overload_event_of_target)
        self.leaf_events: tuple[Callable[..., Any], ...] = ()
        self.intercept = self._make_intercept(HIGHER_ORDER.by_id)
        self.intercept_positional = self._make_intercept(HIGHER_ORDER.positional)

    def _single_overload_event(self, key: int, of_target_itself: bool) -> Callable[..., Any]:
        """The event of the target with this identity, which has a single overload."""
        target, found = self.plan.targets[key], self.plan.single_overloads[key]
        return make_single_overload_event(self.event, self._variant, target, *found, of_target_itself=of_target_itself)

    def _overload_event_of_target(self, key: int) -> Callable[..., Any]:
        """What calls of the target itself run, which has overloads of one context."""
        if key in self.plan.single_overloads:
            return self._single_overload_event(key, of_target_itself=True)
        return make_typed_overload_event(
            self.event, self._variant, self.plan.targets[key], *self.plan.typed_overloads[key]
        )

    def _make_intercept(self, leaves: dict[int, Any]) -> Callable[[Any], Any]:
        """`intercept` for call sites that may hand callbacks on to these higher-order leaves."""
        plan, by_keyword = self.plan, HIGHER_ORDER.by_id
        if not (plan.targets and plan.is_call):
            leaves = by_keyword = {}
        shortcuts = ShortcutTable(
            {key: found for key, found in plan.single_overloads.items() if key not in READERS},
            functools.partial(self._single_overload_event, of_target_itself=False),
            self.event,
        )
        if plan.propagation is None:
            leaf_event = make_leaf_event(self.event, {**leaves, **plan.targets})
            self.leaf_events += (leaf_event,)
            shortcuts.update(dict.fromkeys(leaves.keys() - plan.targets.keys(), leaf_event))
        if plan.takes_everything:
            return make_intercept_everything(plan, self.event, self._variant)
        if not plan.targets:
            return intercept_nothing
        return make_intercept_targets(plan, self._variant, leaves, by_keyword, shortcuts)

    def proxy_of(self, callee: Any) -> Any:
        """What `intercept` returns, for callees that something keeps: what it keeps can be compared, as a function."""
        return Callee(self.event, callee) if self.plan.takes_everything else self.intercept(callee)

    def with_missing_hooks(self, shape: Shape, others: dict[tuple[str, int], Any]) -> Callable[[Any], Any]:
        """`with_overloads` for call sites that were rewritten for a shape: it also runs the hooks that they lack.

        `others` are the hooks to run where the method of a context runs at the call site itself.
        """

        def missing(which: str, hooks: list[LevelHook]) -> list[LevelHook]:
            found = []
            for number, hook in hooks:
                context = shape.contexts[number]
                is_at_site = self.plan.kind in context.events and getattr(context, which)
                wanted = others.get((which, number)) if is_at_site else hook
                if wanted is not None:
                    found.append((number, wanted))
            return found

        prehooks, posthooks = missing("prehook", self.prehooks), missing("posthook", self.posthooks)
        errorhooks = [] if self.plan.kind in shape.has_errorhooks else self.errorhooks
        event = make_event(self.plan, self.call, None, prehooks, posthooks, errorhooks)

        @hidden
        def with_missing_hooks(callee: Any) -> Any:
            return Callee(event, callee)

        return with_missing_hooks
