"""Stands for whichever context is active when a generator or coroutine goes on that began while none was.

What can be suspended may be resumed in a context that nobody knows of when it begins; its body asks at each event who
is active. Such bodies use no names that belong to a variant.

Knows shapes; must not know contexts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.shape import ContextShape, Shape
from cassette_import.runtime.dispatch.guards import Guards
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.variant import Family, Variant

_SUSPENDABLE: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class WildcardVariant:
    """Passes for a variant that wants some kinds of events. Nobody ever enters it."""

    def __init__(self, events: Events) -> None:
        prefix = symbols.wildcard_prefix(events)
        self.name = ""
        self.shape = Shape(prefix, (ContextShape(events, prehook=True, posthook=True),), everything=events)
        self.instrumented_at: dict[frozenset[str], int] = {}
        self.guards = Guards(prefix)
        self.family = Family()
        self.is_superseded = False
        self.may_get_overloads = False
        NAMES[prefix] = self.family

    def passed(self, function: FunctionType, tree: Any, source: str) -> Any:
        """Nothing: there are no passes."""

    def provide(self, code: CodeType) -> None:
        """Nothing: the only name is there."""


_wanting: Final = functools.cache(WildcardVariant)


def wildcard_variant(known: Iterable[Variant]) -> WildcardVariant:
    """Who wants calls, and all kinds of events that some known variant wants."""
    wanted = Events.CALLS
    for variant in known:
        wanted |= variant.shape.everything | variant.shape.targets | variant.shape.overloads
    return _wanting(wanted)


def can_be_suspended(code: CodeType) -> bool:
    """Whether it is that of a generator, a coroutine or an asynchronous generator."""
    return bool(code.co_flags & _SUSPENDABLE)
