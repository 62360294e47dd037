"""Context levels: what the context type at one level of a stack does at events."""

from __future__ import annotations

from typing import Any

from cassette_import.activation.keys import VariantKey
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.shape import TAGGED, ContextShape
from cassette_import.runtime.dispatch.accelerated_hooks import AcceleratedHooks
from cassette_import.runtime.dispatch.bound_hooks import bind_hook, ignores_arguments, overload_finder, target_events
from cassette_import.runtime.dispatch.event_plan import Level
from cassette_import.runtime.dispatch.handler_table import Table
from cassette_import.runtime.dispatch.hook_functions import HOOKS, KINDS


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
