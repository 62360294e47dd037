"""The context `Allocations`, which tells which calls allocate memory, which calls leave some behind, and who
keeps it.
"""

from cassette_import.contexts.allocations.context import Allocations
from cassette_import.contexts.allocations.memory import Site, SiteAllocations

__all__ = ["Allocations", "Site", "SiteAllocations"]
