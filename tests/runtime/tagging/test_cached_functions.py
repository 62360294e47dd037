"""Functions of `functools.lru_cache`: their caches work as in the plain program, whatever has metadata."""

import functools

import pytest

from cassette_import import Context, metadata, overdub, tag


class Labelling(Context, tagging=True):
    """Values have labels."""

    def labelled(self, value, label):
        return tag(value, self, label)

    def label(self, value):
        return metadata(value, self, default=None)


class Counted:
    def __init__(self, x):
        self.x = x

    def doubled(self, x):
        return x, x


def pair(x, y=1):
    return [x, y]


def positional_only(x, /, *rest, y=1, **named):
    return [x, y, *rest, *named.values()]


def wrapper(*args, **kwargs):
    return pair(*args, **kwargs)


FUNCTIONS = {
    "function": pair,
    "all kinds of parameters": positional_only,
    "wrapper of a decorator": wrapper,
    "lambda": lambda x, y=1: [x, y],
    "class": Counted,
    "method": Counted(1).doubled,
    "function in C": abs,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_cache_has_the_hits_and_misses_of_the_plain_program(function):
    def calls(give):
        cached = functools.lru_cache(maxsize=2)(function)
        for value in (1, 1, 2, 3, 1, 3):
            cached(give(value))
        cached.cache_clear()
        for value in (4, 4):
            cached(give(value))
        return cached.cache_info()

    ctx = Labelling()
    assert overdub(ctx, calls, lambda value: ctx.labelled(value, "label")) == calls(lambda value: value)


@pytest.mark.parametrize("name", ["function", "all kinds of parameters", "wrapper of a decorator", "lambda"])
def test_results_have_the_metadata_of_the_arguments_of_their_own_call(name):
    cached = functools.lru_cache(FUNCTIONS[name])

    def root(ctx):
        a, b = ctx.labelled(1, "a"), ctx.labelled(1, "b")
        results = [cached(a, y=b), cached(b, y=a), cached(1, y=1), cached(a), cached(1), cached(b)]
        return [[ctx.label(item) for item in result] for result in results]

    found = overdub(ctx := Labelling(), root, ctx)
    assert found == [["a", "b"], ["b", "a"], [None, None], ["a", None], [None, None], ["b", None]]


def test_result_without_metadata_stays_so_after_a_call_with_metadata():
    cached = functools.lru_cache(lambda x: x)

    def root(ctx):
        return [ctx.label(cached(value)) for value in (ctx.labelled(1.5, "a"), 1.5, ctx.labelled(1.5, "b"), 1.5)]

    assert overdub(ctx := Labelling(), root, ctx) == ["a", None, "b", None]


def test_cleared_cache_runs_the_function_again():
    runs = []
    cached = functools.lru_cache(lambda x: runs.append(x) or x)

    def root(ctx):
        cached(ctx.labelled(1, "a"))
        cached.cache_clear()
        return ctx.label(cached(ctx.labelled(1, "a")))

    assert overdub(ctx := Labelling(), root, ctx) == "a"
    assert runs == [1, 1]


def test_function_runs_once_for_the_same_arguments_with_the_same_metadata():
    runs = []
    cached = functools.lru_cache(lambda x: runs.append(x) or [x])

    def root(ctx):
        first, second = (cached(ctx.labelled(1, "a")) for _ in range(2))
        return first is second

    assert overdub(ctx := Labelling(), root, ctx)
    assert runs == [1]


def test_default_with_metadata_is_the_value_of_its_own_parameter():
    def root(ctx):
        default = ctx.labelled(1, "default")

        @functools.lru_cache
        def f(x, y=default):
            return [x, y]

        results = f(1), f(ctx.labelled(1, "given")), f(1, y=ctx.labelled(1, "given"))
        return [[ctx.label(item) for item in result] for result in results]

    found = overdub(ctx := Labelling(), root, ctx)
    assert found == [[None, "default"], ["given", "default"], [None, "given"]]


def test_metadata_that_are_equal_but_of_other_types_or_signs_are_told_apart():
    runs = []
    cached = functools.lru_cache(lambda x: runs.append(x) or x)

    def root(ctx):
        return [ctx.label(cached(ctx.labelled(1, label))) for label in (1, 1.0, True, 0.0, -0.0, 1.0, -0.0)]

    found = overdub(ctx := Labelling(), root, ctx)
    assert list(map(repr, found)) == ["1", "1.0", "True", "0.0", "-0.0", "1.0", "-0.0"]
    assert len(runs) == 5
