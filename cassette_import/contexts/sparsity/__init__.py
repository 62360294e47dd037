"""The pattern of derivatives: which outputs of an unmodified function depend on which inputs.

`jacobian(f, x)`, `hessian(f, x)` and `coloring(pattern)` need NumPy and SciPy (the extra `sparsity`).
"""

from cassette_import.interpreter.installed_packages import is_installed, needs

if not (is_installed("numpy") and is_installed("scipy")):
    raise ModuleNotFoundError(needs("sparsity", "SciPy", "sparsity"), name="scipy")

from cassette_import.contexts.sparsity.errors import SparsityError
from cassette_import.contexts.sparsity.patterns import coloring, hessian, jacobian

__all__ = ["SparsityError", "coloring", "hessian", "jacobian"]
