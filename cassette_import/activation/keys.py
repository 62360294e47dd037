"""Keys: what decides how functions are specialised for one context."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from cassette_import.rewriting.events import Events


class VariantKey:
    """What decides how functions are specialised for one context.

    There is one object for each value, so keys are compared by identity.
    """

    __slots__ = ("context_type", "events", "hooks", "passes", "tagging")
    _known: ClassVar[dict[Any, VariantKey]] = {}

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
    ) -> VariantKey:
        """The key for these values."""
        passes = tuple(passes)
        value = context_type, int(events), hooks, passes, tagging
        return cls._known.get(value) or cls._known.setdefault(value, cls(context_type, events, hooks, passes, tagging))
