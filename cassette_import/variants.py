"""Variants: what a stack of context types needs at its events, computed once per stack and kept fresh.

Knows context types and their tables of handlers; must not know source, or what instances of contexts hold.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, ClassVar, Final

from cassette_import.active import IN_USE, NAMES, PROVIDED, Activation
from cassette_import.dispatch import KINDS, Table
from cassette_import.events import Events
from cassette_import.functions import known_as_hook, positional_only
from cassette_import.guards import Guards
from cassette_import.harmless import of_context_alone, only_keeps, reads_no_arguments, touches_only_itself, without_rest
from cassette_import.leaves import HIGHER_ORDER
from cassette_import.passes import apply
from cassette_import.primitives import EVENT_OF, NAME_OF
from cassette_import.rewrite.shape import ContextShape, Shape
from cassette_import.runtime import EventRunner, Level, make_failed, pick_anywhere
from cassette_import.suspension import of_arity, suspended

_numbers = itertools.count(1)

TAGGED: Final = Events.ALL & ~(Events.TRUTH | Events.CONTROL)
"""The kinds of events at which tagged values are conducted; at the others the rewriter takes the wrappers off."""


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


class Variant:
    """A stack of context types with all that their events need."""

    def __init__(self, keys: tuple[Key, ...], family: object) -> None:
        self.keys = keys
        self.family = family
        self.is_superseded = False
        self.prefix = f"@{next(_numbers)}"
        self.name = " + ".join(key.context_type.__qualname__ for key in keys)
        self.active = 0
        self.tagging = any(key.tagging for key in keys)
        self.may_get_overloads = any(key.hooks and Events.CALLS in key.events for key in keys)
        self.armed: dict[frozenset[str], int] = {}
        self.runners: dict[int, EventRunner] = {}
        self.blind: dict[tuple[str, int], list[tuple[int, Callable[..., Any]]]] = {}
        self.guards = Guards(self.prefix)
        self._hook_marks = f"{self.prefix}.pre", f"{self.prefix}.post"
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
                for hook in ("prehook", "posthook", "errorhook"):
                    own[hook] = Table(object, hook)
        self.root_overloads = [_finder(own["overdub"], True) for own in tables]
        for kind in Events:
            self._bind(kind, tables)
        for name in self._with_arity:
            self._bind_arity(name)
        NAMES[f"{self.prefix}.failed"] = make_failed(self.runners)
        calls = self.runners[int(Events.CALLS)]
        NAMES[f"{self.prefix}.learn"] = self.guards.make_learn(calls, pick_anywhere(Events.CALLS))
        NAMES[f"{self.prefix}.pick.1"], NAMES[f"{self.prefix}.pickk.1"] = calls.pick_positional, calls.pick
        self.guards.forget()
        self.guards.know_targets(calls.knows_targets)
        NAMES[f"{self.prefix}.names"] = calls.names()
        NAMES[f"{self.prefix}.functions"] = calls.functions(with_callbacks=False)
        NAMES[f"{self.prefix}.functionsk"] = calls.functions(with_callbacks=True)
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
                NAMES[f"{self.prefix}.over.{int(kind)}"] = self.runners[int(kind)].over_beside(shape)
        NAMES[f"{self.prefix}.overloaded"] = True

    # ---- the shape: what the rewriter is told

    def _shape(self, tables: list[dict[str, Table]]) -> Shape:
        everything = targets = overloads = watched = Events.NONE
        primitives: set[str] = set()
        contexts = []
        for key, own in zip(self.keys, tables, strict=True):
            seen = _target_events(own.values(), primitives)
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
                    without_arguments=frozenset(kind for kind in _LEADING if _is_blind_to_arguments(own[kind], kind)),
                )
            )
        passes = any(key.passes for key in self.keys)
        blind = self._blind(tables, targets, overloads, primitives)
        NAMES[f"{self.prefix}.overloaded"] = bool(overloads & Events.CALLS)
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
        self.blind = {}
        if targets or overloads or primitives:
            return Events.NONE
        found = Events.NONE
        for kind in Events:
            if any(own["errorhook"] for own in tables):
                break
            hooks = [
                (level, key, which, own[f"{which}hook"])
                for level, (key, own) in enumerate(zip(self.keys, tables, strict=True))
                for which in ("pre", "post")
                if kind in key.events and own[f"{which}hook"]
            ]
            if all(
                not table.handlers and table.method and touches_only_itself(table.method, key.context_type)
                for _, key, _, table in hooks
            ):
                found |= kind
                for level, _, which, table in hooks:
                    assert table.method is not None
                    hook = of_context_alone(table.method)
                    NAMES[f"{self.prefix}.blind{which}{level}.{int(kind)}"] = hook
                    own_hooks = self.blind.setdefault((which, int(kind)), [])
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
        from importlib import import_module  # only where they are wanted: they know many functions

        import_module("cassette_import.tagging.api")
        return import_module("cassette_import.tagging.conduct")

    # ---- the names that rewritten code uses

    def provide(self, code: CodeType) -> None:
        """Make the names that the code uses, before it runs."""
        self.guards.provide(code)
        self._provide_hooks(code)

    def _provide_hooks(self, code: CodeType) -> None:
        for name in code.co_names:
            if name.startswith(self._hook_marks) and name.count(".") == _DOTS_WITH_ARITY and name not in NAMES:
                self._with_arity.append(name)
                self._bind_arity(name)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self._provide_hooks(const)

    def _bind_arity(self, name: str) -> None:
        hook, _, count = name.rpartition(".")
        NAMES[name] = of_arity(NAMES[hook], int(count))

    def _bind(self, kind: Events, tables: list[dict[str, Table]]) -> None:
        levels = []
        everything = overloads_everything = False
        targets: dict[int, Any] = {}
        overload_targets: dict[int, Any] = {}
        for number, (key, own) in enumerate(zip(self.keys, tables, strict=True)):
            asked = kind in key.events
            level = Level(
                number,
                _hook(own["prehook"], number, asked, key.context_type, leading=2),
                _hook(own["posthook"], number, asked, key.context_type, leading=3),
                _hook(own["errorhook"], number, asked, key.context_type, leading=3),
                _finder(own["overdub"], asked),
            )
            levels.append(level)
            everything = everything or (asked and any(table.sees_everything for table in own.values()))
            overloads_everything = overloads_everything or (asked and own["overdub"].sees_everything)
            if key.tagging and kind in TAGGED:
                everything = overloads_everything = True
            for table in own.values():
                targets.update(table.targets)
            overload_targets.update(own["overdub"].targets)
            for which, hook in (("pre", level.prehook), ("post", level.posthook)):
                name, table = f"{self.prefix}.{which}{number}.{int(kind)}", own[f"{which}hook"]
                NAMES[name] = hook or _nothing
                if asked and _is_blind_to_arguments(table, f"{which}hook"):
                    NAMES[f"{name}.alone"] = _hook_alone(table, f"{which}hook", number, key.context_type)
        runner = EventRunner(
            self,
            kind,
            levels,
            everything,
            overloads_everything,
            targets,
            overload_targets,
            {} if self.tagging else _singles(tables, everything),
            self._conductor(),
        )
        self.runners[int(kind)] = runner
        NAMES[f"{self.prefix}.event.{int(kind)}"] = runner.event
        NAMES[f"{self.prefix}.over.{int(kind)}"] = runner.over
        NAMES[f"{self.prefix}.pick.{int(kind)}"] = runner.pick


_DOTS_WITH_ARITY: Final = 3
"""`@7.pre0.1.2`: a hook for call sites that give it two arguments."""


def _singles(tables: list[dict[str, Table]], everything: bool) -> dict[int, tuple[int, Any]]:
    """The targets at which nothing happens but one overload of one context: level and handler, by identity."""
    found: dict[int, tuple[int, Any]] = {}
    if everything or any(table.untargeted or table.method for own in tables for table in own.values()):
        return found
    hooked = {key for own in tables for kind, table in own.items() if kind != "overdub" for key in table.targets}
    for number, own in enumerate(tables):
        for key, target in own["overdub"].targets.items():
            handler = own["overdub"].only_handler(target)
            elsewhere = sum(key in other["overdub"].targets for other in tables)
            if handler is not None and key not in hooked and elsewhere == 1:
                found[key] = number, handler
    return found


def _nothing(*arguments: Any, **keywords: Any) -> None:
    """The hook of a context that has none for this kind of event."""


def _target_events(tables: Iterable[Table], primitives: set[str]) -> Events:
    """The kinds of events that the targets of a context's handlers occur in; operators' names are added to
    `operators`."""
    kinds = Events.NONE
    for table in tables:
        for identity in table.targets:
            kinds |= Events.CALLS
            name = NAME_OF.get(identity)
            if name is not None:
                primitives.add(name)
                kinds |= EVENT_OF[name]
    return kinds


def _hook(table: Table, number: int, asked: bool, context_type: type, leading: int) -> Callable[..., Any] | None:
    """What to call for an event: the method, which sees every event asked for, and the registered handler that fits
    best."""
    method = positional_only(table.method, leading) if asked and table.method is not None else None
    handlers = bool(table.targets) or (asked and bool(table.untargeted))
    if method is not None and not handlers:
        assert table.method is not None
        return method_hook(table.method, number, context_type, leading)
    if not handlers:
        return None
    find, targets = table.find, table.targets
    if leading == 2:

        def choose(context: Any, function: Any, /, *arguments: Any, **keywords: Any) -> None:
            if method is not None:
                method(context, function, *arguments, **keywords)
            if asked or id(function) in targets:
                handler = find(context, function, arguments, keywords)
                if handler is not None:
                    handler(context, function, *arguments, **keywords)

        return suspended(choose, number)

    def choose_after(context: Any, outcome: Any, function: Any, /, *arguments: Any, **keywords: Any) -> None:
        if asked or id(function) in targets:
            handler = find(context, function, arguments, keywords, outcome)
            if handler is not None:
                handler(context, outcome, function, *arguments, **keywords)
        if method is not None:
            method(context, outcome, function, *arguments, **keywords)

    return suspended(choose_after, number)


_LEADING: Final = {"prehook": 2, "posthook": 3, "errorhook": 3}
"""How many parameters of a hook come before the arguments of the call."""


def _is_blind_to_arguments(table: Table, kind: str) -> bool:
    """Whether all there is for a kind of hook is a method that never looks at the arguments of calls."""
    if table.method is None:
        return not table.handlers
    return not table.handlers and reads_no_arguments(table.method, _LEADING[kind])


def _hook_alone(table: Table, kind: str, number: int, context_type: type) -> Callable[..., Any]:
    """Such a hook for call sites that do not give it any."""
    if table.method is None:
        return _nothing
    made = positional_only(table.method, _LEADING[kind])
    assert isinstance(made, FunctionType)
    made = without_rest(made)
    known_as_hook(made)
    return made if _reaches_nothing(table.method, context_type) else of_arity(suspended(made, number), _LEADING[kind])


def method_hook(method: Callable[..., Any], number: int, context_type: type, leading: int) -> Callable[..., Any]:
    """A hook method, suspended unless it provably cannot reach overdubbed code."""
    made = positional_only(method, leading)
    return made if _reaches_nothing(method, context_type) else suspended(made, number)


def _reaches_nothing(method: Callable[..., Any], context_type: type) -> bool:
    """Whether a hook reaches no overdubbed code: its type says so, or it can be seen."""
    return context_type.leaf_hooks or only_keeps(method, context_type)  # type: ignore[attr-defined]


def _finder(table: Table, asked: bool) -> Callable[..., Callable[..., Any] | None] | None:
    """`find(context, function, arguments, keywords)` → the overload for a call, or None."""
    method = positional_only(table.method, 2) if asked and table.method is not None else None
    if method is None and not table.handlers:
        return None
    if not table.handlers:
        return lambda context, function, arguments, keywords: method
    find, targets = table.find, table.targets

    def choose(context: Any, function: Any, arguments: Any, keywords: Any) -> Callable[..., Any] | None:
        found = find(context, function, arguments, keywords) if asked or id(function) in targets else None
        return found or method

    return choose


class Variants:
    """All variants by what they are for, so that what is registered late reaches them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._by_keys: dict[tuple[Key, ...], Variant] = {}
        self._families: dict[tuple[Key, ...], object] = {}
        self._superseded: dict[tuple[Key, ...], list[Variant]] = {}

    def of(self, keys: tuple[Key, ...]) -> Variant:
        found = self._by_keys.get(keys)
        if found is None:
            with self.lock:
                family = self._families.setdefault(keys, object())
                found = self._by_keys.setdefault(keys, Variant(keys, family))
        return found

    def refresh(self) -> None:
        """Take in a new higher-order leaf."""
        with self.lock:
            for variant in self._by_keys.values():
                variant.refresh()

    def changed(self, context_type: type) -> list[Activation]:
        """A hook or overload was registered: refresh variants; return the activations that need another variant."""
        with self.lock:
            moved = []
            for keys, variant in list(self._by_keys.items()):
                if not any(issubclass(key.context_type, context_type) for key in keys):
                    continue
                for superseded in self._superseded.get(keys, ()):
                    superseded.refresh()
                shape = variant.shape
                if variant.refresh():
                    del self._by_keys[keys]
                    self._superseded.setdefault(keys, []).append(variant)
                    variant.supersede(shape)
                    moved += [item for item in set(IN_USE.values()) if item.variant is variant]
            return moved


variants: Final = Variants()
HIGHER_ORDER.listeners.append(variants.refresh)
