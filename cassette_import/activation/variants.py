"""Variants: what a stack of context types needs at events, computed once per stack and again after registrations."""

from __future__ import annotations

import functools
import itertools
import operator
import threading
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from cassette_import.activation.tagging_modules import propagation
from cassette_import.interpreter.callables import PROPERTIES
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.own_work import own_work
from cassette_import.rewriting import variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.shape import TAGGED, ContextShape, Shape
from cassette_import.rewriting.symbols import When
from cassette_import.rewriting.variant_names import VariantNames
from cassette_import.runtime.dispatch import accelerated_hooks
from cassette_import.runtime.dispatch.accelerated_hooks import AcceleratedHooks
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.dispatch.bound_hooks import (
    bind_hook,
    hook_without_arguments,
    ignores_arguments,
    no_hook,
    overload_finder,
    overloads_of_one_context,
    splitting,
    target_events,
)
from cassette_import.runtime.dispatch.event_plan import EventPlan, Level, OverloadTable, make_failed, make_failed_call
from cassette_import.runtime.dispatch.event_runner import EventRunner, NoTargets, event_of
from cassette_import.runtime.dispatch.guards import Guards
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.dispatch.hook_functions import HOOKS, KINDS
from cassette_import.runtime.dispatch.hook_points import Table
from cassette_import.runtime.names import NAMES, cell_attributes, make_cell
from cassette_import.runtime.state import IN_USE, Activation
from cassette_import.runtime.variant import Family

# ---- keys: what decides how functions are specialised for one context


class VariantKey:
    """What decides how functions are specialised for one context.

    There is one object for each value, so keys are compared by identity.
    """

    __slots__ = ("context_type", "events", "hooks", "passes", "tagging")
    _known: ClassVar[dict[Any, VariantKey]] = {}

    def __init__(self, context_type: type, events: Events, hooks: bool, passes: tuple[Any, ...], tagging: bool) -> None:
        self.context_type = context_type
        self.events = events
        self.hooks = hooks
        self.passes = passes
        self.tagging = tagging

    @classmethod
    def of(
        cls,
        context_type: type,
        events: Events,
        hooks: bool = True,
        passes: Iterable[Any] = (),
        tagging: bool = False,
    ) -> VariantKey:
        """The key for these values."""
        passes = tuple(passes)
        value = context_type, int(events), hooks, passes, tagging
        return cls._known.get(value) or cls._known.setdefault(value, cls(context_type, events, hooks, passes, tagging))


# ---- context levels: what the context type at one level of a stack does at events


class ContextLevel:
    """The tables of one context type, and the kinds of events for which they matter."""

    __slots__ = ("key", "number", "primitives", "tables", "target_events")

    def __init__(self, number: int, key: VariantKey) -> None:
        self.number = number
        self.key = key
        has_table = {kind: key.hooks or kind not in HOOKS for kind in KINDS}
        self.tables = {kind: Table(key.context_type if has_table[kind] else object, kind) for kind in KINDS}
        self.primitives: set[str] = set()
        """The names of the operators among the targets."""
        self.target_events = target_events(self.tables.values(), self.primitives)
        """The kinds of events that calls of the targets are."""

    def wants(self, kind: Events) -> bool:
        """Whether events of this kind are events of the context."""
        return kind in self.key.events

    def bound(self, kind: Events) -> Level:
        """The hooks and the overloads for one kind of event, ready to be called."""
        wants_kind, tables = self.wants(kind), self.tables
        prehook, posthook, errorhook = (
            bind_hook(tables[hook], self.number, wants_kind, self.key.context_type) for hook in HOOKS
        )
        return Level(self.number, prehook, posthook, errorhook, overload_finder(tables["overdub"], wants_kind))

    def takes_all(self, kind: Events) -> bool:
        """Whether some hook or overload takes every event of a kind, or its values may be tagged."""
        if self.key.tagging and kind in TAGGED:
            return True
        return self.sees_all(kind)

    def sees_all(self, kind: Events) -> bool:
        """Whether some hook or overload takes every event of a kind, whichever function it is."""
        return self.wants(kind) and any(table.sees_everything for table in self.tables.values())

    def overloads_all(self, kind: Events) -> bool:
        """Whether some overload takes every event of a kind."""
        return self.wants(kind) and self.tables["overdub"].sees_everything

    def targets(self) -> dict[int, Any]:
        """The functions for which hooks and overloads are registered, by identity."""
        found: dict[int, Any] = {}
        for table in self.tables.values():
            found.update(table.targets)
        return found

    # ---- for the shape: kinds of events

    @property
    def _tagged(self) -> Events:
        return TAGGED if self.key.tagging else Events.NONE

    @property
    def taken_by_hooks(self) -> Events:
        """The kinds of events of which some hook takes every one, or whose values may be tagged."""
        takes_all = any(self.tables[hook].sees_everything for hook in HOOKS)
        return (self.key.events if takes_all else Events.NONE) | self._tagged

    @property
    def overloaded(self) -> Events:
        """The kinds of events that an overload may take. Higher-order leaves may call any target."""
        takes_all = self.tables["overdub"].sees_everything
        of_targets = self.target_events & Events.CALLS
        return (self.key.events if takes_all else Events.NONE) | self._tagged | of_targets

    @property
    def follows_bodies(self) -> bool:
        """Whether the context follows the bodies of generators and coroutines."""
        return self.key.hooks and bool(getattr(self.key.context_type, "follows_bodies", False))

    @property
    def has_errorhooks(self) -> Events:
        """The kinds of events whose exceptions an errorhook may get."""
        return self.key.events | self.target_events if self.tables["errorhook"] else Events.NONE

    def shape(self) -> ContextShape:
        """What a rewritten call site has to call for this context."""
        hooks = bool(self.tables["prehook"]), bool(self.tables["posthook"])
        takes_all = any(table.sees_everything for table in self.tables.values())
        events = (self.key.events if takes_all else Events.NONE) | self.target_events
        return ContextShape(
            events if any(hooks) else Events.NONE,
            *hooks,
            without_arguments=tuple(kind for kind in HOOKS if ignores_arguments(self.tables[kind])),
            is_accelerated=self.accelerated_hooks is not None,
        )

    @property
    def accelerated_hooks(self) -> AcceleratedHooks | None:
        """The hooks in C that do what the methods of the type do; None if there are none, or if handlers are there."""
        own = vars(self.key.context_type).get("_accelerated_hooks")
        if own is None or any(table.handlers for table in self.tables.values()) or self.tables["overdub"]:
            return None
        hooks: AcceleratedHooks = own.__get__(None, self.key.context_type)()
        return hooks if self.key.hooks and self.key.events == Events.CALLS else None


