"""`Replay`: runs a program with the results of a recording. This is its public module."""

from cassette_import.contexts.recording.replay import Replay

__all__ = ["Replay"]
