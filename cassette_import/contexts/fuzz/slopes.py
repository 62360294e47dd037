"""Numbers that are computed from the input before they are compared: a second run with a shifted one gives
the slope.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from cassette_import.contexts.fuzz.inputs import Edit, leaf_at
from cassette_import.contexts.fuzz.origins import Span

__all__ = ["Number", "extrapolated", "number_at"]


class Number(NamedTuple):
    """A number in an input: a leaf, or digits in a text."""

    span: Span
    value: Any
    leaf: Any

    def edit(self, number: Any) -> Edit:
        """The change that writes another number there."""
        if type(self.leaf) in (int, float):
            return Edit(self.span.path, None, None, type(self.leaf)(number))
        text = str(number)
        return Edit(self.span.path, self.span.start, self.span.end, text.encode() if type(self.leaf) is bytes else text)


def number_at(value: Any, span: Span) -> Number | None:
    """The number at a place, or None if there is none."""
    leaf = leaf_at(value, span.path)
    if type(leaf) in (int, float):
        return Number(span, leaf, leaf)
    if type(leaf) in (str, bytes):
        try:
            return Number(span, int(leaf[span.start : span.end]), leaf)
        except ValueError:
            return None
    return None


def extrapolated(number: Number, shifted: Any, before: Any, after: Any, wanted: Any) -> Iterator[Edit]:
    """The changes for which a computed number becomes the wanted one, if it depends on the input linearly.

    Parameters
    ----------
    number, shifted:
        The number in the input, and what it was in the second run.
    before, after:
        What was computed from both.
    wanted:
        What should be computed.
    """
    try:
        rise = Fraction(after) - Fraction(before)
        if rise:
            exact = (
                Fraction(number.value)
                + (Fraction(wanted) - Fraction(before)) * (Fraction(shifted) - Fraction(number.value)) / rise
            )
            if type(number.value) is float:
                yield number.edit(float(exact))
            else:
                yield from (number.edit(int(exact) + step) for step in ((0, 1, -1) if exact.denominator > 1 else (0,)))
    except (OverflowError, ValueError):  # not finite
        return
