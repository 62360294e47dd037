"""Derivatives of scalar and NumPy code: forward and reverse mode."""

from cassette_import.contexts.autodiff.derivatives import derivative, gradient, jvp, vjp
from cassette_import.contexts.autodiff.modes import Forward, Reverse

__all__ = ["Forward", "Reverse", "derivative", "gradient", "jvp", "vjp"]
