"""Lanes: exceptions belong to lanes, and what outlives the call is refused."""

from __future__ import annotations

import bisect
import collections
import functools
import itertools
import math
import random
from argparse import ArgumentParser

import pytest

from cassette_import import CassetteWarning, NotOverdubbable, overdub
from cassette_import.contexts import Profile
from cassette_import.contexts.autodiff import derivative
from cassette_import.contexts.lanes import EffectError, TooManyPaths, vectorize

np = pytest.importorskip("numpy")

COUNTS = {"calls": 0}
SEEN = []
total = 0


class Satellite:
    def __init__(self):
        self.error = 0
        self.message = None
        self.scratch = [0.0, 0.0, 0.0]


def inverse(x):
    return 1 / x


def message(x):
    if x < 0:
        raise ValueError(f"bad value {x:.1f}", x)
    return math.log(x)


def test_the_exception_of_the_first_lane_is_raised_with_all_indices():
    with pytest.raises(ZeroDivisionError) as caught:
        vectorize(inverse)(np.array([1.0, 0.0, 2.0, 0.0]))
    assert caught.value.lanes == [1, 3]


def test_each_lane_has_the_exception_of_the_scalar_call():
    lanes = np.array([-1.5, 0.0, 1.0, -2.5, 7.0])
    result, failures = vectorize(message, errors="return")(lanes)
    assert np.isnan(result[[0, 1, 3]]).all()
    assert result[4] == math.log(7.0)
    assert {number: error.args for number, error in failures.items() if number != 1} == {
        0: ("bad value -1.5", -1.5),
        3: ("bad value -2.5", -2.5),
    }
    with pytest.raises(ValueError, match=r".") as expected:
        message(0.0)
    assert failures[1].args == expected.value.args


def test_indices_of_failures_in_more_dimensions_are_tuples():
    _, failures = vectorize(inverse, errors="return")(np.array([[1.0, 0.0], [2.0, 4.0]]))
    assert list(failures) == [(0, 1)]


@pytest.mark.parametrize(
    "f", [lambda x: math.exp(x), lambda x: x**400.0, lambda x: math.sqrt(-x), lambda x: int(x / 0.0)]
)
def test_errors_of_numbers_are_those_of_python(f):
    lanes = np.array([1.0, 1e4, 3.0])
    _, failures = vectorize(f, errors="return")(lanes)
    for number, value in enumerate(lanes.tolist()):
        try:
            f(value)
        except ArithmeticError as error:
            assert (type(failures[number]), failures[number].args) == (type(error), error.args)  # noqa: PT017
        except ValueError as error:
            assert (type(failures[number]), failures[number].args) == (type(error), error.args)  # noqa: PT017
        else:
            assert number not in failures


def writes_argument(satellite, x):
    satellite.error = x
    return x


def writes_global(x):
    global total
    total = x
    return x


def writes_global_object(x):
    COUNTS["calls"] += 1
    return x


def appends_to_global(x):
    if x > 1:
        SEEN.append(x)
    return x


def prints(x):
    print("hello")
    return x


def random_number(x):
    return x + random.random()


def identity(x):
    return x is x + 0


def key_of_dict(x):
    return {x: 1}


def hashed(x):
    return hash(x)


def member_of_set(x):
    return len({x, 1.0})


def unknown_code(x):
    return np.sin(x)


LANES = np.linspace(0.0, 2.0, 200)


def own_function_inside(x):
    return vectorize(lambda y: x * y)(1.0)


def foreign_object(x):
    parser = ArgumentParser()
    parser.description = x
    return parser.description


NUMBERS = itertools.count()
LINES = iter([1.0] * 1000)
GROUPS = collections.defaultdict(list)
TALLY = collections.Counter()
SORTED = []


def make_counter():
    count = 0

    def counts(x):
        nonlocal count
        count += 1
        return x * count

    return counts


def default_argument(x, seen=[]):  # noqa: B006
    seen.append(x)
    return len(seen)


def function_attribute(x):
    function_attribute.last = 1
    return x


def advances_global_iterator(x):
    return x + next(NUMBERS)


def loops_over_global_iterator(x):
    for line in LINES:
        return x + line


def default_dict(x):
    return x + len(GROUPS["missing"])


def counter_of_library(x):
    TALLY.update("a")
    return x


def insort(x):
    bisect.insort(SORTED, 1.0)
    return x


EFFECTS = [writes_global, writes_global_object, appends_to_global, prints, random_number, identity, key_of_dict]
EFFECTS += [hashed, member_of_set]
EFFECTS += [unknown_code, own_function_inside, foreign_object, make_counter(), default_argument, function_attribute]
EFFECTS += [advances_global_iterator, loops_over_global_iterator, default_dict, counter_of_library, insort]


