"""`Noop`: intercepts everything and changes nothing.

For measuring what interception costs, and for finding out whether a program notices it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cassette_import import Context, Events
from cassette_import.contexts.common.options import seeing

__all__ = ["Noop"]


class Noop(Context, events=Events.ALL):
    """Intercepts every event and changes nothing.

    Parameters
    ----------
    metadata:
        Carried along, for whoever wants to find it there.
    events:
        The events to intercept, if not all: an `Events`, or text such as ``"calls+operators"``. On the
        command line, ``-c noop:events=calls``.
    """

    inherit: ClassVar[bool] = True

    def __new__(cls, metadata: object = None, *, events: Events | str | None = None) -> Noop:
        """Make an instance of the type that sees these events."""
        return super().__new__(seeing(cls, events))

    def __init__(self, metadata: object = None, *, events: Events | str | None = None) -> None:
        super().__init__(metadata)

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""
