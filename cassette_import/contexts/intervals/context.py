"""The context `Intervals`: the metadata of a number is a span that contains its exact value."""

from __future__ import annotations

import functools
import math
import numbers
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from threading import get_ident
from types import FunctionType
from typing import Any, Final, NamedTuple

from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata, tag
from cassette_import.contexts.intervals.rules import (
    CHOICES,
    DECISIONS,
    FOLDS,
    OF_ZERO,
    OVERFLOWING,
    RULES,
    OutsideDomain,
    bounds,
    fits_floats,
    workprec,
)
from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.compositions import APPROXIMATE, COMPOSITIONS
from cassette_import.kits.numbers.enclosures.spans import Span, as_span
from cassette_import.kits.numbers.fold_calls import fold_call
from cassette_import.kits.numbers.lost_numbers import UNKNOWN, LosesNothing, is_decided_by_types, unshared
from cassette_import.kits.numbers.own_operators import call_without_overload, runs_own_method, without_modulus
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagging import RULED_WHILE_TAGGED, leaf_name, plain

__all__ = ["CONTAINERS", "REAL_NUMBERS", "UNKNOWN", "Interval", "Intervals", "NotEnclosed", "Undecided"]


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


class NotEnclosed(NotOverdubbable):
    """A function without a rule computed a number from enclosed ones. `site` is its call site."""

    def __init__(self, function: Any, site: CallSite, reason: str) -> None:
        self.site = site
        super().__init__(
            f"{reason} {leaf_name(function)}, at {site}: {site.source}\n"
            "Compute the same with functions that have one, or, if it is Python, install its package"
        )


# ---- the context `Intervals`: the metadata of a number is a span that contains its exact value

REAL_NUMBERS: Final = (int, float, Fraction, Decimal)

CONTAINERS: Final = (list, tuple, dict, set, frozenset)

_PRECISIONS: Final = 2, 1_000_000
"""The fewest and the most bits that the arithmetic can have."""


class Intervals(LosesNothing, tagging=True):
    """Computes an enclosure for each number that depends on an interval. The function `enclosure` is its interface.

    Parameters
    ----------
    precision:
        The number of bits of the arithmetic.
    splits:
        How many undecided comparisons may be split. `enclosure` runs the function again for the other branches.
    """

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

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """Refuse a number that a function without a rule computed: it may be anything."""
        if self.depends_on_no_number(f, arguments):
            return NO_METADATA
        found = self.attribute(arguments) if f is getattr else self.converted(f, arguments)
        if found is not NO_METADATA:
            return found
        if value is None or isinstance(value, (numbers.Number, FunctionType)):
            raise self.not_enclosed(f, "there is no rule that encloses the results of")
        if self.is_called_later(value, f, arguments, keywords):
            raise self.not_enclosed(f, "a function may be called later with enclosed numbers, by")
        return UNKNOWN

    def attribute(self, arguments: tuple[Any, ...]) -> Any:
        """The enclosure of an attribute of a number."""
        name, span = plain(arguments[1]), metadata(arguments[0], self)
        if not isinstance(span, Span):
            return NO_METADATA
        return span if name == "real" else as_span(0) if name == "imag" else NO_METADATA

    def raised(self, error: Exception, f: Any, *arguments: Any) -> None:
        """Refuse an exception of a leaf: it was called with the midpoints, and might return for other numbers."""
        if isinstance(error, (ArithmeticError, LookupError, ValueError)):
            raise self.not_enclosed(f, f"some numbers in the intervals raise {type(error).__name__} in") from error

    def not_enclosed(self, f: Any, reason: str) -> CassetteError:
        """The error for a call without an enclosure."""
        return self.refuse(NotEnclosed(f, nearest_site(), reason))

    def compared(self, f: Any) -> None:
        """A leaf is about to compare midpoints, or to hash them: what it does would be a guess."""
        raise self.not_enclosed(f, "there is no rule for such operands of")

    def tested(self, f: Any, value: Any) -> bool:
        """A leaf is about to test the truth of a number, or its sign: what the enclosure decides."""
        span, bare = metadata(value, self), plain(value)
        if isinstance(bare, CONTAINERS):
            return bool(bare)
        if not isinstance(span, Span):
            self.compared(f)
        if span.contains(0) and not span.is_zero():
            raise self.refuse(Undecided(f, [span], nearest_site()))
        return bare  # type: ignore[no-any-return]  # a number of the interval: all have the same sign

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

    def span(self, f: Any, value: Any) -> Any:
        """The enclosure of an operand."""
        known = metadata(value, self)
        bare = plain(value)
        if isinstance(known, Span):
            return known
        if known is UNKNOWN or not isinstance(bare, REAL_NUMBERS):
            raise self.not_enclosed(f, "there is no rule for such operands of")
        return as_span(bare)

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


