"""The derivatives of operators and of functions of `math`, as data.

The rule for an argument is a function of the result and the arguments. Rules call functions through `run`, so that
contexts further out see the derivative as they see the program. Knows mathematics; must not know contexts.
"""

from __future__ import annotations

import bisect
import cmath
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.runtime.tagging.wrappers import plain, run

Partial = Callable[..., Any]


def _sign(x: Any) -> Any:
    return run(math.copysign, 1.0, x)


def _abs(v: Any, x: Any) -> Any:
    if not isinstance(x, complex):
        return _sign(x)
    if type(plain(x)) is not complex:  # NumPy's numbers would drop the imaginary part
        raise TypeError("there is no derivative of the absolute value of a complex number")
    return run(complex.conjugate, x) / v


def constant(value: complex) -> Partial:
    return lambda *_: value


def _pow_base(v: Any, x: Any, y: Any) -> Any:
    return 0.0 if y == 0 else y * run(operator.pow, x, y - 1)


def _pow_exponent(v: Any, x: Any, y: Any) -> Any:
    if x == 0 and y >= 0:
        return 0.0
    return v * run(cmath.log if isinstance(x, complex) or isinstance(v, complex) else math.log, x)


def _log(v: Any, x: Any, base: Any = None) -> Any:
    return 1.0 / x if base is None else 1.0 / (x * run(math.log, base))


def _digamma(x: Any) -> Any:
    """The derivative of `lgamma`, by recurrence and its asymptotic series."""
    result: Any = 0.0
    if x <= 0:
        return _digamma(1.0 - x) - math.pi / run(math.tan, math.pi * x)
    while x < 10:
        result = result - 1.0 / x
        x = x + 1.0
    square = 1.0 / (x * x)
    series: Any = 0.0
    for factor in (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12):
        series = square * (factor + series)
    return result + run(math.log, x) - 0.5 / x + series


_ADD: Final = (constant(1.0), constant(1.0))
_SUB: Final = (constant(1.0), constant(-1.0))
_MUL: Final = (lambda v, x, y: y, lambda v, x, y: x)
_DIV: Final = (lambda v, x, y: 1.0 / y, lambda v, x, y: -v / y)
_MOD: Final = (constant(1.0), lambda v, x, y: -run(operator.floordiv, x, y))
_POW: Final = (_pow_base, _pow_exponent)
_HALF_PI_ROOT: Final = 2.0 / math.sqrt(math.pi)

PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    operator.add: _ADD, operator.iadd: _ADD,
    operator.sub: _SUB, operator.isub: _SUB,
    operator.mul: _MUL, operator.imul: _MUL,
    operator.truediv: _DIV, operator.itruediv: _DIV,
    operator.mod: _MOD, operator.imod: _MOD,
    operator.pow: _POW, operator.ipow: _POW, pow: _POW, math.pow: _POW,
    operator.neg: (constant(-1.0),),
    operator.pos: (constant(1.0),),
    operator.abs: (_abs,), abs: (_abs,), math.fabs: (lambda v, x: _sign(x),),
    math.sin: (lambda v, x: run(math.cos, x),),
    math.cos: (lambda v, x: -run(math.sin, x),),
    math.tan: (lambda v, x: 1.0 + v * v,),
    math.asin: (lambda v, x: 1.0 / run(math.sqrt, 1.0 - x * x),),
    math.acos: (lambda v, x: -1.0 / run(math.sqrt, 1.0 - x * x),),
    math.atan: (lambda v, x: 1.0 / (1.0 + x * x),),
    math.atan2: (lambda v, y, x: x / (x * x + y * y), lambda v, y, x: -y / (x * x + y * y)),
    math.sinh: (lambda v, x: run(math.cosh, x),),
    math.cosh: (lambda v, x: run(math.sinh, x),),
    math.tanh: (lambda v, x: 1.0 - v * v,),
    math.asinh: (lambda v, x: 1.0 / run(math.sqrt, x * x + 1.0),),
    math.acosh: (lambda v, x: 1.0 / run(math.sqrt, x * x - 1.0),),
    math.atanh: (lambda v, x: 1.0 / (1.0 - x * x),),
    math.exp: (lambda v, x: v,),
    math.exp2: (lambda v, x: v * math.log(2.0),),
    math.expm1: (lambda v, x: v + 1.0,),
    math.log: (_log, lambda v, x, base: -v / (base * run(math.log, base))),
    math.log1p: (lambda v, x: 1.0 / (1.0 + x),),
    math.log2: (lambda v, x: 1.0 / (x * math.log(2.0)),),
    math.log10: (lambda v, x: 1.0 / (x * math.log(10.0)),),
    math.sqrt: (lambda v, x: 0.5 / v,),
    math.cbrt: (lambda v, x: 1.0 / (3.0 * v * v),),
    math.erf: (lambda v, x: _HALF_PI_ROOT * run(math.exp, -x * x),),
    math.erfc: (lambda v, x: -_HALF_PI_ROOT * run(math.exp, -x * x),),
    math.gamma: (lambda v, x: v * _digamma(x),),
    math.lgamma: (lambda v, x: _digamma(x),),
    math.degrees: (constant(180.0 / math.pi),),
    math.radians: (constant(math.pi / 180.0),),
    math.fmod: (constant(1.0), lambda v, x, y: -run(math.trunc, x / y)),
    math.remainder: (constant(1.0), lambda v, x, y: (v - x) / y),
    math.copysign: (lambda v, x, y: _sign(x) * _sign(y), constant(0.0)),
    math.ldexp: (lambda v, x, y: run(math.ldexp, 1.0, y), constant(0.0)),
}  # fmt: skip
"""The partial derivatives of each function: a function of the result and the arguments, for each argument."""

