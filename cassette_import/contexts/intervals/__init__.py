"""`enclosure`: guaranteed bounds of the exact values of a function; the context `Intervals`."""

from cassette_import.contexts.intervals.context import Interval, Intervals, NotEnclosed, Undecided, enclosure

__all__ = ["Interval", "Intervals", "NotEnclosed", "Undecided", "enclosure"]
