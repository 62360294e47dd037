"""The function `enclosure`: all values that an unmodified function can have for arguments between bounds.

>>> import math
>>> enclosure(lambda x: x * math.sin(x), Interval(1.0, 1.25))
Interval(low=0.841..., high=1.186...)

Where a span does not decide a comparison, the run stops with `Undecided`, or the function runs again for the other
branch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from cassette_import.activation.verbs import overdub
from cassette_import.contexts.intervals.context import Interval, Intervals
from cassette_import.contexts.intervals.rules import CHOICES, FOLDS, RULES, bounds
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.enclosures.spans import as_span
from cassette_import.kits.numbers.lost_numbers import REAL_NUMBERS
from cassette_import.kits.numbers.ruled_numbers import check_function
from cassette_import.kits.tagged_containers import sequence_like, with_items_tagged

__all__ = ["enclosure"]


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
