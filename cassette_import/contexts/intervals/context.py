"""The context `Intervals`: the metadata of a number is a span that contains its exact value.

>>> import math
>>> enclosure(lambda x: x * math.sin(x), Interval(1.0, 1.25))
Interval(low=0.841..., high=1.186...)

Where a span does not decide a comparison, the run stops with `Undecided`, or the function runs again for the other
branch.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import get_ident
from typing import Any, Final, NamedTuple

from cassette_import.activation.tagging import allmetadata, metadata, tag
from cassette_import.activation.verbs import overdub
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
from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.enclosures.spans import Span, as_span
from cassette_import.kits.numbers.lost_numbers import REAL_NUMBERS, unshared
from cassette_import.kits.numbers.overloads import FoldCall
from cassette_import.kits.numbers.ruled_numbers import NO_RULE_FOR_OPERANDS, Bounded, NoRule, check_function
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagged_containers import sequence_like, with_items_tagged
from cassette_import.kits.tagging import plain

__all__ = ["Interval", "Intervals", "NotEnclosed", "Undecided", "enclosure"]

# ---- intervals, and the errors of code for which no enclosure is found


class Interval(NamedTuple):
    """All numbers from `low` to `high`, both included."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return bool(self.low <= value <= self.high)  # type: ignore[operator]  # numbers alone

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.high - self.low


class Undecided(CassetteError):
    """A comparison or a rounding whose result the enclosures of its operands do not decide. `site` is its call site."""

    def __init__(self, function: Any, operands: Sequence[Any], site: CallSite) -> None:
        self.site = site
        shown = " and ".join(f"[{low:.17g}, {high:.17g}]" for low, high in map(bounds, operands))
        super().__init__(
            f"{function.__name__} of {shown} is undecided, at {site}: {site.source}\n"
            "Give narrower intervals, or let both branches run: enclosure(f, ..., splits=10)"
        )


class NotEnclosed(NoRule):
    """A function without a rule computed a number from enclosed ones. `site` is its call site."""


# ---- the context `Intervals`: the metadata of a number is a span that contains its exact value

_OUTSIDE: Final = "the intervals leave the domain of"
_PRECISIONS: Final = 2, 1_000_000
"""The fewest and the most bits that the arithmetic can have."""


