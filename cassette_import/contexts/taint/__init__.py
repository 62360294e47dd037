"""`Taint`: finds untrusted values that reach a sink, with their paths.

Knows how metadata propagates; must not know other contexts.
"""

from cassette_import.contexts.taint.context import (
    Finding,
    Sanitizer,
    Sink,
    Taint,
    TaintError,
)

__all__ = ["Finding", "Sanitizer", "Sink", "Taint", "TaintError"]
