"""Enclosures: all that a function that knows nothing of it can give for arguments that are known only to lie between
bounds.

>>> import math
>>> enclosure(lambda x: x * math.sin(x), Interval(1.0, 1.25))
Interval(low=0.828..., high=1.186...)

The metadata of a number is a ball that holds its exact value. Arithmetic on balls, with every rounding error in it, is
that of Arb, which python-flint brings (the extra `intervals`). Where a ball does not say how a comparison ends, the
program stops with `Undecided`, or both ways are followed.
"""

from __future__ import annotations

import functools
import numbers
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from cassette_import import NO_METADATA, Context, NotOverdubbable, allmetadata, fallback, metadata, overdub, tag
from cassette_import.contexts.common.reporting import Writer
from cassette_import.errors import CassetteError
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.call_sites import CallSite, nearest_site
from cassette_import.runtime.tagging.iterator_metadata import items_outside
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import Tagged, plain

try:
    from flint import arb
    from flint import ctx as _flint

    from cassette_import.contexts.intervals.rules import CHOICES, DECISIONS, FOLDS, RULES, bounds, less
except ModuleNotFoundError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(
        "intervals need python-flint: install it, or this package with the extra `intervals`", name="flint"
    ) from error

__all__ = ["Interval", "Intervals", "NotEnclosed", "Undecided", "enclosure"]

_UNKNOWN: Final = object()
"""The metadata of what is no number and was made of enclosed ones, such as their text: no number may come from it."""

_ASKING: Final = frozenset({isinstance, issubclass, callable, hasattr, id, operator.is_, operator.is_not})


_SIZES: Final = frozenset({len, bool, operator.truth, operator.not_})
"""Of a container they tell how many items it has, whatever the items are."""
_CONTAINERS: Final = (list, tuple, dict, set, frozenset)


