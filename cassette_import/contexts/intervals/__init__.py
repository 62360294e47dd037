"""`Intervals` and `enclosure`: what values lie within, rounding included."""

from cassette_import.contexts.intervals.context import (
    Interval,
    Intervals,
    NotEnclosed,
    Undecided,
    enclosure,
)

__all__ = ["Interval", "Intervals", "NotEnclosed", "Undecided", "enclosure"]