@pytest.mark.parametrize("f", EFFECTS, ids=lambda f: f.__name__)
def test_an_effect_is_refused_with_its_call_site(f, capsys):
    with pytest.raises(EffectError, match=r"test_effects\.py:[0-9]+"):
        vectorize(f)(LANES)
    assert COUNTS == {"calls": 0}
    assert SEEN == SORTED == []
    assert not GROUPS
    assert not TALLY
    assert default_argument.__defaults__ == ([],)
    assert not hasattr(function_attribute, "last")
    assert total == 0
    assert capsys.readouterr().out == ""


def test_a_change_of_an_argument_is_refused():
    satellite = Satellite()
    with pytest.raises(EffectError, match="an argument of the function is changed"):
        vectorize(writes_argument)(satellite, LANES)
    assert satellite.error == 0


def catches_everything(x):
    try:
        print(x)
    except Exception:
        return 0.0
    return 1.0


def test_a_refusal_cannot_be_caught_by_the_program():
    with pytest.raises(EffectError):
        vectorize(catches_everything)(LANES)


def test_split_effects_happen_once_for_each_lane_in_order():
    with pytest.warns(CassetteWarning, match="6 of 8 lanes were run one by one"):
        result = vectorize(appends_to_global, effects="split")(np.array([5.0, 0.0, 4.0, 3.0, 2.5, 0.5, 7.0, 6.0]))
    assert SEEN == [5.0, 4.0, 3.0, 2.5, 7.0, 6.0]
    assert result.tolist() == [5.0, 0.0, 4.0, 3.0, 2.5, 0.5, 7.0, 6.0]
    SEEN.clear()


# ---- traps


def conditional_attribute(x):
    satellite = Satellite()
    if x > 1:
        satellite.error = 1
        satellite.message = "large"
    elif x < 0.5:
        satellite.error = 2
        satellite.extra = x
    return satellite.error, satellite.message, hasattr(satellite, "extra"), getattr(satellite, "extra", None)


def fill(scratch, x, sign):
    for i in range(3):
        scratch[i] = sign * x * i
    return scratch[1]


def scratch_list(x):
    scratch = [0.0, 0.0, 0.0]
    alias = scratch
    if x > 1:
        value = fill(scratch, x, 1)
    else:
        value = fill(scratch, x, -1)
        scratch.append(x)
    return value, alias, len(alias)


def dead_branch(x):
    if x > 5:
        while True:
            x += 0.0
    if x > 6:
        raise RuntimeError
    return x


@functools.lru_cache(maxsize=None)
def memoised(x):
    return x * 2 if x > 1 else x


def calls_memoised(x):
    return memoised(x) + memoised(3.0)


def depth(x):
    return 0 if x < 0.01 else 1 + depth(x / 2)


def shared_iterator(x):
    numbers = iter([1.0, 2.0, 3.0, 4.0])
    if x > 1:
        next(numbers)
    return next(numbers) + x


def counts_in_closure(x):
    count = 0

    def add():
        nonlocal count
        count += 1

    if x > 1:
        add()
    add()
    return count


def suppressed(x):
    from contextlib import suppress

    y = 0.0
    with suppress(ZeroDivisionError):
        y = 1 / (x - x if x > 1 else 1.0)
    return y


def generated(x):
    return sum(value for value in (x, 1.0, 2.0) if value > 1), [value * 2 for value in (x, 3)]


def inner(lst, x):
    if x > 1:
        lst = lst + [x]
    return lst


def list_of_one_side(x):
    lst = []
    if x > 0.5:
        lst = inner(lst, x)
        lst.append(0.5)
    return len(lst), sum(lst)


@pytest.mark.parametrize(
    "f",
    [
        conditional_attribute,
        scratch_list,
        dead_branch,
        calls_memoised,
        depth,
        shared_iterator,
        counts_in_closure,
        suppressed,
        generated,
        list_of_one_side,
    ],
    ids=lambda f: f.__name__,
)
def test_a_trap_gives_each_lane_the_result_of_the_scalar_call(f):
    result = vectorize(f)(LANES)

    def of_lane(value, number):
        if type(value) is np.ndarray:
            return value[number : number + 1].tolist()[0]
        return type(value)(of_lane(part, number) for part in value) if isinstance(value, (list, tuple)) else value

    for number, value in enumerate(LANES.tolist()):
        assert of_lane(result, number) == f(value)


