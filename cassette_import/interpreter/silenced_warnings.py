"""Compiling without warnings: Python has issued them already when it compiled the program.

`warnings.catch_warnings` would make Python forget which warnings the program has shown, and show them again.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

__all__ = ["SILENCED"]

_IGNORE: Final = ("ignore", None, Warning, None, 0)


class _Silenced:
    """While this is entered, there are no warnings. Threads may enter it at the same time."""

    def __enter__(self) -> None:
        _filters().insert(0, _IGNORE)

    def __exit__(self, *exception: object) -> None:
        filters = _filters()
        own = next((number for number, one in enumerate(filters) if one is _IGNORE), None)
        if own is not None:
            del filters[own]


SILENCED: Final = _Silenced()


def _filters() -> Any:
    """The list of filters, which may be one of the context of a thread or task (3.14)."""
    find = getattr(warnings, "_get_filters", None)
    return warnings.filters if find is None else find()
