"""`Context`, what a program means while it runs under it, and what entering one makes active.

Knows activations; must not know how code is rewritten.
"""

from __future__ import annotations

import atexit
import copy
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, TypeVar

from cassette_import.activation import entering, inheritance, shutdown
from cassette_import.activation.entering import enter
from cassette_import.activation.inheritance import FINDER, WAITING
from cassette_import.activation.variants import Key, Variant, variants
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime import bindings
from cassette_import.runtime.dispatch.hook_functions import HOOK_FUNCTIONS, KINDS
from cassette_import.runtime.dispatch.hook_points import HookPoint
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import ACTIVE, IN_USE, INACTIVE, Activation, Alone
from cassette_import.runtime.syntax.blocks import EXEMPT_MANAGERS
from cassette_import.specialization import hook_copies
from cassette_import.specialization.passes.validation import checked_passes
from cassette_import.specialization.registry import registry

Self = TypeVar("Self", bound="Context")
_UNSET: Any = object()


def _changed(context_type: type) -> None:
    for activation in variants.changed(context_type):
        entering.freshen(activation)


def _do_nothing(context: Context, /, *arguments: Any, **keywords: Any) -> None:
    """The hook of a context type that defines none."""


@hidden
def _go_on(context: Context, f: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """The overload of a context type that defines none: go on in the overdubbed body."""
    from cassette_import.activation.verbs import recurse  # which are built on contexts

    return recurse(context, f, *arguments, **keywords)


_DEFAULTS: dict[str, Callable[..., Any]] = {
    "prehook": _do_nothing,
    "posthook": _do_nothing,
    "errorhook": _do_nothing,
    "overdub": _go_on,
}


class _Usual:
    """What contexts of a type are mostly: their events, their passes, the key of these, and once one was entered where
    nothing was active, the variant of that."""

    __slots__ = ("events", "key", "passes", "variant")

    def __init__(self, events: Events, passes: Sequence[Any], key: Key) -> None:
        self.events = events
        self.passes = passes
        self.key = key
        self.variant: Variant | None = None


class Context:
    """What a program means while it runs under it. Subclass it; the subclass is a context type.

    Parameters
    ----------
    metadata:
        Any value; hooks may be chosen by its type (``ctx: Ctx[int]``).
    passes:
        Callables that rewrite function bodies before their events are; see `cassette_import.specialization.passes`.
    report_escapes:
        Whether to count what runs as a leaf although it is Python; `escapes(ctx)` tells. Also class attributes.

    Class arguments: ``events`` says which kinds of syntax are events (`Events.CALLS | Events.OPERATORS`). With
    ``inherit=True``, threads, executors' jobs and asyncio tasks that are started in the context have it too. With
    ``tagging=True`` values can carry metadata of the context (see `tag`).

    A type whose hooks never reach overdubbed code, because all they touch is their own data and C functions, may say
    so with ``leaf_hooks = True``: they are then not suspended, which saves about a microsecond each.

    >>> import math
    >>> from cassette_import import overdub
    >>> class SinToCos(Context): ...
    >>> @SinToCos.overdub.register(math.sin)
    ... def _(ctx, f, x):
    ...     return math.cos(x)
    >>> overdub(SinToCos(), math.sin, 0.0)
    1.0
    """

    events: ClassVar[Events] = Events.DEFAULT
    inherit: ClassVar[bool] = False
    leaf_hooks: ClassVar[bool] = False
    passes: Sequence[Any] = ()
    report_escapes: bool = False
    metadata: Any = None
    prehook: ClassVar[Any]
    posthook: ClassVar[Any]
    errorhook: ClassVar[Any]
    overdub: ClassVar[Any]
    _hooks_enabled = True
    _is_changed = False  # whether this instance differs from its type by what we have made of it
    _usual: ClassVar[_Usual | None] = None
    _copy_of: Context | None = None
    _tagging = False
    _tags: dict[int, Any] | None = None

    def __init__(self, metadata: Any = None, *, passes: Sequence[Any] = (), report_escapes: bool | None = None) -> None:
        self.metadata = metadata
        if report_escapes is not None:
            self.report_escapes = report_escapes
        if passes != ():
            self.passes = checked_passes("passes", passes)

    def __init_subclass__(
        cls,
        *,
        events: Events | None = None,
        inherit: bool | None = None,
        tagging: bool | None = None,
        **keywords: Any,
    ) -> None:
        super().__init_subclass__(**keywords)
        if events is not None:
            cls.events = events
        if inherit is not None:
            cls.inherit = inherit
        if tagging is not None:
            if not isinstance(tagging, bool):
                raise TypeError(f"tagging must be True or False, not {tagging!r}")
            cls._tagging = tagging
        cls._usual = None
        if "passes" in cls.__dict__:
            cls.passes = checked_passes(f"{cls.__qualname__}.passes", cls.__dict__["passes"])
        if not isinstance(cls.events, Events):
            raise TypeError(f"{cls.__qualname__}.events must be a combination of Events, not {cls.events!r}")
        if not isinstance(cls.inherit, bool):
            raise TypeError(f"{cls.__qualname__}.inherit must be True or False, not {cls.inherit!r}")
        for kind in KINDS:
            _add_hook_point(cls, kind)

    def __class_getitem__(cls, metadata_type: Any) -> types.GenericAlias:
        """``Ctx[M]`` in the annotation of a hook: contexts whose metadata is an ``M``."""
        return types.GenericAlias(cls, (metadata_type,))

    def __enter__(self: Self) -> Self:
        usual = self._usual
        if (
            ACTIVE.get() is not INACTIVE
            or usual is None
            or usual.variant is None
            or self.events is not usual.events
            or self.passes is not usual.passes
            or self._is_changed
            or self.report_escapes
            or (WAITING and (not sys.meta_path or sys.meta_path[0] is not FINDER))
        ):
            self._enter()
            return self
        # What `activations.enter` does for any activation, without a frame for each step.
        made = Alone()
        made.contexts = (self,)
        made.entered = self
        made.outer = INACTIVE
        made.roots = _NO_ROOTS
        made.tags = ()
        made.left = False
        made.heirs = made.prefixes = made.successor = made.suspended = made.token = None
        made.variant = variant = usual.variant
        made.family = family = variant.family
        try:
            family.active += 1
            IN_USE.entered[made] = None
            NAMES["@on"] = True
            if variant.is_superseded or variant.instrumented_at.get(_NO_ROOTS) != registry.generation:
                entering.freshen(made)
                usual.variant = made.variant
        except BaseException:
            entering.end(made)
            raise
        made.token = ACTIVE.set(made)
        return self

    def _enter(self) -> None:
        """Enter, whatever is active here and whatever this context has of its own."""
        watch = escapes().new_watch(self) if self.report_escapes else None
        if watch is not None:
            watch.__enter__()
        try:
            activation = activation_of(self)
            enter(activation)
        except BaseException:
            if watch is not None:
                watch.__exit__(None, None, None)
            raise
        usual, variant = self._usual, activation.variant
        is_usual = activation.outer is INACTIVE and not (self._tagging or self._is_changed)
        # Another thread may have entered an instance with other events meanwhile.
        if is_usual and usual is not None and variant is not None and variant.keys[0] is usual.key:
            usual.variant = variant

    def __exit__(self, *exception: object) -> None:
        here = ACTIVE.get()
        if here.entered is self and not here.left:
            entering.depart(here)
            if type(here) is Alone:  # mostly; it was entered without a watch
                return
        else:
            entering.exit_context(self)
        if self.report_escapes and (watch := escapes().last_watch(self)) is not None:
            watch.__exit__(*exception)


_NO_ROOTS: Final[frozenset[str]] = frozenset()


def escapes() -> Any:
    """The escape report, which is built on contexts."""
    from cassette_import.activation import escape_report

    return escape_report


def _add_hook_point(cls: type, kind: str) -> None:
    there = cls.__dict__.get(kind)
    own = there.method if isinstance(there, HookPoint) else there
    inherited = None
    if own is None:
        for base in cls.__mro__[1:]:
            found = base.__dict__.get(kind)
            if isinstance(found, HookPoint):
                found = inherited = found.method
            elif found is not None:  # of a class that is no context, to be mixed in
                own = found
            if found is not None:
                break
    if isinstance(own, (staticmethod, classmethod)):
        own = own.__get__(None, cls)
    if own is not None and not callable(own):
        raise TypeError(f"{cls.__qualname__}.{kind} must be a method, not {own!r}")
    point = HookPoint(kind, cls, own, inherited or _DEFAULTS[kind], _changed)
    setattr(cls, kind, point)


def _take_in_methods(context_type: type[Context]) -> None:
    """Methods that were put into a class after it was made: `Ctx.prehook = function`."""
    for cls in context_type.__mro__:
        if issubclass(cls, Context):
            for kind in KINDS:
                if not isinstance(cls.__dict__.get(kind), HookPoint):
                    _add_hook_point(cls, kind)


for _kind in KINDS:
    _add_hook_point(Context, _kind)


# ---- activations


def _key(context: Context) -> Key:
    usual, is_usual = context._usual, not context._is_changed
    # Mostly the context has nothing of its own, and its type is as it was when the key was made.
    if usual is not None and context.events is usual.events and context.passes is usual.passes and is_usual:
        return usual.key
    _take_in_methods(type(context))
    own: object = context.events
    events = own if isinstance(own, Events) else type(context).events  # a program may well write `self.events = []`
    key = Key.of(type(context), events, context._hooks_enabled, context.passes, context._tagging)
    if is_usual:
        type(context)._usual = _Usual(context.events, context.passes, key)
    return key


def _variant_of(contexts: tuple[Context, ...]) -> Variant | None:
    return variants.of(tuple(map(_key, contexts))) if contexts else None


def activation_of(context: Context, root: str | None = None) -> Activation:
    """The activation that entering `context` here makes; a suspended context takes its own place in the stack again."""
    inheritance.watch()
    here = entering.active_here()
    roots = here.roots if root is None else here.roots | {root}
    contexts = (*here.contexts, context)
    number, left, resumed = len(here.contexts), here.suspended, None
    if left is not None:
        old = left.contexts[number]
        if old is context or (context._copy_of is not None and original(context) is original(old)):
            contexts = (*contexts, *left.contexts[number + 1 :])
            resumed = left
    tags = _tags(here, context, len(contexts), resumed)
    return Activation(contexts, _variant_of(contexts), roots, outer=here, entered=context, tags=tags)


def _tags(here: Activation, context: Context, count: int, resumed: Activation | None) -> tuple[Any, ...]:
    """The tags of an activation: those of the activations around it, and a new one if the context tags values."""
    if resumed is not None and (resumed.tags or not context._tagging):
        outer = here.tags or (None,) * len(here.contexts)
        return (*outer, *resumed.tags[len(here.contexts) :]) if resumed.tags else ()
    if not (context._tagging or here.tags):
        return ()
    outer = (here.tags or (None,) * (count - 1))[: count - 1]
    return (*outer, entering.tagging().tag_for_entry(context, outer) if context._tagging else None)


def original(context: Context) -> Context:
    """The context that this one is a changed copy of, or itself."""
    while context._copy_of is not None:
        context = context._copy_of
    return context


entering.variant_of = _variant_of
bindings.provide()
EXEMPT_MANAGERS.add(Context)
HOOK_FUNCTIONS.listeners.append(hook_copies.adopt)


def current() -> Context | None:
    """The innermost context that is active in this thread and task, or None.

    >>> current() is None
    True
    """
    contexts = entering.active_here().contexts
    return contexts[-1] if contexts else None


def variant_for(context: Context | type[Context]) -> Variant:
    """The variant of a context that is alone."""
    made = context if isinstance(context, Context) else context.__new__(context)
    return variants.of((_key(made),))


# ---- changed copies


def similarcontext(ctx: Self, *, metadata: Any = _UNSET, passes: Any = _UNSET) -> Self:
    """A copy of a context with other metadata or passes; it keeps the type's hooks and overloads.

    >>> similarcontext(Context(1), metadata=2).metadata
    2
    """
    made = _copied("similarcontext", ctx)
    if metadata is not _UNSET:
        object.__setattr__(made, "metadata", metadata)
    if passes is not _UNSET:
        object.__setattr__(made, "passes", checked_passes("passes", passes))
    return made


def disablehooks(ctx: Self) -> Self:
    """A copy of a context whose hooks are not in the code at all; overloads stay."""
    made = _copied("disablehooks", ctx)
    object.__setattr__(made, "_hooks_enabled", False)
    object.__setattr__(made, "_is_changed", True)
    return made


def _copied(verb: str, ctx: Self) -> Self:
    if not isinstance(ctx, Context):
        raise TypeError(f"{verb} wants a context, not {ctx!r}")
    made = copy.copy(ctx)
    object.__setattr__(made, "_copy_of", ctx)  # a frozen dataclass may be a context
    return made


atexit.register(shutdown.prepare)
