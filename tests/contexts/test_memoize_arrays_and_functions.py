"""`Memoize`: arrays as results, and functions in arguments and containers."""

import re
import sys
import textwrap
import weakref

import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import Memoize

numpy = pytest.importorskip("numpy")

WHOLE = numpy.arange(4)


def read_only():
    array = numpy.arange(3)
    array.flags.writeable = False
    return array


def read_only_in_containers():
    return {"arrays": [read_only()], "writeable": (numpy.arange(2),)}


def fresh_view():
    return numpy.arange(6).reshape(2, 3).T


def of_bytes():
    return numpy.frombuffer(b"abc", dtype=numpy.uint8)


def view_of_global():
    return WHOLE[1:]


def view_of_argument(array):
    return array[1:]


def array_and_its_view():
    array = numpy.arange(4)
    return array, array[1:]


def two_views():
    array = numpy.arange(4)
    return [array[:1], array[1:]]


def described(value):
    if isinstance(value, numpy.ndarray):
        return value.flags.writeable, value.tolist()
    if isinstance(value, dict):
        return {name: described(item) for name, item in value.items()}
    return [described(item) for item in value]


@pytest.fixture(params=["in memory", "in a folder"])
def options(request, tmp_path):
    if request.param == "in memory":
        return {}
    pytest.importorskip("diskcache")
    return {"folder": str(tmp_path / "kept")}


@pytest.mark.parametrize("function", [read_only, read_only_in_containers, fresh_view, of_bytes])
def test_a_cached_array_is_as_writeable_as_the_result_was(function, options):
    memoize = Memoize(function, **options)
    assert [described(overdub(memoize, function)) for _ in range(3)] == [described(function())] * 3
    assert "3 calls, 2 hits, 1 miss" in memoize.summary()


@pytest.mark.parametrize("function", [view_of_global, array_and_its_view, two_views])
def test_arrays_that_share_memory_are_not_cached(function, options):
    memoize = Memoize(function, **options)
    for _ in range(2):
        overdub(memoize, function)
    assert "2 uncacheable" in memoize.summary()


def test_a_view_of_an_argument_is_not_cached(options):
    array = numpy.arange(3)

    def views():
        return [view_of_argument(array) for _ in range(2)]

    found = overdub(Memoize(view_of_argument, **options), views)
    found[1][0] = 9
    assert array.tolist() == [0, 9, 2]


def apply(functions, number):
    return [function(number) for function in functions]


def apply_all(functions, number):
    return [function(number) for function in functions.values()]


class Named:
    def __init__(self, function):
        self.function = function


def apply_held(held, number):
    return held.function(number)


@pytest.mark.parametrize(
    ("function", "made"), [(apply, lambda f: [f]), (apply_all, lambda f: {"f": f}), (apply_held, Named)]
)
def test_two_functions_with_one_name_have_entries_of_their_own(function, made):
    """As after a function of a module was replaced."""
    namespace = vars(sys.modules[__name__])
    memoize, results = Memoize(function), []
    for change in (1, 2):
        exec(f"def replaced(x): return x + {change}", namespace)
        results.append(overdub(memoize, function, made(namespace["replaced"]), 1))
    assert results in ([[2], [3]], [2, 3])


PROGRAM = """
    import functools

    def helper(x):
        return x + 1

    class Adder:
        def __init__(self):
            self.nothing = None

        def of(self, x):
            return x + 1

    LIST, DICT, SET, PARTIAL, METHOD = [helper], {"a": {"b": helper}}, {helper}, functools.partial(helper), Adder().of
    MIXED = {"object": object(), "number": 1}

    def of_argument(f):
        return f(1)

    def of_list_argument(functions):
        return functions[0](1)

    def of_object_argument(adder):
        return adder.of(1)

    def of_list():
        return LIST[0](1)

    def of_dict():
        return DICT["a"]["b"](1)

    def of_set():
        return [f(1) for f in SET][0]

    def of_partial():
        return PARTIAL(1)

    def of_method():
        return METHOD(1)

    def of_mixed():
        return MIXED["number"] + 1

    def of_default(functions=(helper,)):
        return functions[0](1)

    def of_default_list(functions=[helper]):
        return functions[0](1)
"""
ARGUMENTS = {"of_argument": "helper", "of_list_argument": "[helper]", "of_object_argument": "Adder()"}
CALLS = [line.strip().split()[1].partition("(")[0] for line in PROGRAM.splitlines() if "def of_" in line]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The result of each call, and whether it was cached: in a first run, in a second one, and after an edit."""
    pytest.importorskip("diskcache")
    folder = tmp_path_factory.mktemp("edited")
    lines = [f"print({name}({ARGUMENTS.get(name, '')}))" for name in CALLS]
    (folder / "app.py").write_text("\n".join(["from work import *", *lines]))
    text = textwrap.dedent(PROGRAM)
    found = []
    for source in (text, text, text.replace("x + 1", "x + 20").replace('"number": 1', '"number": 20')):
        (folder / "work.py").write_text(source)
        context = f"memoize:functions={'+'.join(f'work.{name}' for name in CALLS)},folder=kept"
        done = cassette("run", "-c", context, "app.py", folder=folder)
        hits = dict(re.findall(r"work\.(\w+): 1 call, (\d) hit", done.stderr))
        assert hits.keys() == {*CALLS}, done.stderr
        found.append(
            {name: (int(line), int(hits[name])) for name, line in zip(CALLS, done.stdout.split(), strict=True)}
        )
    return found


@pytest.mark.parametrize("name", CALLS)
def test_an_edited_function_that_a_container_or_an_argument_holds_starts_anew_in_a_folder(name, runs):
    assert [run[name] for run in runs] == [(2, 0), (2, 1), (21, 0)]


class Weak:
    """An object with a weak reference to itself, as tables of pandas have."""

    def __init__(self):
        self.ref = OwnReference(weakref.ref(self))


class OwnReference:
    def __init__(self, reference):
        self.reference = reference

    def __reduce__(self):
        return OwnReference, (None,)


SEEN = []


def made_with_own_reference():
    return Weak()


def seen_by_others():
    made = Weak()
    SEEN.append(weakref.ref(made))
    return made


@pytest.mark.parametrize(("function", "hits"), [(made_with_own_reference, 1), (seen_by_others, 0)])
def test_weak_references_of_a_result_to_itself_are_no_reason_to_make_a_call_again(function, hits):
    memoize = Memoize(function)
    overdub(memoize, lambda: (function(), function()))
    (figures,) = memoize.statistics().values()
    assert figures["hits"] == hits


def table():
    return pytest.importorskip("pandas").DataFrame({"a": range(3), "b": ["x", "y", "x"]})


def dates():
    return pytest.importorskip("pandas").date_range("2024-01-01", periods=3)


@pytest.mark.parametrize("function", [table, dates])
def test_results_of_pandas_are_cached_and_the_program_cannot_change_them(function):
    memoize = Memoize(function)
    first, second, third = overdub(memoize, lambda: (function(), function(), function()))
    assert first.equals(second)
    if function is table:
        second["a"] = 0
    assert first.equals(third)
    (figures,) = memoize.statistics().values()
    assert (figures["hits"], figures["misses"]) == (2, 1)
