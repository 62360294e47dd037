"""The context `CallTypes`, which records types of arguments and results at each call site, and writes type stubs."""

from cassette_import.contexts.call_types.context import CallTypes
from cassette_import.contexts.call_types.sites import Outcome, Site, TypeShape

__all__ = ["CallTypes", "Outcome", "Site", "TypeShape"]
