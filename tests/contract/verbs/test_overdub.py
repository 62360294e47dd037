"""`overdub` runs a call in a context."""

import functools
import math
import operator

import pytest
from helpers.called_program import PROGRAM, Ctx

from cassette_import import Context, overdub


def test_overdub_returns_the_value_of_the_call(program):
    assert overdub(Ctx(), program.add, 1, 2) == 3


def test_overdub_passes_keywords_on(program):
    assert overdub(Ctx(), program.add, x=1, y=2) == 3


@pytest.mark.parametrize("name", ["f", "ctx", "self", "args", "kwargs", "func", "function"])
def test_overdub_accepts_keywords_with_the_names_of_its_own_parameters(name):
    assert overdub(Ctx(), lambda **kwargs: kwargs, **{name: 1}) == {name: 1}


def test_overdub_fires_no_hook_for_the_root(program, Recorder):
    ctx = Recorder()
    overdub(ctx, program.twice, 2)
    assert ctx.calls == [(program.add, (2, 2)), (operator.add, (2, 2))]
    assert ctx.results == [(4, operator.add, (2, 2)), (4, program.add, (2, 2))]


def test_overdub_fires_no_hook_for_a_leaf_as_root(Recorder):
    ctx = Recorder()
    assert overdub(ctx, math.sin, 0.0) == 0.0
    assert ctx.calls == []


def test_overload_wins_for_the_root_call_too(program):
    class Own(Context):
        pass

    Own.overdub.register(program.add)(lambda ctx, f, x, y: "overload")
    assert overdub(Own(), program.add, 1, 2) == "overload"


def test_overload_of_a_leaf_wins_for_the_root_call_too():
    class Own(Context):
        pass

    Own.overdub.register(math.sin)(lambda ctx, f, x: "overload")
    assert overdub(Own(), math.sin, 1.0) == "overload"


def test_overload_for_everything_wins_for_the_root_call_too(program):
    class Own(Context):
        def overdub(self, f, *args):
            return "overload"

    assert overdub(Own(), program.add, 1, 2) == "overload"


def test_exception_of_the_program_reaches_the_caller(program):
    with pytest.raises(ValueError, match=r"^7$"):
        overdub(Ctx(), program.fail, 7)


def test_function_of_the_test_module_is_overdubbed_though_not_installed(Recorder):
    def add(x, y):
        return x + y

    def program(x):
        return add(x, 1)

    ctx = Recorder()
    assert overdub(ctx, program, 2) == 3
    assert ctx.calls == [(add, (2, 1)), (operator.add, (2, 1))]


def test_function_of_another_module_that_is_not_installed_is_a_leaf(make_package, import_fresh, Recorder):
    plain = import_fresh(make_package(PROGRAM))
    ctx = Recorder()
    assert overdub(ctx, lambda: plain.twice(2)) == 4
    assert ctx.calls == [(plain.twice, (2,))]


def test_module_of_the_root_is_a_leaf_again_for_the_next_root(make_package, import_fresh, Recorder):
    plain = import_fresh(make_package(PROGRAM))
    overdub(Recorder(), plain.twice, 2)
    ctx = Recorder()
    overdub(ctx, lambda: plain.twice(2))
    assert ctx.calls == [(plain.twice, (2,))]


def test_lambda_can_be_the_root(program, Recorder):
    ctx = Recorder()
    assert overdub(ctx, lambda x: program.add(x, 1), 2) == 3
    assert ctx.calls == [(program.add, (2, 1)), (operator.add, (2, 1))]


def test_closure_can_be_the_root(Recorder):
    total = 0

    def increase(by):
        nonlocal total
        total = total + by
        return total

    ctx = Recorder()
    assert overdub(ctx, increase, 5) == 5
    assert total == 5
    assert ctx.calls == [(operator.add, (0, 5))]


@pytest.mark.parametrize(
    ("root", "args", "result"),
    [
        pytest.param(lambda p: p.Point(1).moved, (2,), 3, id="bound method"),
        pytest.param(lambda p: functools.partial(p.Point(1).moved, 2), (), 3, id="partial"),
        pytest.param(lambda p: p.Point, (3,), 3, id="class"),
        pytest.param(lambda p: p.Point.origin, (), 0, id="class method"),
    ],
)
def test_root_that_is_no_plain_function_is_unwrapped(root, args, result, program, Recorder):
    ctx = Recorder()
    assert overdub(ctx, root(program), *args).x == result
    assert program.add in ctx.functions


def test_callable_object_can_be_the_root(program, Recorder):
    ctx = Recorder()
    assert overdub(ctx, program.Point(1), 2) == 3
    assert ctx.calls == [(program.add, (1, 2)), (operator.add, (1, 2))]


def test_static_method_can_be_the_root(program, Recorder):
    ctx = Recorder()
    a, b = program.Point(1), program.Point(3)
    assert overdub(ctx, program.Point.distance, a, b) == 2
    assert ctx.calls == [(operator.sub, (1, 3)), (abs, (-2,))]


def test_function_without_source_runs_as_a_leaf(Recorder):
    namespace = {}
    exec("def f(x): return abs(x)", namespace)
    ctx = Recorder()
    assert overdub(ctx, namespace["f"], -1) == 1
    assert ctx.calls == []


def test_object_that_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="callable"):
        overdub(Ctx(), 3)


def test_wrong_arguments_raise_the_error_of_a_plain_call(program):
    with pytest.raises(TypeError, match=r"^add\(\) missing 1 required positional argument: 'y'$"):
        overdub(Ctx(), program.add, 1)
