"""The rows of NumPy's functions by element which Python's functions of numbers do not have.

They are given by name, so that NumPy is not imported.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.contexts.common.number_functions.row import CURVED, FREE, LINEAR, STEP, Row, constant

__all__ = ["BY_ELEMENT"]


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
