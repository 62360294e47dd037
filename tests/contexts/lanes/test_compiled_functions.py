"""Lanes and functions that are vectorized or compiled already: they compose, or one error says what to do."""

from __future__ import annotations

import sys

import pytest

from cassette_import.contexts.autodiff import derivative
from cassette_import.contexts.lanes import EffectError, vectorize
from cassette_import.errors import CassetteWarning, NotOverdubbable

np = pytest.importorskip("numpy")

NUMBERS = np.linspace(-3.0, 3.0, 25)


def halved(x):
    return x / 2 if x > 0 else x


@vectorize
def decorated(x, y=1.0):
    return halved(x) + y if x > 1 else y


class Dispatcher:
    """What Numba makes of a function, for the error message."""

    __module__ = "numba.core.registry"

    def __init__(self, function):
        self.py_func = function
        self.__name__ = self.__qualname__ = function.__name__

    def __call__(self, *arguments):
        return self.py_func(*arguments)


COMPILED = Dispatcher(halved)


def test_a_vectorized_function_called_by_another_one_computes_for_the_same_lanes():
    @vectorize(max_paths=1)
    def outer(x):
        return decorated(x) * 2 + decorated(x + 1, y=x)

    expected = [2 * decorated(x) + decorated(x + 1, y=x) for x in NUMBERS.tolist()]
    assert outer(NUMBERS).tolist() == expected


def test_an_array_for_a_vectorized_function_within_another_one_is_an_error():
    def outer(x):
        return decorated(NUMBERS)[0] * x

    with pytest.raises(EffectError, match="is called in a vectorized function"):
        vectorize(outer)(NUMBERS)


def test_other_options_of_a_function_within_another_one_are_an_error():
    inner = vectorize(halved, errors="return")
    with pytest.raises(EffectError, match="is called in a vectorized function"):
        vectorize(lambda x: inner(x)[0])(NUMBERS)


def test_a_vectorized_function_cannot_be_vectorized_again():
    with pytest.raises(NotOverdubbable, match="halved cannot be vectorized: it is vectorized already"):
        vectorize(vectorize(halved))


def test_functions_of_this_package_cannot_be_vectorized():
    with pytest.raises(NotOverdubbable, match="is a part of cassette_import itself"):
        vectorize(derivative)


def test_a_function_that_numba_has_compiled_is_an_error_that_says_what_to_do():
    with pytest.raises(NotOverdubbable, match="because Numba has compiled it: take its decorator away"):
        vectorize(COMPILED)


def test_a_call_of_a_function_that_numba_has_compiled_names_the_place_and_what_to_do():
    def calling(x):
        return COMPILED(x) + 1

    with pytest.raises(EffectError, match=r"halved is called at .*test_compiled_functions.*Numba has compiled it"):
        vectorize(calling)(NUMBERS)
    with pytest.warns(CassetteWarning, match="25 of 25 lanes were run one by one"):
        found = vectorize(calling, effects="split")(NUMBERS)
    assert found.tolist() == [halved(x) + 1 for x in NUMBERS.tolist()]


def test_functions_of_numba_itself_are_recognised():
    numba = pytest.importorskip("numba", reason="the extra backends")
    for compiled in (numba.njit(halved), numba.vectorize(halved)):
        with pytest.raises(NotOverdubbable, match="because Numba has compiled it"):
            vectorize(compiled)


def test_a_decorator_with_the_name_of_a_compiler_is_named_in_the_error():
    def njit(function):
        return function

    @njit
    def left_alone(x):
        return x + 1

    with pytest.raises(NotOverdubbable, match=r"another compiler, such as Numba, may read its source.*take it away"):
        vectorize(left_alone)(NUMBERS)


def test_an_enclosure_of_a_vectorized_function_says_how_to_write_it():
    pytest.importorskip("flint", reason="the extra intervals")
    from cassette_import.contexts.intervals import Interval, enclosure

    with pytest.raises(NotOverdubbable, match=r"\(Intervals\).*as in vectorize\(lambda x: enclosure\(f, x\)\)"):
        enclosure(vectorize(halved), Interval(1.0, 2.0))


def test_functions_that_cannot_be_told_apart_are_an_error_that_says_so():
    alike = [lambda x: 1, lambda x: 2]
    if sys.version_info < (3, 12):  # the code of a constant has a position there
        assert [vectorize(f)(NUMBERS)[0] for f in alike] == [1, 2]
        return
    with pytest.raises(NotOverdubbable, match=r"its source is not found.*give each a line of its own"):
        vectorize(alike[0])(NUMBERS)
