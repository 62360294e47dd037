"""Lanes: texts of containers that hold values of lanes are those of the scalar calls."""

from __future__ import annotations

import bisect
import collections
import enum
import json
import operator

import pytest

from cassette_import.contexts.lanes import EffectError, vectorize

np = pytest.importorskip("numpy")

NUMBERS = np.linspace(-3.0, 4.0, 100)
"""More than the values into which lanes are split."""


class Shown:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Shown({self.x})"


class Color(enum.Enum):
    RED = 0
    BLUE = 1


Pair = collections.namedtuple("Pair", ["one", "other"])


def raising(x):
    raise ValueError(f"the point {(x, 1.0)} is wrong", [x])


def formatted_by_operator(x):
    return ("%s" if x > 0 else "%r.") % ([x],)


TEXTS = {
    "repr": lambda x: repr([x, 1]),
    "str": lambda x: str({"a": (x,)}),
    "ascii": lambda x: ascii([[x]]),
    "format": lambda x: format([x], ""),
    "f-string": lambda x: f"{[x]} {(x, 1)!r:>30} {x!r}",
    "width of each lane": lambda x: f"{[1.5]!r:{int(x) % 5 + 9}}{[x]!r:{int(x) % 5 + 25}}",
    "method": lambda x: "{} {} {a[0]}".format(x, [x], a=(x,)),
    "operator": lambda x: "%r|%s" % ([x], x),
    "operator with a dict": lambda x: "%(a).2f %(b)s" % {"a": x, "b": [x]},
    "operator, another text in each lane": formatted_by_operator,
    "deque": lambda x: repr(collections.deque([x], 3)),
    "named tuple": lambda x: repr(Pair(x, [x])),
    "join": lambda x: (", " if x > 0 else ";").join([str(x), "a"]),
    "json": lambda x: json.dumps({"a": [x, 1]}),
}


@pytest.mark.parametrize("f", TEXTS.values(), ids=TEXTS)
def test_a_text_of_a_container_is_that_of_the_scalar_call(f):
    assert vectorize(f)(NUMBERS).tolist() == [f(number) for number in NUMBERS.tolist()]


def test_the_length_of_a_text_is_that_of_each_lane():
    assert vectorize(lambda x: len(str(x)))(NUMBERS).tolist() == [len(str(number)) for number in NUMBERS.tolist()]
    with pytest.raises(TypeError, match="object of type 'float' has no len"):
        vectorize(lambda x: len(x))(NUMBERS)


def test_an_exception_has_the_text_of_a_container_of_its_lane():
    _, failures = vectorize(raising, errors="return")(NUMBERS)
    for lane, number in enumerate(NUMBERS.tolist()):
        with pytest.raises(ValueError, match="the point") as expected:
            raising(number)
        assert failures[lane].args == expected.value.args


@pytest.mark.parametrize("f", [lambda x: repr([Shown(x)]), lambda x: str({1: Shown(x)}), lambda x: f"{[Shown(x)]}"])
def test_a_text_of_objects_of_the_program_in_a_container_is_refused(f):
    with pytest.raises(EffectError, match=r"keeps values which differ between lanes.*test_texts\.py:\d+"):
        vectorize(f)(NUMBERS)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: bisect.bisect([x, 2.0, 3.0], 1.5),
        lambda x: operator.eq([x, (x,)], [1.5, (1.5,)]),
        lambda x: bool([x]),
        lambda x: Color(int(x > 0)).name,
        lambda x: Pair(x, 1)._replace(other=x).other,
        lambda x: Pair._make([x, 2]).one,
    ],
)
def test_functions_in_c_get_containers_of_the_plain_values_of_a_lane(f):
    assert vectorize(f)(NUMBERS).tolist() == [f(number) for number in NUMBERS.tolist()]


def test_numbers_of_numpy_among_the_arguments_become_numbers_of_python():
    found = vectorize(lambda x, y: (x + y, type(y).__name__))(NUMBERS, np.float64(2.0))
    assert found[0].tolist() == [number + 2.0 for number in NUMBERS.tolist()]
    assert found[1] == "float"


CONSTANT, CONSTANTS = np.float64(2.0), np.array([1.0, 2.0])


@pytest.mark.parametrize("f", [lambda x: CONSTANT * x, lambda x: x < CONSTANT, lambda x: x + CONSTANTS])
def test_arithmetic_with_numbers_of_numpy_is_refused(f):
    with pytest.raises(EffectError, match=r"of NumPy, at .*test_texts\.py:\d+: use numbers of Python"):
        vectorize(f, errors="return")(NUMBERS)
