"""`Faults`."""

from cassette_import.contexts.faults.context import Faults

__all__ = ["Faults"]
