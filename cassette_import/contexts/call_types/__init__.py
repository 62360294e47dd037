"""The context `CallTypes`, which records types of arguments and results at each call site, and writes type stubs.

Knows hooks, frames, and how types are written; must not know any other context, or who runs the program.
"""

from cassette_import.contexts.call_types.context import CallTypes
from cassette_import.contexts.call_types.sites import Outcome, Site, TypeShape

__all__ = ["CallTypes", "Outcome", "Site", "TypeShape"]
