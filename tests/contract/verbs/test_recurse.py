"""`recurse` runs the body of a function in the context, past its overload."""

import inspect
import math
import operator
import sys

import pytest
from helpers.called_program import Ctx

from cassette_import import Context, current, overdub, recurse


def test_recurse_skips_the_overload_of_the_root(program):
    class Own(Context):
        pass

    Own.overdub.register(program.add)(lambda ctx, f, x, y: "overload")
    assert recurse(Own(), program.add, 1, 2) == 3


def test_recurse_runs_the_body_in_the_context(program, Recorder):
    ctx = Recorder()
    assert recurse(ctx, program.twice, 2) == 4
    assert ctx.calls == [(program.add, (2, 2)), (operator.add, (2, 2))]


def test_recurse_skips_the_overload_for_one_call_only(program):
    met = []

    class Own(Context):
        pass

    @Own.overdub.register(program.countdown)
    def _(ctx, f, n):
        met.append(n)
        return recurse(ctx, f, n)

    assert recurse(Own(), program.countdown, 3) == 3
    assert met == [2, 1, 0]


def test_recurse_skips_an_overload_for_everything_for_one_call_only(program):
    met = []

    class Own(Context):
        def overdub(self, f, *args):
            met.append(f)
            return f(*args)

    assert recurse(Own(), program.twice, 2) == 4
    assert met == [program.add]


def test_recurse_passes_keywords_on(program):
    assert recurse(Ctx(), program.add, 1, y=2) == 3


def test_recurse_on_a_leaf_calls_it():
    assert recurse(Ctx(), math.sin, 0.0) == 0.0


def test_recurse_with_a_lambda_keeps_overloads_inside(program):
    class Own(Context):
        pass

    Own.overdub.register(program.add)(lambda ctx, f, x, y: "overload")
    assert recurse(Own(), lambda: program.add(1, 2)) == "overload"


def test_recurse_inside_an_overload_stays_in_the_context(program, Recorder):
    @Recorder.overdub.register(program.twice)
    def _(ctx, f, x):
        return recurse(ctx, f, x + 1)

    ctx = Recorder()
    assert overdub(ctx, lambda: program.twice(2)) == 6
    assert ctx.calls == [(program.twice, (2,)), (program.add, (3, 3)), (operator.add, (3, 3))]


def test_recurse_inside_an_overload_with_another_instance_sends_it_the_events(program, Recorder):
    inner = Recorder()

    @Recorder.overdub.register(program.twice)
    def _(ctx, f, x):
        return recurse(inner, f, x)

    outer = Recorder()
    assert overdub(outer, lambda: program.twice(2)) == 4
    assert outer.calls == [(program.twice, (2,))]
    assert inner.calls == [(program.add, (2, 2)), (operator.add, (2, 2))]


class Recursing(Context):
    """An overload goes on in the function that it was called for."""


def countdown(n):
    return 0 if n == 0 else 1 + countdown(n - 1)


@Recursing.overdub.register(countdown)
def _(ctx, f, n):
    return recurse(ctx, f, n)


def test_an_overload_that_recurses_takes_four_frames_at_most():
    room = sys.getrecursionlimit() - len(inspect.stack())
    overdub(Recursing(), countdown, 3)
    deep = room // 4 - 20
    assert overdub(Recursing(), countdown, deep) == deep


def test_an_overload_that_recurses_leaves_what_was_active():
    active = []

    class Looking(Context): ...

    @Looking.overdub.register(countdown)
    def _(ctx, f, n):
        active.append(current())
        result = recurse(ctx, f, n)
        active.append(current())
        return result

    ctx = Looking()
    with ctx:
        assert overdub(ctx, lambda: (countdown(2), current())) == (2, ctx)
        assert current() is ctx
    assert set(active) <= {None, ctx}
    assert active == active[::-1]
    assert current() is None


def test_an_overload_that_recurses_and_fails_leaves_what_was_active():
    class Failing(Context): ...

    def fails(n):
        return fails(n - 1) if n else 1 / 0

    @Failing.overdub.register(fails)
    def _(ctx, f, n):
        try:
            return recurse(ctx, f, n)
        finally:
            assert current() is None

    with pytest.raises(ZeroDivisionError):
        overdub(Failing(), fails, 3)
    assert current() is None
