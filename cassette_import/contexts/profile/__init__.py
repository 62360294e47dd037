"""`Profile`."""

from cassette_import.contexts.profile.context import Profile

__all__ = ["Profile"]
