"""Calls outside of all contexts, for what a region does that is no part of the program."""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE, INACTIVE

__all__ = ["outside"]


@hidden
def outside(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function outside of the context: dask's threads and event loops would inherit it, and take longer."""
    token = ACTIVE.set(INACTIVE)
    try:
        return function(*arguments, **keywords)
    finally:
        ACTIVE.reset(token)
