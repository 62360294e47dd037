"""The context `Faults`, which makes chosen calls fail, take longer, or return another result.

Knows which calls are chosen and what is injected into them; must not know the functions.
"""

from cassette_import.contexts.faults.context import Faults

__all__ = ["Faults"]
