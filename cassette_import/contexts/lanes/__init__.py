"""Lanes: scalar code of unmodified packages, on whole arrays.

`vectorize(f)` calls a function once for many values. NumPy is the only dependency (extra `lanes`).
"""

from cassette_import.interpreter.installed_packages import is_installed, needs

if not is_installed("numpy"):
    raise ModuleNotFoundError(needs("lanes", "NumPy", "lanes"), name="numpy")

from cassette_import.contexts.lanes.errors import EffectError, TooManyPaths
from cassette_import.contexts.lanes.vectorizing import vectorize

__all__ = ["EffectError", "TooManyPaths", "vectorize"]
