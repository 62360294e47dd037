"""Scenarios 1 to 4: which functions can be overdubbed, and what a context is."""

import functools
import math
import operator

import pytest

from cassette_import import Context, canrecurse, overdub

from . import programs as unaware


class Ctx(Context):
    pass


BUILTINS = {
    "len": len,
    "print": print,
    "operator.mul": operator.mul,
    "list.append": list.append,
    "bound append": [].append,
    "int": int,
    "partial(len)": functools.partial(len),
    "math.hypot": math.hypot,
}

WRAPPERS = {
    "function": unaware.my_add,
    "bound method": unaware.Callable().method,
    "partial": functools.partial(unaware.my_add, 1),
    "class with __init__": unaware.WithInit,
    "object with __call__": unaware.Callable(),
    "method of a base class": unaware.B.m,
}


@pytest.mark.parametrize("name", BUILTINS)
def test_01_canrecurse_on_builtins_is_false(name):
    assert canrecurse(Ctx(), BUILTINS[name]) is False


def test_01_canrecurse_does_not_call_the_builtin():
    target = []
    canrecurse(Ctx(), target.append, 1)
    assert target == []


@pytest.mark.parametrize("name", WRAPPERS)
def test_02_canrecurse_through_wrappers_is_true(name, programs):
    assert canrecurse(Ctx(), WRAPPERS[name], 1, 2) is True


def test_02_canrecurse_does_not_call_the_function():
    called = []

    def f(x):
        called.append(x)

    canrecurse(Ctx(), f, 1)
    assert called == []


def test_03_redeclaring_a_context_keeps_the_hooks_of_the_first(programs):
    # Python declares a context type by a class statement, so a second declaration is a second type. What must
    # not happen is that it takes the hooks of the first away, whose name it bears.
    def declare():
        class FooBar(Context):
            pass

        return FooBar

    first = declare()
    seen = []
    first.prehook.register(programs.my_mul)(lambda ctx, f, *args: seen.append(args))
    second = declare()
    assert overdub(first(), programs.add_mul, 3, 5, 7) == overdub(second(), programs.add_mul, 3, 5, 7) == 38
    assert seen == [(5, 7)]


KEYWORD_FUNCTIONS = {
    "named": unaware.keyword_only,
    "anonymous": lambda *, x: x,
    "closure": unaware.keyword_only_closure(None),
}


@pytest.mark.parametrize("name", KEYWORD_FUNCTIONS)
def test_04_keyword_functions_run_under_a_context_without_hooks(name, programs):
    assert overdub(Ctx(), KEYWORD_FUNCTIONS[name], x=7) == 7


@pytest.mark.parametrize("name", KEYWORD_FUNCTIONS)
def test_04_keyword_functions_pass_their_keywords_to_the_prehook(name, programs, Recorder):
    ctx = Recorder()
    f = KEYWORD_FUNCTIONS[name]
    assert overdub(ctx, programs.call_keyword_only, f) == 7
    assert ctx.calls[0] == (f, (), {"x": 7})
