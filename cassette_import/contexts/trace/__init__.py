"""The context `Trace`, which writes each call with its arguments and its result while the program runs."""

from cassette_import.contexts.trace import accelerated_trace as accelerated_trace
from cassette_import.contexts.trace.accelerated_trace import complete
from cassette_import.contexts.trace.context import Trace

__all__ = ["Trace", "complete"]
