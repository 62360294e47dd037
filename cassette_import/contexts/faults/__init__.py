"""The context `Faults`, which makes chosen calls fail, take longer, or return another result."""

from cassette_import.contexts.faults.context import Faults

__all__ = ["Faults"]
