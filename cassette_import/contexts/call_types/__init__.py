"""`CallTypes`."""

from cassette_import.contexts.call_types.context import (
    CallTypes,
    Outcome,
    Shape,
    Site,
)

__all__ = ["CallTypes", "Outcome", "Shape", "Site"]
