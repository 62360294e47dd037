"""Event runners: the functions that run the events of one kind for one variant.

A runner puts together what the other files of the package make, and decides nothing at an event. Rewritten code loads
its functions by the names that `rewriting.variant_names.VariantNames` spells.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.shape import Shape
from cassette_import.runtime.dispatch.accelerated_hooks import AcceleratedHooks, make_accelerated_event
from cassette_import.runtime.dispatch.callee_interception import (
    intercept_nothing,
    make_intercept_everything,
    make_intercept_targets,
    make_with_overloads,
)
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.event_execution import Callbacks, make_call, make_event
from cassette_import.runtime.dispatch.event_plan import EventPlan, LevelHook
from cassette_import.runtime.dispatch.frame_readers import READERS
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.dispatch.shortcut_events import (
    ShortcutTable,
    make_leaf_event,
    make_single_overload_event,
    make_typed_overload_event,
)

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
