"""The errors of graphs."""

from __future__ import annotations

from cassette_import.errors import CassetteError
from cassette_import.runtime.dispatch.call_sites import nearest_site

__all__ = ["GuardFailed", "NotRepresentable", "refusal"]


class NotRepresentable(CassetteError):
    """The function does something that a graph cannot represent exactly.

    The message names the call site, and what to do.
    """


class GuardFailed(CassetteError):
    """The arguments take another path through the function than those that were traced."""


def refusal(what: str, advice: str) -> NotRepresentable:
    """The error for what the program does now."""
    site = nearest_site()
    return NotRepresentable(f"a graph cannot represent this: {what}, at {site}: {site.source}\n{advice}")
