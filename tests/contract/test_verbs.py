"""SPEC, "Contexts" and "The verbs": entering a context, leaving it, and the verbs."""

import asyncio
import concurrent.futures
import functools
import gc
import importlib
import inspect
import math
import operator
import subprocess
import sys
import textwrap
import threading

import pytest
from helpers.command_line import run
from helpers.contexts import entered_without_source

from cassette_import import (
    CassetteWarning,
    Context,
    Events,
    canrecurse,
    current,
    fallback,
    install,
    overdub,
    recurse,
    reflect,
)
from cassette_import.activation import adoption
from cassette_import.specialization import source_file

PROGRAM = """
    import math


    def add(x, y):
        return x + y


    def twice(x):
        return add(x, x)


    def sine(x):
        return math.sin(x)


    def countdown(n):
        return 0 if n == 0 else countdown(n - 1) + 1


    def call(f, *args):
        return f(*args)


    def fail(x):
        raise ValueError(x)


    def numbers(n):
        for i in range(n):
            yield add(i, 1)


    async def double(x, gate=None):
        if gate is not None:
            await gate.wait()
        return add(x, x)


    async def counting(n):
        for i in range(n):
            yield add(i, 1)


    class Point:
        def __init__(self, x):
            self.x = add(x, 0)

        def moved(self, by):
            return Point(add(self.x, by))

        @classmethod
        def origin(cls):
            return cls(0)

        @staticmethod
        def distance(a, b):
            return abs(a.x - b.x)

        def __call__(self, y):
            return add(self.x, y)


    class Plain:
        pass
"""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


class Ctx(Context):
    pass


# Context objects


def test_metadata_is_kept_as_given():
    metadata = object()
    assert Ctx(metadata).metadata is metadata


def test_metadata_is_none_unless_given():
    assert Ctx().metadata is None


def test_subclass_need_not_call_the_initialiser_of_context(program):
    class Own(Context):
        def __init__(self, limit):
            self.limit = limit

        def prehook(self, f, *args):
            self.limit -= 1

    ctx = Own(10)
    assert overdub(ctx, program.twice, 2) == 4
    assert ctx.limit == 8


def test_context_itself_can_be_entered(program):
    assert overdub(Context(), program.twice, 2) == 4


def test_context_is_one_instance_for_all_its_events(program):
    seen = []

    class Own(Context):
        def prehook(self, f, *args):
            seen.append(self)

    ctx = Own()
    overdub(ctx, program.twice, 2)
    assert len(seen) == 2
    assert all(each is ctx for each in seen)


# overdub


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


# recurse


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


# fallback


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


# canrecurse


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda p: p.add, id="function"),
        pytest.param(lambda p: p.Point(1).moved, id="bound method"),
        pytest.param(lambda p: p.Point.moved, id="function of a class"),
        pytest.param(lambda p: p.Point.origin, id="class method"),
        pytest.param(lambda p: p.Point.distance, id="static method"),
        pytest.param(lambda p: functools.partial(p.add, 1), id="partial"),
        pytest.param(lambda p: functools.partial(p.Point(1).moved, 1), id="partial of a bound method"),
        pytest.param(lambda p: p.Point, id="class with __init__"),
        pytest.param(lambda p: p.Point(1), id="object with __call__"),
        pytest.param(lambda p: p.numbers, id="generator function"),
        pytest.param(lambda p: p.double, id="coroutine function"),
    ],
)
def test_canrecurse_is_true_for_what_has_an_overdubbed_body(f, program):
    assert canrecurse(Ctx(), f(program), 1) is True


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda p: len, id="builtin"),
        pytest.param(lambda p: [].append, id="builtin method"),
        pytest.param(lambda p: list.append, id="method descriptor"),
        pytest.param(lambda p: (1).__add__, id="method wrapper"),
        pytest.param(lambda p: int, id="builtin class"),
        pytest.param(lambda p: p.Plain, id="class without __init__"),
        pytest.param(lambda p: operator.add, id="operator"),
        pytest.param(lambda p: functools.partial(len), id="partial of a builtin"),
        pytest.param(lambda p: operator.itemgetter(1), id="callable of C"),
    ],
)
def test_canrecurse_is_false_for_leaves(f, program):
    assert canrecurse(Ctx(), f(program), 1) is False


