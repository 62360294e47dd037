"""The whole table, and how a row is found.

To add a function to all contexts of numbers is to add its row.
"""

from __future__ import annotations

import bisect
import math
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from cassette_import.kits.numbers.elementary import ELEMENTARY
from cassette_import.kits.numbers.row import (
    CURVED,
    FREE,
    LINEAR,
    PRODUCT,
    QUOTIENT,
    STEP,
    Row,
    Value,
    constant,
    formulas,
)

__all__ = [
    "BITS", "BY_UFUNC", "COMPARING", "COMPARISONS", "COUNTS", "FOLDS", "IN_PLACE", "MOVEMENTS", "NUMBERS", "OPERATORS",
    "QUESTIONS", "ROUNDINGS", "ROWS", "SIZES", "STEPS", "TRUTHS", "functions_of", "row_of",
]  # fmt: skip

# ---- the rows of functions whose result changes in steps: comparisons, truth values, roundings, bits


def _step(*functions: Any, ufuncs: str = "", total: bool = True) -> Row:
    return Row(functions, tuple(ufuncs.split()), dependence=STEP, cost=FREE, exact=True, total=total)


COMPARISONS: Final = (
    _step(operator.lt, ufuncs="less"),
    _step(operator.le, ufuncs="less_equal"),
    _step(operator.eq, ufuncs="equal"),
    _step(operator.ne, ufuncs="not_equal"),
    _step(operator.gt, ufuncs="greater"),
    _step(operator.ge, ufuncs="greater_equal"),
)
"""The comparisons, which programs also apply to other values than numbers."""

TRUTHS: Final = (
    _step(operator.truth, bool),
    _step(operator.not_, ufuncs="logical_not"),
    _step(float.is_integer),
)
"""Truth values of numbers."""

QUESTIONS: Final = (
    _step(math.isnan, ufuncs="isnan"),
    _step(math.isinf, ufuncs="isinf"),
    _step(math.isfinite, ufuncs="isfinite"),
    _step(math.isclose, total=False),
)
"""The functions of `math` whose result is a truth value."""

ROUNDINGS: Final = (
    _step(math.floor, ufuncs="floor", total=False),
    _step(math.ceil, ufuncs="ceil", total=False),
    _step(math.trunc, int, ufuncs="trunc", total=False),
    _step(round, ufuncs="rint", total=False),
    _step(math.ulp, ufuncs="spacing"),
)
"""Functions whose result is an integer, or a number of few digits."""

BITS: Final = (
    _step(operator.and_, operator.iand, ufuncs="bitwise_and"),
    _step(operator.or_, operator.ior, ufuncs="bitwise_or"),
    _step(operator.xor, operator.ixor, ufuncs="bitwise_xor"),
    _step(operator.invert, ufuncs="invert"),
    _step(operator.lshift, operator.ilshift, ufuncs="left_shift", total=False),
    _step(operator.rshift, operator.irshift, ufuncs="right_shift", total=False),
)
"""Operators of integers."""

STEPS: Final = (*COMPARISONS, *TRUTHS, *QUESTIONS, *ROUNDINGS, *BITS)
"""Functions whose derivative is zero where there is one."""


# ---- the rows of operators, and of functions that do the same as one


def _by(function: Callable[..., Any]) -> Value:
    """The value is what the operator of the numbers of an arithmetic computes."""
    return lambda on, *arguments: function(*arguments)


def _direction(on: Any, v: Any, x: Any) -> Any:
    """The derivative of the absolute value."""
    return on.conjugate_of(x) / v if isinstance(x, complex) else on.sign(x)


def _power_base(on: Any, v: Any, x: Any, y: Any) -> Any:
    return 0.0 if y == 0 else y * on.power(x, y - 1)


def _power_exponent(on: Any, v: Any, x: Any, y: Any) -> Any:
    return 0.0 if x == 0 and y >= 0 else v * on.log_of_base(x, v)


