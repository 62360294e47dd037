"""Scenarios 5, 6, 9, 10, 15 and 18: hooks run for each event, in order, and can be replaced."""

from numbers import Number
from operator import add, getitem, iadd, mul, pow, sub, truediv

import pytest

from cassette_import import Context, overdub

ONCE = [len, sub, range]
EACH_TURN = [getitem, sub, pow, add, getitem, getitem, pow, sub, pow, mul, add, iadd]


class NoOp(Context):
    pass


# 5: RosCtx


def test_05_rosctx_without_hooks_returns_the_native_value(programs):
    assert overdub(NoOp(), programs.rosenbrock, [0.3, 0.7]) == 37.7 == programs.rosenbrock([0.3, 0.7])


@pytest.mark.parametrize(("x", "turns", "count"), [([0.3, 0.7], 1, 15), ([0.3, 0.7, 0.2], 2, 27)])
def test_05_rosctx_hooks_see_every_call(x, turns, count, programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, programs.rosenbrock, x) == programs.rosenbrock(x)
    assert ctx.functions == ONCE + EACH_TURN * turns
    assert len(ctx.calls) == count


def test_05_rosctx_log_in_a_global_equals_log_in_the_metadata(programs):
    log = []

    class Global(Context):
        def prehook(self, f, *args):
            log.append((f, args))

    class InMetadata(Context):
        def prehook(self, f, *args):
            self.metadata.append((f, args))

    ctx = InMetadata(metadata=[])
    overdub(Global(), programs.rosenbrock, [0.3, 0.7])
    overdub(ctx, programs.rosenbrock, [0.3, 0.7])
    assert ctx.metadata == log
    assert len(log) == 15


@pytest.mark.parametrize(("x", "count"), [([0.3, 0.7], 11), ([0.3, 0.7, 0.2], 20)])
def test_05_rosctx_numeric_hook_sees_only_numbers(x, count, programs):
    class Numeric(Context):
        pass

    @Numeric.prehook.register
    def _(ctx, f, *args: Number):
        ctx.metadata.append(args)

    ctx = Numeric(metadata=[])
    assert overdub(ctx, programs.rosenbrock, x) == programs.rosenbrock(x)
    assert len(ctx.metadata) == count
    assert {type(arg) for args in ctx.metadata for arg in args} == {int, float}


# 6: HookCtx


def test_06_hookctx_sees_calls_in_order(programs, Recorder):
    ctx = Recorder()
    my_add, my_mul = programs.my_add, programs.my_mul
    assert overdub(ctx, programs.add_mul, 3, 5, 7) == 38
    assert ctx.calls == [(my_mul, (5, 7)), (mul, (5, 7)), (my_add, (3, 35)), (add, (3, 35))]
    assert ctx.results == [(35, mul, (5, 7)), (35, my_mul, (5, 7)), (38, add, (3, 35)), (38, my_add, (3, 35))]


def test_06_hookctx_primitive_cuts_recursion(programs, Recorder):
    my_add, my_mul = programs.my_add, programs.my_mul

    @Recorder.overdub.register(my_add)
    def _(ctx, f, x, y):
        return f(x, y)

    ctx = Recorder()
    assert overdub(ctx, programs.add_mul, 3, 5, 7) == 38
    assert ctx.calls == [(my_mul, (5, 7)), (mul, (5, 7)), (my_add, (3, 35))]
    assert ctx.results == [(35, mul, (5, 7)), (35, my_mul, (5, 7)), (38, my_add, (3, 35))]


def test_06_hookctx_sees_operators(programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, programs.add_mul_operators, 3, 5, 7) == 38
    assert ctx.calls == [(mul, (5, 7)), (add, (3, 35))]


def test_06_hookctx_sees_splatted_calls_with_their_final_arguments(programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, programs.splatted, 3, 5, 7) == (3, 5, 35, 7)
    assert [args for f, args in ctx.calls if f is programs.four] == [(3, 5, 35, 7)]


# 9: CountCtx


def count_by(context_type, step):
    @context_type.prehook.register
    def _(ctx, f, *args: Number):
        ctx.metadata[0] += step


def test_09_countctx_hook_changes_the_metadata(programs):
    class CountCtx(Context):
        pass

    count_by(CountCtx, 1)
    ctx = CountCtx(metadata=[0])
    assert overdub(ctx, programs.polynomial, 2) == 17
    assert ctx.metadata == [5]


