"""The context `Flops`, which counts the floating-point operations of a program by kind and by function.

Knows hooks, and which callable does which operations; must not know any other context, or who runs the program.
"""

from cassette_import.contexts.flops.context import Flops

__all__ = ["Flops"]
