"""Derivatives of scalar and NumPy code: forward and reverse mode."""

from cassette_import.contexts.autodiff.derivatives import (
    Forward,
    Reverse,
    derivative,
    gradient,
    jvp,
    vjp,
)

__all__ = ["Forward", "Reverse", "derivative", "gradient", "jvp", "vjp"]
