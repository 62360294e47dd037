"""Functions of sequences of numbers: their arguments become one row of numbers, of which some differ between lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["SequenceFunction"]


class SequenceFunction:
    """A function of sequences, as a function of the numbers in them.

    Parameters
    ----------
    function, keywords:
        The function, and its keyword arguments.
    sizes:
        How many numbers each argument has; None for an argument that is a number.
    whole:
        What computes the result of the numbers for all lanes at once, if that is known.
    """

    def __init__(
        self,
        function: Any,
        sizes: Sequence[int | None],
        keywords: dict[str, Any],
        whole: Callable[..., Any] | None = None,
    ) -> None:
        self.function = function
        self.keywords = keywords
        self.whole = whole
        self._sizes = sizes

    def __call__(self, *parts: Any) -> Any:
        given: list[Any] = []
        rest = list(parts)
        for size in self._sizes:
            given.append(rest[0] if size is None else rest[:size])
            rest = rest[1 if size is None else size :]
        return self.function(*given, **self.keywords)
