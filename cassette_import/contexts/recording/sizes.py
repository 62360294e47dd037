"""What a recording consists of: how many calls of which functions, and how much of the file they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["Sizes"]

_UNITS: Final = ("B", "kB", "MB", "GB")
_SHOWN: Final = 3


class Sizes:
    """Counts the calls and characters of a recording, by function.

    >>> sizes = Sizes()
    >>> sizes.add({"call": 1, "what": ["call", "time.time"]}, 1500)
    >>> sizes.described()
    '1 call, 1.5 kB (most of it: 1 time.time)'
    """

    def __init__(self) -> None:
        self._whole = 0
        self._calls: Counter[str] = Counter()
        self._characters: Counter[str] = Counter()

    def add(self, line: Mapping[str, Any], length: int) -> None:
        """Add a line of this length."""
        self._whole += length
        if "call" in line:
            name = line["what"][1]
            self._calls[name] += 1
            self._characters[name] += length

    def lacks(self, name: str) -> bool:
        """Whether no call of a function has been recorded, nor of a method of a class of this name."""
        return not any(known == name or known.startswith(f"{name}.") for known in self._calls)

    def described(self) -> str:
        """The sums, and the functions that take most of the recording."""
        count = self._calls.total()
        text = f"{count} call{'' if count == 1 else 's'}, {_shown(self._whole)}"
        largest = [f"{self._calls[name]} {name}" for name, _ in self._characters.most_common(_SHOWN)]
        return f"{text} (most of it: {', '.join(largest)})" if largest else text


def _shown(size: float) -> str:
    number = 0
    while size >= 1000 and number < len(_UNITS) - 1:
        size /= 1000
        number += 1
    return f"{size:.1f} {_UNITS[number]}" if number else f"{size} {_UNITS[0]}"
