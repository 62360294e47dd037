"""The rules of functions of numbers, as data: the exact result for exact arguments, in mpmath's arithmetic.

Each rule gets mpmath's context, which has the working precision, and the arguments as its numbers.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cassette_import.interpreter.installed_packages import needs
from cassette_import.kits.numbers.row import Row
from cassette_import.kits.numbers.table import NUMBERS

try:
    from mpmath.ctx_mp import MPContext
except ModuleNotFoundError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(needs("precision", "mpmath", "precision"), name="mpmath") from error

__all__ = ["DECISIONS", "FOLDS", "RULES", "MPContext", "exact", "rule_of", "with_sign_of_zero"]

Rule = Callable[..., Any]


def exact(mp: Any, number: Any) -> Any:
    """A number of the program as a number of mpmath; floats and integers are not rounded."""
    if isinstance(number, Fraction):
        return mp.mpf(number.numerator) / number.denominator
    return mp.mpf(str(number)) if isinstance(number, Decimal) else mp.convert(number)


def _round(mp: Any, x: Any, digits: Any = None) -> Any:
    scale = mp.mpf(10) ** (digits or 0)
    return mp.nint(x * scale) / scale


def _by(function: Callable[..., Any]) -> Rule:
    return lambda mp, *arguments: function(*arguments)


class Digits:
    """The arithmetic in which the column `value` of the table of functions is the exact result.

    Functions that are not methods here are those of mpmath.
    """

    __slots__ = ("_mp",)

    def __init__(self, mp: Any) -> None:
        self._mp = mp

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mp, name)

    def number(self, value: int) -> Any:
        """An integer as a number."""
        return self._mp.mpf(value)

    def power(self, x: Any, y: Any) -> Any:
        """A power; one with an integer as the exponent is a product."""
        return x ** int(y) if self._mp.isint(y) and abs(y) < 10**6 else x**y

    def exp2(self, x: Any) -> Any:
        """A power of two."""
        return self._mp.mpf(2) ** x

    def log2(self, x: Any) -> Any:
        """The binary logarithm."""
        return self._mp.log(x, 2)

    def lgamma(self, x: Any) -> Any:
        """The logarithm of the size of the gamma function."""
        return self._mp.log(abs(self._mp.gamma(x)))

    def cbrt(self, x: Any) -> Any:
        """The cube root."""
        return -self._mp.cbrt(-x) if x < 0 else self._mp.cbrt(x)

    def trunc(self, x: Any) -> Any:
        """A number without its fraction."""
        return self._mp.floor(x) if x >= 0 else self._mp.ceil(x)

    def nearest(self, x: Any) -> Any:
        """The nearest integer; of two, the even one."""
        return self._mp.nint(x)

    def is_negative(self, x: Any) -> bool:
        """Whether a number is below zero."""
        return bool(x < 0)


def rule_of(row: Row) -> Rule:
    """The rule for the column `value` of a row."""
    value = row.value
    assert value is not None
    if isinstance(value, str):
        return lambda mp, *arguments: getattr(Digits(mp), value)(*arguments)
    return lambda mp, *arguments: value(Digits(mp), *arguments)


def with_sign_of_zero(row: Row | None, operands: Sequence[Any], value: float, found: Any) -> Any:
    """An exact result with the sign that a zero among the operands gives it: exact numbers have no negative zero."""
    if row is None or row.sign_of is None or operands[row.sign_of] != 0:
        return found
    return abs(found) if math.copysign(1.0, value) > 0 else -abs(found)


RULES: Final[dict[Any, Rule]] = {
    **{function: rule_of(row) for row in NUMBERS if row.value is not None for function in row.functions},
    round: _round,
}
"""Functions whose result is a float, for at least some arguments."""

DECISIONS: Final[dict[Any, Rule]] = {
    **{getattr(operator, name): _by(getattr(operator, name)) for name in ("lt", "le", "eq", "ne", "ge", "gt")},
    math.floor: lambda mp, x: int(mp.floor(x)),
    math.ceil: lambda mp, x: int(mp.ceil(x)),
    math.trunc: lambda mp, x: int(x),
    int: lambda mp, x: int(x),
    float.is_integer: lambda mp, x: mp.isint(x),
    math.isclose: lambda mp, x, y: abs(x - y) <= mp.mpf(1e-9) * max(abs(x), abs(y)),
    operator.truth: lambda mp, x: x != 0,
    bool: lambda mp, x: x != 0,
    operator.not_: lambda mp, x: x == 0,
}
"""Functions whose result is a truth value or an integer: floats may decide otherwise than exact numbers."""


def _extreme(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Sequence[Any]], Any]:
    return lambda mp, items: functools.reduce(lambda x, y: y if compare(y, x) else x, items)


def _product(mp: Any, items: Sequence[Any]) -> Any:
    return functools.reduce(operator.mul, items, mp.mpf(1))


FOLDS: Final[dict[Any, Callable[[Any, Sequence[Any]], Any]]] = {
    sum: lambda mp, items: mp.fsum(items),
    math.fsum: lambda mp, items: mp.fsum(items),
    math.prod: _product,
    min: _extreme(operator.lt),
    max: _extreme(operator.gt),
}
"""Functions of the items of an iterable."""
