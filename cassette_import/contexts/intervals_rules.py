"""The rules of `intervals` for operators and functions, as data. This is the public module for them.

Programs may add to these tables, which are the ones that `intervals` uses.
"""

from cassette_import.contexts.intervals.rules import CHOICES, DECISIONS, FOLDS, RULES, bounds

__all__ = ["CHOICES", "DECISIONS", "FOLDS", "RULES", "bounds"]
