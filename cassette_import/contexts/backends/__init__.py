"""Compilers behind graphs: an unmodified function and its callees as one function of machine code."""

from cassette_import.contexts.backends.jitted import Jitted, jit

__all__ = ["Jitted", "jit"]
