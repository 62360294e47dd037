"""The whole table, and how a row is found.

To add a function to all contexts of numbers is to add its row.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, Final

from cassette_import.contexts.common.number_functions.by_element import BY_ELEMENT
from cassette_import.contexts.common.number_functions.elementary import ELEMENTARY
from cassette_import.contexts.common.number_functions.operators import OPERATORS
from cassette_import.contexts.common.number_functions.row import Row
from cassette_import.contexts.common.number_functions.steps import STEPS

__all__ = ["BY_UFUNC", "FOLDS", "IN_PLACE", "NUMBERS", "ROWS", "functions_of", "row_of"]

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


def row_of(function: Any) -> Row | None:
    """The row of a function of Python; None if it has none.

    >>> import operator
    >>> row_of(operator.iadd).name, row_of(print)
    ('add', None)
    """
    return _BY_FUNCTION.get(function)


def functions_of(rows: Iterable[Row]) -> list[Any]:
    """All functions of Python that some rows are for."""
    return [function for row in rows for function in row.functions]
