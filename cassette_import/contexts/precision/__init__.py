"""Where a computation loses precision: `shadow`, `significant`, and the context `Precision` for programs.

mpmath does the arithmetic (the extra `precision`).
"""

from cassette_import.contexts.precision.context import Culprit, Precision
from cassette_import.contexts.precision.rounding import significant
from cassette_import.contexts.precision.shadow import Shadowed, shadow

__all__ = ["Culprit", "Precision", "Shadowed", "shadow", "significant"]
