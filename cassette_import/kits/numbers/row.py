"""One row of the table of functions of numbers, and what its columns mean.

The columns `value` and `partials` are written for an *arithmetic*: an object whose methods are the elementary
functions by the names of `math`, for numbers of one kind. Operators are those of the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Final

from cassette_import.interpreter.records import Record

__all__ = [
    "CURVED", "FIRST", "FREE", "FUSED", "LINEAR", "PRODUCT", "QUOTIENT", "STEP", "Cost", "Domain", "Growth", "Partial",
    "Row", "Value", "constant", "formula_of", "formulas",
]  # fmt: skip

Value = Callable[..., Any]
"""A function of an arithmetic and of the arguments as its numbers."""

Partial = Callable[..., Any]
"""A function of an arithmetic, the result and the arguments."""

Cost = str | Callable[[int], Mapping[str, int]]
"""The name of an operation, or a function of the number of arguments, which returns how often each is done."""

FREE: Final = ""
"""The cost of a function that does no operation."""

# What a result depends on. `x - x` counts as dependent on x: it is the form of the function that decides.
LINEAR: Final = "linear"
"""All second derivatives are zero, perhaps in pieces."""
PRODUCT: Final = "product"
"""Linear in each argument."""
QUOTIENT: Final = "quotient"
"""Linear in the first argument."""
FUSED: Final = "fused"
"""A product of the first two arguments, linear in the last one."""
FIRST: Final = "first"
"""Linear in the first argument; the others change the result in steps."""
STEP: Final = "step"
"""The result changes in steps: all derivatives are zero."""
CURVED: Final = "curved"
"""All second derivatives may be different from zero."""


class Domain(Record):
    """The numbers for which a function of one argument has a value. For others, that of `math` raises ValueError."""

    low: float
    high: float = inf
    closed: bool = True
    """Whether the bounds belong to it."""

    def example_outside(self, *, above: bool) -> float:
        """A number that is not in the domain."""
        return self.high + 1.0 if above else self.low - 1.0


class Growth(Record):
    """Where the values of a function lie that increases everywhere, or decreases everywhere."""

    below: float
    above: float
    inverse: str | None = None
    """The name of the inverse function; None if it is no elementary function."""
    rises: bool = True


class Row(Record):
    """What is known of one function. A column that is None says: no rule of this kind holds for all arguments."""

    functions: tuple[Any, ...]
    """The functions of Python that compute it; the first one is the one that others are synonyms of."""
    ufuncs: tuple[str, ...] = ()
    """The functions of NumPy that compute it by element."""
    value: str | Value | None = None
    """The exact result. A name is the method of an arithmetic."""
    partials: tuple[Partial, ...] | Partial | None = None
    """The partial derivative for each argument; a single function returns those for all of any number of arguments."""
    dependence: str = CURVED
    """How the result depends on the arguments."""
    cost: Cost | None = None
    """What it costs if the result is a float."""
    exact: bool = False
    """Whether the result of floats has no rounding error."""
    domain: Domain | None = None
    """Where a function of one argument is defined; None: for all numbers, or it has several arguments."""
    growth: Growth | None = None
    """Whether a function of one argument increases or decreases."""
    overflows: tuple[float, ...] = ()
    """Arguments for which the result is larger than any float, so that the function raises OverflowError."""
    total: bool = False
    """Whether it raises no exception for any floats that are not infinite."""
    periodic: bool = False
    """Whether it has no limit at infinity, so that the function of `math` raises ValueError there."""

    sign_of: int | None = None
    """The number of the argument whose sign is that of the result, also if the argument is a zero."""

    @property
    def name(self) -> str:
        """The name of the function in Python; if it has none there, that in NumPy."""
        return self.functions[0].__name__ if self.functions else self.ufuncs[0]


def constant(value: complex) -> Partial:
    """A partial derivative that does not depend on the arguments."""
    return lambda on, v, *arguments: value


def formulas(*texts: str) -> tuple[Partial, ...]:
    """The partial derivatives for all arguments `x`, `y`, `z` of a function with the result `v`, as expressions.

    Code that is made for one function contains the expressions themselves, which saves a call for each of them.

    >>> times = formulas("y", "x")
    >>> times[0](None, 6.0, 2.0, 3.0), formula_of(times[0])
    (3.0, 'y')
    """
    names = ", ".join("xyz"[: len(texts)])
    found: list[Partial] = []
    for text in texts:
        made: Any = eval(f"lambda on, v, {names}: {text}")
        made.formula = text
        found.append(made)
    return tuple(found)


def formula_of(partial: Partial) -> str | None:
    """The expression of a partial derivative; None if it is not given as one."""
    return getattr(partial, "formula", None)