PARTIALS[math.nextafter] = (constant(1.0), constant(0.0))

if hasattr(math, "fma"):  # 3.13
    PARTIALS[math.fma] = (lambda v, x, y, z: y, lambda v, x, y, z: x, constant(1.0))


def _hypot(v: Any, *coordinates: Any) -> list[Any]:
    return [0.0 if v == 0 else x / v for x in coordinates]


def _prod(v: Any, *factors: Any) -> list[Any]:
    before: list[Any] = [1.0]
    for factor in factors[:-1]:
        before.append(before[-1] * factor)
    after: Any = 1.0
    found = []
    for factor, left in zip(reversed(factors), reversed(before), strict=False):
        found.append(left * after)
        after = after * factor
    return found[::-1]


def _ones(v: Any, *terms: Any) -> list[Any]:
    return [1.0] * len(terms)


JOINT_PARTIALS: Final[dict[Any, Callable[..., list[Any]]]] = {math.hypot: _hypot}
"""Functions of any number of arguments: one rule for all partial derivatives."""

FOLDS: Final[dict[Any, Callable[..., list[Any]]]] = {sum: _ones, math.fsum: _ones, math.prod: _prod}
"""Functions of the items of an iterable: one rule for the partial derivatives of all items."""


_COMPARISONS: Final = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)

TRUTH_VALUES: Final = (*_COMPARISONS, bool, operator.truth, operator.not_, operator.contains)
"""Functions that return a truth value, whose derivative is zero."""

LOCALLY_CONSTANT: Final = frozenset(
    {
        int, round, range, len, hash, math.floor, math.ceil, math.trunc, math.ulp,
        operator.floordiv, operator.ifloordiv, operator.index, operator.indexOf, operator.countOf,
        operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.invert,
        operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift,
        bisect.bisect_left, bisect.bisect_right, list.index, list.count, tuple.index, tuple.count,
        str.find, str.rfind, str.index, str.rindex, str.count,
        int.bit_length, int.bit_count, int.__hash__, float.__hash__, int.__int__, float.__int__, int.__index__,
        float.__round__, float.__floor__, float.__ceil__, float.__trunc__, int.__round__, int.__floor__,
        int.__ceil__, int.__trunc__, float.__floordiv__, float.__rfloordiv__, int.__floordiv__, int.__rfloordiv__,
    }
)  # fmt: skip
"""Functions whose result is an integer, or a number rounded to some digits: the derivative is zero where there is
one."""


def has_slopes(f: Any) -> bool:
    """Whether the partial derivatives of a function are known.

    >>> has_slopes(math.sin), has_slopes(math.floor)
    (True, False)
    """
    return f in PARTIALS or f in JOINT_PARTIALS


def slope(f: Any, number: int, value: Any, values: Sequence[Any]) -> Any:
    """The partial derivative of a function for one of its arguments.

    Parameters
    ----------
    f:
        An operator, or a function of `math`, for which `has_slopes` is true.
    number:
        The number of the argument; the first one is 0.
    value, values:
        The result, and the arguments.

    Raises
    ------
    KeyError
        If no partial derivatives of the function are known.

    >>> slope(operator.mul, 0, 6.0, (2.0, 3.0))
    3.0
    """
    joint = JOINT_PARTIALS.get(f)
    return PARTIALS[f][number](value, *values) if joint is None else joint(value, *values)[number]
