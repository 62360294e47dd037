"""Defaults of context types: what most contexts of a type share. So entering one of them finds its variant at once.

Knows events, passes and keys; must not know how a context is entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any, Final

from cassette_import.activation.keys import VariantKey
from cassette_import.rewriting.events import Events
from cassette_import.runtime.variant import ActiveVariant


class TypeDefaults:
    """What most contexts of a type share: their events, their passes and the key for these.

    Once some code has entered one of them where nothing was active, `variant` is the variant of such activations.
    `latest` is the code that did so last, with the roots of its activations.
    """

    __slots__ = ("_known", "events", "key", "latest", "passes", "variant")

    def __init__(self, events: Events, passes: Sequence[Any], key: VariantKey) -> None:
        self.events = events
        self.passes = passes
        self.key = key
        self.variant: ActiveVariant
        self.forget_roots()

    def forget_roots(self) -> None:
        """Have the next entries find their roots anew."""
        self.latest = _NO_ROOTS
        self._known: dict[int, _Roots] = {}  # by the `id()` of the code

    def note_roots(self, code: CodeType, roots: frozenset[str]) -> None:
        """Note the roots of an activation that some code has entered."""
        if len(self._known) == _MOST_CODES:  # a program may compile code without end
            self.forget_roots()
        self.latest = self._known[id(code)] = code, roots

    def known(self, code: CodeType) -> Any:
        """The `_Roots` of the activations that some code enters; None if it has entered none."""
        found = self._known.get(id(code))
        if found is not None:
            self.latest = found
        return found


_Roots = tuple[CodeType | None, frozenset[str]]
"""Code that enters contexts, and the roots of the activations: the file of the code, unless it is installed."""
_NO_ROOTS: Final[_Roots] = None, frozenset()
_MOST_CODES: Final = 1000
