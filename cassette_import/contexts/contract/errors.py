"""The errors of code through which no constraint can be followed."""

from __future__ import annotations

from cassette_import.errors import CassetteError
from cassette_import.kits.events import CallSite
from cassette_import.kits.numbers.ruled_numbers import NoRule

__all__ = ["NotContracted", "TooManyPaths"]


class NotContracted(NoRule):
    """A function without a rule computed something from the numbers of a box. `site` is its call site."""


class TooManyPaths(CassetteError):
    """The numbers of a box take more paths through the function than are allowed. `site` is the last decision."""

    def __init__(self, paths: int, site: CallSite) -> None:
        self.site = site
        super().__init__(
            f"the box takes more than {paths} paths through the function; the last decision is at {site}: "
            f"{site.source}\n"
            "Give a smaller box, or more paths: max_paths=1000"
        )
