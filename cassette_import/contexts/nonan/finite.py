"""Whether numbers are finite: numbers of Python, arrays, and what containers hold."""

from __future__ import annotations

import cmath
import sys
from collections.abc import Iterable
from typing import Any, Final

from cassette_import.contexts.common.numeric_values import floats_in, is_array

__all__ = ["Noting", "are_finite", "described", "described_operand", "has_numbers", "with_arrays"]

_MOST_SHOWN: Final = 200


def are_finite(values: Iterable[Any]) -> bool:
    """Whether all floats among the values, and in containers and arrays, are finite.

    >>> are_finite([1.0, [2.0, (3.0,)]]), are_finite([1, [float("inf")]])
    (True, False)
    """
    for found in floats_in(values):
        if is_array(found):
            numpy: Any = sys.modules["numpy"]
            if not numpy.isfinite(found).all():
                return False
        elif not cmath.isfinite(found):
            return False
    return True


def has_numbers(values: Iterable[Any]) -> bool:
    """Whether there is a number among some values or in containers: what text or a file contains is no number.

    >>> has_numbers(["nan"]), has_numbers([1]), has_numbers([{"a": 1.5}])
    (False, True, True)
    """
    return any(
        issubclass(type(value), (int, float, complex)) or is_array(value) or next(floats_in([value]), None) is not None
        for value in values
    )


def with_arrays(values: Iterable[Any]) -> list[Any]:
    """The values, with arrays for objects that NumPy can take as arrays, such as the columns of a table."""
    numpy: Any = sys.modules.get("numpy")
    return [
        numpy.asarray(value)
        if not is_array(value) and hasattr(type(value), "__array__") and hasattr(numpy, "asarray")
        else value
        for value in values
    ]


def described(value: Any) -> str:
    """A value as text for a message: of an array, its shape and how many of its numbers are not finite."""
    if is_array(value) and value.ndim:
        numpy: Any = sys.modules["numpy"]
        wrong = value.size - int(numpy.count_nonzero(numpy.isfinite(value))) if value.dtype.kind in "fc" else 0
        return _shape(value) + (f", of which {wrong} not finite" if wrong else "")
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def described_operand(operand: Any, result: Any) -> str:
    """An operand as text. Of an array that the operation has changed, nothing is said that holds only afterwards."""
    if is_array(operand) and operand.ndim and is_array(result):
        numpy: Any = sys.modules["numpy"]
        if numpy.may_share_memory(operand, result):
            return f"{_shape(operand)}, changed in place"
    return described(operand)


def _shape(array: Any) -> str:
    return f"array of {' × '.join(map(str, array.shape))} {array.dtype}"


class Noting:
    """Passes items on, and remembers whether all of them were finite.

    >>> noting = Noting()
    >>> sum(map(noting, [1.0, float("nan")])), noting.finite
    (nan, False)
    """

    def __init__(self) -> None:
        self.finite = True

    def __call__(self, item: Any) -> Any:
        """Return the item."""
        if self.finite and not are_finite((item,)):
            self.finite = False
        return item
