"""`Taint`: finds untrusted values that reach a sink, with their paths."""

from cassette_import.contexts.taint.context import (
    Finding,
    Sanitizer,
    Sink,
    Taint,
    TaintError,
)

__all__ = ["Finding", "Sanitizer", "Sink", "Taint", "TaintError"]
