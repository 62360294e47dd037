"""The errors of code through which no constraint can be followed."""

from __future__ import annotations

from typing import Any

from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.kits.events import CallSite
from cassette_import.kits.tagging import leaf_name

__all__ = ["NotContracted", "TooManyPaths"]


class NotContracted(NotOverdubbable):
    """A function without a rule computed something from the numbers of a box. `site` is its call site."""

    def __init__(self, function: Any, site: CallSite, reason: str) -> None:
        self.site = site
        super().__init__(
            f"{reason} {leaf_name(function)}, at {site}: {site.source}\n"
            "Compute the same with functions that have one, or, if it is Python, install its package"
        )


class TooManyPaths(CassetteError):
    """The numbers of a box take more paths through the function than are allowed. `site` is the last decision."""

    def __init__(self, paths: int, site: CallSite) -> None:
        self.site = site
        super().__init__(
            f"the box takes more than {paths} paths through the function; the last decision is at {site}: "
            f"{site.source}\n"
            "Give a smaller box, or more paths: max_paths=1000"
        )
