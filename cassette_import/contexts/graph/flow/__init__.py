"""The flow of a function: what it computes, with its branches and loops, recorded from runs for a few points."""

from cassette_import.contexts.graph.flow.recording import Flow

__all__ = ["Flow"]
