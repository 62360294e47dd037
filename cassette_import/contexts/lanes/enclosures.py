"""Enclosures within a run: each lane has a span that contains its exact value.

The rules are those of `intervals`, applied to the spans of each lane; the program's values are in the middle of the
intervals, as arrays. A lane that a rule does not decide fails by itself. Needs python-flint.
"""

from __future__ import annotations

import functools
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from cassette_import.contexts.intervals.context import Interval, NotEnclosed, Undecided
from cassette_import.contexts.intervals.rules import (
    CHOICES,
    FOLDS,
    OF_ZERO,
    OVERFLOWING,
    RULES,
    OutsideDomain,
    bounds,
    fits_floats,
    workprec,
)
from cassette_import.contexts.lanes.columns import SequenceFunction, listed, packed
from cassette_import.contexts.lanes.elementwise import lane_of
from cassette_import.contexts.lanes.errors import name_of
from cassette_import.contexts.lanes.known_functions import PARTS
from cassette_import.contexts.lanes.lane import Lane
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet
from cassette_import.contexts.lanes.nested_levels import Level, evaluated, taken_apart
from cassette_import.errors import CassetteError
from cassette_import.kits.events import nearest_site
from cassette_import.kits.numbers.enclosures.spans import Span, as_span
from cassette_import.kits.numbers.lost_numbers import REAL_NUMBERS
from cassette_import.kits.tagged_containers import sequence_like

__all__ = ["enclosure"]

_SPAN: Final = "span"
_SAME: Final = frozenset({float, PARTS["real"], PARTS["conjugate"]})
_FAILING: Final = (ArithmeticError, LookupError, ValueError)


class Enclosures(Level):
    """Encloses the values of a function: an annotation has a column of spans."""

    name = "enclosure"

    def __init__(self, lanes: Lanes, precision: int) -> None:
        super().__init__()
        self.lanes = lanes
        self.precision = precision
        self.failure: CassetteError | None = None
        """Why all lanes of the run have no enclosure. It is raised again if the program catches it."""

    def lifted(self, part: Any, value: Any) -> Any:
        """The span of a value that does not depend on an interval."""
        if type(value) is not Lane:
            return _as_spans(self, [value])[0]
        return Lane(self.lanes, value.set, _column(_as_spans(self, value.data.tolist())))

    def result(self, function: Any, operands: Sequence[Any], found: Sequence[Any]) -> Any:
        """The result with its enclosure, or what the enclosures decide."""
        rule, name = self._rule(function, operands, found)
        if rule is None:
            return self._without_rule(function, operands, found)
        active = self.lanes.active
        rows = zip(*[self._spans(value, one, active) for value, one in zip(operands, found, strict=True)], strict=True)
        outcomes: list[Any] = []
        with workprec(self.precision):
            for row in rows:
                try:
                    outcomes.append(self._applied(rule, name, row))
                except CassetteError as error:
                    outcomes.append(error)
        self._drop_failing(outcomes, active)
        outcomes = [one for one in outcomes if not isinstance(one, CassetteError)]
        members = self.lanes.active
        if name in CHOICES and not isinstance(outcomes[0], Span):
            return lane_of(self.lanes, members, packed(outcomes))
        try:
            value = evaluated(function, operands)
        except _FAILING as error:
            raise self._failed(NotEnclosed(name, nearest_site(), _reason(error))) from error
        return self.annotate(self.lanes, members, value, {_SPAN: Lane(self.lanes, members, _column(outcomes))})

    def _rule(self, function: Any, operands: Sequence[Any], found: Sequence[Any]) -> tuple[Any, Any]:
        """The rule of a function, and the function that messages name."""
        if any(one is not None and one.parts is None for one in found):
            return None, function
        if not all(_is_real(value) for value in operands):
            return None, function
        if type(function) is SequenceFunction:
            fold = FOLDS.get(function.function) if not function.keywords else None
            return (None if fold is None else lambda choose, *spans: fold(spans)), function.function
        if function in _SAME:
            return (lambda choose, span: span), function
        number, of_zero = OF_ZERO.get(function, (0, None))
        if of_zero is not None and found[number] is None:
            if type(operands[number]) is Lane:
                raise self.lanes.refuse(self.refusal(f"{name_of(function)} of zeros whose signs differ"))
            if operands[number] == 0:
                sign = math.copysign(1.0, operands[number])
                return (lambda choose, *spans: of_zero(sign, *spans)), function
        return RULES.get(function) or CHOICES.get(function), function

    def _applied(self, rule: Callable[..., Any], function: Any, spans: Sequence[Any]) -> Any:
        """The result of a rule for one lane."""
        choose = functools.partial(_choose, function, spans)
        try:
            found = rule(choose, *spans)
        except TypeError:
            raise NotEnclosed(function, nearest_site(), "there is no rule for such operands of") from None
        except OutsideDomain:
            raise NotEnclosed(function, nearest_site(), "the intervals leave the domain of") from None
        if isinstance(found, Span):
            if not found.is_finite():
                raise NotEnclosed(function, nearest_site(), "the intervals leave the domain of")
            if function in OVERFLOWING and not fits_floats(found):
                raise NotEnclosed(function, nearest_site(), _reason(OverflowError()))
        return found

    def _without_rule(self, function: Any, operands: Sequence[Any], found: Sequence[Any]) -> Any:
        """The result of a function for which there is no rule: a text, or an error."""
        value = evaluated(function, operands)
        some = value.data.tolist() if type(value) is Lane else [value]
        if any(one is None or isinstance(one, (numbers.Number, tuple)) for one in some):
            raise self.lanes.refuse(self.refusal(f"no rule is known for {name_of(function)}"))
        return self.annotate(self.lanes, self.lanes.active, value, None)

    def _spans(self, value: Any, one: Any, active: LaneSet) -> list[Any]:
        """The spans of an operand, for all lanes."""
        if one is None:
            return _as_spans(self, listed(value.at(active) if type(value) is Lane else value, active.size))
        span = one.parts[_SPAN]
        return listed(span.at(active) if type(span) is Lane else span, active.size)

    def _drop_failing(self, outcomes: list[Any], active: LaneSet) -> None:
        failing = np.array([isinstance(one, CassetteError) for one in outcomes])
        if failing.all():
            raise self._failed(outcomes[0])
        if failing.any():
            self.lanes.drop(active.ids[failing])

    def _failed(self, error: CassetteError) -> CassetteError:
        """Note why there is no enclosure, for all lanes of the run."""
        self.lanes.commit()
        error.of_lane = True  # type: ignore[attr-defined]  # read in `vectorizing`
        self.failure = self.failure or error
        return error


