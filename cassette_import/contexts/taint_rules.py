"""The built-in sources, sinks and sanitizers of `taint`, as data. This is the public module for them.

Programs may add to these lists, which are the ones that `taint` uses.
"""

from cassette_import.contexts.taint.rules import SANITIZERS, SINKS, SOURCES, Sanitizer, Sink

__all__ = ["SANITIZERS", "SINKS", "SOURCES", "Sanitizer", "Sink"]
