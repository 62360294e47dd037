"""`Provenance`: finds the cells of the input from which each part of a report was computed."""

from cassette_import.contexts.provenance import writing
from cassette_import.contexts.provenance.context import Cell, Line, Provenance

__all__ = ["Cell", "Line", "Provenance"]

writing.register(Provenance)
