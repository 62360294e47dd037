"""Selections: which modules a list of names and patterns selects."""

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

    A name selects the module and everything below it, an `fnmatch` pattern each full name that it matches.
    """

    def __init__(self, packages: Iterable[str], exclude: Iterable[str] = ()) -> None:
        self.packages: Final = tuple(packages)
        self.exclude: Final = tuple(exclude)
        self._selects = _Test(self.packages)
        # Rewriting this package would need the code of the rewriter itself (checklist F12).
        self._excludes = _Test((*self.exclude, OURSELVES))

    def matches(self, module_name: str) -> bool:
        """Whether a name or pattern selects the module, even if it is excluded."""
        return self._selects(module_name)

    def covers(self, module_name: str) -> bool:
        """Whether a name or pattern selects the module, and none excludes it."""
        return self._selects(module_name) and not self._excludes(module_name)


def is_pattern(name: str) -> bool:
    """Whether a name is an `fnmatch` pattern."""
    return any(character in name for character in "*?[")


class _Test:
    """Whether some name or pattern matches a module. Each import of an unselected module pays for one call."""

    def __init__(self, names: Iterable[str]) -> None:
        names = tuple(names)
        self._beginnings = tuple([f"{name}." for name in names if not is_pattern(name)])
        patterns = [fnmatch.translate(name) for name in names if is_pattern(name)]
        self._pattern = re.compile("|".join(patterns), re.DOTALL) if patterns else None  # to compile one takes long

    def __call__(self, module_name: str) -> bool:
        if f"{module_name}.".startswith(self._beginnings):
            return True
        return self._pattern is not None and self._pattern.match(module_name) is not None
