"""Selections: which modules a list of names and patterns selects.

Knows module names only. Must not know finders, loaders or what is done to a module.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from typing import Final

__all__ = ["OURSELVES", "Selection", "is_pattern"]

OURSELVES: Final = __name__.partition(".")[0]
"""The name of this package, which is never selected."""


class Selection:
    """The modules that a list of names selects, without those that a list of exceptions names.

    A name selects the module and everything below it, an `fnmatch` pattern each full name that it matches (F11).
    """

    def __init__(self, packages: Iterable[str], exclude: Iterable[str] = ()) -> None:
        self.packages: Final = tuple(packages)
        self.exclude: Final = tuple(exclude)
        self._selected = _expression(self.packages)
        # Rewriting this package would need the code of the rewriter itself (F12).
        self._excluded = _expression((*self.exclude, OURSELVES))

    def matches(self, module_name: str) -> bool:
        """Whether a name or pattern selects the module, even if it is excluded."""
        return self._selected.match(module_name) is not None

    def covers(self, module_name: str) -> bool:
        """Whether a name or pattern selects the module, and none excludes it."""
        return self._selected.match(module_name) is not None and self._excluded.match(module_name) is None


def is_pattern(name: str) -> bool:
    """Whether a name is an `fnmatch` pattern."""
    return any(character in name for character in "*?[")


def _expression(names: Iterable[str]) -> re.Pattern[str]:
    """One expression for all names: each import of an unselected module pays for one match (F13)."""
    parts = [fnmatch.translate(name) if is_pattern(name) else rf"{re.escape(name)}(\..*)?\Z" for name in names]
    return re.compile("|".join(parts) or r"(?!)", re.DOTALL)