def test_canrecurse_is_false_for_a_function_without_source():
    namespace = {}
    exec("def f(x): return abs(x)", namespace)
    assert canrecurse(Ctx(), namespace["f"], 1) is False


def test_canrecurse_never_calls_the_function(program):
    called = []
    canrecurse(Ctx(), program.call, called.append, 1)
    canrecurse(Ctx(), lambda: called.append(1))
    assert called == []


def test_canrecurse_accepts_keywords(program):
    assert canrecurse(Ctx(), program.add, x=1, y=2) is True


# reflect


def test_reflect_has_the_file_and_line_of_a_function(program):
    reflection = reflect(program.add, 1, 2)
    assert reflection.function is program.add
    assert reflection.filename == program.__file__
    assert reflection.lineno == program.add.__code__.co_firstlineno
    assert reflection.source.rstrip() == "def add(x, y):\n    return x + y"


def test_reflect_has_the_signature_and_the_tree(program):
    reflection = reflect(program.add, 1, 2)
    assert list(reflection.signature.parameters) == ["x", "y"]
    assert reflection.tree.name == "add"


def test_reflect_unwraps_a_bound_method(program):
    assert reflect(program.Point(1).moved, 2).function is program.Point.moved


@pytest.mark.parametrize("f", [len, int, [].append, operator.add], ids=["len", "int", "append", "operator.add"])
def test_reflect_returns_none_for_leaves(f):
    assert reflect(f, 1) is None


def test_reflect_returns_none_for_a_function_without_source():
    namespace = {}
    exec("def f(x): return abs(x)", namespace)
    assert reflect(namespace["f"], 1) is None


# current


def test_current_is_none_outside_of_contexts():
    assert current() is None


def test_current_is_the_context_inside_of_a_block():
    ctx = Ctx()
    with ctx:
        assert current() is ctx
    assert current() is None


def test_current_is_the_context_inside_of_overdub(program):
    ctx = Ctx()
    assert overdub(ctx, program.call, current) is ctx
    assert current() is None


def test_current_is_the_innermost_context():
    outer, inner = Ctx(), Ctx()
    with outer:
        with inner:
            assert current() is inner
        assert current() is outer


def test_current_is_none_in_a_hook_of_the_only_context(program):
    # The hook runs with its context suspended.
    seen = []

    class Own(Context):
        def prehook(self, f, *args):
            seen.append(current())

    overdub(Own(), program.add, 1, 2)
    assert seen == [None]


def test_current_is_the_outer_context_in_a_hook_of_the_inner_one(program):
    seen = []

    class Own(Context):
        def prehook(self, f, *args):
            seen.append(current())

    outer = Ctx()
    with outer:
        overdub(Own(), program.add, 1, 2)
    assert len(seen) == 1
    assert seen[0] is outer


def test_current_is_what_it_was_after_an_exception(program):
    with pytest.raises(ValueError, match="7"):
        overdub(Ctx(), program.fail, 7)
    assert current() is None


# with-blocks


def test_block_binds_the_context():
    ctx = Ctx()
    with ctx as entered:
        assert entered is ctx


def test_block_runs_installed_functions_in_the_context(program, Recorder):
    with Recorder() as ctx:
        assert program.twice(2) == 4
    assert ctx.calls == [(program.add, (2, 2)), (operator.add, (2, 2))]


def test_block_ends_the_context(program, Recorder):
    with Recorder() as ctx:
        pass
    program.twice(2)
    assert ctx.calls == []


def test_block_lets_exceptions_through_and_ends_the_context(program):
    with pytest.raises(ValueError, match="7"), Ctx():
        program.fail(7)
    assert current() is None


def test_block_leaves_modules_that_are_not_installed_alone(make_package, import_fresh, Recorder, monkeypatch):
    monkeypatch.setattr(
        adoption.wildcard_variant, "any_wildcard_is_met", lambda: False
    )  # other tests may have made such functions

    class Fresh(Recorder):
        """A type of its own: each warns once."""

    plain, ctx = import_fresh(make_package(PROGRAM)), Fresh()
    with pytest.warns(CassetteWarning, match="Fresh met no function in this block"), ctx:
        assert plain.twice(2) == 4
    assert ctx.calls == []


