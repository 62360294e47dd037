"""What `record` and `replay` take as external calls: the public face of `recording.boundaries`."""

from cassette_import.contexts.recording.boundaries import (
    BOUNDARY,
    CHANCE,
    ENVIRONMENT,
    GROUPS,
    boundary,
    leading_outside,
)

__all__ = ["BOUNDARY", "CHANCE", "ENVIRONMENT", "GROUPS", "boundary", "leading_outside"]
