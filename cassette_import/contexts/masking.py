"""Secrets in recordings: `USUAL_SECRETS` lists the names that `record` masks. This is the public module for them.

Knows where they are defined; must not know what is recorded.
"""

from cassette_import.contexts.recording.masking import USUAL_SECRETS, Mask

__all__ = ["USUAL_SECRETS", "Mask"]
