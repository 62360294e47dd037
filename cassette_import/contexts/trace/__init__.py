"""`Trace`."""

from cassette_import.contexts.trace.context import (
    Trace,
)

__all__ = ["Trace"]
