"""The interval rules of operators and functions, as data. This is the public module for them.

The tables may be extended: they are the ones that `intervals` uses.
"""

from cassette_import.contexts.intervals.rules import CHOICES, DECISIONS, FOLDS, RULES, bounds

__all__ = ["CHOICES", "DECISIONS", "FOLDS", "RULES", "bounds"]
