"""Excludes what earlier tests have left from the count of metadata: tracebacks of failed programs hold wrappers."""

import gc

from cassette_import.runtime.tagging import live_metadata


def count_anew(monkeypatch):
    """Take the metadata that there is now for none, until the test ends."""
    gc.collect()
    # Finalizers may ask for the count meanwhile: with these numbers, there is metadata.
    monkeypatch.setattr(live_metadata, "_references_of_modules", [0, 0])
    live_metadata.start_counting()
