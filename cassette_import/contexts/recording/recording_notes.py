"""Notes for the user, printed when recording ends: where a replay may differ from the recorded run."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from typing import Any, Final

from cassette_import.contexts.recording.effects import is_callback
from cassette_import.contexts.recording.external_calls import call_site

__all__ = ["RecordingNotes"]

_MOST: Final = 5


class RecordingNotes:
    """The notes of one recording, each of them once."""

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}

    def late_call(self, name: str) -> None:
        """Note that the program calls a function which calls another one at a moment that no recording contains."""
        file, number, function = call_site()
        self._notes[
            f"{file}:{number} in {function}: {name}: neither the moment of this call nor what the function gets is "
            "recorded, so a replay may differ here"
        ] = None

    def callbacks(self, line: Mapping[str, Any], arguments: Any, keywords: Mapping[str, Any]) -> None:
        """Note the functions of the program that an external call gets. `line` is the call in the recording."""
        for argument in (*arguments, *keywords.values()):
            if is_callback(argument):
                file, number, function = line["site"]
                self._notes[
                    f"{file}:{number} in {function}: {line['what'][1]} gets {argument.__qualname__}: a replay does not "
                    "call it, so let the program not depend on what it does, or mark a function around it (boundary=)"
                ] = None

    def print_first(self) -> None:
        """Print the first notes."""
        for note in itertools.islice(self._notes, _MOST):
            print(f"record: {note}", file=sys.__stderr__)
