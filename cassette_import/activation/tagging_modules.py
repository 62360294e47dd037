"""The modules of tagging that contexts use: they are imported when the first context tags values.

They name many functions, which would make each import of cassette_import slower.
"""

from __future__ import annotations

from typing import Any


def propagation() -> Any:
    """The module that carries tags through calls."""
    from cassette_import.runtime.tagging import propagation

    return propagation


def tag_scopes() -> Any:
    """The module that knows the scopes of tags."""
    from cassette_import.runtime.tagging import tag_scopes

    return tag_scopes


def carry_values_between_threads() -> None:
    """From now on, values keep their metadata that threads, jobs and tasks return or get."""
    from cassette_import.runtime.tagging.rules import concurrency

    concurrency.begin()
