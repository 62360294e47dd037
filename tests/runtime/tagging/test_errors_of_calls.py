"""Calls that do not fit a function fail with the error of plain Python while values are tagged."""

import pytest

from cassette_import import Context, overdub, tag


class Marking(Context, tagging=True):
    pass


def plain(value):
    return value


def too_many(mark):
    def function(first=mark(1), *, second=mark(2)):  # noqa: B008
        return first, second

    return function(1, 2)


def too_many_for_a_method(mark):
    class Thing:
        def method(self, *, second=mark(2)):  # noqa: B008
            return second

    return Thing().method(mark(1))


def one_is_missing(mark):
    def function(first, second, *, third=mark(3)):  # noqa: B008
        return first, second, third

    return function(mark(1))


def an_unknown_name(mark):
    def function(first=mark(1), *, second=mark(2)):  # noqa: B008
        return first, second

    return function(third=mark(1))


@pytest.mark.parametrize("program", [too_many, too_many_for_a_method, one_is_missing, an_unknown_name])
def test_a_call_that_does_not_fit_has_the_message_of_plain_python(program):
    ctx = Marking()
    with pytest.raises(TypeError) as expected:
        program(plain)
    with pytest.raises(TypeError) as raised:
        overdub(ctx, program, lambda value: tag(value, ctx, "m"))
    assert str(raised.value) == str(expected.value)
