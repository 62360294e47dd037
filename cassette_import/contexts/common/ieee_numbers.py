"""Numbers that compute as IEEE 754 says, where Python raises: `1.0 / 0.0` is infinite, `0.0 / 0.0` is no number.

A rule computes with them where it fails with the numbers of the program, at the edge of a domain for example: its
error would reach a program that has made none.
"""

from __future__ import annotations

import cmath
import math
import numbers
from collections.abc import Callable
from math import inf, nan
from typing import Any, Final

from cassette_import.runtime.tagging.wrappers import COMPUTED_BY, Tagged, metas_of, plain, wrapped

__all__ = ["finished", "ieee"]


def ieee(number: Any) -> Any:
    """A number, wrapped or not, as one whose operations do not raise; any other object itself."""
    bare = plain(number)
    if isinstance(bare, bool) or not isinstance(bare, numbers.Number):
        return number
    COMPUTED_BY.setdefault(_Real, _computed)
    COMPUTED_BY.setdefault(_Complex, _computed)
    return wrapped(_Complex(bare) if isinstance(bare, complex) else _limited(bare), metas_of(number))


def finished(number: Any) -> Any:
    """The result of a rule as a number that the program may get."""
    bare = plain(number)
    if isinstance(bare, (_Real, _Complex)):
        return wrapped(complex(bare) if isinstance(bare, complex) else float(bare), metas_of(number))
    return number


def _limited(number: Any) -> _Real:
    try:
        return _Real(number)
    except OverflowError:  # of a large integer or fraction
        return _Real(inf if number > 0 else -inf)


def _operation(kind: type, name: str, at_edge: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    operate, reflected = getattr(kind, name), name.startswith("__r")

    def method(self: Any, other: Any) -> Any:
        if type(other) is Tagged or not isinstance(other, numbers.Number):
            return NotImplemented
        if kind is float:
            if isinstance(other, complex):
                return getattr(_Complex(self), name)(other)
            other = _limited(other)
        try:
            value = operate(self, other)
        except ArithmeticError:
            value = at_edge(other, self) if reflected else at_edge(self, other)
        return ieee(value)

    return method


def _unary(operate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: ieee(operate(self))


def _quotient(x: Any, y: Any) -> Any:
    if isinstance(x, complex) or isinstance(y, complex):
        return complex(_quotient(x.real, abs(y)), _quotient(x.imag, abs(y)))
    return nan if x == 0 or x != x else math.copysign(inf, x) * math.copysign(1.0, y)


def _power(x: Any, y: Any) -> Any:
    if isinstance(x, complex) or isinstance(y, complex):
        return complex(nan, nan)
    return -inf if math.copysign(1.0, x) < 0 and y % 2 == 1 else inf


_AT_EDGE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("add", "sub", "mul", "mod"), lambda x, y: nan),
    **dict.fromkeys(("truediv", "floordiv"), _quotient), "pow": _power,
}  # fmt: skip


class _Real(float):
    """A real number whose operations do not raise."""

    __slots__ = ()

    def __trunc__(self) -> Any:
        return float.__trunc__(self) if math.isfinite(self) else self


class _Complex(complex):
    """A complex number whose operations do not raise."""

    __slots__ = ()


def _define_operations(made: type, kind: type) -> None:
    for name, at_edge in _AT_EDGE.items():
        for method in (f"__{name}__", f"__r{name}__"):
            if hasattr(kind, method):
                setattr(made, method, _operation(kind, method, at_edge))
    for method in ("__neg__", "__pos__", "__abs__"):
        setattr(made, method, _unary(getattr(kind, method)))


_define_operations(_Real, float)
_define_operations(_Complex, complex)


def _computed(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns for these numbers: infinity or NaN where that of Python raises."""
    if function is math.ldexp:  # it takes no floats
        return ieee(arguments[0] * _Real(2.0) ** arguments[1])
    try:
        return ieee(function(*arguments))
    except OverflowError:
        return _Real(-inf if function is math.sinh and arguments[0] < 0 else inf)
    except ValueError:
        return _Real(-inf if function in (math.log, cmath.log) and arguments[0] == 0 else nan)