class Interval(NamedTuple):
    """All numbers from `low` to `high`."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return bool(self.low <= value <= self.high)  # type: ignore[operator]

    @property
    def width(self) -> float:
        """How far the bounds are from each other."""
        return self.high - self.low


class Undecided(CassetteError):
    """A comparison, or a whole number, that the enclosures of its operands leave open. `site` tells where it is."""

    def __init__(self, function: Any, operands: Sequence[Any], site: CallSite) -> None:
        self.site = site
        shown = " and ".join(f"[{low:.17g}, {high:.17g}]" for low, high in map(bounds, operands))
        super().__init__(
            f"{function.__name__} of {shown} is undecided, at {site}: {site.source}\n"
            "Give narrower intervals, or follow both ways: enclosure(f, ..., splits=10)"
        )


class NotEnclosed(CassetteError):
    """A number was computed of enclosed ones by something that no enclosure is known for."""

    def __init__(self, function: Any, site: CallSite, reason: str) -> None:
        self.site = site
        name = getattr(function, "__qualname__", repr(function))
        super().__init__(f"{reason} {name}, at {site}: {site.source}")


class Intervals(Context, tagging=True):
    """Follows enclosures of numbers; `enclosure` is the way to use it.

    Parameters
    ----------
    precision:
        How many bits balls have.
    splits:
        How many undecided comparisons are followed both ways, one after the other: `enclosure` does that.
    """

    def __init__(self, *, precision: int = 128, splits: int = 0) -> None:
        super().__init__()
        numbers_given: dict[str, Any] = {"precision": precision, "splits": splits}
        for name, value in numbers_given.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} is a number of {'bits' if name == 'precision' else 'runs'}, not {value!r}")
        self.precision = precision
        self.splits = splits
        self.decisions: list[Any] = []
        self.other_ways: list[list[Any]] = []
        self._decided = 0

    def enclosed(self, interval: Interval) -> Any:
        """A number in the middle of an interval that is known to stand for all of it."""
        low, high = interval
        if not low <= high:
            raise ValueError(f"an interval goes from the lower bound to the higher one, which {interval!r} does not")
        with _flint.workprec(max(self.precision, 64)):
            ball = arb((arb(low) + high) / 2, (arb(high) - low) / 2)  # `union` would be wider
            if not (ball.contains(low) and ball.contains(high)):
                ball = ball.union(arb(low)).union(arb(high))
        return tag(low / 2 + high / 2 if low != high else low, self, ball)

    def interval(self, value: Any) -> Interval | None:
        """The enclosure of a number; None if it has none."""
        ball = metadata(value, self)
        return Interval(*bounds(ball)) if isinstance(ball, arb) else None

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """A number that is computed by something that has no rule may be anything."""
        if f in _ASKING or (f in _SIZES and isinstance(plain(arguments[0]), _CONTAINERS)):
            return NO_METADATA
        if isinstance(value, numbers.Number):
            raise NotEnclosed(f, nearest_site(), "there is no enclosure of what is computed of intervals by")
        return _UNKNOWN

    def choose(self, function: Any, operands: Sequence[Any], options: Sequence[Any]) -> Any:
        """One of several possible values; the others are for further runs."""
        if len(options) == 1:
            return options[0]
        number = self._decided
        if number < len(self.decisions):
            self._decided += 1
            return self.decisions[number]
        if len(options) - 1 > self.splits:
            raise Undecided(function, operands, nearest_site())
        self.splits -= len(options) - 1
        self.other_ways += [[*self.decisions, option] for option in options[1:]]
        self.decisions.append(options[0])
        self._decided += 1
        return options[0]

    def ball(self, f: Any, value: Any) -> Any:
        """The enclosure of an operand."""
        known = metadata(value, self)
        bare = plain(value)
        if isinstance(known, arb):
            return known
        if known is _UNKNOWN or not isinstance(bare, (int, float)):
            raise NotEnclosed(f, nearest_site(), "there is no rule for such operands of")
        return arb(bare)

    def summary(self) -> str:
        """What there is to say on the terminal."""
        return "intervals: numbers get enclosures by cassette_import.contexts.intervals.enclosure(f, …)"

    @property
    def formats(self) -> Mapping[str, Writer]:
        """It writes no files."""
        return {}


def _is_text(ctx: Intervals, value: Any) -> bool:
    return metadata(value, ctx) is _UNKNOWN


# ---- overloads; hidden, because the program may look at frames


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()):
        return fallback(ctx, f, *arguments, **keywords)
    if not all(isinstance(plain(one), (int, float)) for one in arguments):
        if f in DECISIONS and not any(isinstance(plain(one), _CONTAINERS) or _is_text(ctx, one) for one in arguments):
            return f(*map(plain, arguments))  # a number is no text, and not None
        return fallback(ctx, f, *arguments, **keywords)
    balls = [ctx.ball(f, argument) for argument in arguments]
    choose = functools.partial(ctx.choose, f, balls)
    rule = RULES.get(f) or CHOICES[f]
    with _flint.workprec(ctx.precision):
        try:
            if keywords:
                raise TypeError
            found = rule(choose, *balls)
        except TypeError:
            raise NotEnclosed(f, nearest_site(), "there is no rule for such operands of") from None
    if f in CHOICES:
        return found
    if not found.is_finite():
        raise NotEnclosed(f, nearest_site(), "the intervals leave the domain of")
    return tag(f(*map(plain, arguments)), ctx, found)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    many = f in (min, max) and bool(more)
    given = [items, *more] if many else items_outside(items)
    start = [*([] if many else more), *([keywords["start"]] if "start" in keywords else [])]
    if not allmetadata(ctx, *given, *start):
        return fallback(ctx, f, *(given if many else (given, *more)), **keywords)
    if set(keywords) - {"start", "default"}:
        raise NotEnclosed(f, nearest_site(), "there is no rule for such operands of")
    balls = [ctx.ball(f, value) for value in (*start, *given)]
    with _flint.workprec(ctx.precision):
        found = FOLDS[f](balls)
    values = list(map(plain, given))
    return tag(f(*values) if many else f(values, *map(plain, start)), ctx, found)


@hidden
def _sorted(ctx: Any, f: Any, items: Any, **keywords: Any) -> Any:
    given = items_outside(items)
    if not allmetadata(ctx, *given):
        return fallback(ctx, f, items if f is list.sort else given, **keywords)
    if keywords.get("key") is not None:
        raise NotEnclosed(f, nearest_site(), "there is no rule for a key of")
    balls = {id(item): ctx.ball(f, item) for item in given}

    def compare(one: Any, other: Any) -> int:
        pair = balls[id(one)], balls[id(other)]
        return -1 if less(functools.partial(ctx.choose, f, pair), *pair) else 1

    made = sorted(given, key=functools.cmp_to_key(compare), reverse=bool(plain(keywords.get("reverse", False))))
    own: Any = tag_of(ctx)
    if f is sorted:
        return own.store.bind_items(list(map(plain, made)), made)
    plain(items)[:] = map(plain, made)
    own.store.bind_items(plain(items), made)
    return None


for _function in (*RULES, *CHOICES):
    Intervals.overdub.register(_function)(_apply)
for _function in FOLDS:
    Intervals.overdub.register(_function)(_fold)
for _function in (sorted, list.sort):
    Intervals.overdub.register(_function)(_sorted)


# ---- the function


def enclosure(f: Callable[..., Any], *args: Any, splits: int = 0, precision: int = 128) -> Any:
    """An enclosure of all values that a function has for arguments in intervals.

    Parameters
    ----------
    f:
        A function of numbers that knows nothing of intervals. It is followed in its own module and in installed
        packages.
    args:
        `Interval` objects, or anything else; lists, tuples and dicts may hold intervals too.
    splits:
        How many comparisons, or roundings, that the intervals leave open are followed all ways. `f` runs once for
        each way, so it had better do nothing but compute.
    precision:
        How many bits are computed with.

    Returns
    -------
    What `f` returns, with an `Interval` for each number that depends on an interval. It holds the exact result for
    all numbers in the intervals, where constants of the program are taken as the binary numbers that they are.

    Raises
    ------
    Undecided
        If a comparison cannot be decided, and may not be split. The message shows where it is.
    NotEnclosed
        If something computes a number that no rule is known for: a function of C, or of a package that is not
        installed.

    >>> enclosure(lambda x: "small" if x < 3 else x / 3, Interval(4, 5))
    Interval(low=1.33..., high=1.66...)
    >>> enclosure(lambda x: 1 - x if x < 1 else x - 1, Interval(0.5, 1.75), splits=1)
    Interval(low=-0.75..., high=0.75...)
    """
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if python_function(f) is None and f not in RULES and f not in FOLDS:
        raise NotOverdubbable(f"there is no enclosure of {f!r}: it has no Python source, and no rule is known for it")
    ways: list[list[Any]] = [[]]
    results = []
    while ways:
        ctx = Intervals(precision=precision, splits=splits)
        ctx.decisions = ways.pop()
        results.append(_read(ctx, overdub(ctx, f, *[_given(ctx, argument) for argument in args])))
        splits = ctx.splits
        ways += ctx.other_ways
    return functools.reduce(_union, results)


def _given(ctx: Intervals, value: Any) -> Any:
    """An argument, with intervals replaced by numbers that stand for them."""
    if isinstance(value, Interval):
        return ctx.enclosed(value)
    store = tag_of(ctx, create=True).store  # type: ignore[union-attr]
    if type(value) in (list, tuple):
        items = [_given(ctx, item) for item in value]
        return store.bind_items(type(value)(map(plain, items)), items)
    if type(value) is dict:
        pairs = [(key, _given(ctx, item)) for key, item in value.items()]
        return store.bind_pairs({key: plain(item) for key, item in pairs}, pairs)
    return value


def _read(ctx: Intervals, value: Any) -> Any:
    """A result, with intervals for enclosed numbers."""
    found, bare = ctx.interval(value), plain(value)
    if found is not None:
        return found
    if metadata(value, ctx) is _UNKNOWN and not isinstance(bare, (list, tuple, dict)):
        return bare
    store = tag_of(ctx).store  # type: ignore[union-attr]
    if isinstance(bare, (list, tuple)):
        items = [_read(ctx, item) for item in store.wrapped_items(bare)]
        return type(bare)(*items) if hasattr(bare, "_fields") else type(bare)(items)
    if isinstance(bare, dict):
        slots = store.slots_by_key(bare)
        return {key: _read(ctx, Tagged(*slots[key]) if key in slots else item) for key, item in bare.items()}
    return bare


def _union(one: Any, other: Any) -> Any:
    """What holds two results."""
    if isinstance(one, Interval) or isinstance(other, Interval):
        ends = list(_ends(one)) + list(_ends(other))
        return Interval(min(ends), max(ends))
    if type(one) is type(other) and isinstance(one, (list, tuple)) and len(one) == len(other):
        items = [_union(*pair) for pair in zip(one, other, strict=True)]
        return type(one)(*items) if hasattr(one, "_fields") else type(one)(items)
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: _union(one[key], other[key]) for key in one}
    if isinstance(one, float) and isinstance(other, float) and one != other:
        return Interval(min(one, other), max(one, other))
    if one != other or type(one) is not type(other):
        raise ValueError(f"the ways end with {one!r} and {other!r}, which no interval holds both")
    return one


def _ends(value: Any) -> Iterator[float]:
    if isinstance(value, Interval):
        yield from value
    elif isinstance(value, (int, float)):
        yield value
    else:
        raise ValueError(f"some ways end with a number, and some with {value!r}")
