"""Belongs to later work (passes, iteration events, stacks): the remaining scenarios without tagging.

Not collected until this file is renamed to `test_later_scenarios.py`.
"""

import ast
import bisect
import heapq
import operator
import os
import subprocess
import sys
import traceback

import pytest

from cassette_import import (
    Context,
    canrecurse,
    contextslot,
    disablehooks,
    install,
    nooverdub,
    overdub,
    recurse,
    reflect,
)

from . import later_programs as unaware


@pytest.fixture
def programs():
    with install([unaware.__name__]):
        yield unaware


class NoOp(Context):
    pass


# 19: NestedReflectCtx


def test_19_nestedreflectctx_reflection_shows_what_overdub_generates(programs, Recorder):
    before = reflect(programs.sine, 1.0).overdubbed(Recorder)
    ctx = Recorder()
    overdub(ctx, programs.sine, 1.0)
    reflection = reflect(programs.sine, 1.0)
    assert before == reflection.overdubbed(ctx) == reflection.overdubbed(Recorder)


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


# 22: InModuleCtx


def test_22_inmodulectx_context_pass_and_state_live_in_another_module(make_package, import_fresh):
    module = import_fresh(
        make_package(
            """
            import math
            from cassette_import import Context, overdub

            x = 0

            def count(context_type, reflection):
                global x
                x += 1
                return reflection.tree

            class Ctx(Context):
                passes = (count,)

            def my_sin(v):
                return math.sin(v)

            def f(v):
                return overdub(Ctx(), my_sin, v)
            """
        )
    )
    assert module.f(1) == module.math.sin(1)
    assert module.x > 0


# 24: Invoke2Ctx


def test_24_invoke2ctx_less_specific_method_with_optional_arguments(programs, Recorder):
    ctx = Recorder()
    assert overdub(ctx, programs.invoker, programs.A()) == 13
    assert programs.B.m in ctx.functions
    assert programs.A.m not in ctx.functions


# 26: NoOpCtx


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_26_noopctx_nested_gives_the_same_result(depth, programs):
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


# 28: SliceCtx


class Slice(Context):
    """Threads a callback through every call and every return; `log` only adds to it."""

    def __init__(self):
        super().__init__(metadata=[])

    def through(self, callback, f, *args):
        if f is unaware.log:
            return None, lambda: (callback(), self.metadata.append(args[0]))
        if canrecurse(self, f, *args):
            value, inner = recurse(self, f, *args)
            return value, lambda: (callback(), inner())
        return f(*args), callback


class Thread(ast.NodeTransformer):
    def visit_Call(self, node):
        self.generic_visit(node)
        through = ast.Attribute(contextslot(), "through", ast.Load())
        arguments = [ast.Name("callback_", ast.Load()), node.func, *node.args]
        step = ast.NamedExpr(ast.Name("step_", ast.Store()), nooverdub(ast.Call(through, arguments, [])))
        kept = ast.NamedExpr(ast.Name("callback_", ast.Store()), part("step_", 1))
        return part(ast.Tuple([step, kept, part("step_", 0)], ast.Load()), 2)

    def visit_Return(self, node):
        self.generic_visit(node)
        node.value = ast.Tuple([node.value, ast.Name("callback_", ast.Load())], ast.Load())
        return node


def part(value, index):
    value = ast.Name(value, ast.Load()) if isinstance(value, str) else value
    return ast.Subscript(value, ast.Constant(index), ast.Load())


def slicing(context_type, reflection):
    tree = Thread().visit(reflection.tree)
    tree.body.insert(0, ast.parse("callback_ = lambda: None").body[0])
    return ast.fix_missing_locations(tree)


def test_28_slicectx_defers_what_the_program_logs(programs):
    class SliceCtx(Slice):
        passes = (slicing,)

    ctx = SliceCtx()
    a, b = [1, 2], [3, 4]
    result, callback = recurse(ctx, programs.add, a, b)
    assert result == [4, 6]
    assert ctx.metadata == []
    callback()
    assert ctx.metadata == [a, b, result]


# 31: NukeCtx


@pytest.fixture
def nuke(programs):
    class NukeCtx(Context):
        pass

    @NukeCtx.overdub.register(iter)
    def _(ctx, f, silo: programs.Silo):
        return iter(())

    return NukeCtx()


def test_31_nukectx_overloaded_iteration_is_met_when_it_is_called(nuke, programs):
    assert list(overdub(nuke, iter, programs.Silo())) == []


@pytest.mark.parametrize(("name", "result"), [("display", ()), ("turns", 0), ("splat", 0)])
def test_31_nukectx_overloaded_iteration_is_met_when_it_is_implied(name, result, nuke, programs):
    assert overdub(nuke, getattr(programs, name), programs.Silo()) == result


def test_31_nukectx_unpacking_of_overloaded_iteration_raises_its_own_error(nuke, programs):
    with pytest.raises(ValueError, match="not enough values to unpack"):
        overdub(nuke, programs.unpack, programs.Silo())


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


# 34: Precompilation


PACKAGE = """
    import math
    from cassette_import import Context, overdub

    def identity(context_type, reflection):
        return reflection.tree

    class Ctx(Context):
        passes = (identity,)

    @Ctx.overdub.register(math.sin)
    def _(ctx, f, x):
        return math.cos(x)

    def run():
        return overdub(Ctx(), lambda: math.sin(0.0))
"""


def test_34_precompilation_cold_and_warm_start_give_the_same_without_warnings(make_package, tmp_path):
    name = make_package(PACKAGE)
    script = f"import cassette_import; cassette_import.install([{name!r}]); import {name}; print({name}.run())"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *(path for path in sys.path if path)])
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert [(run.stdout, run.stderr) for run in outputs] == [("1.0\n", "")] * 2
    assert list((tmp_path / name / "__pycache__").iterdir())
