"""Which operations a call does with numbers: tables of operators, and of functions of `math` and `cmath`.

An operation is named after the function of `operator` or `math` that does it. An operation with complex numbers is
that of its parts: CPython multiplies by four products, and divides as R. L. Smith does ("Algorithm 116: Complex
division", Communications of the ACM 5, 1962).
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cassette_import.contexts.common.number_functions.row import Row
from cassette_import.contexts.common.number_functions.steps import QUESTIONS, ROUNDINGS
from cassette_import.contexts.common.number_functions.table import NUMBERS
from cassette_import.contexts.common.sized_containers import is_a_container

__all__ = ["COUNTED_ITEMS", "OPERATIONS", "Operations", "Rule", "operations_with", "scaled"]

Operations: TypeAlias = Mapping[str, int]
"""How often each operation is done."""

Rule: TypeAlias = Callable[[Any, tuple[Any, ...], dict[str, Any]], "Operations | None"]
"""Takes the result of a call, its positional and its keyword arguments. None: the rule does not hold for this call."""

NOTHING: Final[Operations] = {}

_OF_COMPLEX: Final[dict[str, Operations]] = {
    "add": {"add": 2},
    "sub": {"sub": 2},
    "mul": {"mul": 4, "add": 1, "sub": 1},
    "truediv": {"truediv": 3, "mul": 3, "add": 2, "sub": 1},
    "neg": {"neg": 2},
    "abs": {"mul": 2, "add": 1, "sqrt": 1},
}


def operations_with(name: str, count: int, *, of_complex: bool = False) -> Operations:
    """The operations of `count` operations of one kind.

    >>> operations_with("mul", 3), operations_with("mul", 2, of_complex=True)
    ({'mul': 3}, {'mul': 8, 'add': 2, 'sub': 2})
    """
    if not of_complex:
        return {name: count}
    return scaled(_OF_COMPLEX.get(name, {f"complex {name}": 1}), count)


def scaled(operations: Operations, count: int) -> Operations:
    """The operations, each `count` times."""
    return {name: number * count for name, number in operations.items()}


def one(name: str) -> Rule:
    """The rule of a function of numbers that does one operation."""
    real, of_complex = operations_with(name, 1), operations_with(name, 1, of_complex=True)

    def rule(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
        if isinstance(result, float):
            return of_complex if isinstance(arguments[0], complex) else real
        return of_complex if isinstance(result, complex) else NOTHING

    return rule


def _both(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    """`divmod`: a quotient and a remainder."""
    is_float = type(result) is tuple and isinstance(result[0], float)
    return {"floordiv": 1, "mod": 1} if is_float else NOTHING


def _free(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    return NOTHING


def _rule_of(row: Row) -> Rule:
    """The rule for the column `cost` of a row."""
    cost = row.cost
    if not cost:
        return _free
    if isinstance(cost, str):
        return one(cost)
    return lambda result, arguments, keywords: cost(len(arguments))


def _dist(result: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Operations:
    count = next(
        (len(point) for point in arguments if is_a_container(point)), 0
    )  # both points have as many coordinates
    return {"sub": count, "mul": count, "add": max(count - 1, 0), "sqrt": 1}


_FREE: Final = "fmax fmin frexp gcd lcm modf signbit"
_ROWS: Final = (*NUMBERS, *QUESTIONS, *ROUNDINGS)
_CMATH: Final = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh phase rect"

OPERATIONS: Final[dict[Any, Rule]] = {
    **{
        function: _rule_of(row)
        for row in (*NUMBERS, *QUESTIONS, *ROUNDINGS)
        for function in row.functions
        if type(function) is not type
    },
    **{getattr(math, name): _free for name in _FREE.split() if hasattr(math, name)},
    **{getattr(cmath, name): one(name) for name in _CMATH.split()},
    cmath.polar: lambda result, arguments, keywords: {"complex polar": 1},
    divmod: _both,
    math.dist: _dist,
}
"""The rules of functions of a fixed number of numbers."""


def _total(name: str) -> Callable[[Any, int, bool], Operations]:
    def rule(result: Any, count: int, starts: bool) -> Operations:
        if not isinstance(result, (float, complex)):
            return NOTHING
        return operations_with(name, count if starts else max(count - 1, 0), of_complex=isinstance(result, complex))

    return rule


def _inner(result: Any, count: int, starts: bool) -> Operations:
    return {"mul": count, "add": max(count - 1, 0)} if isinstance(result, float) else NOTHING


COUNTED_ITEMS: Final[dict[Any, Callable[[Any, int, bool], Operations]]] = {
    sum: _total("add"),
    math.fsum: _total("add"),
    math.prod: _total("mul"),
    **({math.sumprod: _inner} if hasattr(math, "sumprod") else {}),
}
"""The rules of functions of an iterable: they take the result, the number of items, and whether a start was given."""


def items_of(arguments: Sequence[Any]) -> int | None:
    """How many items the first argument has; None if only iteration tells, or code of the program."""
    return len(arguments[0]) if is_a_container(arguments[0]) else None