def _reason(error: Exception) -> str:
    return f"some numbers in the intervals raise {type(error).__name__} in"


def _choose(function: Any, spans: Sequence[Any], options: Sequence[Any]) -> Any:
    """The only possible value."""
    if options[:2] != options[:1]:
        raise Undecided(function, spans, nearest_site())
    return options[0]


def _is_real(value: Any) -> bool:
    if type(value) is not Lane:
        return isinstance(value, REAL_NUMBERS)
    return not hasattr(value.data, "dtype") or value.data.dtype.kind in "fib" or _are_real(value.data.tolist())


def _are_real(values: list[Any]) -> bool:
    return all(isinstance(one, REAL_NUMBERS) for one in values)


def _as_spans(level: Enclosures, values: list[Any]) -> list[Any]:
    with workprec(level.precision):
        try:
            return [as_span(value) for value in values]
        except (TypeError, ValueError):
            raise level.lanes.refuse(level.refusal("a value is no number")) from None


def _column(spans: list[Any]) -> Any:
    column: Any = np.empty(len(spans), object)
    column[:] = spans
    return column


# ---- what the program calls


def enclosure(context: Any, f: Any, *args: Any, splits: Any = 0, precision: Any = 128) -> Any:
    """What `intervals.enclosure` returns, for all lanes."""
    level = Enclosures(context.lanes, precision)
    if type(splits) is not int or splits != 0:
        raise context.lanes.refuse(level.refusal("undecided comparisons are split"))
    if type(precision) is not int or not 2 <= precision <= 1_000_000:
        raise context.lanes.refuse(level.refusal(f"the precision is {precision!r}"))
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    try:
        result = context.call(f, *[_given(level, one) for one in args])
    finally:
        level.ended = True
    if level.failure is not None:
        raise level.failure
    return _read(level, result)


def _given(level: Enclosures, value: Any) -> Any:
    """An argument, with a number in the middle instead of each interval."""
    if isinstance(value, Interval):
        return _enclosed(level, *value)
    if type(value) is not Lane and type(value) in (list, tuple):
        return type(value)(_given(level, part) for part in value)
    if type(value) is dict:
        return {key: _given(level, part) for key, part in value.items()}
    return value


def _enclosed(level: Enclosures, low: Any, high: Any) -> Any:
    active = level.lanes.active
    lows, highs = (listed(end.at(active) if type(end) is Lane else end, active.size) for end in (low, high))
    if level.lanes.active is not active:
        return _enclosed(level, low, high)
    spans, middles, failed = [], [], []
    for least, most in zip(lows, highs, strict=True):
        failed.append(not least <= most)
        if not failed[-1]:
            spans.append(Span(least, most))
            middles.append(least / 2 + most / 2 if least != most else least)
    if failed and all(failed):
        raise ValueError(
            f"an interval goes from the lower bound to the higher one, which {Interval(lows[0], highs[0])!r} does not"
        )
    level.lanes.drop(active.ids[np.array(failed)])
    members = level.lanes.active
    value = lane_of(level.lanes, members, packed(middles))
    return level.annotate(level.lanes, members, value, {_SPAN: Lane(level.lanes, members, _column(spans))})


def _read(level: Enclosures, value: Any) -> Any:
    """A result, with an interval instead of each enclosed number."""
    if type(value) is Lane:
        bare, parts = taken_apart(level, value)
        if not parts:
            return bare
        span = parts[_SPAN]
        active = level.lanes.active
        ends = [bounds(one) for one in listed(span.at(active) if type(span) is Lane else span, active.size)]
        columns = [packed(list(column)) for column in zip(*ends, strict=True)]
        return Interval(*[lane_of(level.lanes, level.lanes.active, column) for column in columns])
    if isinstance(value, (list, tuple)):
        return sequence_like(value, [_read(level, part) for part in value])
    if type(value) is dict:
        return {key: _read(level, part) for key, part in value.items()}
    return value
