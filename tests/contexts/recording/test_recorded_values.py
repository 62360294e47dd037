"""Results of external calls come back as equal objects, whatever they are."""

import collections
import os
import random
import resource
import shutil
import sys
import time
import typing

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.boundaries import boundary
from cassette_import.contexts.recording.recording_file import ReplayMismatch

RESULTS = {}


class Point(typing.NamedTuple):
    x: int
    y: int

    def sum(self):
        return self.x + self.y


Hidden = collections.namedtuple("Hidden", "a b")
AnotherName, Hidden = Hidden, None


@boundary
def result_of(name):
    return RESULTS[name]


@boundary
def fills(buffer):
    buffer[:] = RESULTS.get("contents", buffer[:])


def ask(name="it"):
    return result_of(name)


@pytest.fixture
def both(tmp_path):
    """Run a function recorded and replayed; return both results."""

    def run(function, *arguments, **results):
        RESULTS.update(results)
        with Record(str(tmp_path / "it.cassette")) as record:
            before = overdub(record, function, *arguments)
        RESULTS.clear()
        with Replay(str(tmp_path / "it.cassette")) as replay:
            return before, overdub(replay, function, *arguments)

    return run


def local_named_tuple():
    return collections.namedtuple("Local", "p q")(1, [2])


@pytest.mark.parametrize(
    "value",
    [
        shutil.disk_usage(os.sep),
        Point(1, 2),
        AnotherName(1, (2, b"\xff")),
        local_named_tuple(),
        [local_named_tuple()],
        os.stat(os.sep),
        os.times(),
        time.localtime(),
        resource.getrusage(resource.RUSAGE_SELF),
        os.terminal_size((1, 2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_named_tuples_come_back_wherever_their_class_is(both, value):
    before, after = both(ask, it=value)
    assert before == after == value
    assert repr(after) == repr(value)


def test_a_named_tuple_with_methods_keeps_its_class(both):
    _, after = both(ask, it=Point(1, 2))
    assert type(after) is Point


def test_an_object_that_cannot_be_made_again_is_not_serialised(both):
    major_and_parts = both(lambda: (ask().major, len(ask()), list(ask())), it=sys.version_info)
    assert major_and_parts[0] == major_and_parts[1]


def cyclic_list():
    made = [1, 2]
    made.append(made)
    made.append(made)
    return made


def cyclic_dict():
    made = {"a": [1]}
    made["a"].append(made)
    made["self"] = made
    return made


def cycle_through_tuple():
    made = []
    made.append((made, 1))
    return made


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (cyclic_list, lambda made: made[2] is made and made[3] is made and made[:2] == [1, 2]),
        (cyclic_dict, lambda made: made["a"][1] is made and made["self"] is made),
        (cycle_through_tuple, lambda made: made[0][0] is made and made[0][1] == 1),
    ],
)
def test_results_with_cycles_come_back_with_cycles(both, make, check):
    for made in both(ask, it=make()):
        assert check(made)


def test_a_cycle_may_contain_an_object_with_a_proxy(both):
    def uses():
        made = ask()
        return made[1] is made, made[0].read()

    import io

    made = [io.StringIO("text")]
    made.append(made)
    assert both(uses, it=made) == ((True, "text"), (True, "text"))


def test_an_exception_in_itself_is_recorded(both):
    def fails():
        try:
            result_of("missing")
        except KeyError as error:
            return error.args

    assert both(fails) == (("missing",), ("missing",))


class Loud(Exception):
    pass


@boundary
def raises():
    error = Loud("loud")
    error.itself = error
    raise error


def test_an_exception_that_refers_to_itself_comes_back_so(both):
    def catches():
        try:
            raises()
        except Loud as error:
            return error.itself is error

    assert both(catches) == (True, True)


# ---- arrays


ARRAYS = ["numpy.arange(6.0).reshape(2, 3)", "numpy.array([])", "numpy.array(3)", "numpy.zeros(2, dtype='i4,f8')"]


@pytest.mark.parametrize("text", [*ARRAYS, "numpy.float32(1.5)", "numpy.int64(3)", "numpy.datetime64('2020-01-01')"])
def test_arrays_and_their_scalars_come_back(both, text):
    numpy = pytest.importorskip("numpy")
    before, after = both(ask, it=eval(text))
    assert type(before) is type(after)
    assert before.dtype == after.dtype
    assert numpy.array_equal(before, after)


def test_an_array_of_objects_is_used_through_a_proxy(both):
    numpy = pytest.importorskip("numpy")
    assert both(lambda: ask().shape, it=numpy.array([object(), 2])) == ((2,), (2,))


def test_an_array_is_an_argument(both):
    numpy = pytest.importorskip("numpy")
    values = numpy.arange(3)

    def passes():
        buffer = numpy.zeros(3)
        fills(buffer)
        return buffer.tolist(), random.Random(1).random()

    assert both(passes, contents=values) == (([0, 1, 2], random.Random(1).random()),) * 2


# ---- objects of the program


class Item:
    name = "tea"


class Answer:
    def __init__(self, item):
        self.item = item


@boundary
def answer_to(item):
    return Answer(item)


def test_an_object_of_the_program_that_only_an_external_object_holds_comes_back(both):
    assert both(lambda: answer_to(Item()).item.name) == ("tea", "tea")


def test_a_mismatch_names_the_recorded_call_that_comes_at_another_place(tmp_path):
    RESULTS.update(a=1, b=2)
    with Record(str(tmp_path / "it.cassette")) as record:
        overdub(record, lambda: (ask("a"), ask("b")))
    with pytest.raises(ReplayMismatch) as caught:
        overdub(Replay(str(tmp_path / "it.cassette")), lambda: (ask("b"), ask("a")))
    note = str(caught.value).splitlines()[-1]
    assert note.startswith("  note:     call 2 of the recording is this one")
