"""Loops over arrays with metadata: each item gets the metadata that a subscript gives it."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from cassette_import.rewriting.events import Events
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.tags import Metas
from cassette_import.runtime.tagging.wrappers import Tagged, metas_of, plain

__all__ = ["cursor_of_tagged", "cursor_over"]


def cursor_over(array: Any) -> Callable[[Any], Metas | None] | None:
    """A function that returns the metadata of each item while the program iterates over an array."""
    variant = ACTIVE.get().variant
    if variant is None or not plain(array).ndim:
        return None
    numbers = itertools.count()
    event = variant.runners[int(Events.OPERATORS)].event
    return lambda _: metas_of(event(operator.getitem, array, next(numbers)))


def cursor_of_tagged(given: Any) -> Callable[[Any], Metas | None] | None:
    """The same; None for an array without metadata."""
    return cursor_over(given) if type(given) is Tagged else None