_ONE: Final = constant(1.0)

OPERATORS: Final = (
    Row(
        (operator.add, operator.iadd), ("add",), _by(operator.add), formulas("1.0", "1.0"),
        LINEAR, "add", total=True,
    ),
    Row(
        (operator.sub, operator.isub), ("subtract",), _by(operator.sub), formulas("1.0", "-1.0"),
        LINEAR, "sub", total=True,
    ),
    Row(
        (operator.mul, operator.imul), ("multiply",), _by(operator.mul),
        formulas("y", "x"), PRODUCT, "mul", total=True,
    ),
    Row(
        (operator.truediv, operator.itruediv), ("divide", "true_divide"), _by(operator.truediv),
        formulas("1.0 / y", "-v / y"), QUOTIENT, "truediv",
    ),
    Row(
        (operator.floordiv, operator.ifloordiv), ("floor_divide",), lambda on, x, y: on.number(on.floor(x / y)),
        dependence=STEP, cost="floordiv", exact=True,
    ),
    Row(
        (operator.mod, operator.imod), ("remainder", "mod"), lambda on, x, y: x - y * on.floor(x / y),
        (_ONE, lambda on, v, x, y: -on.floor_quotient(x, y)),
        LINEAR, "mod",
    ),
    Row(
        (operator.pow, operator.ipow, pow, math.pow), ("power", "float_power"), "power",
        (_power_base, _power_exponent),
        CURVED, "pow", overflows=(10.0, 1000.0),
    ),
    Row(
        (operator.neg,), ("negative",), _by(operator.neg), formulas("-1.0"), LINEAR, "neg", exact=True, total=True,
    ),
    Row(
        (operator.pos,), ("positive",), _by(operator.pos), formulas("1.0"), LINEAR, FREE, exact=True, total=True,
    ),
    Row(
        (abs, operator.abs, math.fabs), ("absolute", "fabs"), _by(abs), (_direction,),
        LINEAR, "abs", exact=True, total=True,
    ),
)  # fmt: skip
"""Operators of numbers whose result is a number."""


# ---- the rows of NumPy's functions by element which Python's functions of numbers do not have
#
# They are given by name, so that NumPy is not imported.


def _smaller(on: Any, x: Any, y: Any) -> Any:
    return y if y < x else x


def _larger(on: Any, x: Any, y: Any) -> Any:
    return y if y > x else x


BY_ELEMENT: Final = (
    Row((), ("square",), lambda on, x: x * x, (lambda on, v, x: 2.0 * x,), CURVED, "mul"),
    Row((), ("reciprocal",), lambda on, x: 1 / x, (lambda on, v, x: -v * v,), CURVED, "truediv"),
    Row(
        (), ("logaddexp",), lambda on, x, y: on.log(on.exp(x) + on.exp(y)),
        (lambda on, v, x, y: on.exp(x - v), lambda on, v, x, y: on.exp(y - v)),
        CURVED, "logaddexp",
    ),
    Row(
        (), ("logaddexp2",), lambda on, x, y: on.log2(on.exp2(x) + on.exp2(y)),
        (lambda on, v, x, y: on.exp2(x - v), lambda on, v, x, y: on.exp2(y - v)),
        CURVED, "logaddexp2",
    ),
    Row((), ("conjugate", "conj"), lambda on, x: x, (constant(1.0),), LINEAR, FREE, exact=True),
    Row((), ("maximum",), _larger, None, LINEAR, FREE, exact=True),
    Row((), ("minimum",), _smaller, None, LINEAR, FREE, exact=True),
    Row((), ("fmax",), None, None, LINEAR, FREE, exact=True),
    Row((), ("fmin",), None, None, LINEAR, FREE, exact=True),
    Row((), ("sign",), None, None, STEP, FREE, exact=True),
    Row((), ("signbit",), None, None, STEP, FREE, exact=True),
    Row((), ("heaviside",), None, None, STEP, FREE, exact=True),
)  # fmt: skip
"""NumPy's functions by element. In a tie, the derivative of a maximum is shared, which only a rule of arrays can say;
`fmax` and `fmin` choose by what is NaN, which exact numbers do not have."""


