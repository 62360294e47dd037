"""What is active, here and now: one context variable, and the activations that it holds.

A context variable belongs to the thread and to the asyncio task.
"""

from __future__ import annotations

import _thread
import functools
import weakref
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, ClassVar, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_work import Activity
from cassette_import.rewriting import symbols
from cassette_import.rewriting.symbols import IS_ANY_ACTIVE
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.variant import ActiveVariant, Family


class Activation:
    """One entry of a context by one thread or task: the stack of contexts, outermost first.

    This class is the data, which the runtime reads; `activation.activations` has the kinds of activations.

    contexts:
        The stack of contexts.
    variant, family:
        The variant of the stack, and its family, which the entry tests of functions read. None if no context is active:
        in `INACTIVE`, and in an activation that was left.
    roots:
        The files that are overdubbed although they are not installed: those of the root functions.
    tags:
        One entry for each context: the tag of this activation of the context, or None. Empty if no context tags values.
    entered, outer:
        The context whose entry made the activation, and the activation around it.
    suspended:
        While a hook or overload runs: the activation in which it was called.
    hook_activations:
        What is active while the hooks of each context run, by the number of the context. What is active while module
        levels run, by the numbers of the contexts that are left out then. None until one ran.
    inherited:
        What threads, jobs and tasks inherit that are started here. None until one was started.
    left:
        Whether the entry is over. A copy of the context variables may still hold the activation: nothing is active in
        it.
    successor:
        The activation that replaced this one, because a context outside it was left before it.
    token:
        What resets the context variable, if the context was entered where nothing was active.
    """

    __slots__ = (
        "__weakref__",
        "contexts",
        "entered",
        "family",
        "hook_activations",
        "inherited",
        "left",
        "outer",
        "roots",
        "successor",
        "suspended",
        "tags",
        "token",
        "variant",
    )
    is_module_level: ClassVar[bool] = False
    """Whether it is that of a module level that is imported: functions that are called are not specialised for contexts
    that are not active in it."""
    is_inherited: ClassVar[bool] = False
    """Whether a thread, job or task has inherited it."""

    def __init__(
        self,
        contexts: tuple[Any, ...],
        variant: ActiveVariant | None,
        roots: frozenset[str] = frozenset(),
        outer: Activation | None = None,
        suspended: Activation | None = None,
        entered: Any = None,
        tags: tuple[Any, ...] = (),
    ) -> None:
        self.contexts = contexts
        self.variant = variant
        self.family: Family | None = None if variant is None else variant.family
        self.roots = roots
        self.outer = outer
        self.suspended = suspended
        self.tags = tags
        self.hook_activations: dict[Any, Activation] | None = None
        self.entered = entered
        self.inherited: Activation | None = None
        self.left = False
        self.successor: Activation | None = None
        self.token: Token[Activation] | None = None

    def suspend(self, level: int) -> Activation:
        """Make the activation in which the hooks of context `level` run: nothing is active outside of nothing."""
        return Activation((), None, self.roots, outer=self, suspended=self)

    def end(self, result: Any = None) -> None:
        """End the activation. From now on nothing is active where a copy of the context variables still holds it."""
        if self.left:
            return
        self.left = True
        IN_USE.remove(self)
        self.inherited = None  # first, as it shares the tags
        if self.tags:
            self.end_tags(result)
        release(self)
        for inner in forget_hook_activations(self):
            inner.left = True
            release(inner)

    def end_tags(self, result: Any) -> None:
        """End the tags that the activation has begun. Only the entry of a context begins any."""


@hidden
def release(activation: Activation) -> None:
    """Take the variant from an activation that is over: no function is specialised for its sake any more."""
    activation.variant = None
    family, activation.family = activation.family, None
    if family is not None:
        family.active -= 1


def hook_activation(activation: Activation, level: int) -> Activation:
    """What is active while a hook or overload of context `level` runs: the contexts outside it (suspension)."""
    known = activation.hook_activations
    found = known.get(level) if known is not None else None
    return activation.suspend(level) if found is None else found


@hidden
def call_as_hook(activation: Activation, level: int, function: Callable[..., Any], /, *arguments: Any) -> Any:
    """Call a function while context `level` and those inside it are suspended, as for its hooks."""
    token = ACTIVE.set(hook_activation(activation, level))
    try:
        return function(*arguments)
    finally:
        ACTIVE.reset(token)


@hidden
def forget_hook_activations(activation: Activation) -> list[Activation]:
    """Remove from an activation those in which its hooks run, and from these those of their hooks; return them all."""
    known, activation.hook_activations = activation.hook_activations, None
    found: list[Activation] = []
    for inner in list(known.values()) if known else ():
        found += [inner, *forget_hook_activations(inner)]
    return found


class InUse:
    """The activations that are in use: those that are entered and not left, and those that some object holds.

    There is no lock. CPython switches between threads when a call begins or ends, and at the end of a loop, so code
    between two calls here is atomic. This also requires that no trace function is called for these functions: they are
    hidden.
    """

    def __init__(self) -> None:
        self.entered: dict[Activation, None] = {}
        self.held: dict[int, weakref.ref[Activation]] = {}

    def values(self) -> list[Activation]:
        """All activations that are in use."""
        found = list(self.entered)
        found += [item for reference in list(self.held.values()) if (item := reference()) is not None]
        return found

    @hidden
    def add(self, activation: Activation) -> None:
        """Note that an activation is in use, until `remove`."""
        self.entered[activation] = None
        FLAGS[IS_ANY_ACTIVE] = True

    @hidden
    def hold(self, activation: Activation) -> None:
        """Note that an activation is in use for as long as it exists, or until `remove`."""
        self.held[id(activation)] = weakref.ref(activation)
        FLAGS[IS_ANY_ACTIVE] = True

    @hidden
    def remove(self, activation: Activation) -> None:
        """Note that an activation is not in use any more."""
        self.entered.pop(activation, None)
        self.held.pop(id(activation), None)
        self.switch_off()

    @hidden
    def switch_off(self) -> None:
        """Set the name that rewritten code tests to false, if nothing is active."""
        if not self.entered and not self.held:
            FLAGS[IS_ANY_ACTIVE] = False


INACTIVE: Final = Activation((), None)
ACTIVE: Final[ContextVar[Activation]] = ContextVar("cassette_import.runtime.state", default=INACTIVE)
Activity.get, Activity.set = ACTIVE.get, ACTIVE.set
Activity.suspend, Activity.resume = functools.partial(ACTIVE.set, INACTIVE), ACTIVE.reset

IN_USE: Final = InUse()
"""All activations that some thread or task is in."""

NAMES[symbols.GET_ACTIVATION] = ACTIVE.get


class ExemptTypes:
    """Types whose instances a program uses without events."""

    def __init__(self) -> None:
        self.types: tuple[type, ...] = ()

    def add(self, kind: type) -> None:
        """Exempt a class and its subclasses."""
        self.types += (kind,)


EXEMPT_MANAGERS: Final = ExemptTypes()
"""Context managers that a `with` statement enters and leaves without an event: `activation.context` adds `Context`."""


THREADS_IN_CONTEXTS: Final[dict[int, int]] = {}
"""By the identity of a thread: how many entries and inherited activations are under way in it. Other threads, which are
not in it, run plain code."""


@hidden
def count_in_thread(change: int) -> None:
    """Count the beginning (1) or the end (-1) of an activation in this thread."""
    identity = _thread.get_ident()
    count = THREADS_IN_CONTEXTS.get(identity, 0) + change
    if count > 0:
        THREADS_IN_CONTEXTS[identity] = count
    else:
        THREADS_IN_CONTEXTS.pop(identity, None)
