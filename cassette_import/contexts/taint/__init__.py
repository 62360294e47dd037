"""`Taint`."""

from cassette_import.contexts.taint.context import (
    Finding,
    Sanitizer,
    Sink,
    Taint,
    TaintError,
)

__all__ = ["Finding", "Sanitizer", "Sink", "Taint", "TaintError"]
