"""Descriptions of contexts, from which each process makes a context of its own: contexts cannot be sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.contexts.common.reporting import chosen_format, known_formats
from cassette_import.contexts.lookup import context_named

__all__ = ["Description", "checked", "made"]

Description: TypeAlias = str | Callable[[], Context]
"""A context: text as for `-c`, or what makes one in a worker, such as its type; it must be picklable."""


def made(context: Description) -> Context:
    """A context of a description."""
    return context_named(context) if isinstance(context, str) else context()


def checked(context: Any, suffix: str | None = None) -> Description:
    """The description of a context; raise if no worker can make one of it, or if it has no files with the suffix."""
    if isinstance(context, Context) or not (isinstance(context, str) or callable(context)):
        raise TypeError(f"give the text or the type of a context, which workers make themselves, not {context!r}")
    if isinstance(context, str) or (isinstance(context, type) and suffix):
        example = made(context)  # raises if there is none
        if suffix:
            chosen_format(known_formats(example), suffix)
    description: Description = context
    return description
