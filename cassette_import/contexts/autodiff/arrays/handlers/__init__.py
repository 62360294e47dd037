"""Calls of NumPy's functions with arrays that have derivatives, a file for each kind of rule.

Importing the package registers the handlers.
"""

from cassette_import.contexts.autodiff.arrays.handlers import callbacks, computations, movements

__all__ = ["callbacks", "computations", "movements"]
