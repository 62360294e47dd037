"""What is active, here and now: one context variable, and the records that it holds.

A context variable belongs to the thread and to the asyncio task. Knows nothing of hooks, code or functions.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.names import NAMES, PROVIDED

if TYPE_CHECKING:
    from cassette_import.activation.variants import Variant


class Family:
    """A variant and all that are put in its place: what the entries of functions test."""

    __slots__ = ("active",)

    def __init__(self) -> None:
        self.active = 0
        """How many activations are in use."""


class Activation:
    """One entry of a context by one thread or task: the stack of contexts, outermost first.

    `entered` is the context whose entry made it. `suspended` is set while a hook or overload of one of the contexts
    runs: the activation in which it was called. `roots` are the files that are overdubbed although not installed:
    those of the root functions. `heirs` is what threads, jobs and tasks have that are started here, once some were.

    `left` says that the entry is over. Somebody may hold the activation still, in a copy of the context variables: to
    them nothing is active any more, because the variant of what was left is None. `successor` is set if it is over only
    because a context outside it was left before it.

    `family` is that of the variant, which the entries of functions test.

    `tags` has an entry for each context: the tag of this activation of it, or None; empty if there are none.

    `token` is what takes the context variable back, if it was entered where nothing was active.
    """

    __slots__ = (
        "__weakref__",
        "contexts",
        "entered",
        "family",
        "heirs",
        "left",
        "outer",
        "prefixes",
        "roots",
        "successor",
        "suspended",
        "tags",
        "token",
        "variant",
    )

    def __init__(
        self,
        contexts: tuple[Any, ...],
        variant: Variant | None,
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
        self.prefixes: dict[int, Activation] | None = None
        self.entered = entered
        self.heirs: Activation | None = None
        self.left = False
        self.successor: Activation | None = None
        self.token: Token[Activation] | None = None


class Alone(Activation):
    """The activation of a context that is entered where nothing is active: the usual one.

    Who makes it fills it in: `Context.__enter__` has no time for a frame of ours.
    """

    __slots__ = ()
    __init__ = object.__init__  # it takes no frame


class Lasting(Activation):
    """An activation that nobody leaves: it is in use for as long as somebody holds it.

    Threads, jobs and tasks have such ones from whoever started them, and overdubbed generators and coroutines.
    """

    __slots__ = ()

    def __init__(
        self, contexts: tuple[Any, ...], variant: Variant, roots: frozenset[str], tags: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(contexts, variant, roots, tags=tags)
        variant.family.active += 1
        IN_USE.lasting[id(self)] = weakref.ref(self)
        NAMES["@on"] = True

    @hidden
    def __del__(self) -> None:
        release(self)
        forget_prefixes(self)
        leave(self)


class Prefix(Activation):
    """What is active while a hook or overload runs: in use for as long as somebody holds it."""

    __slots__ = ()

    @hidden
    def __del__(self) -> None:
        release(self)


@hidden
def release(activation: Activation) -> None:
    """Nobody runs in it any more, or is to run in it: functions are not specialised for its sake."""
    activation.variant = None
    family, activation.family = activation.family, None
    if family is not None:
        family.active -= 1


def prefix_of(activation: Activation, level: int) -> Activation:
    """What is active while a hook or overload of context `level` runs: the contexts outside it (suspension)."""
    prefixes = activation.prefixes
    found = prefixes.get(level) if prefixes is not None else None
    return make_prefix(activation, level) if found is None else found


def make_prefix(activation: Activation, level: int) -> Activation:
    """Replaced by `activations`, which knows how variants are made; here to break no arrow."""
    raise NotImplementedError


@hidden
def forget_prefixes(activation: Activation) -> list[Activation]:
    """Take from an activation those that its hooks run in, and the hooks of contexts around these; return them."""
    prefixes, activation.prefixes = activation.prefixes, None
    found: list[Activation] = []
    for prefix in list(prefixes.values()) if prefixes else ():
        found += [prefix, *forget_prefixes(prefix)]
    return found


class InUse:
    """The activations that are in use: those that somebody has entered and not left, and the lasting ones.

    There is no lock. CPython switches between threads when a call begins or ends, and at the end of a loop, so
    that what stands between two calls here happens at once. That holds as long as nobody traces these functions: they
    are hidden.
    """

    def __init__(self) -> None:
        self.entered: dict[Activation, None] = {}
        self.lasting: dict[int, weakref.ref[Lasting]] = {}

    def values(self) -> list[Activation]:
        """All activations that are in use."""
        found = list(self.entered)
        found += [item for reference in list(self.lasting.values()) if (item := reference()) is not None]
        return found

    @hidden
    def switch_off(self) -> None:
        """Tell rewritten code that nothing is active, if that is so."""
        if not self.entered and not self.lasting:
            NAMES["@on"] = False


INACTIVE: Final = Activation((), None)
ACTIVE: Final[ContextVar[Activation]] = ContextVar("cassette_import.runtime.state", default=INACTIVE)

IN_USE: Final = InUse()
"""All activations that some thread or task is in."""


@hidden
def use(activation: Activation) -> None:
    """Say that an activation is in use, until `leave`."""
    IN_USE.entered[activation] = None
    NAMES["@on"] = True


@hidden
def leave(activation: Activation) -> None:
    """Say that it is not in use any more."""
    IN_USE.entered.pop(activation, None)
    IN_USE.lasting.pop(id(activation), None)
    IN_USE.switch_off()


PROVIDED.add({"@get": ACTIVE.get, "@on": False})
