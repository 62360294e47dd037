"""When a call is the recorded one, and how both are told.

Knows encoded calls; must not know values, or who asks.
"""

from __future__ import annotations

from typing import Any

from cassette_import.contexts.recording.recording_file import Call, shown_call

__all__ = ["own_numbers", "same", "told"]


def same(call: Call, what: list[Any], encoded: Any) -> bool:
    """Whether a call, as it is encoded now, is the recorded one."""
    return call.what == what and (call.arguments == encoded or _comparable(call.arguments) == _comparable(encoded))


def _comparable(encoded: Any) -> Any:
    """Arguments without what may differ: the numbers of the program's own objects."""
    if isinstance(encoded, list):
        return [_comparable(item) for item in encoded]
    if isinstance(encoded, dict):
        own = encoded.get("own")
        if isinstance(own, list) and len(own) == 2:
            return {"own": own[1]}
        return {key: _comparable(item) for key, item in encoded.items()}
    return encoded


def own_numbers(encoded: Any) -> list[int]:
    """The numbers of the program's own objects in encoded arguments, in their order."""
    if isinstance(encoded, list):
        return [number for item in encoded for number in own_numbers(item)]
    if isinstance(encoded, dict):
        own = encoded.get("own")
        return [own[0]] if own is not None else [number for item in encoded.values() for number in own_numbers(item)]
    return []


def told(what: list[Any], encoded: Any) -> str:
    """A call as a departure shows it."""
    handle = f" of object {what[2]}" if len(what) > 2 else ""
    return shown_call(what, encoded) + handle
