"""The context `Profile`, which counts calls and measures times, and subtracts its own overhead.

Knows hooks, clocks, call trees and the formats of other profilers' tools; must not know any other context, or who runs
the program.
"""

from cassette_import.contexts.profile import accelerated_profile as accelerated_profile
from cassette_import.contexts.profile.context import Profile

__all__ = ["Profile"]
