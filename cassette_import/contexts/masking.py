"""Secrets in recordings: `USUAL_SECRETS` lists the names that `record` masks. This is the public module for them."""

from cassette_import.contexts.recording.masking import USUAL_SECRETS, Mask

__all__ = ["USUAL_SECRETS", "Mask"]