def test_block_can_be_entered_again(program, Recorder):
    ctx = Recorder()
    with ctx:
        program.add(1, 2)
    with ctx:
        program.add(3, 4)
    assert ctx.calls == [(operator.add, (1, 2)), (operator.add, (3, 4))]


def test_block_of_a_context_that_is_active_ends_only_itself():
    ctx = Ctx()
    with ctx:
        with ctx:
            assert current() is ctx
        assert current() is ctx
    assert current() is None


def test_block_and_overdub_nest(program, Recorder):
    outer, inner = Recorder(), Recorder()
    with outer:
        overdub(inner, program.add, 1, 2)
        program.add(3, 4)
    assert inner.calls == [(operator.add, (1, 2))]
    assert outer.calls == [(operator.add, (1, 2)), (operator.add, (3, 4))]


# Nesting and re-entrance


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


# Threads and tasks


def test_other_threads_do_not_see_the_context(program, Recorder):
    seen = []
    with Recorder() as ctx:
        thread = threading.Thread(target=lambda: seen.extend([current(), program.twice(2)]))
        thread.start()
        thread.join()
    assert seen == [None, 4]
    assert [f for f in ctx.functions if f is operator.add] == []


def test_executor_jobs_do_not_see_the_context(program, Recorder):
    with Recorder() as ctx, concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(program.twice, 2).result() == 4
    assert ctx.calls == []


