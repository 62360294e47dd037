"""Contexts that are entered within one another, or again."""

import gc
import math
import operator
import subprocess
import sys
import textwrap

from helpers.called_program import Ctx
from helpers.contexts import entered_without_source

from cassette_import import Context, overdub, recurse


def test_overdub_inside_of_overdub_returns_to_the_outer_context(program, Recorder):
    outer, inner = Recorder(), Recorder()

    def root():
        overdub(inner, program.add, 1, 2)
        return program.add(3, 4)

    assert overdub(outer, root) == 7
    assert inner.calls == [(operator.add, (1, 2))]
    assert outer.calls[-2:] == [(program.add, (3, 4)), (operator.add, (3, 4))]


def test_prehooks_of_nested_contexts_run_outermost_first(program):
    order = []

    class Own(Context):
        def prehook(self, f, *args):
            order.append(("pre", self.metadata))

        def posthook(self, result, f, *args):
            order.append(("post", self.metadata))

    with entered_without_source(Own("outer"), Own("inner")):
        program.add(1, 2)
    assert order == [("pre", "outer"), ("pre", "inner"), ("post", "inner"), ("post", "outer")]


def test_overload_of_the_innermost_context_wins(program):
    class Outer(Context):
        pass

    class Inner(Context):
        pass

    Outer.overdub.register(math.sin)(lambda ctx, f, x: "outer")
    Inner.overdub.register(math.sin)(lambda ctx, f, x: "inner")
    with Outer(), Inner():
        assert program.sine(0.0) == "inner"


def test_overload_of_an_outer_context_counts_where_the_inner_one_has_none(program):
    class Outer(Context):
        pass

    Outer.overdub.register(math.sin)(lambda ctx, f, x: "outer")
    with Outer(), Ctx():
        assert program.sine(0.0) == "outer"


def test_recurse_passes_the_call_to_the_next_outer_context(program):
    class Outer(Context):
        pass

    class Inner(Context):
        pass

    Outer.overdub.register(math.sin, program.add)(lambda ctx, f, *args: "outer")
    Inner.overdub.register(math.sin, program.add)(lambda ctx, f, *args: recurse(ctx, f, *args))
    with Outer(), Inner():
        assert program.sine(0.0) == "outer"
        assert (lambda: program.add(1, 2))() == 3  # no event: this module is not overdubbed
        assert overdub(Ctx(), lambda: program.add(1, 2)) == "outer"


def test_outer_context_sees_what_the_hooks_of_the_inner_one_do(program, Recorder):
    class Inner(Context):
        def prehook(self, f, *args):
            if args == (1, 2):
                program.add(10, 20)

    outer = Recorder()
    with entered_without_source(outer):
        overdub(Inner(), program.add, 1, 2)
    assert (operator.add, (10, 20)) in outer.calls
    assert outer.functions == [operator.add, operator.add]


def test_inner_context_does_not_see_what_the_hooks_of_the_outer_one_do(program, Recorder):
    class Outer(Context):
        def prehook(self, f, *args):
            if args == (1, 2):
                program.add(10, 20)

    inner = Recorder()
    with Outer():
        overdub(inner, program.add, 1, 2)
    assert inner.calls == [(operator.add, (1, 2))]


def test_hook_does_not_overdub_itself(program):
    count = []

    class Own(Context):
        def prehook(self, f, *args):
            count.append(f)
            program.twice(1)

    overdub(Own(), program.add, 1, 2)
    assert count == [operator.add]


def test_hook_can_run_something_in_a_context_of_its_own(program, Recorder):
    inner = Recorder()

    class Own(Context):
        def prehook(self, f, *args):
            overdub(inner, program.add, 5, 6)

    overdub(Own(), program.add, 1, 2)
    assert inner.calls == [(operator.add, (5, 6))]


def test_recursive_function_stays_in_the_context(program, Recorder):
    ctx = Recorder()
    assert overdub(ctx, program.countdown, 5) == 5
    assert ctx.functions.count(program.countdown) == 5


def test_two_context_types_on_one_function_keep_apart(program, Recorder):
    class Other(Context):
        def prehook(self, f, *args):
            self.metadata.append(f)

    mine, theirs = Recorder(), Other([])
    for _ in range(2):
        overdub(mine, program.twice, 1)
        overdub(theirs, program.twice, 1)
    assert mine.functions == theirs.metadata == [program.add, operator.add] * 2


def test_many_context_types_on_one_function_keep_apart(program):
    def make(number):
        class Own(Context):
            def prehook(self, f, *args):
                self.metadata.append(number)

        return Own(metadata=[])

    contexts = [make(number) for number in range(20)]
    for ctx in contexts:
        overdub(ctx, program.twice, 1)
    assert [ctx.metadata for ctx in contexts] == [[number, number] for number in range(20)]


def test_function_is_plain_again_after_the_context(program, Recorder):
    ctx = Recorder()
    overdub(ctx, program.twice, 2)
    count = len(ctx.calls)
    assert program.twice(2) == 4
    assert len(ctx.calls) == count


def test_module_may_hold_objects_that_refuse_every_attribute(make_program):
    # As the proxies of web frameworks do outside of a request.
    program = make_program(
        """
        class Refusing:
            def __getattr__(self, name):
                raise RuntimeError(name)

        refusing = Refusing()

        def f(x):
            return abs(x)
        """
    )
    gc.freeze()
    try:
        assert overdub(Ctx(), program.f, -1) == 1
    finally:
        gc.unfreeze()


def test_functions_that_were_frozen_before_cassette_import_was_imported_are_instrumented():
    program = """
        import colorsys, gc
        gc.freeze()
        from cassette_import import Context, install, overdub

        class Differences(Context):
            pass

        Differences.overdub.register(max)(lambda ctx, f, *args: "max")
        install("colorsys")
        with Differences():
            try:
                print(colorsys.rgb_to_hsv(1, 2, 3))
            except TypeError as error:
                print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert "'str'" in done.stdout, done.stdout


def test_functions_in_the_tables_of_modules_are_instrumented_where_the_collector_is_frozen(make_program, Recorder):
    program = make_program(
        """
        TABLE = {"add": [lambda x: abs(x)], "sub": (lambda x: abs(-x),)}

        class Commands:
            known = {"run": lambda x: abs(x)}

        def main(table=TABLE, known=Commands.known):
            return [f(1) for pair in TABLE.values() for f in pair] + [f(2) for f in known.values()]
        """
    )
    gc.freeze()
    try:
        with Recorder() as ctx:
            assert program.main() == [1, 1, 2]
    finally:
        gc.unfreeze()
    assert ctx.functions.count(abs) == 3
