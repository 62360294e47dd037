"""The first free numbers of a recording, for calls that are added to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from cassette_import.contexts.recording.recording_file import Recording

__all__ = ["FirstNumbers", "first_free_numbers", "no_object"]


class FirstNumbers(NamedTuple):
    """The first numbers of a new recording, by what they count."""

    call: int = 1
    sequence: int = 0
    proxy: int = 1
    class_: int = 0
    program_object: int = 0


def first_free_numbers(recording: Recording) -> FirstNumbers:
    """The first numbers that a recording does not contain."""
    proxies, objects = [0], [-1]
    for call in recording.calls.values():
        for tag, number in _references([call.outcome, call.arguments, call.changed]):
            (proxies if tag == "handle" else objects).append(number)
    return FirstNumbers(
        max(recording.calls, default=0) + 1,
        max(recording.sequences, default=-1) + 1,
        max(proxies) + 1,
        max(recording.classes, default=-1) + 1,
        max(objects) + 1,
    )


def _references(encoded: Any) -> Iterator[tuple[str, int]]:
    """The tags and numbers of all references in an encoded value."""
    if isinstance(encoded, list | tuple):
        for item in encoded:
            yield from _references(item)
    elif isinstance(encoded, dict):
        for tag, content in encoded.items():
            number = content[0] if isinstance(content, list) and content else content
            if tag in ("handle", "own") and isinstance(number, int):
                yield tag, number
            yield from _references(content)


def no_object() -> None:
    """A weak reference to an object of an earlier run."""
