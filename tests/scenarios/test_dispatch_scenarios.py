"""Scenarios 7, 8, 11, 12, 16, 17, 23, 25, 29 and 30: overloads, and the forms that calls can have."""

import asyncio
import math
from operator import add, mul, pow

import pytest

from cassette_import import Context, canrecurse, fallback, overdub, recurse, similarcontext


class NoOp(Context):
    pass


# 7: SinCtx


def test_07_sinctx_without_overload_is_native(programs):
    assert overdub(NoOp(), programs.sin_plus_cos, 1) == math.sin(1) + math.cos(1)


def test_07_sinctx_overload_added_after_first_use_takes_effect(programs):
    class SinCtx(Context):
        pass

    ctx = SinCtx()
    assert overdub(ctx, programs.sin_plus_cos, 1) == math.sin(1) + math.cos(1)

    @SinCtx.overdub.register(math.sin)
    def _(ctx, f, x):
        return math.cos(x)

    assert overdub(ctx, programs.sin_plus_cos, 1) == 2 * math.cos(1) == 1.0806046117362795


# 8: FoldCtx


def test_08_foldctx_splat_with_an_empty_tail(programs):
    assert overdub(NoOp(), programs.foldmul, 2) == 2


# 11: SqrCtx


def test_11_sqrctx_closure_called_at_once(programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, programs.square_by_closure, 5) == programs.square_by_closure(5) == 25
    assert (mul, (5, 5)) in ctx.calls


# 12: CompCtx


def test_12_compctx_comprehension_over_a_range(programs):
    assert overdub(NoOp(), programs.count_up) == [0, 1, 2, 3, 4]


COMPREHENSIONS = ["distances", "distance_set", "distance_dict", "distance_generator"]


@pytest.mark.parametrize("name", COMPREHENSIONS)
def test_12_compctx_comprehension_over_a_list_calls_the_captured_function(name, programs, Recorder):
    ctx = Recorder()
    y = [1.0, 2.0, 3.0, 4.0]
    program = getattr(programs, name)
    assert overdub(ctx, program, math.hypot, 3.0, y) == program(math.hypot, 3.0, y)
    assert ctx.functions.count(math.hypot) == len(y)


def test_12_compctx_nested_comprehension(programs, Recorder):
    ctx = Recorder()
    y = [1.0, 2.0, 3.0]
    native = programs.nested_distances(math.hypot, 3.0, y)
    assert overdub(ctx, programs.nested_distances, math.hypot, 3.0, y) == native
    assert ctx.functions.count(math.hypot) == len(y) ** 2


def test_12_compctx_async_comprehension(programs, Recorder):
    ctx = Recorder()
    y = [1.0, 2.0, 3.0, 4.0]
    native = asyncio.run(programs.distances_async(math.hypot, 3.0, y))
    assert asyncio.run(overdub(ctx, programs.distances_async, math.hypot, 3.0, y)) == native
    assert ctx.functions.count(math.hypot) == len(y)


# 16: TraceCtx, and 17: with keywords


class TraceCtx(Context):
    """Builds the tree of calls in its metadata, with one overload for every call."""

    def overdub(self, f, *args, **kwargs):
        subtrace = []
        self.metadata.append(((f, *args, kwargs) if kwargs else (f, *args), subtrace))
        if canrecurse(self, f, *args, **kwargs):
            return recurse(similarcontext(self, metadata=subtrace), f, *args, **kwargs)
        return fallback(self, f, *args, **kwargs)


def test_16_tracectx_by_a_catch_all_overload(programs):
    ctx = TraceCtx(metadata=[])
    trtest = programs.trtest
    assert recurse(ctx, lambda: trtest(2.0, 3.0, 4.0)) == 18.0
    leaves = [((mul, 2.0, 3.0), []), ((mul, 3.0, 4.0), []), ((add, 6.0, 12.0), [])]
    assert ctx.metadata == [((trtest, 2.0, 3.0, 4.0), leaves)]


def test_16_tracectx_of_two_levels(programs):
    ctx = TraceCtx(metadata=[])
    trtest, my_add, my_mul = programs.trtest_functions, programs.my_add, programs.my_mul
    assert recurse(ctx, lambda: trtest(2.0, 3.0, 4.0)) == 18.0
    expected = [
        ((my_mul, 2.0, 3.0), [((mul, 2.0, 3.0), [])]),
        ((my_mul, 3.0, 4.0), [((mul, 3.0, 4.0), [])]),
        ((my_add, 6.0, 12.0), [((add, 6.0, 12.0), [])]),
    ]
    assert ctx.metadata == [((trtest, 2.0, 3.0, 4.0), expected)]


def test_17_tracectx_with_keywords_does_not_pollute_the_trace(programs):
    ctx = TraceCtx(metadata=[])
    trkwtest = programs.trkwtest
    assert recurse(ctx, lambda: programs.call_trkwtest(2.0, 3.0, 4.0)) == 18.0
    leaves = [((mul, 2.0, 3.0), []), ((mul, 3.0, 4.0), []), ((add, 6.0, 12.0), [])]
    node = ((trkwtest, 2.0, {"_y": 3.0, "_z": 4.0}), leaves)
    assert ctx.metadata == [((programs.call_trkwtest, 2.0, 3.0, 4.0), [node])]


# 23: InvokeCtx


@pytest.mark.parametrize("name", ["invoker", "super_invoker"])
def test_23_invokectx_less_specific_method_is_traced_through(name, programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, getattr(programs, name), programs.A()) == 9
    assert programs.B.m in ctx.functions
    assert (pow, (3, 2)) in ctx.calls
    assert ctx.functions.index(programs.B.m) < ctx.functions.index(pow)
    assert programs.A.m not in ctx.functions


# 25: MemoizeCtx


@pytest.fixture
def Memoize(programs):
    class MemoizeCtx(Context):
        def __init__(self):
            super().__init__(metadata={})
            self.intercepted = 0
            self.bodies = 0

    @MemoizeCtx.overdub.register(programs.fib)
    def _(ctx, f, x):
        ctx.intercepted += 1
        if x in ctx.metadata:
            return ctx.metadata[x]
        ctx.bodies += 1
        return recurse(ctx, f, x)

    @MemoizeCtx.posthook.register(programs.fib)
    def _(ctx, result, f, x):
        ctx.metadata[x] = result

    return MemoizeCtx


def fibonacci(n):
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b
    return a


@pytest.mark.parametrize(("n", "value", "entries", "calls"), [(10, 6775, 20, 37), (20, 102334175, 40, 77)])
def test_25_memoizectx_computes_each_value_once(n, value, entries, calls, programs, Memoize):
    ctx = Memoize()
    assert overdub(ctx, programs.fibtest, n) == value
    assert ctx.metadata == {i: fibonacci(i) for i in range(1, entries + 1)}
    assert len(ctx.metadata) == ctx.bodies == entries
    assert ctx.intercepted == calls


# 29: Dense


def test_29_call_overload_that_invokes_the_generic_one(programs, Recorder):
    ctx = Recorder()
    dense = programs.Dense(3)
    assert overdub(ctx, dense, [1, 2]) == dense([1, 2]) == [3, 6]
    assert (programs.Generic.__call__, (dense, [1, 2])) in ctx.calls
    assert (mul, (3, 1)) in ctx.calls


# 30: OverdubOverdubCtx


def test_30_overduboverdubctx_overdubbing_overdub(programs):
    ctx = NoOp()
    assert overdub(ctx, overdub, ctx, programs.two) == 2
