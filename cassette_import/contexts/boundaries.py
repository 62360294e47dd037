"""External calls: the calls that `record` writes down and `replay` answers. This is the public module for them.

`BOUNDARY` and `GROUPS` name the functions, `boundary` marks more of them, and `leading_outside` lists them.
"""

from cassette_import.contexts.recording.external_functions import (
    BOUNDARY,
    CALLBACK_TAKERS,
    ENVIRONMENT,
    GROUPS,
    boundary,
    leading_outside,
)

__all__ = ["BOUNDARY", "CALLBACK_TAKERS", "ENVIRONMENT", "GROUPS", "boundary", "leading_outside"]
