"""Escape reporters: what makes the context that watches one with `report_escapes`.

The escape report is built on contexts, so `Context` cannot import it: the report adds its reporter to the list here.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.interpreter.records import Protocol


class Watch(Protocol):
    """A context that is entered and left together with the one that it watches."""

    def __enter__(self) -> object: ...

    def __exit__(self, *exception: object) -> None: ...

    def root_runs(self, f: Any) -> None:
        """Notice a root call, which is no event."""


class EscapeReporter(Protocol):
    """Makes the contexts that watch those with `report_escapes`. The escape report is one."""

    def watch_to_enter(self, context: Any) -> Watch | None:
        """The context that is entered around `context`; None if it is active already."""

    def watch_to_leave(self, context: Any) -> Watch | None:
        """The context that was entered around `context`, if it is the innermost one now."""


ESCAPE_REPORTERS: Final[list[EscapeReporter]] = []


def watch_to_enter(context: Any) -> Watch | None:
    """The context to enter around one with `report_escapes`, if there is any."""
    found = (reporter.watch_to_enter(context) for reporter in ESCAPE_REPORTERS)
    return next((watch for watch in found if watch is not None), None)
