"""`Record`: the context that records the results of external calls. This is its public module."""

from cassette_import.contexts.recording.record import Record

__all__ = ["Record"]
