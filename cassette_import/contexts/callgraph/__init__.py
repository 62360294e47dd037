"""`CallGraph`."""

from cassette_import.contexts.callgraph.context import CallGraph

__all__ = ["CallGraph"]
