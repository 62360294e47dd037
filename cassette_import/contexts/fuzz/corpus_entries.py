"""The entries of the corpus: inputs that reached something new."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cassette_import.contexts.fuzz.inputs import encoded

__all__ = ["Entry"]


@dataclass
class Entry:
    """An input that reached something new.

    Attributes
    ----------
    value:
        The input.
    repairs:
        The places of comparisons between two parts of the input, as of a checksum: they were written anew on the way to
        this input, and must be for inputs that are made of it.
    size:
        How long it is in a file.
    """

    value: Any
    repairs: frozenset[Any] = field(default_factory=frozenset)
    size: int = 0

    def __post_init__(self) -> None:
        self.size = len(encoded(self.value))