# ---- variants: what a stack of context types needs at events, computed once per stack and again after registrations

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch import hook_analysis, suspension
    from cassette_import.specialization.passes import pass_runner
else:
    (pass_runner,) = late("cassette_import.specialization.passes", "pass_runner")
    (hook_analysis,) = late("cassette_import.runtime.dispatch", "hook_analysis")
    (suspension,) = late("cassette_import.runtime.dispatch", "suspension")

_numbers = itertools.count(1)


class StackVariant:
    """A stack of context types, and what compiled bodies and call sites need for it."""

    def __init__(self, keys: tuple[VariantKey, ...], family: Family) -> None:
        self.keys = keys
        self.family = family
        self.is_superseded = False
        self.prefix = variant_names.variant_prefix(next(_numbers))
        self.name = " + ".join(key.context_type.__qualname__ for key in keys)
        self.tagging = any(key.tagging for key in keys)
        self.may_get_overloads = any(key.hooks and Events.CALLS in key.events for key in keys)
        self.instrumented_at: dict[frozenset[str], int] = {}
        self.runners: dict[int, EventRunner] = {}
        self.argument_free_hooks: dict[tuple[str, int], list[tuple[int, Callable[..., Any]]]] = {}
        self._import_events: dict[tuple[int, ...], Callable[..., Any]] = {}
        make_cell(variant_names.cell_of(self.prefix))
        self.guards = Guards(self.prefix)
        self.names = VariantNames(self.prefix)
        self._derived_hooks: list[str] = []
        self.shape = Shape(self.prefix)
        self._superseded_shape: Shape | None = None
        self._accelerated_hooks: AcceleratedHooks | None = None
        self.refresh()
        NAMES[self.prefix] = family
        NAMES[self.names.current] = self

    def __repr__(self) -> str:
        return f"<Variant {self.prefix}: {self.name}>"

    def refresh(self) -> bool:
        """Take new hooks and overloads into account; return whether bodies compiled so far do not fit any more."""
        levels = [ContextLevel(number, key) for number, key in enumerate(self.keys)]
        self._import_events = {}
        self.root_overloads = [overload_finder(level.tables["overdub"], True) for level in levels]
        for kind in Events:
            self._bind(kind, levels)
        self._has_overloads = self.tagging and any(NAMES[self.names.is_overloaded_at(kind)] for kind in Events)
        self._follow_metadata(self._has_overloads)
        self._accelerated_hooks = levels[0].accelerated_hooks or self._accelerated_hooks
        for name in self._derived_hooks:
            NAMES[name] = self._hook_of_name(name)
        self._bind_calls()
        shape = self._shape(levels)
        fits = shape == self.shape
        self.shape = shape
        if shape.is_accelerated:
            self._bind_accelerated()
        if self._superseded_shape is not None:
            self._serve(self._superseded_shape)
        return not fits

    # ---- what call sites load

    def _bind(self, kind: Events, levels: list[ContextLevel]) -> None:
        """Provide what call sites load for one kind of event."""
        plan = self._plan(kind, levels)
        for level, bound in zip(levels, plan.levels, strict=True):
            self._bind_hooks(kind, level, bound)
        is_accelerated = len(levels) == 1 and kind is Events.CALLS
        hooks = levels[0].accelerated_hooks if is_accelerated else None
        runner = self.runners[int(kind)] = EventRunner(self, plan, hooks)
        DISPATCH.note_change()
        names = self.names
        NAMES[names.event(kind)] = runner.event
        NAMES[names.overload(kind)] = runner.with_overloads
        NAMES[names.pick(kind)] = runner.intercept
        if self.tagging:
            NAMES[names.is_overloaded_at(kind)] = plan.is_overloaded and not (plan.is_call and plan.only_targets)

    def _follow_metadata(self, is_overloaded: bool) -> None:
        """Let bodies know when events have to be carried out: there is metadata, or an overload may take any event."""
        if self.tagging:
            attributes = [symbol.partition(".")[2] for symbol in (self.names.is_dispatched, self.names.begun)]
            cell = cell_attributes(variant_names.cell_of(self.prefix))
            propagation().follow_metadata(cell, *attributes, is_overloaded)

    def _plan(self, kind: Events, levels: list[ContextLevel]) -> EventPlan:
        """What the stack does with one kind of event."""
        targets: dict[int, Any] = {}
        overload_targets: dict[int, Any] = {}
        for level in levels:
            targets.update(level.targets())
            overload_targets.update(level.tables["overdub"].targets)
        if kind is Events.ATTRIBUTES and not PROPERTIES.keys().isdisjoint(targets):
            targets[id(getattr)] = overload_targets[id(getattr)] = getattr  # reading the attribute is calling it
        takes_everything = any(level.takes_all(kind) for level in levels)
        tables = [level.tables for level in levels]
        single, typed = ({}, {}) if self.tagging else overloads_of_one_context(tables, takes_everything)
        return EventPlan(
            kind,
            [level.bound(kind) for level in levels],
            takes_everything=takes_everything,
            overloads_everything=any(level.overloads_all(kind) for level in levels),
            targets=targets,
            overload_targets=overload_targets,
            single_overloads=single,
            typed_overloads=typed,
            overload_tables=[
                OverloadTable(level.number, level.key.context_type, level.tables["overdub"]) for level in levels
            ],
            propagation=propagation() if self.tagging else None,  # runs a call that no overload takes
            only_targets=not any(level.sees_all(kind) for level in levels),
        )

    def _bind_hooks(self, kind: Events, level: ContextLevel, bound: Level) -> None:
        """Provide the pre- and posthook of one context, also for call sites that pass no arguments."""
        hooks: tuple[tuple[When, Any], ...] = ("pre", bound.prehook), ("post", bound.posthook)
        for which, hook in hooks:
            name, table = self.names.hook(which, level.number, kind), level.tables[f"{which}hook"]
            NAMES[name] = hook or no_hook
            if level.wants(kind) and ignores_arguments(table):
                hook = hook_without_arguments(table, level.number, level.key.context_type)
                NAMES[variant_names.without_arguments(name)] = hook

    def _bind_calls(self) -> None:
        """Provide what call sites load for calls alone, and reset the guards."""
        names, calls = self.names, self.runners[int(Events.CALLS)]
        NAMES[names.failed] = make_failed(self.runners)
        NAMES[names.learn] = self.guards.make_learn(calls, intercept_if_active(Events.CALLS))
        NAMES[names.pick_callee(with_keywords=False)] = calls.intercept_positional
        NAMES[names.pick_callee(with_keywords=True)] = calls.intercept
        self.guards.forget()
        functions = [calls.plan.python_functions(leaves) for leaves in (HIGHER_ORDER.positional, HIGHER_ORDER.by_id)]
        no_targets = [NoTargets(known, calls.plan.builtin_names) for known in functions]
        self.guards.allow_tests(not calls.plan.takes_everything, *no_targets)
        if self.tagging:
            cell = cell_attributes(variant_names.cell_of(self.prefix))
            NAMES[names.plain], NAMES[names.claim] = self.guards.make_plain(calls, cell)
        NAMES[names.target_names] = calls.plan.builtin_names
        NAMES[names.target_classes] = calls.plan.classes
        for with_keywords, known in enumerate(functions):
            NAMES[names.target_functions(bool(with_keywords))] = known

    def _bind_accelerated(self, with_missing_hooks: Callable[[Any], Any] | None = None) -> None:
        """Provide what call sites of the accelerated form load."""
        hooks = self._accelerated_hooks
        assert hooks is not None
        names = self.names
        if with_missing_hooks is None:
            NAMES[names.failed] = accelerated_hooks.make_failed(hooks)
        else:
            hooks = accelerated_hooks.with_missing(hooks, with_missing_hooks)
            NAMES[names.failed] = make_failed_call(self.runners)
        NAMES[names.enter], NAMES[names.leave], _ = hooks

    def import_event(self, numbers: tuple[int, ...]) -> Callable[..., Any]:
        """Runs an import as one event, with the hooks and overloads of the contexts with these numbers."""
        event = self._import_events.get(numbers)
        if event is None:
            with own_work():
                levels = [ContextLevel(number, self.keys[number]) for number in numbers]
                event = self._import_events[numbers] = event_of(self._plan(Events.CALLS, levels))
            self.family.note_meeting()
        return event

    # ---- when another variant replaces this one

    def supersede(self, shape: Shape) -> None:
        """Note that another variant replaces this one. Bodies that still run were compiled for `shape`."""
        self.is_superseded = True
        self._superseded_shape = shape
        self.guards.supersede()
        self._serve(shape)

    def _serve(self, shape: Shape) -> None:
        """Make call sites that were compiled for a shape run the hooks for which they have no code."""
        for kind in Events:
            if kind in shape.overloads:
                with_missing_hooks = self.runners[int(kind)].with_missing_hooks(shape, self._beside(shape, kind))
                NAMES[self.names.overload(kind)] = with_missing_hooks
                NAMES[self.names.is_overloaded_at(kind)] = True
        self._follow_metadata(True)
        if shape.is_accelerated:
            self._bind_accelerated(NAMES[self.names.overload(Events.CALLS)])
        NAMES[self.names.is_overloaded] = True

    def _beside(self, shape: Shape, kind: Events) -> dict[tuple[str, int], Any]:
        """The handlers registered in addition to hook methods that call sites call without arguments."""
        found: dict[tuple[str, int], Any] = {}
        for number, (key, context) in enumerate(zip(self.keys, shape.contexts, strict=True)):
            for hook in ("prehook", "posthook"):
                if hook in context.without_arguments:
                    table = Table(key.context_type, hook)
                    table.method = None
                    found[hook, number] = bind_hook(table, number, kind in key.events, key.context_type)
        return found

    # ---- the shape: what the rewriter gets to know

    def _shape(self, levels: list[ContextLevel]) -> Shape:
        """What bodies are compiled for."""
        primitives = frozenset(name for level in levels for name in level.primitives)
        targets = _union(level.target_events & Events.CALLS for level in levels)
        everything = _union(level.taken_by_hooks for level in levels)
        overloads = _union(level.overloaded for level in levels)
        argument_free = Events.NONE
        self.argument_free_hooks = {}
        if not (targets or overloads or primitives or any(level.tables["errorhook"] for level in levels)):
            argument_free = _union(kind for kind in Events if self._bind_argument_free(kind, levels))
        NAMES[self.names.is_overloaded] = bool(overloads & Events.CALLS)
        # An overload that is registered while a function runs counts there, if its body has a place for overloads.
        if everything & ~argument_free & Events.CALLS:
            overloads |= Events.CALLS
        return Shape(
            self.prefix,
            tuple(level.shape() for level in levels) if everything else (ContextShape(),) * len(levels),
            everything=everything,
            targets=targets & ~everything,
            primitives=primitives,
            overloads=overloads,
            has_errorhooks=_union(level.has_errorhooks for level in levels),
            passes=any(level.key.passes for level in levels),
            tagging=self.tagging,
            argument_free=argument_free,
            follows_bodies=any(level.follows_bodies for level in levels),
            tags_beside_targets=self.tagging
            and bool(targets)
            and not any(level.sees_all(Events.CALLS) for level in levels),
            has_overloads=self._has_overloads,
            watches=any(hasattr(key.context_type, "loaded") for key in self.keys),
            sees_super=any(level.sees_all(Events.CALLS) or id(super) in level.targets() for level in levels),
        )

    def _bind_argument_free(self, kind: Events, levels: list[ContextLevel]) -> bool:
        """Provide the hooks of one kind of event, if all of them use nothing but their context; return whether."""
        hooks: list[tuple[ContextLevel, When, Table]] = [
            (level, which, level.tables[f"{which}hook"])
            for level in levels
            for which in get_args(When)
            if level.wants(kind) and level.tables[f"{which}hook"]
        ]
        if not all(
            not table.handlers
            and table.method
            and hook_analysis.touches_only_context(table.method, level.key.context_type)
            for level, _, table in hooks
        ):
            return False
        for level, which, table in hooks:
            assert table.method is not None
            hook = hook_analysis.passing_value_through(table.method, kind.name or "")
            NAMES[self.names.argument_free_hook(which, level.number, kind)] = hook
            in_order = self.argument_free_hooks.setdefault((which, int(kind)), [])
            in_order.insert(len(in_order) if which == "pre" else 0, (level.number, hook))
        return True

    def apply_passes(self, function: FunctionType, tree: Any, source: str) -> Any:
        """Run the contexts' passes on a function's tree, outermost first; None if there are no passes."""
        if not self.shape.passes:
            return None
        for level, key in enumerate(self.keys):
            if key.passes:
                tree = pass_runner.apply(key.passes, key.context_type, level, function, tree, source)
        return tree

    def apply_module_passes(self, tree: Any) -> None:
        """Run the contexts' passes for module levels on a module's node, in place, outermost first."""
        if self.shape.passes:
            for level, key in enumerate(self.keys):
                pass_runner.apply_to_module(key.passes, level, tree)

    # ---- the names that rewritten code uses

    def bind_names(self, names: Iterable[str]) -> None:
        """Bind attributes of the cell that code reads, before it runs: guards, and forms of hooks for call sites."""
        bound = cell_attributes(variant_names.cell_of(self.names.prefix))
        for attribute in self.guards.provide(names):
            if attribute not in bound:
                name = self.names.of(attribute)
                made = self._hook_of_name(name)
                if made is not None:
                    self._derived_hooks.append(name)
                    NAMES[name] = made

    def _hook_of_name(self, name: str) -> Callable[..., Any] | None:
        """The form of a hook that call sites of a kind load by a name; None if it is another name."""
        hook = self.names.splitting_hook(name)
        if hook is not None:
            if hook.name not in NAMES:
                return None  # it is a hook of another variant of the code
            return splitting(NAMES[hook.name], 1 if hook.when == "pre" else 2, hook.arity)
        found = self.names.hook_with_arity(name)
        return None if found is None or found[0] not in NAMES else suspension.with_arity(NAMES[found[0]], found[1])


