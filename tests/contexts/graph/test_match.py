"""`match` statements whose subject has unknown parts: each test of a pattern that decides is a guard."""

import re

import pytest

from cassette_import.contexts.graph import GuardFailed, NotRepresentable, graph, inline

NUMBER = re.compile(r"\d+$")


class Limits:
    low = 1


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def text(value):
    match value:
        case "a":
            return 1
        case "b" | "c":
            return 2
    return 3


def number(value):
    match value:
        case 1:
            return "one"
        case 2 | -3:
            return "few"
        case Limits.low:
            return "never"
    return "many"


def truth(x):
    match x > 0.0:
        case True:
            return x
        case False:
            return -x


def truths_in_a_tuple(x):
    match (x > 0.0, x > 1.0):
        case (True, True):
            return 1
        case (True, False):
            return 2
    return 3


def items_of_a_split(value):
    match value.split(","):
        case ["a", rest]:
            return rest
        case [alone]:
            return alone + "!"
    return "other"


def value_of_a_key(x):
    match {"sign": x > 0.0, "x": x}:
        case {"sign": True, "x": found}:
            return found
    return 0.0


def attribute_of_an_object(x):
    match Point(x, 2.0):
        case Point(x=0.0):
            return "zero"
        case Point(x=float(), y=y):
            return y
    return "other"


def type_of_a_power(base, exponent):
    match base**exponent:
        case float():
            return "float"
        case int():
            return "int"


def nothing_found(value):
    match NUMBER.match(value):
        case None:
            return "none"
        case found:
            return found.group()


CASES = [
    (text, [("a",), ("b",), ("c",), ("d",), ("",)]),
    (number, [(1,), (2,), (-3,), (7,)]),
    (truth, [(2.0,), (-2.0,), (0.0,)]),
    (truths_in_a_tuple, [(2.0,), (0.5,), (-1.0,)]),
    (items_of_a_split, [("a,b",), ("b,a",), ("c",), ("a,b,c",)]),
    (value_of_a_key, [(2.0,), (-2.0,)]),
    (attribute_of_an_object, [(0.0,), (-0.0,), (2.0,)]),
    (type_of_a_power, [(2, 3), (2, -3)]),
    (nothing_found, [("12",), ("a",)]),
]
PAIRS = [
    pytest.param(f, given, first, id=f"{f.__name__}-{first[0]}")
    for f, given in CASES
    for first in (given[:1] if f is nothing_found else given)
]


@pytest.mark.parametrize(("f", "given", "first"), PAIRS)
def test_a_residual_program_matches_as_the_function_does(f, given, first):
    program = inline(f, *first)
    assert [program(*arguments) for arguments in given] == [f(*arguments) for arguments in given]


@pytest.mark.parametrize(("f", "given", "first"), PAIRS)
def test_a_graph_notices_where_another_pattern_matches(f, given, first):
    found = graph(f, *first)
    for arguments in given:
        try:
            result = found.run(*arguments)
        except GuardFailed:
            continue
        assert result == f(*arguments)
    assert found.run(*first) == f(*first)


def test_a_pattern_with_a_name_is_refused_where_unknown_values_are_in_containers():
    def program(x):
        match [x]:
            case Limits.low:
                return 1
        return 2

    with pytest.raises(NotRepresentable, match="unknown values are compared"):
        graph(program, 1.0)
