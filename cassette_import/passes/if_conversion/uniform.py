"""Branches, loops and functions on which all executions agree: converted code does there what Python does.

Converted code asks one object at each branch, loop and function with several returns: one of these, or one for
executions that go different ways.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

__all__ = ["UNIFORM", "UniformFrame", "UniformLoop"]

_Values = tuple[Any, ...]


class _UniformChoice:
    """A choice on which all executions agree."""

    __slots__ = ("_truth",)
    both: Final = False

    def __init__(self, truth: bool) -> None:
        self._truth = truth

    def one(self) -> bool:
        """Whether the first side runs."""
        return self._truth

    def two(self) -> bool:
        """Whether the second side runs."""
        return not self._truth

    def value(self, one: Any, other: Any) -> Any:
        """The value of an expression of which one side has run."""
        return one if self._truth else other


UNIFORM: Final = _UniformChoice(False), _UniformChoice(True)
"""The choices for a false and for a true test."""


class UniformLoop:
    """A loop that all executions leave together."""

    __slots__ = ("_has_ended",)

    def __init__(self) -> None:
        self._has_ended = False

    def enters(self, *values: Any) -> _Values:
        """The variables for the first turn."""
        return values

    def more(self) -> bool:
        """Whether there are executions in the loop."""
        return True

    def goes(self, test: Any, *values: Any) -> bool:
        """Whether the loop goes on, by the test of a `while` loop."""
        going = bool(test)
        self._has_ended = not going
        return going

    def items(self, iterable: Iterable[Any]) -> Iterable[Any]:
        """The items of a `for` loop."""
        return iterable

    def turn(self, *values: Any) -> None:
        """Begin a turn of a `for` loop."""

    def again(self, *values: Any) -> _Values:
        """The variables for the next turn."""
        return values

    def breaks(self, *values: Any) -> bool:
        """Whether to leave the loop now."""
        return True

    def continues(self, *values: Any) -> bool:
        """Whether to go on with the next turn now."""
        return True

    def alone(self) -> None:
        """Jump out of a `try` or `with` statement."""

    def ends(self, *values: Any) -> None:
        """Note that a `for` loop has had its last item."""
        self._has_ended = True

    def ended(self) -> bool:
        """Whether the `else` clause runs."""
        return self._has_ended

    def otherwise(self, *values: Any) -> _Values:
        """The variables for the `else` clause."""
        return values

    def over(self, *values: Any) -> _Values:
        """The variables after the loop."""
        return values


class UniformFrame:
    """A function from which all executions return together."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None

    def returns(self, value: Any) -> bool:
        """Whether to return now."""
        self.value = value
        return True

    def alone(self) -> None:
        """Return out of a `try` or `with` statement."""

    def result(self) -> Any:
        """The value of the function, at its end."""
