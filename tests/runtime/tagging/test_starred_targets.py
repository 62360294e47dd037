"""The list of a starred target holds plain values, and metadata goes along with it."""

import array
import inspect

import pytest
from programs.tagging import starred_targets as programs

from cassette_import import Context, install, overdub, tag
from cassette_import.contexts.autodiff import derivative
from cassette_import.errors import NotOverdubbable

PROGRAMS = [function for _, function in inspect.getmembers(programs, inspect.isfunction)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_items_keep_their_derivatives(program):
    step = 1e-6
    expected = (program(1.5 + step) - program(1.5 - step)) / (2 * step)
    with install([programs.__name__]):
        assert derivative(program, 1.5) == pytest.approx(expected, rel=1e-6)


def test_a_leaf_without_a_rule_refuses_the_list():
    def program(x):
        _, *rest = x, x * 2
        return array.array("d", rest)[0]

    with pytest.raises(NotOverdubbable):
        derivative(program, 1.5)


class Tagging(Context, tagging=True):
    """Tags what it is given."""


def test_a_leaf_gets_plain_items():
    def program(text):
        _, *rest = text, text, "!"
        return "".join(rest)

    context = Tagging()
    assert overdub(context, program, tag("hello", context, 1)) == "hello!"


@pytest.mark.parametrize("number", [0, 1])
def test_too_few_values_are_the_error_of_the_interpreter(number):
    def program(x):
        first, second, *rest = [x] * number
        return first, second, rest

    with pytest.raises(ValueError) as plain:
        program(1.5)
    with pytest.raises(ValueError) as found:
        derivative(program, 1.5)
    assert str(found.value) == str(plain.value)
