"""Generators and coroutines as root functions, and those that are resumed elsewhere."""

import asyncio
import importlib
import math
import operator

import pytest
from helpers.called_program import PROGRAM

from cassette_import import Context, Events, current, install, overdub


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
