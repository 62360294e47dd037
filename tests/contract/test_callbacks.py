"""Callbacks that a higher-order leaf calls from C run the hooks and overloads of their function."""

import functools
import heapq
import itertools
import math
import operator

import pytest

from cassette_import import HIGHER_ORDER, Context, overdub, recurse


@pytest.fixture
def double_sine():
    class Double(Context):
        pass

    @Double.overdub.register(math.sin, operator.mul, str.upper)
    def _(ctx, f, *args):
        return f(*args) * 2

    return Double


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("list(map(math.sin, [0.5]))", [math.sin(0.5) * 2]),
        ("list(map(lambda x: math.sin(x), [0.5]))", [math.sin(0.5) * 2]),
        ("functools.reduce(operator.mul, [1, 2, 3])", 24),
        ("list(itertools.accumulate([1, 2], operator.mul))", [1, 4]),
        ("list(itertools.starmap(operator.mul, [(2, 3)]))", [12]),
        ("max([0.1, 0.2], key=math.sin)", 0.2),
        ("list(map(str.upper, ['a']))", ["AA"]),
        ("list(map(functools.partial(math.sin), [0.5]))", [math.sin(0.5) * 2]),
        ("(lambda m: list(m(math.sin, [0.5])))(map)", [math.sin(0.5) * 2]),
        ("list(map(abs, [-1]))", [1]),
        ("list(filter(None, [0, 1]))", [1]),
    ],
)
def test_callback_of_a_leaf_runs_its_overload(expression, expected, make_program, double_sine):
    program = make_program(f"""
        import functools, itertools, math, operator

        def main():
            return {expression}
    """)
    assert overdub(double_sine(), program.main) == expected


def test_callback_runs_a_hook_that_is_registered_for_it(make_program):
    program = make_program("""
        import math

        def main():
            values = [0.3, 0.1]
            values.sort(key=math.sin)
            return values
    """)

    class Own(Context):
        pass

    @Own.prehook.register(math.sin)
    def _(ctx, f, x):
        ctx.metadata.append((f, x))

    ctx = Own([])
    assert overdub(ctx, program.main) == [0.1, 0.3]
    assert ctx.metadata == [(math.sin, 0.3), (math.sin, 0.1)]


def test_hooks_see_the_callback_that_the_program_gave(make_program, double_sine):
    program = make_program("""
        import math

        def main():
            return list(map(math.sin, [0.5]))
    """)

    class Both(double_sine):
        def prehook(self, f, *args):
            self.seen = [*getattr(self, "seen", []), (f, args)]

    ctx = Both()
    overdub(ctx, program.main)
    assert ctx.seen[0] == (map, (math.sin, [0.5]))
    assert (math.sin, (0.5,)) in ctx.seen


def test_a_python_callback_runs_its_overload(make_program):
    program = make_program("""
        def f(x):
            return x

        def main():
            return sorted([1, 2, 3], key=f)
    """)

    class Own(Context):
        pass

    Own.overdub.register(program.f)(lambda ctx, f, x: -x)
    assert overdub(Own(), program.main) == [3, 2, 1]


def test_a_lazy_leaf_that_is_advanced_outside_of_the_context_is_plain(make_program, double_sine):
    program = make_program("""
        import math

        def main():
            return map(math.sin, [0.5])
    """)
    assert list(overdub(double_sine(), program.main)) == [math.sin(0.5)]


def test_a_leaf_of_the_user_is_added_to_the_list(make_program, double_sine):
    program = make_program("""
        import math

        def main(apply):
            return apply(math.sin, 0.5)
    """)

    def apply(function, x):
        return function(x)

    assert overdub(double_sine(), program.main, apply) == math.sin(0.5)
    HIGHER_ORDER.add(apply)
    assert overdub(double_sine(), program.main, apply) == math.sin(0.5) * 2
    del HIGHER_ORDER.by_id[id(apply)], HIGHER_ORDER.positional[id(apply)]


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="a leaf must be callable"):
        HIGHER_ORDER.add(5)


TAKERS = {
    map: lambda: list(map(math.sin, [1.0])),
    filter: lambda: list(filter(math.sin, [1.0])),
    sorted: lambda: sorted([1.0, 2.0], key=math.sin),
    list.sort: lambda: [1.0, 2.0].sort(key=math.sin),
    heapq.nlargest: lambda: heapq.nlargest(1, [1.0, 2.0], key=math.sin),
    itertools.accumulate: lambda: list(itertools.accumulate([1.0, 2.0], math.pow)),
    functools.reduce: lambda: functools.reduce(math.pow, [1.0, 2.0]),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_a_callback_in_c_is_inside_where_an_overload_goes_on_with_its_leaf(taker):
    class Seen(Context): ...

    seen = []

    @Seen.overdub.register(math.sin, math.pow)
    def _(ctx, f, *args):
        seen.append(args)
        return recurse(ctx, f, *args)

    overdub(Seen(), TAKERS[taker])
    expected = seen.copy()
    seen.clear()
    Seen.overdub.register(taker)(lambda ctx, f, *args, **kwargs: recurse(ctx, f, *args, **kwargs))
    overdub(Seen(), TAKERS[taker])
    assert seen == expected != []
