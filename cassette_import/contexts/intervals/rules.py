"""The rules of functions of numbers, as data: the enclosure of the result for the enclosures of the arguments.

Enclosures are balls of Arb, which python-flint provides (the extra `intervals`); its arithmetic includes every rounding
error. Each rule gets the enclosures of the arguments and a function that chooses one of several possible integers or
truth values. Knows Arb; must not know contexts.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from cassette_import.contexts.common.number_functions.row import Value
from cassette_import.contexts.common.number_functions.steps import COMPARISONS
from cassette_import.contexts.common.number_functions.table import NUMBERS, functions_of
from cassette_import.interpreter.installed_packages import needs

try:
    from flint import arb
    from flint import ctx as _flint
except ImportError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(needs("intervals", "python-flint", "intervals"), name="flint") from error

__all__ = [
    "CHOICES", "DECISIONS", "FOLDS", "OF_ZERO", "OVERFLOWING", "RULES", "OutsideDomain", "arb", "bounds",
    "fits_floats", "working_precision",
]  # fmt: skip

working_precision: Final = _flint.workprec

Choose = Callable[[Sequence[Any]], Any]


class OutsideDomain(ArithmeticError):
    """Some numbers in the operands have no result: a division by an interval that contains zero."""


def fits_floats(ball: Any) -> bool:
    """Whether no number of an enclosure is larger than any float."""
    return bool(abs(ball) <= sys.float_info.max)


def bounds(ball: Any) -> tuple[float, float]:
    """Two floats with the enclosure between them, as close as floats can be."""
    if not ball.is_finite():
        return -math.inf, math.inf
    low, high = float(ball.lower()), float(ball.upper())
    while arb(low) > ball.lower() or not arb(low) <= ball:
        low = math.nextafter(low, -math.inf)
    while arb(high) < ball.upper() or not arb(high) >= ball:
        high = math.nextafter(high, math.inf)
    return low, high


def _finite_bounds(ball: Any) -> tuple[float, float]:
    """The bounds of an enclosure that is rounded to integers."""
    low, high = bounds(ball)
    if math.isinf(low) or math.isinf(high):
        raise OutsideDomain
    return low, high


def _whole(ball: Any) -> range:
    """The integers that floor(x) may be."""
    first, last = map(math.floor, _finite_bounds(ball))
    exact = ball.floor().unique_fmpz()
    return range(int(exact), int(exact) + 1) if exact is not None else range(first, last + 1)


def floor(choose: Choose, x: Any) -> int:
    """A possible floor."""
    return int(choose(_whole(x)))


def ceil(choose: Choose, x: Any) -> int:
    """A possible ceiling."""
    return -floor(choose, -x)


def trunc(choose: Choose, x: Any) -> int:
    """A possible value of `int(x)`."""
    low, high = _finite_bounds(x)
    return int(choose(range(math.trunc(low), math.trunc(high) + 1)))


def nearest(choose: Choose, x: Any) -> int:
    """A possible value of `round(x)`; ties go to even numbers."""
    low, high = _finite_bounds(x)
    return int(choose(range(round(low), round(high) + 1)))


def _round(choose: Choose, x: Any, digits: Any = None) -> Any:
    """A possible value of `round(x)`; with digits, an enclosure of all of them."""
    if digits is None:
        return nearest(choose, x)
    half = arb(10) ** -digits / 2
    return (x - half).union(x + half)


def _is_integer(choose: Choose, x: Any) -> bool:
    if x.is_exact():
        return bool(x.is_integer())
    return bool(choose([True, False] if x.contains_integer() else [False]))


def less(choose: Choose, x: Any, y: Any) -> bool:
    """Whether x < y."""
    return bool(choose([True] if x < y else [False] if x >= y else [True, False]))


def at_most(choose: Choose, x: Any, y: Any) -> bool:
    """Whether x <= y."""
    return bool(choose([True] if x <= y else [False] if x > y else [True, False]))


def equal(choose: Choose, x: Any, y: Any) -> bool:
    """Whether x == y; the same ball is the same quantity, and equal to itself."""
    if x is y or (x.is_exact() and y.is_exact() and x == y):
        return True
    return bool(choose([True, False] if x.overlaps(y) else [False]))


def _power(x: Any, y: Any) -> Any:
    exponent = y.unique_fmpz() if y.is_exact() else None
    return x ** int(exponent) if exponent is not None else x**y


def _atan2(y: Any, x: Any) -> Any:
    found = arb.atan2(y, x)
    return found.union(-found) if y.is_zero() and not x > 0 else found


class Balls:
    """The arithmetic in which the column `value` of the table of functions is an enclosure.

    Functions that are not methods here are those of Arb.
    """

    __slots__ = ("_choose",)

    number: ClassVar[Any] = arb
    power, atan2 = staticmethod(_power), staticmethod(_atan2)
    exp2 = staticmethod(lambda x: arb(2) ** x)
    log2 = staticmethod(lambda x: x.log() / arb(2).log())
    log10 = staticmethod(lambda x: x.log() / arb.const_log10())
    lgamma = staticmethod(lambda x: abs(x.gamma()).log())

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def __getattr__(self, name: str) -> Any:
        return getattr(arb, name)

    @property
    def pi(self) -> Any:
        """A ball with π in it."""
        return arb.pi()

    def floor(self, x: Any) -> int:
        """A possible value of the floor of a number."""
        return floor(self._choose, x)

    def trunc(self, x: Any) -> int:
        """A possible value of a number without its fraction."""
        return trunc(self._choose, x)

    def nearest(self, x: Any) -> int:
        """A possible value of the nearest integer."""
        return nearest(self._choose, x)

    def cbrt(self, x: Any) -> Any:
        """The cube root."""
        return -((-x).root(3)) if less(self._choose, x, arb(0)) else x.root(3)

    def is_negative(self, x: Any) -> bool:
        """Whether the sign of a number is negative. A ball has no negative zero, so both signs are possible."""
        return bool(self._choose([True, False])) if x.is_zero() else less(self._choose, x, arb(0))


def _enclosed(value: str | Value) -> Callable[..., Any]:
    """The rule for the column `value` of a row."""
    if isinstance(value, str) and not hasattr(Balls, value):
        function = getattr(arb, value)
        return lambda choose, *arguments: function(*arguments)
    if isinstance(value, str):
        return lambda choose, *arguments: getattr(Balls(choose), value)(*arguments)
    return lambda choose, *arguments: value(Balls(choose), *arguments)


RULES: Final[dict[Any, Callable[..., Any]]] = {
    function: _enclosed(row.value) for row in NUMBERS if row.value is not None for function in row.functions
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
    operator.truth: lambda choose, x: not equal(choose, x, arb(0)),
    bool: lambda choose, x: not equal(choose, x, arb(0)),
    operator.not_: lambda choose, x: equal(choose, x, arb(0)),
    math.isnan: lambda choose, x: False, math.isinf: lambda choose, x: False, math.isfinite: lambda choose, x: True,
    math.isclose: lambda choose, x, y: at_most(choose, abs(x - y), arb(1e-9) * abs(x).max(abs(y))),
}  # fmt: skip
"""Functions whose result is an integer or a truth value: one of the possible ones."""

OF_ZERO: Final[dict[Any, tuple[int, Callable[..., Any]]]] = {
    math.copysign: (1, lambda sign, x, y: abs(x) * int(sign)),
    math.atan2: (0, lambda sign, y, x: arb.atan2(y, x) * int(sign)),
}
"""Functions for which the sign of a constant zero matters: the number of the argument, and a rule that gets the sign.
A ball has no negative zero."""

DECISIONS: Final = frozenset(functions_of(COMPARISONS))
"""The comparisons, which programs also apply to other values than numbers."""

FOLDS: Final[dict[Any, Callable[[Sequence[Any]], Any]]] = {
    sum: functools.partial(functools.reduce, operator.add),
    math.fsum: functools.partial(functools.reduce, operator.add),
    math.prod: functools.partial(functools.reduce, operator.mul),
    min: functools.partial(functools.reduce, lambda x, y: x if x <= y else y if y < x else x.min(y)),
    max: functools.partial(functools.reduce, lambda x, y: x if x >= y else y if y > x else x.max(y)),
}
"""Functions of the items of an iterable."""