def _union(kinds: Iterable[Events]) -> Events:
    return functools.reduce(operator.or_, kinds, Events.NONE)


# ---- all variants by their keys, so that hooks and overloads registered later reach them

if TYPE_CHECKING:
    from cassette_import.activation import earlier_holders
else:
    (earlier_holders,) = late("cassette_import.activation", "earlier_holders")


class Variants:
    """All variants by their keys."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.by_keys: dict[tuple[VariantKey, ...], StackVariant] = {}
        self._families: dict[tuple[VariantKey, ...], Family] = {}
        self._superseded: dict[tuple[VariantKey, ...], list[StackVariant]] = {}

    def of(self, keys: tuple[VariantKey, ...]) -> StackVariant:
        """The current variant for these keys."""
        found = self.by_keys.get(keys)
        if found is None:
            HIGHER_ORDER.add_subclasses()
            with self.lock, own_work():
                family = self._families.setdefault(keys, Family())
                found = self.by_keys.setdefault(keys, StackVariant(keys, family))
            if any(getattr(key.context_type, "names_earlier_holders", False) for key in keys):
                earlier_holders.warn_of_holders(found)  # its contexts are entered for the first time
        return found

    def refresh(self) -> None:
        """Take a new higher-order leaf into account."""
        with self.lock, own_work():
            for variant in self.by_keys.values():
                variant.refresh()

    def changed(self, context_type: type) -> list[Activation]:
        """Refresh variants after a hook or overload was registered; return the activations that need another one."""
        with self.lock, own_work():
            outdated = []
            for keys, variant in list(self.by_keys.items()):
                if not any(issubclass(key.context_type, context_type) for key in keys):
                    continue
                for superseded in self._superseded.get(keys, ()):
                    superseded.refresh()
                shape = variant.shape
                if variant.refresh():
                    del self.by_keys[keys]
                    self._superseded.setdefault(keys, []).append(variant)
                    variant.supersede(shape)
                    outdated += [item for item in set(IN_USE.values()) if item.variant is variant]
            return outdated


variants: Final = Variants()
HIGHER_ORDER.listeners.append(variants.refresh)
