"""The context `Flops`, which counts the floating-point operations of a program by kind and by function."""

from cassette_import.contexts.flops.context import Flops

__all__ = ["Flops"]
