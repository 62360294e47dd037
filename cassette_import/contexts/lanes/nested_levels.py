"""Levels: contexts within a run, such as those of derivatives, which annotate values of lanes.

One event serves all lanes: a number of the program is a value of lanes, and its annotation has values of lanes, too. A
level gets its operands without its annotations, but with those of the levels further out, and computes with them as
the program does. So levels can be nested.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from cassette_import.contexts.lanes.columns import SequenceFunction, constant
from cassette_import.contexts.lanes.errors import EffectError, place
from cassette_import.contexts.lanes.lane import PORT, Annotation, Lane
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet

__all__ = ["Level", "computed_in_levels", "evaluated", "innermost", "taken_apart"]

_NUMBERS: Final = itertools.count()

_DECIDES: Final = frozenset(
    {"is hashed", "is an index or a size", "is called", "is the key of a dict", "is the key of an object"}
    | {"is the subject of a pattern", "is the step of a range", "bounds a range"}
)
"""Uses of a value in which it decides, so that nothing is computed from it."""


class Level:
    """A context within a run. The base of all kinds.

    Attributes
    ----------
    name:
        What the results have, for messages.
    ended:
        Whether the context has been left: its annotations mean nothing any more.
    """

    name = "metadata"

    def __init__(self) -> None:
        self.number = next(_NUMBERS)
        self.ended = False

    def result(self, function: Any, operands: Sequence[Any], found: Sequence[Any]) -> Any:
        """The result of a function of immutable values, annotated.

        Parameters
        ----------
        function:
            The function.
        operands:
            The values without the annotations of this level.
        found:
            The annotation of each operand; None if it has none.
        """
        raise NotImplementedError

    def lifted(self, part: Any, value: Any) -> Any:
        """A part of the annotation of a value that has none."""
        raise NotImplementedError

    def annotate(self, lanes: Lanes, members: LaneSet, value: Any, parts: dict[Any, Any] | None) -> Lane:
        """A value for some lanes with its annotation."""
        data = value.data if type(value) is Lane else constant(value, members.size)
        return Lane(lanes, value.set if type(value) is Lane else members, data, Annotation(self, parts, value))

    def check_lost(self, lane: Lane, what: str) -> None:
        """Refuse that C code takes a value without its annotation."""
        if not self.ended and what not in _DECIDES:
            raise lane.lanes.refuse(self.refusal(f"a number {what}"))

    def refusal(self, what: str) -> EffectError:
        """The error for what this level cannot compute for many lanes at once."""
        return EffectError(
            f'there is no {self.name} by lanes: {what}, at {place()}; run such lanes one by one, with effects="split"'
        )


def innermost(values: Iterable[Any]) -> Level | None:
    """The innermost of the levels that annotate some of the values."""
    innermost_level: Level | None = None
    for value in values:
        if type(value) is Lane and value.annotation is not None:
            level = value.annotation.level
            if innermost_level is None or level.number > innermost_level.number:
                innermost_level = level
    return innermost_level


def taken_apart(level: Level, value: Any) -> tuple[Any, Any]:
    """A value without the annotation of a level, and the parts: none of them, or None if they are not known."""
    if type(value) is Lane and value.annotation is not None and value.annotation.level is level:
        return value.annotation.bare, value.annotation.parts
    return value, {}


def computed_in_levels(function: Any, operands: Sequence[Any]) -> Any:
    """The results of a function of immutable values, of which some are annotated."""
    level = innermost(operands)
    assert level is not None
    bare = []
    annotations: list[Annotation | None] = []
    for operand in operands:
        if type(operand) is Lane and operand.annotation is not None and operand.annotation.level is level:
            bare.append(operand.annotation.bare)
            annotations.append(operand.annotation)
        else:
            bare.append(operand)
            annotations.append(None)
    return evaluated(function, bare) if level.ended else level.result(function, bare, annotations)


def evaluated(function: Any, operands: Sequence[Any]) -> Any:
    """The result for operands of which each is a value of lanes, or a plain one."""
    if type(function) is SequenceFunction and function.whole is not None:
        return function.whole(*operands)
    return PORT.compute(function, *operands) if any(type(one) is Lane for one in operands) else function(*operands)
