"""The rules of functions of numbers, as data: the enclosure of the result for the enclosures of the arguments.

Enclosures are spans. Each rule gets those of the arguments and a function that chooses one of several possible
integers or truth values.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.kits.numbers.enclosures.functions import arb, workprec
from cassette_import.kits.numbers.enclosures.spans import (
    SPANS,
    OutsideDomain,
    Span,
    as_span,
    spanned,
    whole_above,
    whole_below,
)
from cassette_import.kits.numbers.row import Domain, Row
from cassette_import.kits.numbers.table import COMPARING, NUMBERS, functions_of

__all__ = [
    "CHOICES", "DECISIONS", "FOLDS", "OF_ZERO", "OVERFLOWING", "RULES", "OutsideDomain", "bounds", "fits_floats",
    "workprec",
]  # fmt: skip

Choose = Callable[[Sequence[Any]], Any]


def fits_floats(span: Span) -> bool:
    """Whether no number of an enclosure is larger than any float."""
    return bool(abs(span).high <= sys.float_info.max)


def bounds(span: Span) -> tuple[float, float]:
    """Two floats with the enclosure between them, as close as floats can be."""
    return span.bounds()


def floor(choose: Choose, x: Span) -> int:
    """A possible floor."""
    return int(choose(range(whole_below(x.low), whole_below(x.high) + 1)))


def ceil(choose: Choose, x: Span) -> int:
    """A possible ceiling."""
    return -floor(choose, -x)


def trunc(choose: Choose, x: Span) -> int:
    """A possible value of `int(x)`."""
    return int(choose(range(*(_toward_zero(end) + number for number, end in enumerate(x.ends)))))


def _toward_zero(end: Any) -> int:
    return whole_below(end) if end >= 0 else whole_above(end)


def nearest(choose: Choose, x: Span) -> int:
    """A possible value of `round(x)`; ties go to even numbers."""
    return int(choose(range(*(_nearest_to(end) + number for number, end in enumerate(x.ends)))))


def _nearest_to(end: Any) -> int:
    whole = whole_below(end)
    doubled = 2 * (end - whole)
    return whole + (doubled > 1 or (doubled == 1 and whole % 2 == 1))


def _smaller(x: Span, y: Span) -> Span:
    return x if x <= y else y if y < x else Span(min(x.low, y.low), min(x.high, y.high))


def _larger(x: Span, y: Span) -> Span:
    return x if x >= y else y if y > x else Span(max(x.low, y.low), max(x.high, y.high))


def _round(choose: Choose, x: Span, digits: Any = None) -> Any:
    """A possible value of `round(x)`; with digits, an enclosure of all of them."""
    if digits is None:
        return nearest(choose, x)
    half = spanned([arb(10) ** -_integer(digits) / 2])
    return x + Span(-half.high, half.high)


def _integer(x: Span) -> int:
    exponent = x.low.unique_fmpz() if x.is_exact() else None
    if exponent is None:
        raise TypeError
    return int(exponent)


def _is_integer(choose: Choose, x: Span) -> bool:
    if x.is_exact():
        return bool(x.low.is_integer())
    return bool(choose([True, False] if whole_above(x.low) <= whole_below(x.high) else [False]))


def less(choose: Choose, x: Any, y: Any) -> bool:
    """Whether x < y."""
    return bool(choose([True] if x < y else [False] if x >= y else [True, False]))


def at_most(choose: Choose, x: Any, y: Any) -> bool:
    """Whether x <= y."""
    return bool(choose([True] if x <= y else [False] if x > y else [True, False]))


def equal(choose: Choose, x: Any, y: Any) -> bool:
    """Whether x == y; the same span is the same quantity, and equal to itself."""
    if x is y or (x.is_exact() and y.is_exact() and x.low == y.low):
        return True
    return bool(choose([False] if x < y or y < x else [True, False]))


def _power(x: Span, y: Span) -> Span:
    whole = y.low.unique_fmpz() if y.is_exact() and y.is_finite() else None
    if whole is not None:
        return Span(*SPANS.integer_power(x.ends, int(whole)))
    if x.low < 0 or (x.low == 0 and y.low < 0):
        raise OutsideDomain
    if y.is_exact():
        return Span(*SPANS.real_power(x.ends, y.ends))
    if x.low == 0:  # a power of zero is 0 or 1
        return Span(0, 1).union(_power(Span(x.high, x.high), y)) if x.high > 0 else Span(0, 1)
    balls: list[Any] = [base**exponent for base in x.ends for exponent in y.ends]
    return spanned(balls)


def _atan2(y: Span, x: Span) -> Span:
    if x.low < 0 and (y.is_zero() or y.low < 0 <= y.high):  # on both sides of the cut; a span has no negative zero
        half_turn = arb.pi().upper()
        return Span(-half_turn, half_turn)
    corners = [(one, other) for one in y.ends for other in x.ends]
    return spanned(arb(0) if one == 0 == other else arb.atan2(one, other) for one, other in corners)


def _angle_of_zero(sign: float, y: Span, x: Span) -> Span:
    """The angle of a point whose coordinate y is a zero with a sign."""
    if x.low > 0:
        return as_span(0)
    angle = spanned([arb.pi()])
    signed: Span = (angle if x.high < 0 else Span(0, angle.high)) * int(sign)
    return signed


class Spans:
    """The arithmetic in which the column `value` of the table of functions is an enclosure."""

    __slots__ = ("_choose",)

    number = staticmethod(as_span)
    power, atan2 = staticmethod(_power), staticmethod(_atan2)
    exp2 = staticmethod(lambda x: _power(as_span(2), x) if x.is_exact() else Span(*SPANS.by_name["exp2"](x.ends)))

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def __getattr__(self, name: str) -> Any:
        function = SPANS.by_name[name]
        return lambda x: Span(*function(x.ends))

    @property
    def pi(self) -> Any:
        """A span with π in it."""
        return spanned([arb.pi()])

    def floor(self, x: Span) -> int:
        """A possible value of the floor of a number."""
        return floor(self._choose, x)

    def trunc(self, x: Span) -> int:
        """A possible value of a number without its fraction."""
        return trunc(self._choose, x)

    def nearest(self, x: Span) -> int:
        """A possible value of the nearest integer."""
        return nearest(self._choose, x)

    def is_negative(self, x: Span) -> bool:
        """Whether the sign of a number is negative. A span has no negative zero, so both signs are possible."""
        return bool(self._choose([True, False])) if x.is_zero() else less(self._choose, x, as_span(0))


def _enclosed(row: Row) -> Callable[..., Any]:
    """The rule for the column `value` of a row."""
    value, domain = row.value, row.domain
    assert value is not None

    def rule(choose: Choose, *arguments: Span) -> Any:
        if domain is not None:
            for x in arguments:
                _check_domain(domain, x)
        on = Spans(choose)
        return getattr(on, value)(*arguments) if isinstance(value, str) else value(on, *arguments)

    return rule


def _check_domain(domain: Domain, x: Span) -> None:
    inside = domain.low <= x.low and x.high <= domain.high
    if not inside or (not domain.closed and (x.low == domain.low or x.high == domain.high)):
        raise OutsideDomain


RULES: Final[dict[Any, Callable[..., Any]]] = {
    function: _enclosed(row) for row in NUMBERS if row.value is not None for function in row.functions
}
"""Functions whose result has an enclosure."""

OVERFLOWING: Final = frozenset(functions_of(row for row in NUMBERS if row.overflows))
"""Functions that raise OverflowError for floats whose result is larger than any float."""

CHOICES: Final[dict[Any, Callable[..., Any]]] = {
    math.floor: floor, math.ceil: ceil, math.trunc: trunc, int: trunc, round: _round,
    float.is_integer: _is_integer,
    operator.lt: less, operator.le: at_most, operator.eq: equal,
    operator.gt: lambda choose, x, y: less(choose, y, x), operator.ge: lambda choose, x, y: at_most(choose, y, x),
    operator.ne: lambda choose, x, y: not equal(choose, x, y),
    operator.truth: lambda choose, x: not equal(choose, x, as_span(0)),
    bool: lambda choose, x: not equal(choose, x, as_span(0)),
    operator.not_: lambda choose, x: equal(choose, x, as_span(0)),
    math.isnan: lambda choose, x: False, math.isinf: lambda choose, x: False, math.isfinite: lambda choose, x: True,
    math.isclose: lambda choose, x, y: at_most(choose, abs(x - y), as_span(1e-9) * _larger(abs(x), abs(y))),
}  # fmt: skip
"""Functions whose result is an integer or a truth value: one of the possible ones."""

OF_ZERO: Final[dict[Any, tuple[int, Callable[..., Any]]]] = {
    math.copysign: (1, lambda sign, x, y: abs(x) * int(sign)),
    math.atan2: (0, _angle_of_zero),
}
"""Functions for which the sign of a constant zero matters: the number of the argument, and a rule that gets the sign.
A span has no negative zero."""

DECISIONS: Final = COMPARING
"""The comparisons, which programs also apply to other values than numbers."""

FOLDS: Final[dict[Any, Callable[[Sequence[Any]], Any]]] = {
    function: functools.partial(functools.reduce, step)
    for function, step in (
        (sum, operator.add), (math.fsum, operator.add), (math.prod, operator.mul), (min, _smaller), (max, _larger),
    )
}  # fmt: skip
"""Functions of the items of an iterable."""
