"""`Noop`: intercepts every event and changes nothing.

For measuring what interception costs, and for testing that a program behaves the same.
"""

from __future__ import annotations

from typing import Any, ClassVar

from cassette_import.activation.context import Context
from cassette_import.kits.options import options_of, type_with_events
from cassette_import.rewriting.events import Events

__all__ = ["Noop"]


class Noop(Context, events=Events.ALL):
    """Intercepts every event and changes nothing.

    Parameters
    ----------
    metadata:
        Any object; the context keeps it and does not use it.
    events:
        The events to intercept, if not all: an `Events`, or text such as ``"calls+operators"``. On the
        command line, ``-c noop:events=calls``.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> overdub(Noop(events="calls"), colorsys.rgb_to_hls, 0.5, 0.5, 0.5)
    (0.0, 0.5, 0.0)
    """

    inherit: ClassVar[bool] = True

    def __init__(self, metadata: object = None, *, events: Events | str | None = None) -> None:
        super().__init__(metadata)

    @options_of(__init__)
    def __new__(cls, *metadata: object, events: Events | str | None = None, **options: object) -> Noop:
        """Make an instance of the type that intercepts these events."""
        return super().__new__(type_with_events(cls, events))

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""
