"""Passes in every kind of function."""

import asyncio

import pytest
from helpers.passes import expression, failure, in_place_of, multiply

from cassette_import import Context, Events, install, overdub


def test_a_pass_on_a_lambda(program):
    made = lambda context_type, reflection: expression("x + 1")
    assert overdub(Context(passes=[made]), program.square, 5) == 6
    assert program.square(5) == 25


def test_a_pass_on_lambdas_within_one_another_in_the_iterable_of_a_comprehension(make_program):
    """No assignment expression is allowed there, however deep, so the lambdas have no temporaries."""
    program = make_program(
        "def take(a):\n    return [n for n in map(lambda k: sorted([k], key=lambda k: -k + a)[0], [1, 2])]"
    )
    with install(program.__name__):
        assert overdub(Context(passes=[lambda context_type, reflection: reflection.tree]), program.take, 2) == [1, 2]


def test_a_pass_on_a_lambda_may_return_a_lambda(program):
    made = lambda context_type, reflection: expression("lambda x: x + 1")
    assert overdub(Context(passes=[made]), program.square, 5) == 6


def test_a_pass_on_methods_of_all_kinds(program):
    ctx = Context(passes=[multiply])
    with ctx:
        point = program.Point(3)
        assert point.moved(4).x == 12
        assert program.Point.static(5) == 5
        assert program.Point.classy(7).x == 7
        assert point.double == 9
    assert point.double == 6


def test_a_pass_on_a_generator(program):
    ctx = Context(passes=[multiply])
    assert list(overdub(ctx, program.numbers, 3)) == [0, 1, 2]
    assert list(program.numbers(3)) == [1, 2, 3]


def test_a_generator_with_a_pass_in_one_of_two_contexts(program):
    with Context(passes=[multiply]):
        inside = program.numbers(3)
        assert list(inside) == [0, 1, 2]
    with Context():
        assert list(program.numbers(3)) == [1, 2, 3]


def test_an_expression_for_a_generator_is_what_it_returns(program):
    ctx = Context(passes=[lambda context_type, reflection: expression("n * 2")])
    with pytest.raises(StopIteration) as info:
        next(overdub(ctx, program.numbers, 3))
    assert info.value.value == 6


def test_a_pass_on_a_coroutine(program):
    async def run():
        return await overdub(Context(passes=[multiply]), program.later, 5), await program.later(5)

    assert asyncio.run(run()) == (5, 6)


def test_a_pass_on_an_asynchronous_generator(program):
    async def run():
        return [i async for i in overdub(Context(passes=[multiply]), program.several, 3)]

    assert asyncio.run(run()) == [0, 1, 2]


def test_a_pass_on_a_closure_keeps_its_variables(program):
    step = program.counter()
    assert step(5) == 5
    assert overdub(Context(passes=[multiply]), step, 3) == 15
    assert step(1) == 16


def test_a_pass_on_a_function_with_global_names(program):
    assert overdub(Context(passes=[multiply]), program.bump) == 0
    assert program.bump() == 1


NESTED = """
    def outer(x):
        def inner(y):
            return x + y
        return inner(4) * 2
"""


def test_what_a_pass_does_to_a_function_is_not_seen_outside_of_the_context(make_program):
    program = make_program(NESTED)
    overdub(Context(passes=[multiply]), program.outer, 3)
    assert program.outer(3) == 14
    assert overdub(Context(), program.outer, 3) == 14


def test_functions_in_a_function_are_passed_to_the_pass_separately(make_program):
    program = make_program(NESTED)
    seen = []

    def look(context_type, reflection):
        seen.append(reflection)
        return multiply(context_type, reflection)

    ctx = Context(passes=[look])
    assert overdub(ctx, program.outer, 3) == 24
    assert [reflection.function.__qualname__ for reflection in seen] == ["outer", "outer.<locals>.inner"]
    assert seen[1].source == "def inner(y):\n    return x + y\n"
    assert str(seen[1].signature) == "(y)"
    assert (seen[1].filename, seen[1].lineno) == (program.__file__, program.outer.__code__.co_firstlineno + 1)
    assert program.outer(3) == 14


DEEPER = """
    def outer(x):
        class Inner:
            def method(self, y):
                return [f(x) for f in (lambda z: z + y, lambda z: z + x)]
        def numbers():
            yield x + 1
            yield from Inner().method(5)
        return list(numbers()), sorted([1, 2], key=lambda v: -v + x)
"""


def test_functions_of_all_kinds_in_a_function(make_program):
    program = make_program(DEEPER)
    plain = program.outer(3)
    assert plain == ([4, 8, 6], [2, 1])
    assert overdub(Context(passes=[multiply]), program.outer, 3) == ([3, 15, 9], [2, 1])
    assert program.outer(3) == plain
    assert overdub(Context(), program.outer, 3) == plain


@pytest.mark.parametrize("events", [Events.DEFAULT, Events.ALL], ids=["default", "all"])
def test_functions_in_a_function_resolve_the_names_around_them(events, make_program):
    class Seeing(Context, events=events):
        passes = (lambda context_type, reflection: reflection.tree,)

        def prehook(self, f, *args, **kwargs):
            len(args)

    program = make_program("""
        class A:
            def method(self):
                class B:
                    def private(self):
                        self.__name = 1
                        return sorted(vars(self))
                return B().private(), [(lambda: i)() for i in range(2)]
        """)
    assert overdub(Seeing(), program.A().method) == program.A().method() == (["_B__name"], [0, 1])


def test_functions_in_a_function_for_several_contexts_at_once(make_program):
    program = make_program(NESTED)
    times = Context(passes=[multiply])
    minus = Context(passes=[in_place_of("inner", lambda reflection: expression("x - y"))])
    for _ in range(2):
        assert overdub(times, program.outer, 3) == 24
        assert overdub(minus, program.outer, 3) == -2
        assert overdub(Context(), program.outer, 3) == 14
        assert program.outer(3) == 14
    with times, minus:
        assert program.outer(3) == -2


def test_a_closure_that_was_made_outside_is_passed_to_the_pass_too(program):
    step = program.counter()
    with Context(passes=[multiply]):
        assert step(3) == 0
    assert program.counter()(3) == 3


def test_a_failing_pass_on_a_function_in_a_function_is_reported_where_that_function_runs(make_program):
    program = make_program(NESTED)

    def picky(context_type, reflection):
        return None if reflection.function.__name__ == "inner" else reflection.tree

    error = failure([picky], program.outer, 3)
    assert "returned None" in str(error)
    assert "for outer.<locals>.inner (" in str(error)
    assert program.outer(3) == 14


def test_a_pass_may_insert_functions_of_its_own(make_program, Recorder):
    program = make_program(NESTED)
    Recorder.passes = (lambda context_type, reflection: expression("(lambda y: x - y)(1)"),)
    ctx = Recorder()
    assert overdub(ctx, program.outer, 3) == 2
    assert program.outer(3) == 14


def test_a_pass_on_a_recursive_function(make_program):
    program = make_program("def total(n):\n    return 0 if n == 0 else n + total(n - 1)\n")
    assert overdub(Context(passes=[multiply]), program.total, 4) == 0
    assert program.total(4) == 10


def test_a_pass_on_an_expression_deeper_than_the_recursion_limit(make_program):
    depth = 500  # more frames than are left of a limit of 1000; on 3.12, C code takes trees of up to about 1500
    program = make_program(f"def deep(x):\n    return {' + '.join(['x'] * depth)}\n")
    assert overdub(Context(passes=[lambda context_type, reflection: reflection.tree]), program.deep, 1) == depth
