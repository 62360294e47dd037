"""Everyday Python around a number is right in each context of numbers: the product of programs and contexts."""

import collections
import colorsys
import functools
import typing

import pytest

pytest.importorskip("flint", reason="enclosures need python-flint")
pytest.importorskip("mpmath", reason="shadows need mpmath")
pytest.importorskip("scipy", reason="patterns are arrays of SciPy")

import numpy as np

from cassette_import.contexts.autodiff import derivative, gradient
from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import NotRepresentable, residual, unknown
from cassette_import.contexts.intervals import Interval, enclosure
from cassette_import.contexts.lanes import vectorize
from cassette_import.contexts.precision import shadow
from cassette_import.contexts.sparsity import jacobian


class Pair(collections.namedtuple("Pair", "one other")):
    """A named tuple that is not made of its fields."""

    def __new__(cls, one):
        return super().__new__(cls, one, one * one)


class Scaled:
    """A callable whose text needs its number."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, number):
        return self.factor * number

    def __repr__(self):
        return f"Scaled({self.factor:.3f})"


class Table:
    @functools.lru_cache(maxsize=8)  # noqa: B019
    def square(self, x):
        return x * x


TABLE = Table()


def named_tuple(x):
    pair = Pair(x) if x > 0 else Pair(-x)
    return pair.other


def callable_with_a_text(x):
    return Scaled(x)(x)


def method_with_a_cache(x):
    return TABLE.square(x)


def pieces_before_an_error(x):
    if x < 0:
        return x
    if x < 10:
        return x * x
    raise ValueError("too large")


def other_pieces_before_an_error(x):
    if x < 0:
        square = x
    elif x < 10:
        square = x * x
    else:
        limit = 10
        raise ValueError(f"more than {limit}")
    return square


def callee_with_an_error(x):
    return pieces_before_an_error(x) if x < 20 else x


def sorted_in_place(x):
    numbers = [x + 9.0, x]
    numbers.sort(reverse=True)
    return numbers[1] * x


def power_without_modulus(x):
    return pow(x, 2, None)


def number_in_a_range(x):
    return x * x if x < 1 or (int(x / 9) in range(9) and int(x / 9) not in {7, 8}) else x


def cast(x):
    return typing.cast("float", x) * x


def colours(x):
    return colorsys.rgb_to_hsv(0.0, x, 0.0)[2] * x


PROGRAMS = (
    named_tuple,
    callable_with_a_text,
    method_with_a_cache,
    pieces_before_an_error,
    other_pieces_before_an_error,
    callee_with_an_error,
    sorted_in_place,
    power_without_modulus,
    number_in_a_range,
    cast,
    colours,
)
"""Functions that return the square of numbers near 3."""

CONTEXTS = {
    "derivative": lambda program: derivative(program, 3.0) == 6.0,
    "gradient": lambda program: gradient(program, 3.0) == (6.0,),
    "enclosure": lambda program: enclosure(program, Interval(2.5, 3.5)) == Interval(6.25, 12.25),
    "vectorize": lambda program: (vectorize(program)(np.linspace(2, 3, 99)) == np.linspace(2, 3, 99) ** 2).all(),
    "residual": lambda program: residual(program, unknown("x", 3.0))(2.5) == 6.25,
    "jit": lambda program: jit(program, 3.0, backend="python")(2.5) == 6.25,
    "shadow": lambda program: float(shadow(program, 3.0).exact) == 9.0,
    "jacobian": lambda program: (
        jacobian(lambda v: [program(v[0]), v[1]], [3.0, 1.0]).toarray().tolist() == [[True, False], [False, True]]
    ),
}
"""Whether what a context says of a program is right."""

REFUSED = {("method_with_a_cache", "residual"), ("method_with_a_cache", "jit")}


@pytest.mark.parametrize("name", CONTEXTS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_everyday_python_around_a_number_is_right(program, name):
    if (program.__name__, name) in REFUSED:
        with pytest.raises(NotRepresentable, match="may depend on more than its arguments"):
            CONTEXTS[name](program)
    else:
        assert CONTEXTS[name](program)
