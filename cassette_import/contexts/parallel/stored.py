"""What a region stores in lists and dicts while tasks run: it is filled in when they end, or taken back if
one fails.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.contexts.parallel.tasks import Placeholder

__all__ = ["MISSING", "Stored"]

MISSING: Final = object()
"""Stands for a value that is not there."""


class Stored:
    """A placeholder in a list or a dict, or what a region stored beside it."""

    __slots__ = ("after", "before", "holder", "key")

    def __init__(self, holder: Any, key: Any, before: Any, after: int) -> None:
        self.holder = holder
        self.key = key
        self.before = before
        self.after = after

    def fill(self) -> None:
        """Put the value in the place of the placeholder."""
        value = self.holder[self.key]
        if type(value) is Placeholder and value.is_known:
            self.holder[self.key] = value.value

    def undo(self) -> None:
        """Take back that something was stored."""
        if self.before is MISSING:
            del self.holder[self.key]
        else:
            self.holder[self.key] = self.before