def test_09_countctx_replacing_the_hook_takes_effect(programs):
    class CountCtx(Context):
        pass

    count_by(CountCtx, 1)
    overdub(CountCtx(metadata=[0]), programs.polynomial, 2)
    count_by(CountCtx, 2)
    ctx = CountCtx(metadata=[0])
    overdub(ctx, programs.polynomial, 2)
    assert ctx.metadata == [10]


# 10: CountCtx2


class CountType(Context):
    """Counts the calls whose arguments are all of the type that its metadata names."""

    def __init__(self, metadata):
        super().__init__(metadata)
        self.seen = []

    def prehook(self, f, *args):
        if all(isinstance(arg, self.metadata) for arg in args):
            self.seen.append(f)


def test_10_countctx2_hook_is_parameterised_by_the_metadata(programs):
    ctx = CountType((str, int))
    assert overdub(ctx, programs.strings) == [str(i) for i in range(1, 11)]
    assert ctx.seen == [range] + [str] * 10


def test_10_countctx2_other_metadata_matches_nothing(programs):
    ctx = CountType(float)
    assert overdub(ctx, programs.strings) == [str(i) for i in range(1, 11)]
    assert ctx.seen == []


# 15: WorldCtx


def test_15_worldctx_late_hooks_reach_old_contexts_and_functions(programs):
    class World(Context):
        pass

    counted = []
    old = World()
    x = [0.3, 0.7]
    overdub(old, programs.rosenbrock, x)

    @World.prehook.register
    def _(ctx, f, *args):
        counted.append(f)

    overdub(World(), programs.rosenbrock, x)
    assert len(counted) == 15
    overdub(old, programs.rosenbrock, x)
    assert len(counted) == 30

    @World.prehook.register
    def _(ctx, f, *args):
        pass

    overdub(old, programs.rosenbrock, x)
    overdub(World(), programs.rosenbrock, x)
    assert len(counted) == 30


# 18: HookTraceCtx


class HookTrace(Context):
    """Builds the tree of calls with a stack, which requires that every prehook has its posthook."""

    def __init__(self):
        super().__init__()
        self.trace = []
        self.stack = [self.trace]

    def prehook(self, f, *args):
        subtrace = []
        self.stack[-1].append(((f, *args), subtrace))
        self.stack.append(subtrace)

    def posthook(self, result, f, *args):
        self.stack.pop()

    def errorhook(self, exception, f, *args):
        self.stack.pop()


def test_18_hooktracectx_builds_the_tree_of_operators(programs):
    ctx = HookTrace()
    trtest = programs.trtest
    assert overdub(ctx, lambda: trtest(2.0, 3.0, 4.0)) == 18.0
    leaves = [((mul, 2.0, 3.0), []), ((mul, 3.0, 4.0), []), ((add, 6.0, 12.0), [])]
    assert ctx.trace == [((trtest, 2.0, 3.0, 4.0), leaves)]


def test_18_hooktracectx_builds_the_tree_of_functions(programs):
    ctx = HookTrace()
    trtest, my_add, my_mul = programs.trtest_functions, programs.my_add, programs.my_mul
    assert overdub(ctx, lambda: trtest(2.0, 3.0, 4.0)) == 18.0
    expected = [
        ((my_mul, 2.0, 3.0), [((mul, 2.0, 3.0), [])]),
        ((my_mul, 3.0, 4.0), [((mul, 3.0, 4.0), [])]),
        ((my_add, 6.0, 12.0), [((add, 6.0, 12.0), [])]),
    ]
    assert ctx.trace == [((trtest, 2.0, 3.0, 4.0), expected)]


def test_18_hooktracectx_stack_is_balanced_after_an_exception(programs):
    ctx = HookTrace()
    my_add, my_mul, divide = programs.my_add, programs.my_mul, programs.divide
    assert overdub(ctx, programs.guarded_division, 6) == 7
    assert ctx.stack == [ctx.trace]
    assert ctx.trace == [
        ((divide, 6, 0), [((my_mul, 6, 1), [((mul, 6, 1), [])]), ((truediv, 6, 0), [])]),
        ((my_add, 6, 1), [((add, 6, 1), [])]),
    ]
