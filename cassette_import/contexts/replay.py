"""`Replay`: the context that answers external calls from a recording. This is its public module."""

from cassette_import.contexts.recording.replay import Replay

__all__ = ["Replay"]