def test_two_threads_have_each_their_own_context(program, Recorder):
    barrier = threading.Barrier(2)
    contexts = {1: Recorder(), 2: Recorder()}

    def work(number):
        with contexts[number]:
            barrier.wait(timeout=10)
            for _ in range(50):
                program.add(number, number)
            barrier.wait(timeout=10)

    threads = [threading.Thread(target=work, args=(number,)) for number in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, ctx in contexts.items():
        assert ctx.calls == [(operator.add, (number, number))] * 50


def test_threads_may_share_a_context(program, Recorder):
    ctx = Recorder()
    threads = [threading.Thread(target=overdub, args=(ctx, program.add, number, 0)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ctx.calls, key=lambda call: call[1]) == [(operator.add, (number, 0)) for number in range(8)]


def test_context_that_another_thread_has_entered_does_not_act_here(program, Recorder):
    ctx = Recorder()
    entered, done = threading.Event(), threading.Event()

    def hold():
        with ctx:
            entered.set()
            done.wait(timeout=10)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(timeout=10)
    assert current() is None
    program.twice(2)
    done.set()
    thread.join()
    assert ctx.calls == []


def test_other_tasks_do_not_see_the_context(program, Recorder):
    ctx = Recorder()

    async def inside(gate):
        with ctx:
            return await program.double(1, gate)

    async def outside(gate):
        result = await program.double(2)
        gate.set()
        return result

    async def main():
        gate = asyncio.Event()
        return await asyncio.gather(inside(gate), outside(gate))

    assert asyncio.run(main()) == [2, 4]
    assert [args for f, args in ctx.calls if f is operator.add] == [(1, 1)]


def test_two_tasks_have_each_their_own_context(program, Recorder):
    first, second = Recorder(), Recorder()

    async def work(ctx, number):
        with ctx:
            for _ in range(3):
                await asyncio.sleep(0)
                await program.double(number)

    async def main():
        await asyncio.gather(work(first, 1), work(second, 2))

    asyncio.run(main())
    assert [args for f, args in first.calls if f is operator.add] == [(1, 1)] * 3
    assert [args for f, args in second.calls if f is operator.add] == [(2, 2)] * 3


# Generators and coroutines as roots


def test_overdubbed_generator_runs_in_the_context_whenever_it_is_advanced(program, Recorder):
    ctx = Recorder()
    iterator = overdub(ctx, program.numbers, 3)
    assert next(iterator) == 1
    assert list(iterator) == [2, 3]
    assert [args for f, args in ctx.calls if f is program.add] == [(0, 1), (1, 1), (2, 1)]


def test_overdubbed_generator_does_not_lend_its_context_to_its_consumer(program, Recorder):
    ctx = Recorder()
    for number in overdub(ctx, program.numbers, 2):
        assert current() is None
        program.twice(number + 100)
    assert [args for f, args in ctx.calls if f is operator.add] == [(0, 1), (1, 1)]


def test_overdubbed_coroutine_runs_in_the_context_when_it_is_awaited(program, Recorder):
    ctx = Recorder()
    awaitable = overdub(ctx, program.double, 4)
    assert asyncio.run(as_coroutine(awaitable)) == 8
    assert (program.add, (4, 4)) in ctx.calls


async def as_coroutine(awaitable):
    return await awaitable


def test_overdubbed_coroutine_does_not_lend_its_context_while_it_is_suspended(program, Recorder):
    ctx = Recorder()

    async def main():
        gate = asyncio.Event()
        task = asyncio.ensure_future(overdub(ctx, program.double, 1, gate))
        await asyncio.sleep(0)
        assert current() is None
        program.twice(100)
        gate.set()
        return await task

    assert asyncio.run(main()) == 2
    assert [args for f, args in ctx.calls if f is operator.add] == [(1, 1)]


def test_overdubbed_async_generator_runs_in_the_context(program, Recorder):
    ctx = Recorder()

    async def main():
        values = []
        async for value in overdub(ctx, program.counting, 3):
            assert current() is None
            values.append(value)
        return values

    assert asyncio.run(main()) == [1, 2, 3]
    assert [args for f, args in ctx.calls if f is program.add] == [(0, 1), (1, 1), (2, 1)]


def test_generator_made_inside_and_advanced_outside_is_outside(program, Recorder):
    with Recorder() as ctx:
        iterator = program.numbers(2)
    assert list(iterator) == [1, 2]
    assert program.add not in ctx.functions


@pytest.fixture
def a_context_was_entered():
    """Generators that begin before the first context of a process run plain to their end."""
    with Context():
        pass


@pytest.mark.usefixtures("a_context_was_entered")
def test_generator_made_outside_and_advanced_inside_is_inside(program, Recorder):
    iterator = program.numbers(2)
    with Recorder() as ctx:
        assert list(iterator) == [1, 2]
    assert [args for f, args in ctx.calls if f is program.add] == [(0, 1), (1, 1)]


@pytest.mark.usefixtures("a_context_was_entered")
def test_generator_advanced_now_inside_now_outside_follows(program, Recorder):
    iterator = program.numbers(4)
    ctx = Recorder()
    next(iterator)
    with ctx:
        next(iterator)
    next(iterator)
    with ctx:
        next(iterator)
    assert [args for f, args in ctx.calls if f is program.add] == [(1, 1), (3, 1)]


@pytest.mark.usefixtures("a_context_was_entered")
def test_generator_made_outside_runs_overloads_of_the_context_that_advances_it(program):
    class Late(Context):
        pass

    iterator = program.numbers(2)
    Late.overdub.register(program.add)(lambda ctx, f, x, y: 10 * (x + y))
    with Late():
        assert next(iterator) == 10
    assert next(iterator) == 2


@pytest.mark.usefixtures("a_context_was_entered")
def test_generator_of_a_module_that_was_imported_before_it_was_installed_is_inside(make_package, Recorder):
    program = importlib.import_module(make_package(PROGRAM))
    with install([program.__name__]):
        iterator = program.numbers(2)
        with Recorder() as ctx:
            assert list(iterator) == [1, 2]
        assert [args for f, args in ctx.calls if f is program.add] == [(0, 1), (1, 1)]


@pytest.mark.usefixtures("a_context_was_entered")
def test_coroutine_that_was_started_outside_is_inside_when_it_continues_there(program, Recorder):
    async def main():
        gate = asyncio.Event()
        coroutine = program.double(2, gate)
        coroutine.send(None)
        gate.set()
        with Recorder() as ctx, pytest.raises(StopIteration) as ended:
            coroutine.send(None)
        return ended.value.value, [args for f, args in ctx.calls if f is program.add]

    assert asyncio.run(main()) == (4, [(2, 2)])


@pytest.mark.usefixtures("a_context_was_entered")
def test_generator_that_is_marked_as_a_coroutine_stays_one_however_often_its_module_is_executed(make_program):
    program = make_program("""
        import types

        @types.coroutine
        def wait(x):
            got = yield x
            return abs(got)

        async def main():
            return await wait("asked")
    """)
    for _ in range(2):
        importlib.reload(program)
        coroutine = program.main()
        assert coroutine.send(None) == "asked"
        with pytest.raises(StopIteration, match="3"):
            coroutine.send(-3)


def test_generator_that_began_in_a_counting_context_is_seen_by_the_one_in_which_it_continues(program, Recorder):
    class Counting(Context):
        count = 0

        def prehook(self, f, *args):
            self.count += 1

    counting = Counting()
    with counting:
        iterator = program.numbers(3)
        next(iterator)
    before = counting.count
    with Recorder() as ctx:
        next(iterator)
    assert [args for f, args in ctx.calls if f is program.add] == [(1, 1)]
    assert counting.count == before
    with counting:
        next(iterator)
    assert counting.count > before


def test_block_of_a_context_inside_of_one_that_counts_is_seen_by_both(make_program, Recorder):
    class Counting(Context, events=Events.CALLS):
        count = 0

        def prehook(self, f, *args):
            self.count += 1

    class Sine(Context):
        pass

    Sine.overdub.register(math.sin)(lambda ctx, f, x: "overloaded")
    program = make_program("""
        import math

        def block(ctx):
            with ctx:
                return math.sin(abs(0.0))
    """)
    with Counting() as outer:
        inner = Recorder()
        assert program.block(inner) == 0.0
        assert inner.calls == [(abs, (0.0,)), (math.sin, (0.0,))]
        assert outer.count == 2
    with Counting():
        assert program.block(Sine()) == "overloaded"


@pytest.mark.usefixtures("a_context_was_entered")
def test_report_names_no_variant_for_a_generator_that_ran_while_nothing_was_active(make_package):
    program = importlib.import_module(make_package(PROGRAM))
    with install([program.__name__]) as installation:
        assert list(program.numbers(2)) == [1, 2]
        assert [module.specialised for module in installation.report()] == [{}]


@pytest.mark.usefixtures("a_context_was_entered")
def test_uninstalling_restores_generators_that_were_made_outside(make_package):
    name = make_package(PROGRAM)
    program = importlib.import_module(name)
    plain = program.numbers.__code__
    with install([name]):
        assert list(program.numbers(2)) == [1, 2]
        assert program.numbers.__code__ is not plain
    assert program.numbers.__code__ is plain


def test_code_named_string_has_no_source_although_linecache_knows_some(monkeypatch):
    # From 3.13 on, linecache keeps what `python -c` was given under the name that all such code shares.
    import linecache

    monkeypatch.setitem(linecache.cache, "<string>", (9, None, ["def f(:\n"], "<string>"))
    namespace = {}
    exec("def f(x):\n    return abs(x)\n", namespace)
    ctx = Context()
    assert not canrecurse(ctx, namespace["f"], -1)
    assert overdub(ctx, namespace["f"], -1) == 1


def test_specialising_reads_files_out_of_sight_of_who_forbids_it_in_event_loops(make_program, monkeypatch):
    program = make_program("""
        def helper():
            return 1

        async def main():
            return helper()
    """)
    plain, loops = source_file._read_file, []

    def read(filename):
        loops.append(asyncio._get_running_loop())
        return plain(filename)

    monkeypatch.setattr(source_file, "_read_file", read)

    class Own(Context):
        def prehook(self, f, *args):
            self.seen = f, args

    async def root():
        with Own() as ctx:
            await program.main()
        return ctx.seen, asyncio.get_running_loop()

    seen, loop = asyncio.run(root())
    assert seen == (program.helper, ())
    assert loop is not None
    assert loops
    assert set(loops) == {None}


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


TYPED = """
from cassette_import import Context, overdub
class Seen(Context):
    def prehook(self, f, *args): print("seen", f.__name__)

def square(x): return abs(x) ** 2

print(overdub(Seen(), square, 3))
print(overdub(Seen(), square, 4))
with Seen(): square(5)

"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the prompt keeps what was typed from 3.13 on")
def test_a_function_that_was_typed_at_the_prompt_is_said_to_have_no_source(tmp_path):
    done = run("-i", folder=tmp_path, stdin=TYPED)
    assert done.stdout.split() == ["9", "16", "25"]
    assert done.stderr.count("CassetteWarning: square has no source") == 1
