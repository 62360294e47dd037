"""`enclosure`: guaranteed bounds of the exact values of a function; the context `Intervals`."""

from cassette_import.contexts.intervals.enclosure import enclosure
from cassette_import.contexts.intervals.interval import Interval, NotEnclosed, Undecided
from cassette_import.contexts.intervals.overloads import Intervals

__all__ = ["Interval", "Intervals", "NotEnclosed", "Undecided", "enclosure"]
