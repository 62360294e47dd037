"""The partial derivatives of NumPy's elementwise functions, as data.

The rules call functions through `run`, so that contexts further out can differentiate the derivative again. Imported
only if the program imports NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import numpy

from cassette_import.contexts.common.number_functions.operators import OPERATORS
from cassette_import.contexts.common.number_functions.table import BY_UFUNC
from cassette_import.contexts.common.partials import constant, partials_of
from cassette_import.runtime.tagging.wrappers import plain, run

Partial = Callable[..., Any]


def _through_run(function: Any) -> Callable[..., Any]:
    return lambda *arguments: run(function, *arguments)


exp, sign, cos, where = map(_through_run, (numpy.exp, numpy.sign, numpy.cos, numpy.where))
log, floor_divide, broadcast_to = map(_through_run, (numpy.log, numpy.floor_divide, numpy.broadcast_to))

ARRAYS: Final = SimpleNamespace(
    **{
        name: _through_run(getattr(numpy, name))
        for name in ("sqrt", "exp", "exp2", "log", "sin", "cos", "sinh", "cosh", "sign", "trunc")
    },
    scale=lambda exponent: run(numpy.ldexp, 1.0, exponent),
    floor_quotient=floor_divide,
)
"""The arithmetic of arrays, in which the partial derivatives of the table of functions are computed."""


def _power_base(v: Any, x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)):  # a wrapped one too
        return 2.0 * x if plain(y) == 2 else 0.0 if plain(y) == 0 else y * run(numpy.power, x, y - 1)
    return where(plain(y) == 0, 0.0, y * run(numpy.power, x, where(plain(y) == 0, 1.0, y - 1)))


def _power_exponent(v: Any, x: Any, y: Any) -> Any:
    return v * log(where(plain(x) == 0, 1.0, x))


def _or_one(v: Any) -> Any:
    return where(plain(v) == 0, 1.0, v)


def _share_of_tie(chosen: Any, other: Any) -> Any:
    """The share of the derivative that the larger (or smaller) value gets: all of it, or half of it in a tie."""
    chosen, other = plain(chosen), plain(other)
    return numpy.where(chosen == other, 0.5, 1.0)


def _larger(v: Any, x: Any, y: Any) -> Any:
    return numpy.where(plain(x) == plain(v), _share_of_tie(x, y), 0.0)


SELECTING: Final = frozenset({numpy.maximum, numpy.fmax, numpy.minimum, numpy.fmin, numpy.heaviside})
"""The functions that choose one of their arguments for each element: the partial derivative of the others is zero."""

_EXTREME: Final = (_larger, lambda v, x, y: _larger(v, y, x))

_BY_CASES: Final[dict[Any, tuple[Partial, ...]]] = {
    **dict.fromkeys((numpy.power, numpy.float_power), (_power_base, _power_exponent)),
    **dict.fromkeys((numpy.absolute, numpy.fabs), (lambda v, x: sign(x),)),
    numpy.copysign: (lambda v, x, y: sign(x) * numpy.where(numpy.signbit(plain(y)), -1.0, 1.0), constant(0.0)),
    numpy.hypot: (lambda v, x, y: x / _or_one(v), lambda v, x, y: y / _or_one(v)),
    **dict.fromkeys((numpy.maximum, numpy.fmax, numpy.minimum, numpy.fmin), _EXTREME),
    numpy.heaviside: (constant(0.0), lambda v, x, y: numpy.where(plain(x) == 0, 1.0, 0.0)),
    numpy.sinc: (lambda v, x: where(plain(x) == 0, 0.0, (cos(math.pi * x) - v) / where(plain(x) == 0, 1.0, x)),),
    numpy.ndarray.conj: (constant(1.0),), numpy.ndarray.conjugate: (constant(1.0),),  # of real numbers
}  # fmt: skip
"""The derivatives that differ between the elements of an array, where that of a number is a decision."""

PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    **{
        getattr(numpy, name): partials_of(row, ARRAYS)
        for name, row in BY_UFUNC.items()
        if type(row.partials) is tuple and hasattr(numpy, name)
    },
    **_BY_CASES,
}
"""The partial derivatives of each function: a function of the result and the arguments, for each argument."""

NUMPY_FUNCTION: Final[dict[Any, Any]] = {
    **{
        function: getattr(numpy, row.ufuncs[0])
        for row in OPERATORS
        if type(row.partials) is tuple
        for function in row.functions
        if function.__module__ != "math"
    },
    operator.matmul: numpy.matmul, operator.imatmul: numpy.matmul,
}  # fmt: skip
"""For each operator, the function of NumPy that does the same with arrays."""

PIECEWISE_CONSTANT: Final = frozenset({
    numpy.floor, numpy.ceil, numpy.rint, numpy.trunc, numpy.sign, numpy.floor_divide, numpy.round,
    numpy.around, numpy.fix, numpy.spacing, numpy.zeros_like, numpy.ones_like, numpy.empty_like, numpy.ndarray.round,
    operator.floordiv, operator.ifloordiv, round, numpy.shape, numpy.size, numpy.ndim,
    numpy.result_type, numpy.can_cast, numpy.iscomplexobj, numpy.isrealobj, numpy.finfo,
    numpy.min_scalar_type,
})  # fmt: skip
"""Functions that are constant between jumps, or do not depend on the values: their derivative is zero."""
