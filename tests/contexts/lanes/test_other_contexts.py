"""Lanes, derivatives and enclosures: an error that says what to do, or lanes one by one; never a wrong number."""

from __future__ import annotations

import math

import pytest

from cassette_import.contexts.autodiff import derivative, gradient
from cassette_import.contexts.intervals import Interval, enclosure
from cassette_import.contexts.lanes import EffectError, vectorize
from cassette_import.errors import CassetteWarning, NotOverdubbable

np = pytest.importorskip("numpy")

LANES = np.linspace(0.1, 2.0, 9)


def f(x):
    return math.sin(x) * x if x > 1 else x * x


def test_lanes_one_by_one_have_their_own_derivatives():
    def of_text(x):
        return float(f"{x}") * x

    with pytest.raises(
        EffectError, match=r'no derivative by lanes: builtins.float|no derivative by lanes: float.*"split"'
    ):
        vectorize(lambda x: gradient(of_text, x)[0])(LANES)

    def complicated(x):
        return abs(complex(x, 1.0))

    with pytest.warns(CassetteWarning, match="9 of 9 lanes were run one by one"):
        found = vectorize(lambda x: gradient(complicated, x)[0], effects="split")(LANES)
    assert found.tolist() == [gradient(complicated, x)[0] for x in LANES.tolist()]


@pytest.mark.parametrize(
    "program",
    [
        lambda y: vectorize(f)(LANES * y).sum(),
        lambda y: float(vectorize(lambda x: x * y)(LANES).sum()),
        lambda y: y * float(vectorize(f)(LANES).sum()),
        vectorize(f),
    ],
    ids=["argument", "closure", "factor", "itself"],
)
def test_a_vectorized_call_in_a_differentiated_function_is_an_error(program):
    with pytest.raises(NotOverdubbable, match="is vectorized within a context that tags values"):
        derivative(program, 1.5)


def test_lanes_one_by_one_have_their_own_enclosures():
    pytest.importorskip("flint", reason="the extra intervals")
    with pytest.raises(EffectError, match=r'no enclosure by lanes: undecided comparisons are split.*effects="split"'):
        vectorize(lambda x: enclosure(f, Interval(x, x + 0.1), splits=2))(LANES)
    with pytest.warns(CassetteWarning):
        found = vectorize(lambda x: enclosure(f, Interval(x, x + 0.1), splits=2), effects="split")(LANES)
    for number, x in enumerate(LANES.tolist()):
        assert (found.low[number], found.high[number]) == enclosure(f, Interval(x, x + 0.1), splits=2)


def test_a_vectorized_call_in_an_enclosed_function_is_an_error():
    pytest.importorskip("flint", reason="the extra intervals")
    with pytest.raises(NotOverdubbable, match="is vectorized within a context that tags values"):
        enclosure(lambda y: float(vectorize(lambda x: x * y)(LANES).sum()), Interval(1.0, 2.0))
    with pytest.raises(NotOverdubbable, match="is vectorized within a context that tags values"):
        enclosure(vectorize(f), Interval(1.0, 2.0))


def test_intervals_are_no_lanes():
    values = np.empty(2, object)
    values[0], values[1] = Interval(1.0, 2.0), Interval(0.5, 0.75)
    with pytest.raises(TypeError, match="lanes are arrays of numbers, texts or other immutable objects"):
        vectorize(f)(values)
