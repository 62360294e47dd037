"""What a debugger sees of a proxy in a replay: recorded results, without using them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cassette_import.contexts.recording.call_text import described_call, is_same_call
from cassette_import.contexts.recording.recording_file import Recording

__all__ = ["inspected"]


def inspected(recording: Recording, what: list[Any], name: str, encoded: Any, decode: Callable[[Any], Any]) -> Any:
    """The result for a debugger that uses a proxy: no recorded call is used up."""
    kind, title, number = what
    for call in recording.calls.values():
        outcome = call.outcome
        if outcome is not None and outcome[0] == "value" and is_same_call(call.what, call.arguments, what, encoded):
            return decode(outcome[1])
    if name in ("__repr__", "__str__", "__format__"):
        return f"<proxy for {title.rpartition('.')[0]}, number {number}>"
    raise (AttributeError if kind == "get" else LookupError)(f"{described_call(what, encoded)} is not in the recording")