def decides_again(x):
    a = 1.0 if x > 0.5 else 2.0  # all lanes agree here in the second run
    b = 10.0 if x > 1.0 else 20.0
    if [x > 1.5][0]:  # a test of C code splits the lanes
        c = 100.0
    else:
        c = 200.0
    d = 1000.0 if x > 1.75 else 2000.0
    return a + b + c + d if len([1] * (1 + (x > 1.5))) else 0.0


def test_decisions_are_not_mixed_up_when_lanes_run_again():
    assert vectorize(decides_again)(LANES).tolist() == [decides_again(x) for x in LANES.tolist()]


def test_too_many_paths_are_an_error():
    def paths(n):
        return len([0] * n)

    with pytest.raises(TooManyPaths, match="more than 3 paths"):
        vectorize(paths, max_paths=3)(np.repeat(np.arange(20), 10))
    assert (
        vectorize(paths, max_paths=20)(np.repeat(np.arange(20), 10)).tolist() == np.repeat(np.arange(20), 10).tolist()
    )


def test_metadata_of_a_context_around_lanes_is_not_lost():
    with pytest.raises(NotOverdubbable):
        derivative(lambda scale: vectorize(lambda x: x * scale)(LANES).sum(), 2.0)


def test_a_profile_around_lanes_changes_nothing():
    profile = Profile()
    found = overdub(profile, lambda: vectorize(depth)(LANES))
    assert found.tolist() == [depth(x) for x in LANES.tolist()]


def test_wrong_arguments_are_errors():
    with pytest.raises(ValueError, match="errors is one of"):
        vectorize(inverse, errors="ignore")
    with pytest.raises(ValueError, match="effects is one of"):
        vectorize(inverse, effects="allow")
    with pytest.raises(ValueError, match="chunk is a positive number"):
        vectorize(inverse, chunk=0)
    with pytest.raises(NotOverdubbable):
        vectorize(math.sin)
    with pytest.raises(TypeError, match="must be callable"):
        vectorize(3)
    with pytest.raises(TypeError, match="immutable"):
        vectorize(inverse)(np.array([[1], {}], dtype=object))
    with pytest.raises(TypeError, match="datetime64"):
        vectorize(inverse)(np.array(["2020-01-01"], dtype="datetime64[D]"))


def test_an_iterator_that_cannot_be_put_back_is_refused_where_other_effects_split():
    numbers = iter([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(EffectError, match="an iterator that outlives the call is advanced"):
        vectorize(lambda x: x + next(numbers), effects="split")(np.arange(3.0))


@vectorize
def decorated(x):
    SEEN.append(x)
    return x


def jit(f):
    return f


@jit
def left_alone(x):
    return x if x > 1 else 2 * x


def test_a_decorated_function_is_converted_although_a_compiler_has_a_decorator_of_this_name():
    with pytest.raises(EffectError, match="an object that outlives the call is changed"):
        decorated(LANES)
    assert SEEN == []


def test_a_function_that_is_left_alone_is_an_error():
    with pytest.raises(NotOverdubbable, match="left_alone cannot be vectorized: it is left alone"):
        vectorize(left_alone)(LANES)


class Distance:
    __kilometers = "the class has one, too"

    def __init__(self, *parts):
        self.__kilometers = sum(parts)

    @property
    def kilometers(self):
        return self.__kilometers


class GreatCircle(Distance):
    def __init__(self, *angles, **options):
        self.radius = options.pop("radius", 6371.0)
        super().__init__(*[self.radius * angle for angle in angles])


def great_circle(angle):
    return GreatCircle(angle, 0.5).kilometers


def test_an_object_made_in_the_call_has_its_private_attributes():
    lanes = np.array([0.0, 0.25, 1.0])
    assert vectorize(great_circle)(lanes).tolist() == list(map(great_circle, lanes.tolist()))


class OutOfRange(Exception):
    def __init__(self, holder):
        super().__init__("out of range")
        self.holder = holder


def raises_with_its_object(x):
    made = Satellite()
    made.error = x
    if x > 1:
        raise OutOfRange(made)
    return made.missing if x < 0 else x


def test_an_exception_may_refer_to_an_object_that_the_call_has_made_and_changed():
    result, failures = vectorize(raises_with_its_object, errors="return")(np.array([0.5, 2.0, -1.0, 3.0]))
    assert result[0] == 0.5
    assert {number: type(error) for number, error in failures.items()} == {
        1: OutOfRange,
        2: AttributeError,
        3: OutOfRange,
    }
    assert [failures[number].holder.error for number in (1, 3)] == [2.0, 3.0]
    assert {type(failures[number].holder.error) for number in (1, 3)} == {float}
