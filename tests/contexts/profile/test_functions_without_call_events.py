"""Functions that no call event enters, such as properties, descriptors and callbacks, run in a profile."""

import dis
import functools
import pstats

import pytest

from cassette_import import overdub
from cassette_import.contexts import Profile


class Descriptor:
    def __get__(self, instance, owner=None):
        if instance is None:
            return 1
        return len([instance])


class Thing:
    described = Descriptor()

    @property
    def items(self):
        return sorted([2, 1])

    def __add__(self, other):
        return max(1, other)


def program():
    thing = Thing()
    return thing.described, Thing.described, thing.items, thing + 2, sorted([3, 1], key=lambda number: abs(number))


def test_functions_that_operators_and_c_code_call_run_as_in_plain_python():
    plain = program()
    for _ in range(2):
        assert overdub(Profile(), program) == plain == (1, 1, [1, 2], 2, [1, 3])


def called_between(between):
    thing = Thing()
    for number in range(10):
        between(number)
        thing + number
        thing.items


def function(number):
    return number


def raising(number):
    raise ValueError(number)


def safely(number):
    try:
        raising(number)
    except ValueError:
        return number


BETWEEN = {
    "lambda": lambda number: abs(number),
    "function": function,
    "nested function": (lambda: lambda number: function(number))(),
    "function that raises": safely,
    "partial": functools.partial(lambda one, two: two, 1),
    "generator function": lambda number: [*(item for item in range(number))],
}


@pytest.mark.parametrize("name", BETWEEN)
def test_functions_without_call_events_are_counted_whatever_is_called_between(name, tmp_path):
    profile, path = Profile(), str(tmp_path / "program.prof")
    overdub(profile, called_between, BETWEEN[name])
    profile.formats[".prof"](path)
    counts = {label[2]: figures[1] for label, figures in pstats.Stats(path).stats.items()}
    assert (counts["__add__"], counts["items"]) == (10, 10)


LAMBDAS = {
    "argument": lambda xs: sorted(xs, key=lambda x: -x),
    "element": lambda xs: [sorted(xs, key=lambda x: -x) for _ in (1,)],
    "condition": lambda xs: [x for x in (1,) if sorted(xs, key=lambda x: -x)],
    "first iterable": lambda xs: [x for x in sorted(xs, key=lambda x: -x)],
    "first iterable of a set": lambda xs: {x for x in sorted(xs, key=lambda x: x.real)},
    "first iterable of a generator expression": lambda xs: [*(x for x in sorted(xs, key=lambda x: abs(x)))],
    "second iterable": lambda xs: [x for _ in (1,) for x in sorted(xs, key=lambda x: max(x, 1))],
    "iterable of iterables": lambda xs: [x for x in sorted(list(map(lambda x: x, xs)))],
    "lambda that shows its variables": lambda xs: [x for x in sorted(xs, key=lambda x: list(locals().values()))],
}


@pytest.mark.parametrize("place", LAMBDAS)
def test_a_lambda_is_counted_in_each_place_of_a_comprehension(place, tmp_path):
    profile, path = Profile(), str(tmp_path / "program.prof")
    overdub(profile, lambda: LAMBDAS[place]([3, 1, 2]))
    profile.formats[".prof"](path)
    line = LAMBDAS[place].__code__.co_firstlineno
    counts = [figures[1] for label, figures in pstats.Stats(path).stats.items() if label[1:] == (line, "<lambda>")]
    assert counts == [4]  # the lambda around the comprehension, too


def test_their_bodies_load_no_names_but_those_of_the_program():
    overdub(Profile(), program)
    for function in (Descriptor.__get__, Thing.items.fget, Thing.__add__, program):
        loads = [step for step in dis.get_instructions(function) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
        assert not [step.argval for step in loads if step.argval.startswith("@")]
