"""The function `significant`: how many digits of a result are certain, found by rounding at random.

A result that is rounded up or down at random, and computed several times, shows the digits that rounding errors reach:
stochastic arithmetic (Vignes, "A stochastic arithmetic for reliable scientific computation", 1993; CADNA). It needs no
exact arithmetic, so it is a check of `shadow`.
"""

from __future__ import annotations

import functools
import math
import operator
import os
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from types import FunctionType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import fallback, overdub
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.events import nearest_site
from cassette_import.kits.numbers.numeric_values import holds_floats, is_array
from cassette_import.kits.numbers.table import NUMBERS, functions_of
from cassette_import.kits.tagging import leaf_name

__all__ = ["significant"]

_CONTEXTS: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
_WITHOUT_ARRAYS: Final = "Compute with floats and lists of floats"
_MOVING: Final = frozenset(["array", "asarray", "copy", "flatten", "item", "ravel", "reshape", "tolist", "transpose"])
_MOST_DIGITS: Final = 53 * math.log10(2)

_EXACT: Final[dict[Any, Callable[..., Any]]] = {
    getattr(operator, prefix + name): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "mod")
    for prefix in ("", "i")
}
_ROUNDED: Final = (
    *functions_of(row for row in NUMBERS if not row.exact and row.cost and row.functions[0] not in _EXACT),
    *(math.dist, operator.matmul, operator.imatmul),
    *((math.sumprod,) if hasattr(math, "sumprod") else ()),
)
"""Functions whose results are rounded; what rounding has done to them is not known."""
_FOLDS: Final = {sum: operator.add, math.fsum: None, math.prod: operator.mul}


class _RandomRounding(Context):
    """Rounds the result of each inexact operation up or down at random."""

    leaf_hooks: ClassVar[bool] = True

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Refuse a function of a context: its own arithmetic is not rounded at random, so all digits would agree."""
        if type(f) is FunctionType and f.__code__.co_filename.startswith(_CONTEXTS):
            raise _not_seen(f, "Call `significant` for the function that it runs")

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Refuse a function of NumPy that has computed floats from floats."""
        if _is_numpys(f) and holds_floats((result,)) and holds_floats((*args, *kwargs.values())):
            raise _not_seen(f, _WITHOUT_ARRAYS)

    def rounded(self, value: float, error: float) -> float:
        """A float or its neighbour on the side of the exact value."""
        if error == 0 or not math.isfinite(value) or self.random.getrandbits(1):
            return value
        return type(value)(math.nextafter(value, math.inf if error > 0 else -math.inf))

    def either(self, value: float) -> float:
        """A float or one of its neighbours, where the exact value is not known."""
        return self.rounded(value, self.random.choice((-1.0, 1.0)))


def _not_seen(f: Any, advice: str) -> NotOverdubbable:
    site = nearest_site()
    return NotOverdubbable(f"the rounding errors of {leaf_name(f)} are not seen, at {site}: {site.source}\n{advice}")


def _is_numpys(f: Any) -> bool:
    """Whether a function, which is no class and does not only move numbers, is one of NumPy."""
    if isinstance(f, type):
        return False
    found = getattr(getattr(f, "__objclass__", f), "__module__", None) or type(f).__module__
    is_numpys = isinstance(found, str) and found.partition(".")[0] == "numpy"
    return is_numpys and getattr(f, "__name__", None) not in _MOVING


def _is_float(value: Any) -> bool:
    return _is_real(value) and isinstance(value, float) and math.isfinite(value)


def _is_real(value: Any) -> bool:
    """Whether a value is a float or integer of the interpreter, or a float of NumPy with the same bits."""
    return type(value) in (int, float) or (isinstance(value, float) and is_array(value))


def _refuse_arrays(f: Any, *values: Any) -> None:
    if any(is_array(value) and not isinstance(value, float) and value.dtype.kind in "fc" for value in values):
        raise _not_seen(f, _WITHOUT_ARRAYS)


def _operation(ctx: Any, f: Any, *operands: Any) -> Any:
    value = fallback(ctx, f, *operands)
    _refuse_arrays(f, value, *operands)
    if not _is_float(value) or not all(map(_is_real, operands)):
        return value
    return ctx.rounded(value, float(_EXACT[f](*map(Fraction, operands)) - Fraction(value)))


def _function(ctx: Any, f: Any, *operands: Any, **keywords: Any) -> Any:
    value = fallback(ctx, f, *operands, **keywords)
    _refuse_arrays(f, value, *operands)
    return ctx.either(value) if _is_float(value) and not value.is_integer() else value


def _fold(ctx: Any, f: Any, items: Any, *start: Any, **keywords: Any) -> Any:
    given: Sequence[Any] = list(items)
    pairwise = _FOLDS[f]
    begin = [*start, *keywords.values()]
    if not any(isinstance(one, float) for one in (*begin, *given)) or len(begin) > 1:
        return fallback(ctx, f, given, *start, **keywords)
    if pairwise is None:
        return ctx.either(fallback(ctx, f, given))
    return functools.reduce(functools.partial(_operation, ctx, pairwise), [*begin, *given])


for _f in _EXACT:
    _RandomRounding.overdub.register(_f)(_operation)
for _f in _ROUNDED:
    _RandomRounding.overdub.register(_f)(_function)
for _f in _FOLDS:
    _RandomRounding.overdub.register(_f)(_fold)


def significant(f: Callable[..., Any], *args: Any, samples: int = 10, seed: int = 0) -> float:
    """How many decimal digits of a result are certain, as random rounding shows.

    Parameters
    ----------
    f:
        A function that returns a float. Its own module and installed packages are overdubbed.
    args:
        The arguments.
    samples:
        How many times `f` runs, at least 2.
    seed:
        The random rounding is the same for the same seed.

    Returns
    -------
    The decimal digits that the results have in common: from 0 to 15.95, what a float has.

    Raises
    ------
    NotOverdubbable
        If the program calls a function of a context, such as `derivative`, or of NumPy: their arithmetic would not be
        rounded.
    TypeError
        If the function returns no float.
    ValueError
        If there are fewer than two samples.

    >>> import math
    >>> significant(lambda x: math.sqrt(x + 1) - math.sqrt(x), 1e12) < 8
    True
    >>> significant(lambda x: 1 / (math.sqrt(x + 1) + math.sqrt(x)), 1e12) > 14
    True
    """
    if samples < 2:
        raise ValueError(f"samples is a number from 2 on, not {samples!r}")
    results = [overdub(_RandomRounding(seed + number), f, *args) for number in range(samples)]
    for result in results:
        if not isinstance(result, float):
            raise TypeError(f"the function must return a float, not {result!r}")
    if not all(map(math.isfinite, results)):
        return 0.0
    exact = [Fraction(result) for result in results]
    mean = sum(exact) / samples
    variance = sum((result - mean) ** 2 for result in exact) / (samples - 1)
    if not variance:
        return _MOST_DIGITS
    if not mean:
        return 0.0
    return min(max(math.log10(abs(float(mean)) / math.sqrt(float(variance))), 0.0), _MOST_DIGITS)
