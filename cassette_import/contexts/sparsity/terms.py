"""Terms: dependences with sums and products, so that `np.einsum` and `np.dot` themselves compute the pattern.

A constant that is zero makes a product zero, so a matrix with zeros mixes only what it mixes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import Array, dependences_of, plain_deep
from cassette_import.contexts.sparsity.number import Number
from cassette_import.contexts.sparsity.run import Run

__all__ = ["terms_of", "untermed"]


class _Term:
    """A number of which only the dependence is known, and whether it is zero."""

    __slots__ = ("dependence", "run", "zero")

    def __init__(self, run: Run, dependence: int, zero: bool = False) -> None:
        self.run = run
        self.dependence = dependence
        self.zero = zero

    def _sum(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # it does it by element
        if type(other) is not _Term:
            return self if not other else _Term(self.run, self.dependence)
        if other.zero or self.zero:
            return self if other.zero else other
        return _Term(self.run, self.dependence | other.dependence)

    def _product(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if type(other) is not _Term:
            return self if other else _Term(self.run, 0, True)
        if self.zero or other.zero:
            return self if self.zero else other
        one, two = self.dependence, other.dependence
        return _Term(self.run, one | two | self.run.cross(one, two))

    __add__ = __radd__ = __sub__ = __rsub__ = _sum
    __mul__ = __rmul__ = __truediv__ = _product

    def __neg__(self) -> Any:
        return self

    conjugate = __pos__ = __neg__


def terms_of(run: Run, value: Any) -> Any:
    """Arrays and numbers as arrays of terms; anything else as it is, such as a subscript or an axis."""
    if type(value) not in (Array, Number, np.ndarray, list) and not isinstance(value, float):
        return value
    if type(value) is list and _is_of_integers(value):
        return value  # axes
    values, dependences = np.asarray(plain_deep(value)), dependences_of(value)
    if values.dtype.kind not in "fciub":
        return value
    made = np.empty(values.shape, object)
    zero, one = _Term(run, 0, True), _Term(run, 0)
    flat: Final = made.reshape(-1)
    for place, (number, dependence) in enumerate(zip(values.flat, dependences.flat, strict=True)):
        flat[place] = _Term(run, dependence) if dependence else one if number else zero
    return made if made.ndim else made[()]


def _is_of_integers(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_of_integers, value))
    return type(value) is int


def untermed(found: Any) -> Any:
    """The dependences of terms."""
    if type(found) is _Term:
        return found.dependence
    if not isinstance(found, np.ndarray):
        return 0
    made: Any = np.zeros(found.shape, object)
    one: Any
    for place, one in enumerate(found.flat):
        made.flat[place] = one.dependence if type(one) is _Term else 0
    return made if made.ndim else made.item()
