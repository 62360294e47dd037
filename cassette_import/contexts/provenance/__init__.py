"""`Provenance`."""

from cassette_import.contexts.provenance.context import (
    Cell,
    Line,
    Provenance,
)

__all__ = ["Cell", "Line", "Provenance"]