# ---- the overloads of `Intervals` for functions of numbers, and folds
#
# Importing the module registers them. The overloads are hidden frames, because the program may inspect its callers.


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    if not all(isinstance(plain(one), REAL_NUMBERS) for one in arguments):
        if f in DECISIONS and is_decided_by_types(ctx, arguments, REAL_NUMBERS):
            return f(*map(plain, arguments))
        return call_without_overload(f, arguments, keywords)
    with workprec(ctx.precision):
        try:
            spans = [ctx.span(f, argument) for argument in arguments]
            rule = _rule_for_zero(ctx, f, arguments) or RULES.get(f) or CHOICES[f]
            if keywords:
                raise TypeError
            found = rule(functools.partial(ctx.choose, f, spans), *spans)
        except TypeError:
            raise ctx.not_enclosed(f, "there is no rule for such operands of") from None
        except OutsideDomain:
            raise ctx.not_enclosed(f, "the intervals leave the domain of") from None
    if f in CHOICES and not isinstance(found, Span):
        return found
    if not found.is_finite():
        raise ctx.not_enclosed(f, "the intervals leave the domain of")
    try:
        value = f(*map(plain, arguments))
    except Exception as error:
        ctx.raised(error, f, *arguments)
        raise
    if f in OVERFLOWING and isinstance(value, float) and not fits_floats(found):
        ctx.raised(OverflowError(), f, *arguments)
    return tag(value, ctx, found)


def _rule_for_zero(ctx: Any, f: Any, arguments: tuple[Any, ...]) -> Any:
    """The rule of a function for a constant zero, whose sign is known; None in all other cases."""
    number, rule = OF_ZERO.get(f, (0, None))
    if rule is None or allmetadata(ctx, arguments[number]) or plain(arguments[number]) != 0:
        return None
    sign = math.copysign(1.0, plain(arguments[number]))
    return lambda choose, *spans: rule(sign, *spans)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    if not allmetadata(ctx, *call.operands) or runs_own_method(f, call.operands):
        return call_without_overload(f, call.arguments, keywords)
    if set(keywords) - {"start", "default"}:
        raise ctx.not_enclosed(f, "there is no rule for such operands of")
    with workprec(ctx.precision):
        spans = [ctx.span(f, value) for value in call.operands]
        found = FOLDS[f](spans)
    named = {name: plain(value) for name, value in keywords.items() if name == "start"}
    try:
        value = f(*call.plain_arguments, **named)
    except Exception as error:
        ctx.raised(error, f, *call.items)
        raise
    if f is math.fsum and not fits_floats(found):
        ctx.raised(OverflowError(), f, *call.items)
    return tag(value, ctx, found)


for _function in (*RULES, *CHOICES):
    Intervals.overdub.register(_function)(_apply)
Intervals.overdub.register(pow)(without_modulus(_apply))
for _function in FOLDS:
    Intervals.overdub.register(_function)(_fold)
for _function in COMPOSITIONS:
    if _function not in APPROXIMATE:
        Intervals.overdub.register(_function)(compose)


RULED_WHILE_TAGGED.add(id(iter))  # it compares the results of a callback with a sentinel
