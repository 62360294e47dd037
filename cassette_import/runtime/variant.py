"""What runtime and specialisation know of a variant: a stack of context types, and what compiled bodies need of it.

The class itself is `activation.variants.StackVariant`; these protocols let the lower packages use it without importing
it.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting.shape import Shape


class Family:
    """A variant and all variants that replaced it. The entry test of a compiled body checks whether one is in use."""

    __slots__ = ("active", "is_met", "is_silent", "meetings")

    def __init__(self) -> None:
        self.active = 0
        """How many activations are in use."""
        self.is_met = False
        """Whether a function was entered in an activation, or an event reached one otherwise."""
        self.meetings = 0
        """How often that was noted."""
        self.is_silent = False
        """Whether no block needs a warning any more that nothing was met in it."""

    def note_meeting(self) -> None:
        """Note that a function was entered in an activation, or that an event reached one otherwise."""
        self.is_met = True
        self.meetings += 1


class GuardSwitch(Protocol):
    """The guards of one variant, as far as specialisation controls them."""

    def check_classes(self) -> None:
        """Stop learning types of receivers if some class has no hash."""

    def set_only_variant(self, is_only: bool) -> None:
        """Set whether this is the only instrumented variant that intercepts anything."""


class Variant(Protocol):
    """What functions get compiled bodies for."""

    name: str
    shape: Shape
    family: Family
    is_superseded: bool
    """Whether another variant has replaced it; new bodies are compiled for that one."""
    may_get_overloads: bool
    """Whether overloads of calls can be registered for it."""
    instrumented_at: dict[frozenset[str], int]
    """By roots: the registry's generation when functions were last instrumented for it."""

    @property
    def guards(self) -> GuardSwitch:
        """Its guards."""

    def apply_passes(self, function: FunctionType, tree: Any, source: str) -> Any:
        """Run the passes on a function's node; return the result, or None if there are no passes."""

    def apply_module_passes(self, tree: Any) -> None:
        """Run the passes for module levels on a module's node, in place."""

    def bind_names(self, names: Iterable[str]) -> None:
        """Bind attributes of the variant's cell that code reads, before it runs."""


class ActiveVariant(Variant, Protocol):
    """The variant of an activation: also what the events of its contexts need."""

    keys: tuple[Any, ...]
    """What decides about the variant: one key per context, outermost first."""
    tagging: bool
    """Whether a context of the stack tags values."""
    runners: dict[int, Any]
    """The event runners by kind of event."""
    argument_free_hooks: dict[tuple[str, int], Any]
    """The hooks that read no arguments, by hook and kind of event."""

    def import_event(self, numbers: tuple[int, ...]) -> Any:
        """Runs an import as one event for the contexts with these numbers."""

    root_overloads: list[Any]
    """For each context, what finds the overload of a root call."""
