"""Programs as data: the graph of what an unmodified function computes, and what is left of it for known arguments."""

from cassette_import.contexts.graph.graph import Graph, graph
from cassette_import.contexts.graph.nodes import GuardFailed, NotRepresentable
from cassette_import.contexts.graph.residual import Residual, inline, residual
from cassette_import.contexts.graph.tracing import unknown

__all__ = ["Graph", "GuardFailed", "NotRepresentable", "Residual", "graph", "inline", "residual", "unknown"]
