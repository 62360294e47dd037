"""Derivatives of unmodified scalar and NumPy code, in forward and reverse mode."""

from cassette_import.contexts.autodiff import quick_forms as quick_forms
from cassette_import.contexts.autodiff.derivatives import derivative, gradient, jvp, vjp
from cassette_import.contexts.autodiff.modes import Forward, Reverse

__all__ = ["Forward", "Reverse", "derivative", "gradient", "jvp", "vjp"]
