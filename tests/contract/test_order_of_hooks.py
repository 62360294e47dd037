"""When hooks run around a call, and how often its arguments are evaluated."""

import math
import operator

import pytest
from helpers.recorded_calls import Calls

from cassette_import import Context, Events, overdub, recurse


@pytest.fixture
def Log():
    """A context type that records which hooks of a call run, in order."""

    class Log(Context, events=Events.CALLS):
        log = []

        def prehook(self, f, *args, **kwargs):
            self.log.append(("pre", f.__name__))

        def posthook(self, result, f, *args, **kwargs):
            self.log.append(("post", f.__name__))

        def errorhook(self, exception, f, *args, **kwargs):
            self.log.append(("error", f.__name__))

    return Log


def test_arguments_come_before_prehook_and_posthook_before_use(Log):
    log = Log.log

    def f(x):
        log.append("body")

    def root():
        f(log.append("argument"))
        log.append("used")

    overdub(Log(), root)
    assert log == [
        ("pre", "append"),
        "argument",
        ("post", "append"),
        ("pre", "f"),
        ("pre", "append"),
        "body",
        ("post", "append"),
        ("post", "f"),
        ("pre", "append"),
        "used",
        ("post", "append"),
    ]


def test_overload_runs_between_prehook_and_posthook(Log):
    def f():
        raise AssertionError("replaced")

    Log.overdub.register(f)(lambda ctx, f: ctx.log.append("overload"))
    overdub(Log(), lambda: f())
    assert Log.log == [("pre", "f"), "overload", ("post", "f")]


def test_posthook_of_an_inner_call_comes_before_that_of_the_outer_one(Log):
    def inner():
        pass

    def outer():
        inner()

    overdub(Log(), lambda: outer())
    assert Log.log == [("pre", "outer"), ("pre", "inner"), ("post", "inner"), ("post", "outer")]


def test_arguments_are_evaluated_once_and_from_left_to_right():
    order = []

    def note(x):
        order.append(x)
        return x

    def f(*args, **kwargs):
        return args, kwargs

    def root():
        return note(f)(note(1), *note([2, 3]), note(4), a=note(5), **note({"b": 6}), c=note(7))

    assert overdub(Calls(), root) == ((1, 2, 3, 4), {"a": 5, "b": 6, "c": 7})
    assert order == [f, 1, [2, 3], 4, 5, {"b": 6}, 7]


def test_value_of_the_overload_is_the_value_of_the_call():
    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: ("replaced", x))
    assert overdub(Own(), lambda: [math.sin(1), math.cos(0)]) == [("replaced", 1), 1.0]


def test_posthook_gets_the_value_of_the_overload():
    seen = []

    class Own(Context):
        def posthook(self, result, f, *args):
            seen.append((result, f, args))

    Own.overdub.register(math.sin)(lambda ctx, f, x: "replaced")
    overdub(Own(), lambda: math.sin(1))
    assert seen == [("replaced", math.sin, (1,))]


@pytest.mark.parametrize("hook", ["prehook", "posthook"])
def test_what_a_hook_returns_is_ignored(hook):
    Own = type("Own", (Context,), {hook: lambda self, *args: "ignored"})
    assert overdub(Own(), lambda: abs(-1)) == 1


def test_overload_as_a_method_sees_every_event():
    seen = []

    class Own(Context):
        def overdub(self, f, *args):
            seen.append((f, args))
            return f(*args)

    assert recurse(Own(), lambda x: abs(x) + 1, -2) == 3
    assert seen == [(abs, (-2,)), (operator.add, (2, 1))]
