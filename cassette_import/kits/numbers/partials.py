"""The derivatives of operators and of functions of `math`, for numbers of Python.

The rule for an argument is a function of the result and the arguments. Rules call functions through `run`, so that
contexts further out see the derivative as they see the program.
"""

from __future__ import annotations

import bisect
import cmath
import functools
import math
import operator
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

from cassette_import.kits.numbers.row import STEP, Row
from cassette_import.kits.numbers.table import BITS, COMPARISONS, NUMBERS, ROUNDINGS, functions_of
from cassette_import.runtime.tagging.wrappers import plain, run

Partial = Callable[..., Any]

_NAMES: Final = ("sqrt", "exp", "exp2", "sin", "cos", "tan", "sinh", "cosh", "log")


def _through_run(function: Any) -> Callable[..., Any]:
    return functools.partial(run, function)


def _conjugate_of(x: Any) -> Any:
    if type(plain(x)) is not complex:  # NumPy's numbers would drop the imaginary part
        raise TypeError("there is no derivative of the absolute value of a complex number")
    return run(complex.conjugate, x)


def _log_of_base(x: Any, power: Any) -> Any:
    return run(cmath.log if isinstance(x, complex) or isinstance(power, complex) else math.log, x)


def sign_of_real(x: Any) -> Any:
    """The sign of a number: 0.0 for a zero, in contexts further out too."""
    if type(x) is float or type(x) is int:
        return math.copysign(1.0, x) if x else 0.0
    return run(math.copysign, 0.5, 0.0 + x) - run(math.copysign, 0.5, 0.0 - x)


REAL: Final = SimpleNamespace(
    **{name: _through_run(getattr(math, name)) for name in _NAMES},
    sign=sign_of_real,
    unit=functools.partial(run, math.copysign, 1.0),
    scale=functools.partial(run, math.ldexp, 1.0),
    trunc=_through_run(math.trunc),
    floor_quotient=_through_run(operator.floordiv),
    power=_through_run(operator.pow),
    log_of_base=_log_of_base,
    conjugate_of=_conjugate_of,
)
"""The arithmetic of Python's numbers, in which partial derivatives are computed."""


def constant(value: complex) -> Partial:
    """A partial derivative that does not depend on the arguments."""
    return lambda *_: value


def partials_of(row: Row, arithmetic: Any) -> tuple[Partial, ...]:
    """The partial derivatives of a row for each argument, as functions of the result and the arguments."""
    assert isinstance(row.partials, tuple)
    return tuple([functools.partial(partial, arithmetic) for partial in row.partials])


PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    function: partials_of(row, REAL) for row in NUMBERS if type(row.partials) is tuple for function in row.functions
}
"""The partial derivatives of each function: a function of the result and the arguments, for each argument."""


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


JOINT_PARTIALS: Final[dict[Any, Callable[..., list[Any]]]] = {
    function: functools.partial(row.partials, REAL)
    for row in NUMBERS
    if callable(row.partials)
    for function in row.functions
}
"""Functions of any number of arguments: one rule for all partial derivatives."""

FOLDS: Final[dict[Any, Callable[..., list[Any]]]] = {sum: _ones, math.fsum: _ones, math.prod: _prod}
"""Functions of the items of an iterable: one rule for the partial derivatives of all items."""

TRUTH_VALUES: Final = (*functions_of(COMPARISONS), bool, operator.truth, operator.not_, operator.contains)
"""Functions that return a truth value, whose derivative is zero."""

LOCALLY_CONSTANT: Final = frozenset(
    {
        *functions_of(ROUNDINGS), *functions_of(BITS),
        *functions_of(row for row in NUMBERS if row.dependence == STEP),
        range, len, hash,
        operator.index, operator.indexOf, operator.countOf,
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

    Parameters
    ----------
    f:
        An operator, a function of `math`, or any other object.

    Returns
    -------
    True or False.

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

    Returns
    -------
    The derivative, in the arithmetic of the arguments.

    Raises
    ------
    KeyError
        If no partial derivatives of the function are known.

    >>> slope(operator.mul, 0, 6.0, (2.0, 3.0))
    3.0
    """
    joint = JOINT_PARTIALS.get(f)
    return PARTIALS[f][number](value, *values) if joint is None else joint(value, *values)[number]
