"""Lanes: patterns of `match` decide for each lane as the scalar call does, however deep in another pattern they are."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

import pytest
from helpers.random_lane_programs import alike

from cassette_import.contexts.lanes import vectorize

np = pytest.importorskip("numpy")

NUMBERS = np.array([-7.5, -1.0, -0.0, 0.0, 0.25, 1.0, 2.0, 3.0, 10.0])


class Pair(NamedTuple):
    flag: Any
    value: Any


@dataclasses.dataclass
class Data:
    flag: Any
    value: Any = None


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def of_lane(result: Any, number: int) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(of_lane(part, number) for part in result)
    part = result[number] if isinstance(result, np.ndarray) else result
    return part.item() if isinstance(part, np.generic) else part


def truth_in_a_tuple(x):
    match (x > 0,):
        case (True,):
            return 1
        case (False,):
            return 2
    return 3


def truth_in_a_list(x):
    match [x > 0, x]:
        case [False, *rest]:
            return rest[0]
        case [True, y]:
            return -y
    return 3


def truth_in_a_dict(x):
    match {"k": x > 0, "n": {"deep": x == 1}}:
        case {"n": {"deep": True}}:
            return 1
        case {"k": True, **rest}:
            return len(rest)
        case {"k": False}:
            return 7
    return 3


def truth_in_an_object(x):
    match Data(x > 0, None if x > 1 else x):
        case Data(flag=True, value=None):
            return 1
        case Data(flag=True, value=y):
            return y * 2
        case Data(flag=False):
            return 2
    return 3


def truth_by_position(x):
    match Pair(x > 0, x):
        case Pair(True, y):
            return y
    return 3


def none_in_a_tuple(x):
    y = None if x > 0 else x
    match (y, x):
        case (None, z):
            return z
        case (float(z), _):
            return z - 100
    return 3


def alternatives(x):
    match (x, x > 0):
        case (_, True) | (0.0, False):
            return 1
    return 3


def bound_alternatives(x):
    match (x > 1, x):
        case (True as flag, y) | (flag, (0.0 as y)) if y < 5:
            return flag, y
    return 3


def values_and_literals(x):
    color = Color.RED if x > 0 else Color.BLUE
    text = "big" if x > 1 else "small"
    match (color, text, [x]):
        case (Color.RED, "big", [y]) if y != 2:
            return y
        case (Color.RED, str(word), [1.0 | 0.25]):
            return word
        case (Color.BLUE, "small", [0.0]):
            return 5
    return 3


def sequences_that_differ(x):
    inner = (1,) if x > 0 else (1, 2)
    match (inner, x):
        case ((1,), y):
            return y
        case ((1, last), _):
            return last
    return 3


def sequences_or_none(x):
    inner = ("a", 2) if x > 0 else None
    match [inner, {"k": inner}]:
        case [("a", number), {"k": [*items]}]:
            return number + len(items)
        case [None, {"k": None}]:
            return 4
    return 3


def numbers_are_no_sequences(x):
    match (x, x > 0):
        case ((a, b), _) | ({"a": a, "b": b}, _):
            return a + b
        case (float(), bool(flag)):
            return flag
    return 3


def one_is_not_true(x):
    match (x, 1 if x > 0 else True):
        case (_, True):
            return 1
        case (_, int()):
            return 2
    return 3


def at_the_top(x):
    match x > 0:
        case True:
            return 1
        case (False | None) as y:
            return y
    return 3


def in_a_loop(x):
    total = 0
    for flag in (x > 0, x > 1, None):
        match (flag, (flag, total)):
            case (None, _):
                break
            case (True, (True, before)):
                total = before + 2
            case (False, (_, int())):
                total -= 1
    return total


def after_names_deleted_in_parentheses(x):
    a = b = c = x
    del (a, [b, c])
    match (x > 0,):
        case (True,):
            return 1
    return 2


def a_generator(x):
    def flags():
        for limit in (0, 1):
            match {"f": x > limit}:
                case {"f": True}:
                    yield 1
                case {"f": False}:
                    yield 2

    return list(flags())


@pytest.mark.parametrize("lanes", [3, len(NUMBERS)])
@pytest.mark.parametrize(
    "function",
    [
        truth_in_a_tuple,
        truth_in_a_list,
        truth_in_a_dict,
        truth_in_an_object,
        truth_by_position,
        none_in_a_tuple,
        alternatives,
        bound_alternatives,
        values_and_literals,
        sequences_that_differ,
        sequences_or_none,
        numbers_are_no_sequences,
        one_is_not_true,
        at_the_top,
        in_a_loop,
        after_names_deleted_in_parentheses,
        a_generator,
    ],
    ids=lambda function: function.__name__,
)
def test_a_pattern_decides_for_each_lane_as_in_the_scalar_call(function, lanes):
    values = NUMBERS[-lanes:] if lanes < 5 else NUMBERS
    result = vectorize(function)(values)
    for number, value in enumerate(values.tolist()):
        assert alike(of_lane(result, number), function(value)), value


def test_a_pattern_in_a_function_without_lanes_decides_as_before():
    def kinds(x):
        found = []
        for value in (True, 1, None, (1, 2), {"a": None}, "ab", range(2)):
            match [value]:
                case [True]:
                    found.append("true")
                case [None]:
                    found.append("none")
                case [{"a": None}]:
                    found.append("dict")
                case [(a, b)]:
                    found.append(f"{a}{b}")
                case _:
                    found.append("other")
        return x, ",".join(found)

    assert vectorize(kinds)(NUMBERS)[1] == kinds(1.0)[1]