class Intervals(Bounded, tagging=True):
    """Computes an enclosure for each number that depends on an interval. The function `enclosure` is its interface.

    Parameters
    ----------
    precision:
        The number of bits of the arithmetic.
    splits:
        How many undecided comparisons may be split. `enclosure` runs the function again for the other branches.
    """

    without_rule = "there is no rule that encloses the results of"
    its_numbers, points = "enclosed numbers", "numbers in the intervals"
    error_type, bounds_type = NotEnclosed, Span

    def __init__(self, *, precision: int = 128, splits: int = 0) -> None:
        super().__init__()
        _check_number("precision", "bits", precision, *_PRECISIONS)
        _check_number("splits", "splits", splits, 0, sys.maxsize)
        self.precision = precision
        self.splits = splits
        self.decisions: list[Any] = []
        self.other_branches: list[list[Any]] = []
        self._decided = 0
        self._thread = get_ident()

    def enclosed(self, interval: Interval) -> Any:
        """A number in the middle of an interval, tagged with the span of the whole interval."""
        low, high = interval
        if not low <= high:
            raise ValueError(f"an interval goes from the lower bound to the higher one, which {interval!r} does not")
        return tag(unshared(low / 2 + high / 2 if low != high else low), self, Span(low, high))

    def interval(self, value: Any) -> Interval | None:
        """The enclosure of a number; None if it has none."""
        span = metadata(value, self)
        return Interval(*bounds(span)) if isinstance(span, Span) else None

    def check_sign(self, f: Any, bounds: Any) -> None:
        if bounds.contains(0) and not bounds.is_zero():
            raise self.refuse(Undecided(f, [bounds], nearest_site()))

    def choose(self, function: Any, operands: Sequence[Any], options: Sequence[Any]) -> Any:
        """One of several possible values; the other ones are kept for further runs."""
        if options[:2] == options[:1]:
            return options[0]
        number = self._decided
        if get_ident() != self._thread:  # threads decide in no fixed order
            raise self.refuse(Undecided(function, operands, nearest_site()))
        if number < len(self.decisions):
            self._decided += 1
            if self.decisions[number] not in options:  # tasks have run in another order than in the first run
                raise self.refuse(Undecided(function, operands, nearest_site()))
            return self.decisions[number]
        others = options.stop - options.start - 1 if isinstance(options, range) else len(options) - 1
        if others > self.splits:
            raise self.refuse(Undecided(function, operands, nearest_site()))
        self.splits -= others
        self.other_branches += [[*self.decisions, option] for option in options[1:]]
        self.decisions.append(options[0])
        self._decided += 1
        return options[0]

    def constant(self, number: Any) -> Any:
        return as_span(number)

    @hidden
    def apply(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        with workprec(self.precision):
            try:
                spans = [self.operand(f, argument) for argument in arguments]
                rule = self._rule_for_zero(f, arguments) or self.rules.get(f) or CHOICES[f]
                result = rule(functools.partial(self.choose, f, spans), *spans)
            except TypeError:
                raise self.refused(f, NO_RULE_FOR_OPERANDS) from None
            except OutsideDomain:
                raise self.refused(f, _OUTSIDE) from None
        if f in CHOICES and not isinstance(result, Span):
            return result
        if not result.is_finite():
            raise self.refused(f, _OUTSIDE)
        return self._enclosing(result, f, arguments, f in OVERFLOWING, f, *map(plain, arguments))

    def _rule_for_zero(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        """The rule of a function for a constant zero, whose sign is known; None in all other cases."""
        number, rule = OF_ZERO.get(f, (0, None))
        if rule is None or allmetadata(self, arguments[number]) or plain(arguments[number]) != 0:
            return None
        sign = math.copysign(1.0, plain(arguments[number]))
        return lambda choose, *spans: rule(sign, *spans)

    @hidden
    def fold(self, f: Any, call: FoldCall) -> Any:
        with workprec(self.precision):
            total = self.folds[f]([self.operand(f, value) for value in call.operands])
        return self._enclosing(total, f, call.items, f is math.fsum, call.value_of, map(plain, call.operands))

    @hidden
    def _enclosing(self, span: Any, f: Any, given: Sequence[Any], overflows: bool, compute: Any, *values: Any) -> Any:
        """What a call returns, with its enclosure. `overflows` says that it raises where floats overflow."""
        try:
            value = compute(*values)
        except Exception as error:
            self.raised(error, f, *given)
            raise
        if overflows and isinstance(value, float) and not fits_floats(span):
            self.raised(OverflowError(), f, *given)
        return tag(value, self, span)

    def inform(self, run: Mapping[str, object]) -> None:
        """Called before a program runs; raise ValueError: the context has no results without `enclosure`."""
        raise ValueError(f"intervals has no results of a program: {self.summary().partition(': ')[2]}")

    def summary(self) -> str:
        """One line for the terminal: the context has no results without `enclosure`."""
        return "intervals: call cassette_import.contexts.intervals.enclosure(f, …) to compute enclosures"

    @property
    def formats(self) -> Mapping[str, Writer]:
        """It writes no files."""
        return {}


def _check_number(name: str, unit: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        range_ = f"from {least} on" if most == sys.maxsize else f"from {least} to {most}"
        raise ValueError(f"{name} is a number of {unit} {range_}, not {value!r}")


Intervals.register(RULES, FOLDS, CHOICES)


# ---- the function `enclosure`: all values that an unmodified function can have for arguments between bounds


def enclosure(f: Callable[..., Any], *args: Any, splits: int = 0, precision: int = 128) -> Any:
    """An enclosure of all values that a function has for arguments in intervals.

    Parameters
    ----------
    f:
        An unmodified function of numbers. Its own module and installed packages are overdubbed.
    args:
        `Interval` objects, or anything else; lists, tuples and dicts may hold intervals too.
    splits:
        How many undecided comparisons or roundings may be split. `f` runs once for each branch, so it should have no
        side effects.
    precision:
        The number of bits of the arithmetic.

    Returns
    -------
    The result of `f`, with an `Interval` for each number that depends on an interval. The interval contains the exact
    result for all numbers in the intervals. Constants of the program count as the binary numbers that they are.

    Raises
    ------
    Undecided
        If a comparison is undecided and may not be split. The message shows where it is.
    NotEnclosed
        If a function without a rule computes a number: a C function, or one of a package that is not installed. Also if
        a function raises an exception for some numbers in the intervals, as `math.exp` does where floats overflow.

    >>> enclosure(lambda x: "small" if x < 3 else x / 3, Interval(4, 5))
    Interval(low=1.33..., high=1.66...)
    >>> enclosure(lambda x: 1 - x if x < 1 else x - 1, Interval(0.5, 1.75), splits=1)
    Interval(low=-0.75..., high=0.75...)
    """
    refusal = f"there is no enclosure of {f!r}: it has no Python source, and no rule is known for it"
    check_function(f, (RULES, CHOICES, FOLDS, COMPOSITIONS), refusal)
    branches: list[list[Any]] = [[]]
    results = []
    while branches:
        ctx = Intervals(precision=precision, splits=splits)
        ctx.decisions = branches.pop()
        with ctx.checked():
            result = overdub(ctx, f, *[_given(ctx, argument) for argument in args])
        results.append(ctx.read(result, lambda value, span: Interval(*bounds(span))))
        splits = ctx.splits
        branches += ctx.other_branches
    return functools.reduce(_union, results)


def _given(ctx: Intervals, value: Any) -> Any:
    """An argument, with a tagged number instead of each interval."""
    if isinstance(value, Interval):
        return ctx.enclosed(value)
    return with_items_tagged(ctx, value, functools.partial(_given, ctx))


def _union(one: Any, other: Any) -> Any:
    """A result that contains both results."""
    if isinstance(one, Interval) or isinstance(other, Interval) or (_is_number(one) and _is_number(other)):
        if type(one) is type(other) and one == other:
            return one
        ends = list(_ends(one)) + list(_ends(other))
        return Interval(min(ends), max(ends))
    if type(one) is type(other) and isinstance(one, (list, tuple)) and len(one) == len(other):
        return sequence_like(one, [_union(*pair) for pair in zip(one, other, strict=True)])
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: _union(one[key], other[key]) for key in one}
    if one != other or type(one) is not type(other):
        raise ValueError(f"the branches return {one!r} and {other!r}, which no interval contains")
    return one


def _is_number(value: Any) -> bool:
    return isinstance(value, REAL_NUMBERS) and not isinstance(value, bool)


def _ends(value: Any) -> Iterator[float]:
    if isinstance(value, Interval):
        yield from value
    elif _is_number(value):
        yield from bounds(as_span(value))
    else:
        raise ValueError(f"some branches return a number, and some {value!r}")
