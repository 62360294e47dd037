"""`fallback` makes a call natively, or hands it to the next outer context."""

import math

from helpers.called_program import Ctx

from cassette_import import Context, fallback, overdub


def test_fallback_calls_the_function_natively(program, Recorder):
    ctx = Recorder()
    assert fallback(ctx, program.twice, 2) == 4
    assert ctx.calls == []


def test_fallback_inside_an_overload_leaves_the_context(program, Recorder):
    @Recorder.overdub.register(program.twice)
    def _(ctx, f, x):
        return fallback(ctx, f, x)

    ctx = Recorder()
    assert overdub(ctx, lambda: program.twice(2)) == 4
    assert ctx.calls == [(program.twice, (2,))]


def test_fallback_skips_the_overload(program):
    class Own(Context):
        pass

    Own.overdub.register(program.add)(lambda ctx, f, x, y: fallback(ctx, f, x, y) + 100)
    assert overdub(Own(), program.add, 1, 2) == 103


def test_fallback_passes_keywords_on(program):
    assert fallback(Ctx(), program.add, 1, y=2) == 3


def test_fallback_passes_the_call_to_the_next_outer_context(program, Recorder):
    class Inner(Context):
        pass

    @Inner.overdub.register(math.sin)
    def _(ctx, f, x):
        return fallback(ctx, f, x)

    class Outer(Context):
        pass

    Outer.overdub.register(math.sin)(lambda ctx, f, x: "outer")
    with Outer():
        assert overdub(Inner(), program.sine, 0.0) == "outer"


def test_calling_f_inside_its_overload_is_the_native_call(program):
    # The context is suspended there, as in Cassette: no endless recursion.
    class Own(Context):
        pass

    Own.overdub.register(program.add)(lambda ctx, f, x, y: f(x, y) + 100)
    assert overdub(Own(), program.add, 1, 2) == 103
