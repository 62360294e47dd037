"""Compilers behind graphs: an unmodified function and its callees as one function of machine code.

Knows the public names; must not know how code is written.
"""

from cassette_import.contexts.backends.jit import jit
from cassette_import.contexts.backends.jitted import Jitted

__all__ = ["Jitted", "jit"]
