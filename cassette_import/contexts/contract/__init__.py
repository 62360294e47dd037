"""`contract`, `solve`: boxes that contain all solutions of an equation whose sides are unmodified functions."""

from cassette_import.interpreter.installed_packages import needs

try:
    from flint import arb  # noqa: F401  # a folder of this name is no package
except ImportError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(needs("contract", "python-flint", "contract"), name="flint") from error

from cassette_import.contexts.contract.context import NotContracted, TooManyPaths
from cassette_import.contexts.contract.solving import Solution, contract, solve

__all__ = ["NotContracted", "Solution", "TooManyPaths", "contract", "solve"]
