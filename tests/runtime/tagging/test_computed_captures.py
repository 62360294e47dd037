"""What a pattern captures may be computed: by a property or another special method of the program, or by code in C."""

from collections.abc import Mapping

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative
from cassette_import.contexts.graph import graph


class Doubled:
    __match_args__ = ("value",)

    def __init__(self, value):
        self.stored = value

    @property
    def value(self):
        return self.stored * 2


class Named:
    def __init__(self, value):
        self.stored = value

    def __getattr__(self, name):
        return self.stored * len(name)


class Read(Mapping):
    def __init__(self, value):
        self.stored = value

    def __getitem__(self, key):
        return self.stored * 4

    def __iter__(self):
        return iter("a")

    def __len__(self):
        return 1


def by_name(x):
    match Doubled(x):
        case Doubled(value=found):
            return found


def by_position(x):
    match Doubled(x):
        case Doubled(found):
            return found


def by_two_patterns(x):
    match (Doubled(x), Doubled(x * x)):
        case (Doubled(one), Doubled(other)) if one < 100:
            return one * other


def by_getattr(x):
    match Named(x):
        case Named(abc=found):
            return found


def by_key(x):
    match Read(x):
        case {"a": found}:
            return found


def by_itself(x):
    match x:
        case float(real=found):
            return found


@pytest.mark.parametrize(
    ("program", "slope"),
    [(by_name, 2.0), (by_position, 2.0), (by_two_patterns, 27.0), (by_getattr, 3.0), (by_key, 4.0), (by_itself, 1.0)],
)
def test_a_captured_value_that_the_program_computes_keeps_its_metadata(program, slope):
    assert derivative(program, 1.5) == slope


def test_a_captured_number_that_code_in_c_computes_is_a_loss():
    def program(x):
        match complex(x, 1.0):
            case complex(real=found):
                return found

    with pytest.raises(NotOverdubbable, match="an attribute that a pattern captures"):
        derivative(program, 1.5)


def asked_by_name(x):
    match Doubled(x):
        case Doubled(value=3.0):
            return x


def asked_by_position(x):
    match [Doubled(x)]:
        case [Doubled(3.0)]:
            return x


def asked_by_getattr(x):
    match Named(x):
        case Named(abc=4.5):
            return x


def asked_by_key(x):
    match Read(x):
        case {"a": 6.0}:
            return x


def asked_in_c(x):
    match complex(x):
        case complex(real=1.5):
            return x


@pytest.mark.parametrize(
    "program",
    [asked_by_name, asked_by_position, asked_by_getattr, asked_by_key, asked_in_c],
    ids=lambda f: f.__name__,
)
def test_a_computed_part_that_a_pattern_tests_is_no_unnoticed_decision(program):
    with pytest.raises(NotOverdubbable, match="a computed part that a pattern tests"):
        graph(program, 1.5)


class Slots:
    __slots__ = ("size", "value")
    kind = "slots"

    def __init__(self, value):
        self.value, self.size = value, 2


def test_stored_parts_and_constants_of_the_class_are_tested_as_before():
    def program(x):
        match Slots(x):
            case Doubled(value=3.0):
                return x
            case Slots(kind="slots", size=2, value=found):
                return found * 2

    assert graph(program, 1.5).run(2.5) == 5.0
