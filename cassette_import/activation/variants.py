"""Variants: what a stack of context types needs at its events, computed once per stack and kept fresh.

Knows context types and their tables of handlers; must not know source, or what instances of contexts hold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, ClassVar, get_args

from cassette_import.interpreter.callables import PROPERTIES
from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.shape import TAGGED, ContextShape, Shape
from cassette_import.rewriting.symbols import VariantNames, When
from cassette_import.runtime.dispatch.active_interception import intercept_if_active
from cassette_import.runtime.dispatch.bound_hooks import (
    argument_free_hook,
    bind_hook,
    is_argument_free,
    no_hook,
    overload_finder,
    single_overloads,
    target_events,
)
from cassette_import.runtime.dispatch.event_plan import EventPlan, Level
from cassette_import.runtime.dispatch.event_runner import EventRunner
from cassette_import.runtime.dispatch.failed_events import make_failed
from cassette_import.runtime.dispatch.guards import Guards
from cassette_import.runtime.dispatch.handler_table import Table
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.dispatch.hook_analysis import passing_value_through, touches_only_context
from cassette_import.runtime.dispatch.hook_functions import HOOKS, KINDS
from cassette_import.runtime.dispatch.suspension import with_arity
from cassette_import.runtime.names import NAMES, PROVIDED
from cassette_import.runtime.variant import Family
from cassette_import.specialization.passes import apply

_numbers = itertools.count(1)


class Key:
    """What decides how one context is specialised for. There is one object per value: keys are compared by identity."""

    __slots__ = ("context_type", "events", "hooks", "passes", "tagging")
    _known: ClassVar[dict[Any, Key]] = {}

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
    ) -> Key:
        """The key for these values."""
        passes = tuple(passes)
        value = context_type, int(events), hooks, passes, tagging
        return cls._known.get(value) or cls._known.setdefault(value, cls(context_type, events, hooks, passes, tagging))


class StackVariant:
    """A stack of context types with all that their events need."""

    def __init__(self, keys: tuple[Key, ...], family: Family) -> None:
        self.keys = keys
        self.family = family
        self.is_superseded = False
        self.prefix = symbols.variant_prefix(next(_numbers))
        self.name = " + ".join(key.context_type.__qualname__ for key in keys)
        self.tagging = any(key.tagging for key in keys)
        self.may_get_overloads = any(key.hooks and Events.CALLS in key.events for key in keys)
        self.instrumented_at: dict[frozenset[str], int] = {}
        self.runners: dict[int, EventRunner] = {}
        self.argument_free_hooks: dict[tuple[str, int], list[tuple[int, Callable[..., Any]]]] = {}
        self.guards = Guards(self.prefix)
        self.names = VariantNames(self.prefix)
        self._with_arity: list[str] = []
        self.shape = Shape(self.prefix)
        self._superseded_shape: Shape | None = None
        self.refresh()
        NAMES[self.prefix] = family
        PROVIDED.show()

    def __repr__(self) -> str:
        return f"<Variant {self.prefix}: {self.name}>"

    def refresh(self) -> bool:
        """Take in what was registered since; return whether bodies made so far do not fit any more."""
        tables = [{kind: Table(key.context_type, kind) for kind in KINDS} for key in self.keys]
        for key, own in zip(self.keys, tables, strict=True):
            if not key.hooks:
                for hook in HOOKS:
                    own[hook] = Table(object, hook)
        self.root_overloads = [overload_finder(own["overdub"], True) for own in tables]
        for kind in Events:
            self._bind(kind, tables)
        for name in self._with_arity:
            self._bind_arity(name)
        names = self.names
        NAMES[names.failed] = make_failed(self.runners)
        calls = self.runners[int(Events.CALLS)]
        NAMES[names.learn] = self.guards.make_learn(calls, intercept_if_active(Events.CALLS))
        NAMES[names.pick_callee(with_keywords=False)] = calls.intercept_positional
        NAMES[names.pick_callee(with_keywords=True)] = calls.intercept
        self.guards.forget()
        self.guards.allow_tests(not calls.plan.takes_everything)
        NAMES[names.target_names] = calls.plan.builtin_names
        NAMES[names.target_functions(with_keywords=False)] = calls.plan.python_functions(HIGHER_ORDER.positional)
        NAMES[names.target_functions(with_keywords=True)] = calls.plan.python_functions(HIGHER_ORDER.by_id)
        shape = self._shape(tables)
        fits = shape == self.shape
        self.shape = shape
        if self._superseded_shape is not None:
            self._serve(self._superseded_shape)
        return not fits

    def supersede(self, shape: Shape) -> None:
        """Another variant takes the place of this one; bodies that are being executed were made for `shape`."""
        self.is_superseded = True
        self._superseded_shape = shape
        self.guards.supersede()
        self._serve(shape)

    def _serve(self, shape: Shape) -> None:
        """Have call sites that were made for a shape run the hooks that they have no place for."""
        for kind in Events:
            if kind in shape.overloads:
                with_missing_hooks = self.runners[int(kind)].with_missing_hooks(shape, self._beside(shape, kind))
                NAMES[self.names.overload(kind)] = with_missing_hooks
                NAMES[self.names.is_overloaded_at(kind)] = True
        NAMES[self.names.is_overloaded] = True

    def _beside(self, shape: Shape, kind: Events) -> dict[tuple[str, int], Any]:
        """What is registered beside methods that are not given the arguments of calls, where they stand."""
        found: dict[tuple[str, int], Any] = {}
        for number, (key, context) in enumerate(zip(self.keys, shape.contexts, strict=True)):
            for hook in ("prehook", "posthook"):
                if hook in context.without_arguments:
                    table = Table(key.context_type, hook)
                    table.method = None
                    found[hook, number] = bind_hook(table, number, kind in key.events, key.context_type)
        return found

    # ---- the shape: what the rewriter is told

    def _shape(self, tables: list[dict[str, Table]]) -> Shape:
        everything = targets = overloads = watched = Events.NONE
        primitives: set[str] = set()
        contexts = []
        for key, own in zip(self.keys, tables, strict=True):
            seen = target_events(own.values(), primitives)
            targets |= seen & Events.CALLS
            if own["prehook"].sees_everything or own["posthook"].sees_everything:
                everything |= key.events
            if own["errorhook"].sees_everything:
                everything |= key.events
            if own["errorhook"]:
                watched |= key.events | seen
            if own["overdub"].sees_everything:
                overloads |= key.events
            if key.tagging:
                everything |= TAGGED
                overloads |= TAGGED
            overloads |= seen & Events.CALLS  # targets are also met as callbacks of higher-order leaves
            hooks = bool(own["prehook"]), bool(own["posthook"])
            sees_everything = any(table.sees_everything for table in own.values())
            contexts.append(
                ContextShape(
                    (key.events if sees_everything else Events.NONE) | seen if any(hooks) else Events.NONE,
                    *hooks,
                    without_arguments=tuple(kind for kind in HOOKS if is_argument_free(own[kind])),
                )
            )
        passes = any(key.passes for key in self.keys)
        blind = self._blind(tables, targets, overloads, primitives)
        NAMES[self.names.is_overloaded] = bool(overloads & Events.CALLS)
        # An overload that is registered while a function runs counts there, if its body has a place for overloads.
        if everything & ~blind & Events.CALLS:
            overloads |= Events.CALLS
        return Shape(
            self.prefix,
            tuple(contexts) if everything else (ContextShape(),) * len(contexts),
            everything=everything,
            targets=targets & ~everything,
            primitives=frozenset(primitives),
            overloads=overloads,
            watched=watched,
            passes=passes,
            tagging=self.tagging,
            blind=blind,
        )

    def _blind(
        self, tables: list[dict[str, Table]], targets: Events, overloads: Events, primitives: set[str]
    ) -> Events:
        """The kinds of events at which only hooks are called that look at nothing but their context."""
        self.argument_free_hooks = {}
        if targets or overloads or primitives:
            return Events.NONE
        found = Events.NONE
        for kind in Events:
            if any(own["errorhook"] for own in tables):
                break
            hooks = [
                (level, key, which, own[f"{which}hook"])
                for level, (key, own) in enumerate(zip(self.keys, tables, strict=True))
                for which in get_args(When)
                if kind in key.events and own[f"{which}hook"]
            ]
            if all(
                not table.handlers and table.method and touches_only_context(table.method, key.context_type)
                for _, key, _, table in hooks
            ):
                found |= kind
                for level, _, which, table in hooks:
                    assert table.method is not None
                    hook = passing_value_through(table.method)
                    NAMES[self.names.argument_free_hook(which, level, kind)] = hook
                    own_hooks = self.argument_free_hooks.setdefault((which, int(kind)), [])
                    own_hooks.insert(len(own_hooks) if which == "pre" else 0, (level, hook))
        return found

    def passed(self, function: FunctionType, tree: Any, source: str) -> Any:
        """What the contexts' passes make of a function, outermost first; None if there are none."""
        if not self.shape.passes:
            return None
        for level, key in enumerate(self.keys):
            if key.passes:
                tree = apply(key.passes, key.context_type, level, function, tree, source)
        return tree

    def _conductor(self) -> Any:
        """What carries out a call that no overload takes, where values may be tagged."""
        if not self.tagging:
            return None
        # Imported for the first context that tags values: the rules name many functions.
        from cassette_import.runtime.tagging import propagation

        return propagation

    # ---- the names that rewritten code uses

    def provide(self, code: CodeType) -> None:
        """Make the names that the code uses, before it runs."""
        self.guards.provide(code)
        self._provide_hooks(code)

    def _provide_hooks(self, code: CodeType) -> None:
        for name in code.co_names:
            if name not in NAMES and self.names.hook_with_arity(name) is not None:
                self._with_arity.append(name)
                self._bind_arity(name)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._provide_hooks(const)

    def _bind_arity(self, name: str) -> None:
        found = self.names.hook_with_arity(name)
        assert found is not None
        hook, count = found
        NAMES[name] = with_arity(NAMES[hook], count)

    def _bind(self, kind: Events, tables: list[dict[str, Table]]) -> None:
        levels, names = [], self.names
        everything = overloads_everything = False
        targets: dict[int, Any] = {}
        overload_targets: dict[int, Any] = {}
        for number, (key, own) in enumerate(zip(self.keys, tables, strict=True)):
            asked = kind in key.events
            level = Level(
                number,
                bind_hook(own["prehook"], number, asked, key.context_type),
                bind_hook(own["posthook"], number, asked, key.context_type),
                bind_hook(own["errorhook"], number, asked, key.context_type),
                overload_finder(own["overdub"], asked),
            )
            levels.append(level)
            everything = everything or (asked and any(table.sees_everything for table in own.values()))
            overloads_everything = overloads_everything or (asked and own["overdub"].sees_everything)
            if key.tagging and kind in TAGGED:
                everything = True
            for table in own.values():
                targets.update(table.targets)
            overload_targets.update(own["overdub"].targets)
            if kind is Events.ATTRIBUTES and not PROPERTIES.keys().isdisjoint(targets):
                targets[id(getattr)] = overload_targets[id(getattr)] = getattr
            hooks: tuple[tuple[When, Any], ...] = ("pre", level.prehook), ("post", level.posthook)
            for which, hook in hooks:
                name, table = names.hook(which, number, kind), own[f"{which}hook"]
                NAMES[name] = hook or no_hook
                if asked and is_argument_free(table):
                    NAMES[symbols.without_arguments(name)] = argument_free_hook(table, number, key.context_type)
        plan = EventPlan(
            kind,
            levels,
            takes_everything=everything,
            overloads_everything=overloads_everything,
            targets=targets,
            overload_targets=overload_targets,
            single_overloads={} if self.tagging else single_overloads(tables, everything),
            propagation=self._conductor(),
        )
        runner = self.runners[int(kind)] = EventRunner(self, plan)
        NAMES[names.event(kind)] = runner.event
        NAMES[names.overload(kind)] = runner.with_overloads
        NAMES[names.pick(kind)] = runner.intercept
        if self.tagging:
            NAMES[names.is_overloaded_at(kind)] = plan.is_overloaded
