"""The context `NoNaN`, which finds the first expression whose result is NaN or infinite although its operands were not.

Knows hooks and numbers; must not know any other context, or who runs the program.
"""

from cassette_import.contexts.nonan.context import NaNFound, NoNaN

__all__ = ["NaNFound", "NoNaN"]
