"""The rules of functions of numbers, as data: how the result depends on each argument.

A table instead of derivatives: where the derivative is zero for all arguments, the result changes in steps; where the
second derivative is, the function is linear. Knows functions; must not know numbers with dependences.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.sparsity.run import Run, joined

__all__ = ["FOLDS", "KINDS", "TOTAL", "UFUNC_KINDS", "Kind"]

Kind = Callable[[Run, Sequence[int]], int]
"""The dependence of a result on those of the arguments."""


def linear(run: Run, given: Sequence[int]) -> int:
    """Sums, multiples, and what is linear in pieces: `abs`, `min`."""
    return joined(given)


def product(run: Run, given: Sequence[int]) -> int:
    """A product: linear in each factor."""
    found = 0
    for one in given:
        found |= one | run.cross(found, one)
    return found


def quotient(run: Run, given: Sequence[int]) -> int:
    """`x / y`."""
    return given[0] | run.curved(given[1]) | run.cross(given[0], given[1])


def curved(run: Run, given: Sequence[int]) -> int:
    """Every other function: all second derivatives may be different from zero."""
    return run.curved(joined(given))


def step(run: Run, given: Sequence[int]) -> int:
    """Comparisons and roundings: the derivative is zero."""
    return run.step(joined(given))


def first(run: Run, given: Sequence[int]) -> int:
    """Linear in the first argument, in steps in the others."""
    return given[0] | step(run, given[1:])


def fused(run: Run, given: Sequence[int]) -> int:
    """`x * y + z`."""
    return product(run, given[:2]) | given[2]


def _named(module: Any, kind: Kind, names: str) -> dict[Any, Kind]:
    return {getattr(module, name): kind for name in names.split() if hasattr(module, name)}


KINDS: Final[dict[Any, Kind]] = {
    **_named(operator, linear, "add sub neg pos abs mod iadd isub imod"),
    **_named(operator, product, "mul imul"),
    **_named(operator, quotient, "truediv itruediv"),
    **_named(operator, curved, "pow ipow"),
    **_named(operator, step, "lt le eq ne gt ge floordiv ifloordiv and_ or_ xor invert lshift rshift truth not_"),
    **_named(math, linear, "fabs degrees radians remainder fmod copysign"),
    **_named(math, curved, "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log1p log2"
                           " log10 sqrt cbrt erf erfc gamma lgamma atan2 pow hypot"),
    **_named(math, step, "floor ceil trunc isnan isinf isfinite isclose ulp"),
    **_named(math, first, "ldexp nextafter"),
    **_named(math, fused, "fma"),
    abs: linear, pow: curved, round: step,
}  # fmt: skip
"""The kind of each function of numbers."""

TOTAL: Final = frozenset(
    {
        *(function for function, kind in KINDS.items() if kind is step and function.__module__ == "_operator"),
        *_named(operator, linear, "add sub neg pos abs iadd isub mul imul"),
        *_named(math, linear, "fabs degrees radians copysign sin cos atan tanh asinh erf erfc atan2 hypot isnan isinf"),
        *_named(math, linear, "isfinite"),
        abs,
    }
) - {operator.floordiv, operator.ifloordiv, operator.lshift, operator.rshift}
"""Functions that raise no exception for any finite float."""

FOLDS: Final[dict[Any, Kind]] = {math.fsum: linear, math.prod: product, math.dist: curved}
if hasattr(math, "sumprod"):  # 3.12
    FOLDS[math.sumprod] = curved
"""Functions of all numbers in the iterables that they get."""

UFUNC_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(["add", "subtract", "negative", "positive", "absolute", "fabs", "remainder", "fmod"], linear),
    **dict.fromkeys(["maximum", "minimum", "fmax", "fmin", "copysign", "conjugate"], linear),
    **dict.fromkeys(["deg2rad", "rad2deg", "degrees", "radians"], linear),
    "multiply": product,
    **dict.fromkeys(["divide", "true_divide"], quotient),
    **dict.fromkeys(["sign", "floor", "ceil", "trunc", "rint", "floor_divide"], step),
    **dict.fromkeys(["heaviside", "spacing", "signbit"], step),
    **dict.fromkeys(["ldexp", "nextafter"], first),
}  # fmt: skip
"""The kinds of NumPy's functions by element. One that is not here has all second derivatives, or, if its result is no
float, changes in steps."""
