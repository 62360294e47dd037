"""Other number systems: the base `Algebra` runs unmodified code on numbers whose arithmetic is a table."""

from cassette_import.contexts.algebra.context import Algebra, Meaningless, Number, evaluate
from cassette_import.kits.numbers.partials import has_slopes, slope

__all__ = ["Algebra", "Meaningless", "Number", "evaluate", "has_slopes", "slope"]
