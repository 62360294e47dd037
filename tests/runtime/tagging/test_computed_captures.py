"""What a pattern captures may be computed: by a property or another special method of the program, or by code in C."""

from collections.abc import Mapping

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative


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
