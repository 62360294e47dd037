"""The wildcard variant: used for generators and coroutines, which may be resumed in any context.

A generator or coroutine that begins while no context is active may be resumed in one. So its body looks up the active
context at each event, and uses no names of a particular variant.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import FunctionType
from typing import Any, Final

from cassette_import.rewriting import variant_names
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.shape import ContextShape, Shape
from cassette_import.runtime.dispatch.guards import Guards
from cassette_import.runtime.names import NAMES, make_cell
from cassette_import.runtime.variant import Family, Variant


class WildcardVariant:
    """Acts as a variant that intercepts some kinds of events. No activation has it."""

    def __init__(self, events: Events, tagging: bool) -> None:
        prefix = variant_names.wildcard_prefix(events, tagging)
        self.name = ""
        self.shape = Shape(
            prefix, (ContextShape(events, prehook=True, posthook=True),), everything=events, tagging=tagging
        )
        self.instrumented_at: dict[frozenset[str], int] = {}
        make_cell(variant_names.cell_of(prefix))
        self.guards = Guards(prefix)
        self.family = Family()
        self.is_superseded = False
        self.may_get_overloads = False
        NAMES[prefix] = self.family

    def apply_passes(self, function: FunctionType, tree: Any, source: str) -> Any:
        """Does nothing: there are no passes."""

    def apply_module_passes(self, tree: Any) -> None:
        """Does nothing: there are no passes."""

    def bind_names(self, names: Iterable[str]) -> None:
        """Does nothing: the only name exists already."""


_intercepting: Final = functools.cache(WildcardVariant)


def wildcard_variant(known: Iterable[Variant]) -> WildcardVariant:
    """The wildcard variant for calls, and for all kinds of events that some known variant intercepts.

    If a known context tags values, the bodies pass wrappers on.
    """
    events, tagging = Events.CALLS, False
    for variant in known:
        events |= variant.shape.everything | variant.shape.targets | variant.shape.overloads
        tagging = tagging or variant.shape.tagging
    return _intercepting(events, tagging)


def any_wildcard_is_met() -> bool:
    """Whether some function serves a wildcard variant: its events reach whichever context is active."""
    return _intercepting.cache_info().currsize > 0
