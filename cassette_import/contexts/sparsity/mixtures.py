"""The rules of NumPy's functions that mix elements: sums of products, differences, solutions of equations.

One that is made of sums and products, as `einsum` is, is called with terms that know both.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import Array, array, as_array, as_objects, dependences_of, plain_deep
from cassette_import.contexts.sparsity.function_table import call_plain, depends, each, handles, joined_over
from cassette_import.contexts.sparsity.number import Number, curved, linear
from cassette_import.contexts.sparsity.run import Run, joined
from cassette_import.kits.tagged_containers import sequence_like

__all__ = ["terms_of", "untermed"]

# ---- terms: dependences with sums and products, so that `np.einsum` and `np.dot` themselves compute the pattern
#
# A constant that is zero makes a product zero, so a matrix with zeros mixes only what it mixes.


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


# ---- the rules of NumPy's functions that mix elements: sums of products, differences, solutions of equations


@handles(
    "dot matmul inner outer tensordot einsum vdot kron convolve correlate cross trace diff ediff1d trapezoid trapz"
)
def _terms(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    given = [terms_of(run, one) for one in arguments]
    found = f(*given, **{name: terms_of(run, one) for name, one in keywords.items() if name != "optimize"})
    return array(run, value, untermed(found))


@handles("gradient")
def _gradient(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = as_array(run, arguments[0])
    if any(type(one) in (Array, Number) and depends(one) for one in arguments[1:]):
        raise run.refuse("np.gradient, with distances that depend on the inputs, has no rule")
    value = f(given.value, *map(plain_deep, arguments[1:]), **keywords)
    axis = keywords.get("axis")
    axes = range(given.ndim) if axis is None else (axis if type(axis) is tuple else (axis,))
    reach = int(keywords.get("edge_order", 1))
    found = [_neighbours(given.dependences, along, reach) for along in axes]
    if type(value) in (list, tuple):
        return type(value)(array(run, *pair) for pair in zip(value, found, strict=True))
    return array(run, value, found[0])


def _neighbours(dependences: Any, axis: int, reach: int) -> Any:
    """For each element, the union of those at most `reach` places away along an axis."""
    moved = np.moveaxis(dependences, axis, 0)
    found = moved.copy()
    for distance in range(1, reach + 1):
        found[distance:] |= moved[:-distance]
        found[:-distance] |= moved[distance:]
    return np.moveaxis(found, 0, axis)


@handles("interp polyval")
def _points(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    by_element = 0 if f is np.interp else 1
    shared = joined_over(one for at, one in enumerate((*arguments, *keywords.values())) if at != by_element)
    own = np.bitwise_or(dependences_of(arguments[by_element]), as_objects(shared))
    return array(run, value, each(run.curved, own))


@handles("solve inv pinv det slogdet lstsq eigvals eigvalsh eig eigh svd qr cholesky matrix_power cond", np.linalg)
@handles("linspace logspace geomspace")
@handles("fft ifft rfft irfft fft2 ifft2 fftn ifftn rfftn irfftn", np.fft)
def _mixing(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    every = joined_over((*arguments, *keywords.values()))
    constant = f is np.linalg.solve and not joined(dependences_of(arguments[0]).flat)
    kind = linear if constant or f is np.linspace or f.__module__.startswith("numpy.fft") else curved
    dependence = kind(run, (every,))
    if isinstance(value, tuple):
        parts = [array(run, one, dependence) for one in value]
        return sequence_like(value, parts)
    return array(run, value, dependence)
