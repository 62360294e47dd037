"""Lanes: the result has the structure that the function returns, whatever kind of container or object it is."""

from __future__ import annotations

import collections
import enum
import types

import pytest

from cassette_import.contexts.lanes import EffectError, vectorize

np = pytest.importorskip("numpy")

SIZES = pytest.mark.parametrize("lanes", [np.arange(3.0), np.arange(8.0)], ids=["few", "many"])


class Slotted:
    __slots__ = ("unset", "x")

    def __init__(self, x):
        self.x = x


class SlottedBelow(Slotted):
    def __init__(self, x):
        super().__init__(x)
        self.y = x + 1


class Making:
    def __new__(cls, x):
        made = super().__new__(cls)
        made.made = 1
        return made

    def __init__(self, x):
        self.x = x


def namespace(x):
    made = types.SimpleNamespace()
    made.x = x
    return made


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@SIZES
@pytest.mark.parametrize("made", [lambda x: {1, 2}, lambda x: frozenset({1, 2})], ids=["set", "frozenset"])
def test_a_set_on_which_the_lanes_agree_is_the_result(made, lanes):
    result = vectorize(made)(lanes)
    assert type(result) is type(made(0.0))
    assert result == {1, 2}


@SIZES
def test_sets_that_differ_between_lanes_are_an_array_of_sets(lanes):
    result = vectorize(lambda x: [{x, -1.0}, frozenset({x > 1})])(lanes)
    assert result[0].tolist() == [{x, -1.0} for x in lanes]
    assert result[1].tolist() == [frozenset({x > 1}) for x in lanes]
    assert all(type(one) is float for one in result[0][2])


@SIZES
def test_sets_of_equal_members_of_other_types_do_not_agree(lanes):
    result = vectorize(lambda x: {1} if x > 1 else {True})(lanes)
    assert [type(*one) for one in result] == [int if x > 1 else bool for x in lanes]


@SIZES
@pytest.mark.parametrize(
    "made",
    [
        lambda x: collections.deque([x, 1.0], 5),
        lambda x: [x, 1.0],
        lambda x: (x, 1.0),
        lambda x: collections.OrderedDict(b=x, a=1.0),
        lambda x: collections.defaultdict(list, b=x, a=1.0),
        lambda x: {"b": x, "a": 1.0},
    ],
    ids=["deque", "list", "tuple", "OrderedDict", "defaultdict", "dict"],
)
def test_a_container_keeps_its_type_and_holds_arrays(made, lanes):
    result, scalar = vectorize(made)(lanes), made(0.0)
    assert type(result) is type(scalar)
    assert getattr(result, "maxlen", None) == getattr(scalar, "maxlen", None)
    assert getattr(result, "default_factory", None) == getattr(scalar, "default_factory", None)
    columns = list(result.values()) if isinstance(result, dict) else list(result)
    assert not isinstance(result, dict) or list(result) == list(scalar)
    assert [column.tolist() for column in columns] == [lanes.tolist(), [1.0] * len(lanes)]


@SIZES
def test_containers_of_other_sizes_are_an_array_of_containers(lanes):
    result = vectorize(lambda x: collections.deque([x] if x > 1 else [x, x]))(lanes)
    assert result.tolist() == [collections.deque([x] if x > 1 else [x, x]) for x in lanes]


@SIZES
@pytest.mark.parametrize("made", [Slotted, SlottedBelow, Making, namespace, ValueError])
def test_an_object_holds_arrays_wherever_it_keeps_its_attributes(made, lanes):
    def function(x):
        return made(x)

    result = vectorize(function)(lanes)
    found = result.args[0] if made is ValueError else result.x
    assert type(result) is type(made(0.0))
    assert found.tolist() == lanes.tolist()
    if made is SlottedBelow:
        assert result.y.tolist() == (lanes + 1).tolist()
    assert not hasattr(result, "unset")


@SIZES
def test_an_exception_with_lanes_is_that_of_the_first_lane(lanes):
    def function(x):
        raise UnicodeError("bad", x, {x}, collections.deque([x]))

    with pytest.raises(UnicodeError) as raised:
        vectorize(function)(lanes)
    assert raised.value.args == ("bad", 0.0, {0.0}, collections.deque([0.0]))


@SIZES
def test_keys_of_dicts_and_ranges_and_members_of_enumerations_are_those_of_each_lane(lanes):
    result = vectorize(lambda x: ({x: 1}, range(int(x)), Color.RED if x > 1 else Color.BLUE))(lanes)
    assert result[0].tolist() == [{x: 1} for x in lanes]
    assert result[1].tolist() == [range(int(x)) for x in lanes]
    assert result[2].tolist() == [Color.RED if x > 1 else Color.BLUE for x in lanes]


def test_masked_lanes_have_nan_in_every_part_of_the_result():
    def f(x):
        return {"half": [x / 2, Slotted(1 / x)], "whole": x}

    values = np.array([2.0, 0.0, 4.0, 0.0, 5.0, 8.0])
    found = vectorize(f, errors="mask")(values)
    failed = values == 0
    for part in (found["half"][0], found["half"][1].x, found["whole"]):
        assert np.isnan(part[failed]).all()
        assert not np.isnan(part[~failed]).any()
    assert found["half"][1].x[~failed].tolist() == [1 / x for x in values[~failed].tolist()]


@SIZES
def test_a_generator_is_refused_as_a_result(lanes):
    with pytest.raises(EffectError, match=r"lambda.* has as its result a generator, which would run .* return .* list"):
        vectorize(lambda x: [(one for one in [x])])(lanes)


def test_what_cannot_be_taken_apart_is_refused_as_a_result():
    lanes = np.arange(8.0)
    for made in (lambda x: lambda: x, lambda x: iter([x]), lambda x: [x].append):
        with pytest.raises(EffectError, match=r"has as its result a .* that keeps values which differ between lanes"):
            vectorize(made)(lanes)


@SIZES
def test_an_object_in_itself_is_refused_as_a_result(lanes):
    def function(x):
        made = Making(x)
        made.own = made
        return made

    with pytest.raises(EffectError, match="in itself"):
        vectorize(function)(lanes)


def test_containers_keep_their_types_where_lanes_have_more_dimensions():
    result = vectorize(lambda x: collections.OrderedDict(a=Slotted(x)))(np.ones((2, 3)))
    assert type(result) is collections.OrderedDict
    assert result["a"].x.shape == (2, 3)
