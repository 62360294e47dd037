"""The context `NoNaN`, which finds the first expression whose result is NaN or infinite although its operands were
not.
"""

from cassette_import.contexts.nonan.context import NaNFound, NoNaN

__all__ = ["NaNFound", "NoNaN"]
