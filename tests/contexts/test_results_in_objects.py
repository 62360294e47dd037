"""Numbers that the result of a function holds in an object are an error in every context, never lost."""

import collections
import dataclasses
import operator
import types

import pytest

from cassette_import.contexts.algebra import Algebra, Number, evaluate
from cassette_import.contexts.autodiff import derivative, jvp, vjp

pytest.importorskip("flint")
pytest.importorskip("mpmath")

from cassette_import.contexts.intervals import Interval, enclosure  # it needs python-flint
from cassette_import.contexts.precision import shadow  # it needs mpmath


@dataclasses.dataclass
class Point:
    x: float


class Attribute:
    def __init__(self, x):
        self.x = x


class Slot:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Doubled(Algebra):
    rules = {operator.mul: lambda x, y: x}

    def lift(self, value):
        return 0


HOLDERS = {
    "dataclass": Point,
    "attribute": Attribute,
    "slot": Slot,
    "namespace": lambda x: types.SimpleNamespace(x=x),
    "closure": lambda x: lambda: x,
    "object in a list": lambda x: [Point(x)],
    "object in an object": lambda x: Attribute(Slot(x)),
    "iterator": lambda x: iter([x]),
    "generator": lambda x: (one for one in [x]),
}
CONTEXTS = {
    "derivative": lambda f: derivative(f, 1.5),
    "jvp": lambda f: jvp(f, (1.5,), (1.0,)),
    "vjp": lambda f: vjp(f, (1.5,), (1.0, None)),
    "enclosure": lambda f: enclosure(f, Interval(1.0, 2.0)),
    "shadow": lambda f: shadow(f, 1.5),
    "evaluate": lambda f: evaluate(Doubled(), f, Number(1.5, 1)),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("run", CONTEXTS.values(), ids=CONTEXTS)
def test_a_number_in_an_object_beside_another_result_is_an_error(run, hold):
    def f(x):
        return x * 2.0, hold(x * 2.0)

    with pytest.raises(TypeError, match=r"the result has an object of type \w+, which holds numbers that depend"):
        run(f)


@pytest.mark.parametrize("run", [CONTEXTS["enclosure"], CONTEXTS["shadow"], CONTEXTS["evaluate"]])
def test_a_number_in_a_deque_is_an_error(run):
    with pytest.raises(TypeError, match="an object of type deque, which holds numbers"):
        run(lambda x: collections.deque([x * 2.0]))


OTHERS = {
    "dataclass": Point(1.0),
    "object": Attribute("text"),
    "function": len,
    "class": Point,
    "none": None,
    "text": "text",
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("run", CONTEXTS.values(), ids=CONTEXTS)
def test_an_object_that_holds_no_such_number_is_a_result(run, other):
    run(lambda x: (x * 2.0, other))
