"""`Profile`: counts calls and measures self time and cumulative time, with the profiler's overhead subtracted.

Knows hooks, clocks, call trees and the formats of other profilers' tools; must not know any other context, or who runs
the program.
"""

from cassette_import.contexts.profile.context import Profile

__all__ = ["Profile"]
