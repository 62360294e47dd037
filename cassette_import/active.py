"""What is active, here and now: one context variable, and the records that it holds.

A context variable belongs to the thread and to the asyncio task. Knows nothing of hooks, code or functions.
"""

from __future__ import annotations

import builtins
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cassette_import.variants import Variant

NAMES: Final[dict[str, Any]] = vars(builtins)
"""Where rewritten code finds our names (N1, V5: no module shows them). They start with ``@`` and are no identifiers."""


class Activation:
    """One entry of a context by one thread or task: the stack of contexts, outermost first.

    `suspended` is set while a hook or overload of one of the contexts runs: the activation in which it was called.
    `roots` are the files that are overdubbed although not installed: those of the root functions.
    """

    __slots__ = ("contexts", "outer", "prefixes", "roots", "suspended", "variant")

    def __init__(
        self,
        contexts: tuple[Any, ...],
        variant: Variant | None,
        roots: frozenset[str] = frozenset(),
        outer: Activation | None = None,
        suspended: Activation | None = None,
    ) -> None:
        self.contexts = contexts
        self.variant = variant
        self.roots = roots
        self.outer = outer
        self.suspended = suspended
        self.prefixes: dict[int, Activation] | None = None


INACTIVE: Final = Activation((), None)
ACTIVE: Final[ContextVar[Activation]] = ContextVar("cassette_import.active", default=INACTIVE)

IN_USE: Final[dict[object, Activation]] = {}
"""All activations that some thread or task is in, by a key that whoever entered chose."""


def use(key: object, activation: Activation) -> None:
    """Say that an activation is in use, until `leave`."""
    IN_USE[key] = activation
    NAMES["@on"] = True


def leave(key: object) -> None:
    """Say that it is not in use any more."""
    IN_USE.pop(key, None)
    if not IN_USE:
        NAMES["@on"] = False
        if IN_USE:  # another thread was faster
            NAMES["@on"] = True


NAMES["@get"] = ACTIVE.get
NAMES["@on"] = False
