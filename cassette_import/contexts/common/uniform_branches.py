"""Uniform branches: all executions that converted code stands for take the same side.

What converts branches asks one object at each of them: this one, or one for a branch that is taken both ways. Knows
what converted code asks at a branch; must not know for which executions code runs.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["UNIFORM", "UniformChoice"]


class UniformChoice:
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


UNIFORM: Final = UniformChoice(False), UniformChoice(True)
"""The choices for a false and for a true test."""
