"""Defaults of context types: what most contexts of a type share. So entering one of them finds its variant at once."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any, Final

from cassette_import.activation.keys import VariantKey
from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import Activation
from cassette_import.runtime.variant import ActiveVariant, Family


class TypeDefaults:
    """What most contexts of a type share: their events, their passes and the key for these.

    Once some code has entered one of them, `latest` says what its next entry makes active. `Context.__enter__` reads
    it, also in C.
    """

    __slots__ = ("_known", "events", "key", "latest", "passes")

    def __init__(self, events: Events, passes: Sequence[Any], key: VariantKey) -> None:
        self.events = events
        self.passes = passes
        self.key = key
        self.forget_entries()

    def forget_entries(self) -> None:
        """Have the next entries find their roots and variants anew."""
        self.latest: Any = _NO_ENTRY
        self._known: dict[tuple[int, ...], ReadyEntry] = {}  # by the `id()` of the first three parts

    def note_entry(self, code: CodeType, activation: Activation) -> None:
        """Note what an entry has made active, if the next one by the same code will make the same active."""
        outer, variant = activation.outer, activation.variant
        if outer is None or variant is None or activation.tags or outer.suspended is not None:
            return
        # Another thread may have entered an instance with other events meanwhile, or one further out has got others.
        if variant.keys != (*(() if outer.variant is None else outer.variant.keys), self.key):
            return
        if len(self._known) == _MOST_ENTRIES:  # a program may compile code without end
            self.forget_entries()
        entry = code, outer.variant, outer.roots, activation.roots, variant, variant.family, variant.instrumented_at
        self.latest = self._known[id(code), id(outer.variant), id(outer.roots)] = entry

    def known(self, code: CodeType, outer_variant: ActiveVariant | None, outer_roots: frozenset[str]) -> Any:
        """The `ReadyEntry` of some code where a variant is active, with its roots; None if there was none."""
        found = self._known.get((id(code), id(outer_variant), id(outer_roots)))
        if found is not None:
            self.latest = found
        return found


ReadyEntry = tuple[
    CodeType, ActiveVariant | None, frozenset[str], frozenset[str], ActiveVariant, Family, dict[frozenset[str], int]
]
"""Code that enters contexts; the variant and the roots that are active there; the roots and the variant in the block,
and what this variant keeps for good: its family, and what it is instrumented for."""
_NO_ENTRY: Final[tuple[None, None, None]] = None, None, None
_MOST_ENTRIES: Final = 1000
