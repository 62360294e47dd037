"""The context `CallGraph`, which counts which function calls which, and writes lists, pictures and graph files."""

from cassette_import.contexts.callgraph.context import CallGraph
from cassette_import.kits.calls.graphs.graph import Function, Graph

__all__ = ["CallGraph", "Function", "Graph"]
