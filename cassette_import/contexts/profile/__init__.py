"""The context `Profile`, which counts calls and measures times, and subtracts its own overhead."""

from cassette_import.contexts.profile import accelerated_profile as accelerated_profile
from cassette_import.contexts.profile.context import Profile

__all__ = ["Profile"]
