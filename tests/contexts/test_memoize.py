"""`Memoize`: a cached result is the result that the call would have, or it is not cached."""

import asyncio
import json
import re
import signal
import sys
import threading
from pathlib import Path

import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import Memoize, Substitute
from cassette_import.contexts.memoize.cached_results import CannotCache, Key

PROGRAM = """
    import asyncio
    import enum

    made = []

    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def shown(*values, **named):
        made.append(values)
        return repr((values, sorted(named.items())))

    def named(a=0, b=0):
        made.append((a, b))
        return a, b

    def doubled(values):
        made.append(values)
        return [value * 2 for value in values]

    def grown(values):
        made.append(values)
        values.append(0)
        return len(values)

    def wrapped(values):
        made.append(values)
        return {"inside": [values]}

    def applied(function, value):
        made.append(value)
        return function(value)

    def kind(value):
        made.append(value)
        return type(value).__name__

    def failing(value):
        made.append(value)
        raise ValueError(value)

    def numbers(n):
        yield from range(n)

    async def later(n):
        made.append(n)
        await asyncio.sleep(0)
        return [n]

    class Point:
        def __init__(self, x):
            self.x = x

        def squared(self):
            made.append(self.x)
            return self.x ** 2

        @classmethod
        def named(cls, x):
            made.append(x)
            return cls.__name__

    class Other(Point):
        pass

    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    def each(function, arguments):
        return [function(*values) for values in arguments]

    def with_keywords():
        return [named(a=1, b=2), named(b=2, a=1), named(a=1), named(1)]

    def alternating(values):
        first = doubled(values)
        first.append("mine")
        values.append(9)
        return first, doubled(values), doubled(values[:-1])

    def points():
        point = Point(2)
        first = point.squared()
        point.x = 3
        return first, point.squared(), Point(3).squared()

    def classes():
        return Point.named(1), Other.named(1), Point.named(1), Other.named(1)

    def closures():
        def add(value):
            return value + 1
        other = lambda value: value + 2
        return [applied(add, 1), applied(other, 1), applied(add, 1), applied(other, 1)]

    async def twice_later():
        first = await later(1)
        first.append("mine")
        return first, await later(1)

    def catching():
        caught = []
        for _ in range(2):
            try:
                failing(1)
            except ValueError as error:
                caught.append(error.args)
        return caught
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work.py").write_text("def slow(n):\n    print('working')\n    return [n]\ndef gen():\n    yield 1\n")
    (tmp_path / "app.py").write_text("import work\nprint(work.slow(1), work.slow(1), work.slow(2))\n")
    return tmp_path


def figures(memoize):
    (found,) = memoize.statistics().values()
    return found["calls"], found["hits"], found["misses"]


# ---- caching


def test_a_cached_call_is_not_made_again(program):
    memoize = Memoize(program.fib)
    assert overdub(memoize, lambda: program.fib(60)) == 1548008755920
    assert figures(memoize) == (119, 58, 61)


def test_nothing_is_cached_outside_of_the_context(program):
    overdub(Memoize(program.doubled), program.each, program.doubled, [([1],)])
    program.doubled([1])
    assert program.made == [[1], [1]]


def test_equal_values_of_different_types_are_distinguished(program):
    values = [1, True, 1.0, 0.0, -0.0, 0, (1,), (1.0,), (True,), "1", b"1", None, [0.0], [-0.0], 1 + 0j, float("nan")]
    memoize = Memoize(program.shown)
    for _ in range(2):
        results = overdub(memoize, program.each, program.shown, [(value,) for value in values])
        assert results == [repr(((value,), [])) for value in values]
    assert len(program.made) == len(values)


def test_the_order_of_keywords_does_not_matter_but_their_names_do(program):
    results = overdub(Memoize(program.named), program.with_keywords)
    assert results == [(1, 2), (1, 2), (1, 0), (1, 0)]
    assert len(program.made) == 3


def test_unhashable_arguments_are_compared_by_their_contents(program):
    results = overdub(
        Memoize(program.doubled), program.each, program.doubled, [([1, 2],), ([1, 2],), ({1: 2},), ({3},)]
    )
    assert results == [[2, 4], [2, 4], [2], [6]]
    assert program.made == [[1, 2], {1: 2}, {3}]


def test_changed_arguments_are_other_arguments(program):
    assert overdub(Memoize(program.doubled), program.alternating, [1]) == ([2, "mine"], [2, 18], [2])
    assert len(program.made) == 2


def test_a_mutable_result_is_a_new_copy_each_time(program):
    first, second = overdub(Memoize(program.doubled), program.each, program.doubled, [([1],), ([1],)])
    assert first == second
    assert first is not second


def test_a_call_that_changes_its_arguments_is_made_each_time(program):
    values = []
    memoize = Memoize(program.grown)
    assert overdub(memoize, program.each, program.grown, [(values,), (values,), ([],)]) == [1, 2, 1]
    assert memoize.statistics()[f"{program.__name__}.grown"]["uncacheable"] == {"it changes its arguments": 3}


def test_a_call_that_returns_its_argument_is_made_each_time(program):
    values = [1]
    memoize = Memoize(program.wrapped)
    results = overdub(memoize, program.each, program.wrapped, [(values,), (values,)])
    assert all(result["inside"][0] is values for result in results)
    assert figures(memoize) == (2, 0, 0)


def test_the_receivers_of_methods_are_compared_by_state(program):
    assert overdub(Memoize(program.Point.squared), program.points) == (4, 9, 9)
    assert program.made == [2, 3]


def test_class_methods_of_different_classes_are_distinguished(program):
    assert overdub(Memoize(program.Point.named), program.classes) == ("Point", "Other", "Point", "Other")
    assert len(program.made) == 2


def test_closures_are_compared_by_identity(program):
    assert overdub(Memoize(program.applied), program.closures) == [2, 3, 2, 3]
    assert program.made == [1, 1]


def test_objects_without_state_are_compared_by_identity(program):
    one, other = object(), object()
    values = [one, other, one, other, program.Colour.RED, program.Colour.BLUE, program.Colour.RED, len, int]
    overdub(Memoize(program.kind), program.each, program.kind, [(value,) for value in values])
    assert program.made == [one, other, program.Colour.RED, program.Colour.BLUE, len, int]


def test_a_call_with_an_argument_that_cannot_be_compared_is_not_cached(program, tmp_path):
    with open(tmp_path / "file", "w") as file:
        memoize = Memoize(program.kind)
        overdub(memoize, program.each, program.kind, [(file,), (file,), ((n for n in ()),)])
    assert len(program.made) == 3
    assert figures(memoize) == (3, 0, 0)
    assert "3 uncacheable:\n    2 × an argument cannot be compared: cannot pickle" in memoize.summary()


def test_cycles_are_compared_by_shape(program):
    cycle, other = [1], [1]
    cycle.append(cycle)
    other.append(other)
    overdub(Memoize(program.kind), program.each, program.kind, [(cycle,), (other,)])
    assert len(program.made) == 1


def test_whether_elements_are_the_same_object_matters(program):
    one = [1]
    overdub(Memoize(program.kind), program.each, program.kind, [([one, one],), ([one, [1]],)])
    assert len(program.made) == 2


def test_an_exception_is_not_cached(program):
    assert overdub(Memoize(program.failing), program.catching) == [(1,), (1,)]
    assert program.made == [1, 1]


def test_the_result_of_a_coroutine_is_cached(program):
    assert overdub(Memoize(program.later), lambda: asyncio.run(program.twice_later())) == ([1, "mine"], [1])
    assert program.made == [1]


def test_functions_in_c_are_cached(make_program):
    program = make_program("import math\ndef main():\n    return [math.factorial(5) for _ in range(3)]\n")
    memoize = Memoize("math.factorial")
    assert overdub(memoize, program.main) == [120] * 3
    assert figures(memoize) == (3, 2, 1)


def test_calls_that_are_made_reach_the_contexts_further_out(program):
    memoize = Memoize(program.doubled)
    with Substitute({program.doubled: lambda values: "outer"}):
        results = overdub(memoize, lambda: program.each(program.doubled, [([1],), ([1],)]))
    assert results == ["outer", "outer"]
    assert figures(memoize) == (2, 1, 1)


def test_threads_share_the_cache_and_are_counted_together(program):
    memoize = Memoize(program.doubled)
    results = []

    def work():
        with memoize:
            results.extend(program.each(program.doubled, [([n % 10],) for n in range(200)]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[n % 10 * 2] for n in range(200)] * 8
    calls, hits, misses = figures(memoize)
    assert (calls, hits) == (1600, 1600 - misses)
    assert misses == len(program.made) <= 80


def test_recursion_is_as_deep_as_some_hundred_calls(program):
    memoize = Memoize(program.fib)
    depth = sys.getrecursionlimit() // 8
    assert overdub(memoize, lambda: program.fib(depth)) > 0


# ---- deleting


def test_with_a_limit_the_least_recently_used_result_is_deleted(program):
    memoize = Memoize(program.shown, limit=2)
    overdub(memoize, program.each, program.shown, [(1,), (2,), (1,), (3,), (1,), (2,)])
    assert program.made == [(1,), (2,), (3,), (2,)]


def test_all_results_can_be_deleted(program):
    memoize = Memoize(program.shown)
    for _ in range(2):
        overdub(memoize, program.each, program.shown, [(1,)])
        memoize.clear()
    assert len(program.made) == 2


# ---- keys


def test_a_persistent_key_refuses_objects_with_neither_name_nor_state():
    with pytest.raises(CannotCache, match=r"neither name nor state: .*lambda"):
        Key((lambda: 1,), {}, digest=repr)
    with pytest.raises(CannotCache, match="neither name nor state: object object"):
        Key((object(),), {}, digest=repr)
    assert Key((len, int, {"a": [1]}), {}, digest=repr).value == Key((len, int, {"a": [1]}), {}, digest=repr).value


# ---- on the command line


def test_a_program_runs_with_a_cache_in_memory(folder):
    done = cassette("run", "-c", "memoize:functions=work.slow", "app.py", folder=folder)
    assert done.stdout == "working\nworking\n[1] [1] [2]\n"
    assert (done.status, done.stderr) == (0, "memoize: work.slow: 3 calls, 1 hit, 2 misses\n")


def test_a_recursive_function_of_the_script_is_cached(folder):
    (folder / "app.py").write_text("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(50))\n")
    done = cassette("run", "-c", "memoize:functions=app.fib", "app.py", folder=folder)
    assert done == (0, "12586269025\n", "memoize: __main__.fib: 99 calls, 48 hits, 51 misses\n")


def test_a_folder_keeps_results_from_run_to_run(folder):
    pytest.importorskip("diskcache")
    options = "run", "-c", "memoize:functions=work.slow,folder=kept", "app.py"
    assert cassette(*options, folder=folder).stdout == "working\nworking\n[1] [1] [2]\n"
    again = cassette(*options, folder=folder, PYTHONHASHSEED="7")
    assert again == (0, "[1] [1] [2]\n", "memoize: work.slow: 3 calls, 3 hits, 0 misses\n")


def test_a_changed_function_starts_anew_in_a_folder(folder):
    pytest.importorskip("diskcache")
    options = "run", "-c", "memoize:functions=work.slow,folder=kept", "app.py"
    cassette(*options, folder=folder)
    (folder / "work.py").write_text("def slow(n):\n    return [-n]\n")
    assert cassette(*options, folder=folder).stdout == "[-1] [-1] [-2]\n"


def test_a_damaged_folder_is_refused_or_made_again(folder):
    pytest.importorskip("diskcache")
    options = "run", "-c", "memoize:functions=work.slow,folder=kept", "app.py"
    cassette(*options, folder=folder)
    for file in filter(Path.is_file, (folder / "kept").iterdir()):
        file.write_bytes(b"damaged " * 200)
    done = cassette(*options, folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(r".*the folder kept cannot be used: .*\n", done.stderr)


def test_the_statistics_are_written_as_json_when_the_program_is_interrupted(folder):
    (folder / "app.py").write_text(
        "import os, signal, work\nwork.slow(1)\nos.kill(os.getpid(), signal.SIGINT)\nwork.slow(1)\n"
    )
    done = cassette("run", "-c", "memoize:functions=work.slow", "-o", "out.json", "app.py", folder=folder)
    assert done.status in (-signal.SIGINT, 130)
    assert json.loads((folder / "out.json").read_text()) == {
        "work.slow": {"calls": 1, "hits": 0, "misses": 1, "uncacheable": {}}
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "missing a required .*argument: 'functions'; it takes functions, .*"),
        (":functions=work.nope", "module work has no attribute 'nope'"),
        (
            ":functions=work.gen",
            "work.gen is a generator function: generators can be used only once, so they cannot be cached",
        ),
        (":functions=work.slow,limit=0", "limit is a number of results, from 1 on, not 0"),
        (":functions=work.slow,limit=many", "limit is a number of results, from 1 on, not 'many'"),
        (":functions=work.slow,limit=3,folder=kept", "a folder stores all results: give limit= or folder=, not both"),
        (":functions=work.slow,folder=app.py", "the folder app.py cannot be used: .*"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options, message, folder):
    done = cassette("run", "-c", f"memoize{options}", "app.py", folder=folder)
    assert (done.status, done.stdout) == (2, "")
    assert re.fullmatch(f"python -m cassette_import run: context 'memoize.*': {message}\n", done.stderr)


def test_a_folder_without_diskcache_raises_an_error_that_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "diskcache", None)
    with pytest.raises(ValueError, match=r"install cassette_import\[memoize\]"):
        Memoize("math.floor", folder="kept")