# ---- NumPy's functions and methods of arrays that only move elements, by name

_OF_FIRST: Final = (
    "reshape ravel flatten transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis expand_dims squeeze"
    " broadcast_to tile repeat take diag diagonal diagflat flip fliplr flipud roll rot90 tril triu delete"
    " ascontiguousarray asfortranarray copy tolist concatenate concat stack hstack vstack dstack row_stack"
    " column_stack block real real_if_close pad take_along_axis split array_split hsplit vsplit dsplit unstack"
    " __copy__ __deepcopy__ __getitem__"
)
_OF_ALL: Final = "broadcast_arrays meshgrid atleast_1d atleast_2d atleast_3d"

MOVEMENTS: Final[dict[str, tuple[int, ...]]] = {
    **dict.fromkeys(_OF_FIRST.split(), (0,)),
    **dict.fromkeys(_OF_ALL.split(), tuple(range(32))),
    "append": (0, 1),
    "insert": (0, 2),
}
"""The numbers of the arguments whose elements they move; no version of NumPy has them all."""


# ---- functions whose result is a size, a position or a count: their integers are no numbers of a computation

_SIZED: Final = (list, tuple, dict, set, frozenset, str, bytes, bytearray, deque, range)

SIZES: Final = frozenset(
    map(
        id,
        (
            *(len, operator.length_hint, sys.getsizeof),
            *(getattr(kind, name) for kind in _SIZED for name in ("__len__", "__sizeof__") if hasattr(kind, name)),
        ),
    )
)
"""Functions whose result is a size, whatever numbers a container holds."""

COUNTS: Final = SIZES | frozenset(
    map(
        id,
        (
            *(hash, range, operator.countOf, operator.indexOf, bisect.bisect_left, bisect.bisect_right),
            *(float.__hash__, int.__hash__, int.bit_length, int.bit_count),
            *(
                getattr(kind, name)
                for kind in _SIZED
                for name in ("count", "find", "index", "rfind", "rindex")
                if hasattr(kind, name)
            ),
        ),
    )
)
"""Functions whose result is a size, a position or a count: an integer that is no float's value, and is never rounded.
The floats decide on it, as on a branch."""


# ---- the whole table, and how a row is found

NUMBERS: Final = (*OPERATORS, *ELEMENTARY)
"""Functions of numbers whose result is a number."""

ROWS: Final = (*NUMBERS, *STEPS, *BY_ELEMENT)
"""The rows of all functions."""

_BY_FUNCTION: Final = {function: row for row in ROWS for function in row.functions}

BY_UFUNC: Final = {name: row for row in ROWS for name in row.ufuncs}
"""The row of each of NumPy's functions by element, by its name."""

IN_PLACE: Final = frozenset(
    getattr(operator, f"i{row.name.strip('_')}")
    for row in ROWS
    if row.functions and hasattr(operator, f"i{row.name.strip('_')}")
)
"""The operators of augmented assignments."""

FOLDS: Final[dict[Any, Any]] = {
    sum: operator.add,
    math.fsum: operator.add,
    math.prod: operator.mul,
    min: min,
    max: max,
}
"""Functions of the items of an iterable, and the function of two numbers that takes one more item."""


def functions_of(rows: Iterable[Row]) -> list[Any]:
    """All functions of Python that some rows are for."""
    return [function for row in rows for function in row.functions]


COMPARING: Final = frozenset(functions_of(COMPARISONS))
"""The functions that compare, which programs also apply to other values than numbers."""


def row_of(function: Any) -> Row | None:
    """The row of a function of Python; None if it has none.

    >>> import operator
    >>> row_of(operator.iadd).name, row_of(print)
    ('add', None)
    """
    return _BY_FUNCTION.get(function)
