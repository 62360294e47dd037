"""The options of a replay: which recording is replayed, whether calls are recorded, and what two requests share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

from cassette_import.contexts.recording.recording_file import Recording, read
from cassette_import.contexts.recording.request_options import listed
from cassette_import.contexts.recording.requests_by_function import DEFAULT_PARTS

__all__ = ["RECORD_MODES", "check_choice", "opened", "parts_to_match"]

RECORD_MODES: Final = ("none", "once", "new_episodes", "all")
"""Which calls of a run are recorded: none; all if there is no recording yet; those that the recording lacks; all."""


def opened(file: str | Recording, record_mode: str) -> tuple[Recording, bool]:
    """The recording to replay, and whether calls are recorded."""
    if isinstance(file, Recording):
        return file, record_mode in ("all", "new_episodes")
    if record_mode == "none":
        return read(file), False
    if record_mode != "all" and os.path.exists(file) and os.path.getsize(file):
        found = read(file)
        if found.calls or (found.finished and found.environment):
            return found, record_mode == "new_episodes"
    return Recording.missing(file, {}), True  # so is one of a run that made no call, such as one that failed before


def parts_to_match(given: Any, order: str | None, recording: Recording, may_record: bool) -> Any:
    """The parts of requests that are compared; None for all arguments."""
    if given is not None:
        return listed(given)
    if recording.is_extended or (may_record and recording.calls):
        return recording.header.get("match_on") or DEFAULT_PARTS
    return None


def check_choice(option: str, given: Any, choices: Sequence[Any]) -> None:
    """Raise a `ValueError` for a value that an option does not have."""
    if given not in choices:
        raise ValueError(f"{option}={given!r}: there are {', '.join(filter(None, choices))}")
