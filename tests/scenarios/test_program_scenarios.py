"""Scenarios 20, 21, 24, 26, 27, 32 and 33: whole programs behave the same in every context that changes nothing."""

import bisect
import heapq
import operator
import traceback

import pytest

from cassette_import import Context, disablehooks, install, overdub, reflect

from . import further_programs as unaware


@pytest.fixture
def programs():
    with install([unaware.__name__]):
        yield unaware


class NoOp(Context):
    pass


# 20: GemvCtx


def test_20_gemvctx_heapify_changes_the_very_list():
    h = [3, 1, 2]
    assert overdub(NoOp(), heapq.heapify, h) is None
    assert h == [1, 3, 2]


def test_20_gemvctx_insort_changes_the_very_list():
    h = [1, 2, 4]
    assert overdub(NoOp(), bisect.insort, h, 3) is None
    assert h == [1, 2, 3, 4]


def test_20_gemvctx_matmul_writes_into_out():
    np = pytest.importorskip("numpy")
    a, x, y = np.eye(2), np.array([1.0, 2.0]), np.zeros(2)
    assert overdub(NoOp(), np.matmul, a, x, out=y) is y
    assert y.tolist() == [1.0, 2.0]


# 21: InferCtx


def test_21_inferctx_types_of_results_are_those_of_the_plain_run(programs, Recorder):
    plain = programs.types_of_all_kinds()
    for ctx in (NoOp(), Recorder()):
        results = overdub(ctx, programs.types_of_all_kinds)
        assert results == plain
        assert [type(result) for result in results] == [type(result) for result in plain]


# 24: Invoke2Ctx


def test_24_invoke2ctx_less_specific_method_with_optional_arguments(programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, programs.invoker, programs.A()) == 13
    assert programs.B.m in ctx.functions
    assert programs.A.m not in ctx.functions


# 26: NoOpCtx


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_26_noopctx_nested_returns_the_same_result(depth, programs):
    def root():
        return programs.sine(1.0)

    for _ in range(depth):
        root = nest(root)
    assert root() == programs.sine(1.0)


def nest(f):
    return lambda: overdub(NoOp(), f)


def test_26_noopctx_hooks_are_called_once_for_each_context_and_event(programs, Recorder):
    contexts = [Recorder(), Recorder(), Recorder()]
    with contexts[0], contexts[1], contexts[2]:
        programs.invoker(programs.A())
    assert [len(ctx.calls) for ctx in contexts] == [3, 3, 3]


# 27: DisableHooksCtx


class Counting(Context):
    def __init__(self, metadata):
        super().__init__(metadata)

    def prehook(self, f, *args):
        self.metadata[0] += 1

    def posthook(self, result, f, *args):
        self.metadata[1] += 1


def test_27_disablehooksctx_no_hook_is_called(programs):
    ctx = disablehooks(Counting([0, 0]))
    assert overdub(ctx, programs.sine, 1.0) == programs.sine(1.0)
    assert ctx.metadata == [0, 0]


def test_27_disablehooksctx_no_hook_is_called_for_overdub_in_overdub(programs):
    ctx = disablehooks(Counting([0, 0]))
    assert overdub(ctx, overdub, ctx, programs.sine, 1.0) == programs.sine(1.0)
    assert ctx.metadata == [0, 0]


def test_27_disablehooksctx_hooks_are_not_in_the_code_at_all(programs):
    reflection = reflect(programs.sine, 1.0)
    assert reflection.overdubbed(disablehooks(Counting([0, 0]))) == reflection.overdubbed(NoOp())


# 32: ApplyIterateCtx


def test_32_applyiteratectx_last_leaf_is_a_product_of_floats():
    with install(["fractions"]):
        import fractions

        class Leaves(Context):
            def prehook(self, f, *args):
                self.metadata.append((f, *map(type, args)))

        half = fractions.Fraction(1, 2)
        ctx = Leaves([])
        assert overdub(ctx, lambda: half * 2.0) == 1.0
    assert ctx.metadata[0] == (operator.mul, fractions.Fraction, float)
    assert ctx.metadata[-1] == (operator.mul, float, float)


# 33: NaNCtx


class NanError(ArithmeticError):
    pass


class NanCtx(Context):
    def posthook(self, result, f, *args):
        if isinstance(result, float) and result != result:
            raise NanError(f"{f.__name__}{args} is not a number")


def test_33_nanctx_error_of_the_posthook_reaches_the_caller(programs):
    with pytest.raises(NanError, match=r"sub\(inf, inf\)"):
        overdub(NanCtx(), programs.nan)


def test_33_nanctx_traceback_names_the_frames_of_the_user(programs):
    with pytest.raises(NanError) as info:
        overdub(NanCtx(), programs.nan)
    entries = traceback.extract_tb(info.value.__traceback__)[1:]
    assert [(entry.filename, entry.name, entry.line) for entry in entries[:1]] == [
        (programs.__file__, "nan", "return infinity - infinity")
    ]
    assert [entry.name for entry in entries] == ["nan", "posthook"]
