"""Leaves that compute numbers from numbers, each written with functions that have rules: `statistics.fmean`, `divmod`.

The functions run on wrapped numbers: their operators, and the calls that they make through `run`, are events. Plain
numbers become fractions, so nothing is rounded that a context does not see. Arguments that are iterables are lists
here.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
import statistics
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cassette_import.runtime.tagging.wrappers import Tagged, plain, run

__all__ = ["APPROXIMATE", "COMPOSITIONS", "IDENTITIES", "METHODS", "ORDERINGS", "NoComposition", "ordered"]

# ---- sorting by `min` and `max` alone, of which each context knows the result without deciding which number is
# smaller


def ordered(items: Sequence[Any]) -> list[Any]:
    """The numbers in ascending order.

    >>> ordered([3, 1, 2])
    [1, 2, 3]
    """
    found = list(items)
    for one, other in _comparisons(len(found)):
        found[one], found[other] = run(min, found[one], found[other]), run(max, found[one], found[other])
    return found


def _comparisons(count: int) -> Iterator[tuple[int, int]]:
    """The pairs of places that are compared, one after the other."""
    block = 1
    while block < count:
        step = block
        while step >= 1:
            for start in range(step % block, count - step, 2 * step):
                for place in range(start, min(start + step, count - step)):
                    if place // (2 * block) == (place + step) // (2 * block):
                        yield place, place + step
            step //= 2
        block *= 2


# ---- leaves that compute numbers from numbers, each written with functions that have rules

Composition = Callable[..., Any]


class NoComposition(Exception):
    """The composition of a function does not hold for these arguments."""


class _Exact(Fraction):
    """A fraction that leaves operations with wrapped numbers to the wrapper: `Fraction` reads their numerator."""

    __slots__ = ()


def _operation(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    operate = getattr(Fraction, name)

    def method(self: _Exact, other: Any) -> Any:
        if type(other) is Tagged:
            return run(function, Fraction(self), other)
        value = operate(self, other)
        return _Exact(value) if type(value) is Fraction else value

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(_Exact, f"__{_name}__", _operation(f"__{_name}__", getattr(operator, _name)))


def exact(number: Any) -> Any:
    """A plain number without a rounding error; a wrapped one as it is."""
    if type(number) is Tagged or not isinstance(number, (int, float, Fraction)) or not math.isfinite(number):
        return number
    return _Exact(number)


def total(items: Sequence[Any]) -> Any:
    """The sum of some numbers."""
    return functools.reduce(operator.add, map(exact, items))


def _inner(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    return total([exact(x) * exact(y) for x, y in zip(xs, ys, strict=True)])


# ---- statistics


def _mean(data: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
    if weights is None:
        return total(data) / len(data)
    return _inner(data, weights) / total(weights)


def _deviations(data: Sequence[Any], center: Any = None) -> list[Any]:
    middle = _mean(data) if center is None else exact(center)
    return [exact(x) - middle for x in data]


def _squares(data: Sequence[Any], center: Any = None) -> Any:
    return total([deviation * deviation for deviation in _deviations(data, center)])


def _variance(data: Sequence[Any], xbar: Any = None) -> Any:
    return _squares(data, xbar) / (len(data) - 1)


def _pvariance(data: Sequence[Any], mu: Any = None) -> Any:
    return _squares(data, mu) / len(data)


def _root(of: Composition) -> Composition:
    return lambda *arguments, **keywords: run(math.sqrt, of(*arguments, **keywords))


def _harmonic_mean(data: Sequence[Any], weights: Sequence[Any] | None = None) -> Any:
    shares: Sequence[Any] = [1] * len(data) if weights is None else weights
    return total(shares) / total([exact(share) / exact(x) for share, x in zip(shares, data, strict=True)])


def _geometric_mean(data: Sequence[Any]) -> Any:
    product = functools.reduce(operator.mul, map(exact, data))
    return run(operator.pow, product, Fraction(1, len(data)))


def _co_squares(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return _inner(_deviations(x), _deviations(y))


def _covariance(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return _co_squares(x, y) / (len(x) - 1)


def _correlation(x: Sequence[Any], y: Sequence[Any], *, method: str = "linear") -> Any:
    if method != "linear":
        raise NoComposition
    return _co_squares(x, y) / run(math.sqrt, _squares(x) * _squares(y))


def _linear_regression(x: Sequence[Any], y: Sequence[Any], *, proportional: bool = False) -> Any:
    if proportional:
        return _inner(x, y) / _inner(x, x), 0.0
    slope = _co_squares(x, y) / _squares(x)
    return slope, _mean(y) - slope * _mean(x)


def _median(data: Sequence[Any]) -> Any:
    items, middle = ordered(data), len(data) // 2
    return items[middle] if len(items) % 2 else (exact(items[middle - 1]) + exact(items[middle])) / 2


def _quantiles(data: Sequence[Any], *, n: int = 4, method: str = "exclusive") -> list[Any]:
    items, count = ordered(data), len(data)
    if count == 1:
        raise NoComposition
    found = []
    for number in range(1, n):
        if method == "inclusive":
            place, rest = divmod(number * (count - 1), n)
        else:
            place = min(max(number * (count + 1) // n, 1), count - 1)
            place, rest = place - 1, number * (count + 1) - place * n
        low, high = exact(items[place]), exact(items[place + 1])
        found.append((low * (n - rest) + high * rest) / n)
    return found


def _density(normal: Any, x: Any) -> Any:
    deviation, variance = x - exact(normal.mean), exact(normal.stdev) ** 2
    return run(math.exp, deviation * deviation / (-2 * variance)) / math.sqrt(2 * math.pi * variance)


def _probability(normal: Any, x: Any) -> Any:
    return (1 + run(math.erf, (x - exact(normal.mean)) / (normal.stdev * math.sqrt(2)))) / 2


# ---- numbers


def _divmod(x: Any, y: Any) -> Any:
    quotient = run(operator.floordiv, x, y)
    return quotient, x - exact(y) * quotient


def _modf(x: Any) -> Any:
    whole = run(math.trunc, x)
    return x - whole, whole


def _distance(p: Sequence[Any], q: Sequence[Any]) -> Any:
    return run(math.hypot, *(exact(a) - exact(b) for a, b in zip(p, q, strict=True)))


def _rounded(x: Any, digits: Any = None) -> Any:
    return run(round, x) if digits is None else run(round, x, digits)


def _power(x: Any, y: Any, modulus: Any = None) -> Any:
    if modulus is not None:
        raise NoComposition
    return run(operator.pow, x, y)


def _itself(x: Any) -> Any:
    return x


def _as_fraction(numerator: Any, denominator: Any = None) -> Any:
    return numerator if denominator is None else exact(numerator) / exact(denominator)


def _frexp(x: Any) -> Any:
    exponent = math.frexp(plain(x))[1]
    return x / Fraction(2) ** exponent, exponent


def _conjugate(z: Any) -> Any:
    return run(complex, run(getattr, z, "real"), -run(getattr, z, "imag"))


def _polar(z: Any) -> Any:
    return run(abs, z), run(cmath.phase, z)


def _rectangular(r: Any, phi: Any) -> Any:
    return run(complex, r * run(math.cos, phi), r * run(math.sin, phi))


COMPOSITIONS: Final[dict[Any, Composition]] = {
    statistics.mean: _mean, statistics.fmean: _mean, statistics.harmonic_mean: _harmonic_mean,
    statistics.geometric_mean: _geometric_mean,
    statistics.variance: _variance, statistics.pvariance: _pvariance,
    statistics.stdev: _root(_variance), statistics.pstdev: _root(_pvariance),
    statistics.covariance: _covariance, statistics.correlation: _correlation,
    statistics.linear_regression: _linear_regression,
    statistics.median: _median,
    statistics.median_low: lambda data: ordered(data)[(len(data) - 1) // 2],
    statistics.median_high: lambda data: ordered(data)[len(data) // 2],
    statistics.quantiles: _quantiles,
    statistics.NormalDist.pdf: _density, statistics.NormalDist.cdf: _probability,
    statistics.NormalDist.zscore: lambda normal, x: (x - exact(normal.mean)) / exact(normal.stdev),
    math.dist: _distance, math.modf: _modf, divmod: _divmod,
    Fraction: _as_fraction,
    math.frexp: _frexp, cmath.polar: _polar, cmath.rect: _rectangular, complex.conjugate: _conjugate,
}  # fmt: skip
"""The composition of each function. The value of a call is that of the function itself, its metadata that of the
composition."""

ORDERINGS: Final = frozenset({statistics.median, statistics.median_low, statistics.median_high, statistics.quantiles})
"""The functions whose compositions order numbers by their values."""

if hasattr(math, "sumprod"):  # 3.12
    COMPOSITIONS[math.sumprod] = _inner

METHODS: Final[dict[str, Composition]] = {
    "__neg__": operator.neg, "__pos__": operator.pos, "__abs__": lambda x: run(operator.abs, x), "__pow__": _power,
    "__rpow__": lambda x, y: run(operator.pow, y, x), "__divmod__": _divmod,
    "__rdivmod__": lambda x, y: _divmod(y, x), "__float__": _itself, "__round__": _rounded,
    "__trunc__": lambda x: run(math.trunc, x), "__int__": lambda x: run(math.trunc, x),
    "__floor__": lambda x: run(math.floor, x), "__ceil__": lambda x: run(math.ceil, x),
    "__bool__": lambda x: run(operator.truth, x), "conjugate": _itself, "__getnewargs__": lambda x: (x,),
}  # fmt: skip
"""The compositions of methods of numbers, by name."""


def _binary(function: Any) -> Composition:
    return lambda x, y: run(function, x, y)


def _reflected(function: Any) -> Composition:
    return lambda x, y: run(function, y, x)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    METHODS[f"__{_name}__"] = _binary(getattr(operator, _name))
    METHODS[f"__r{_name}__"] = _reflected(getattr(operator, _name))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    METHODS[f"__{_name}__"] = _binary(getattr(operator, _name))
for _kind in (int, float):
    for _name, _composition in METHODS.items():
        if _name in vars(_kind):
            COMPOSITIONS[vars(_kind)[_name]] = _composition
COMPOSITIONS.update(
    {
        Decimal.sqrt: lambda x, *_: run(math.sqrt, run(float, x)),
        Decimal.exp: lambda x, *_: run(math.exp, run(float, x)),
        Decimal.ln: lambda x, *_: run(math.log, run(float, x)),
        Decimal.log10: lambda x, *_: run(math.log10, run(float, x)),
    }
)

APPROXIMATE: Final = frozenset(
    {
        math.frexp,
        cmath.polar,
        cmath.rect,
        complex.conjugate,
        statistics.NormalDist.pdf,
        statistics.NormalDist.cdf,
        Decimal.sqrt,
        Decimal.exp,
        Decimal.ln,
        Decimal.log10,
    }
)
"""The functions whose composition rounds: it has the derivative, but no enclosure."""

IDENTITIES: Final = frozenset(
    {
        float, Decimal, vars(Decimal)["from_float"], Fraction.from_float.__func__,  # type: ignore[attr-defined]
        Decimal.__float__, Fraction.__pos__, Decimal.__pos__, Decimal.conjugate, Decimal.normalize,
    }
)  # fmt: skip
"""Conversions of a number to another type, by the function behind them. The metadata stays what it was."""
