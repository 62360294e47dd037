"""Scenarios 19, 22, 28 and 34: the code that overdubbing generates for a function, and passes that change it."""

import ast
import os
import subprocess
import sys

import pytest

from cassette_import import Context, canrecurse, contextslot, install, nooverdub, overdub, recurse, reflect

from . import further_programs as unaware


@pytest.fixture
def programs():
    with install([unaware.__name__]):
        yield unaware


# 19: NestedReflectCtx


def test_19_nestedreflectctx_reflection_shows_what_overdub_generates(programs, Recorder):
    before = reflect(programs.sine, 1.0).overdubbed(Recorder)
    ctx = Recorder()
    overdub(ctx, programs.sine, 1.0)
    reflection = reflect(programs.sine, 1.0)
    assert before == reflection.overdubbed(ctx) == reflection.overdubbed(Recorder)


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


# 28: SliceCtx


class Slice(Context):
    """Passes a callback through every call and every return; `log` only adds to it."""

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


def test_34_precompilation_cold_and_warm_start_print_the_same_without_warnings(make_package, tmp_path):
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
