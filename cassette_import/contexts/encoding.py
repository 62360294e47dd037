"""Serialised values in recordings: `VALUES` lists further classes that are serialised. This is the public module.

Programs may add to this set, which is the one that `record` uses.
"""

from cassette_import.contexts.recording.values import VALUES, BadValue, Decoder, Encoder, located, reference, shortened

__all__ = ["VALUES", "BadValue", "Decoder", "Encoder", "located", "reference", "shortened"]
