"""`Record`: writes down what external calls return. This is its public module."""

from cassette_import.contexts.recording.record import Record

__all__ = ["Record"]
