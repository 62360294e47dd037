"""Eight threads and two hundred tasks enter, leave, register, reload and start others, each in separate contexts.

Each event has a number, and its author computes which contexts have to get it: those that are active,
or those of them that inherit, if it happens in a thread, job or task that was started for it. At the end, each context
must have seen these events and no others, each of them once.
"""

import asyncio
import concurrent.futures
import contextlib
import gc
import importlib
import itertools
import operator
import random
import sys
import threading

import pytest

from cassette_import import Context, current, fallback, overdub
from cassette_import.runtime.state import ACTIVE, IN_USE

SOURCE = """
    import asyncio

    def twice(number):
        return number * 2

    def outer(number):
        return [twice(item) for item in [number]][0]

    class Thing:
        def method(self, number):
            inner = lambda item: outer(item)
            return inner(number)

    def numbers(number):
        yield number * 2
        yield twice(number + 1)

    async def slowly(number):
        await asyncio.sleep(0)
        return number * 2
"""
THREADS, STEPS_OF_THREAD = 8, 40
TASKS, STEPS_OF_TASK = 200, 6
DEPTH = 2
REGISTERED = [operator.sub, operator.xor, operator.or_, operator.and_, operator.lshift, operator.floordiv]


def context_types():
    """Return new context types: with a hook method, a targeted hook and an overload."""

    class Watching(Context):
        def __init__(self):
            self.seen = []

        def prehook(self, f, *args, **kwargs):
            if f is operator.mul:
                self.seen.append(args[0])

    class Targeted(Context, inherit=True):
        def __init__(self):
            self.seen = []

    @Targeted.posthook.register(operator.mul)
    def _(ctx, result, f, number, factor):
        assert result == number * factor
        ctx.seen.append(number)

    class Replacing(Context, inherit=True):
        def __init__(self):
            self.seen = []

    @Replacing.overdub.register(operator.mul)
    def _(ctx, f, number, factor):
        ctx.seen.append(number)
        return fallback(ctx, f, number, factor)

    return [Watching, Targeted, Replacing]


class World:
    """The state that all actors share."""

    def __init__(self, program, pool):
        self.program = program
        self.pool = pool
        self.types = context_types()
        self.numbers = itertools.count(1000, 10)
        self.registered = iter(REGISTERED)
        self.lock = threading.Lock()
        self.reloads = 0
        self.expected = {}  # by context
        self.failures = []

    def expect(self, number, contexts):
        for ctx in contexts:
            self.expected[ctx].append(number)

    def registration(self, kind):
        """Register a hook for an operator that no other actor uses; return the operator, None if there are no more."""
        with self.lock:
            function = next(self.registered, None)
            if function is not None:

                @kind.prehook.register(function)
                def _(ctx, f, number, other):
                    ctx.seen.append(number)

        return function

    def reload(self):
        with self.lock:  # two reloads of one module at a time are too much for Python itself
            self.reloads += 1
            importlib.reload(self.program)


class Actor:
    """Does random actions one after the other; the same actions for the same seed."""

    def __init__(self, world, seed):
        self.world = world
        self.random = random.Random(seed)
        self.active = []
        self.exits = contextlib.ExitStack()
        self.stack = []

    def heirs(self):
        return [ctx for ctx in self.active if ctx.inherit]

    def new_context(self):
        ctx = self.random.choice(self.world.types)()
        self.world.expected[ctx] = []
        return ctx

    def enter(self):
        if len(self.active) < DEPTH:
            ctx = self.new_context()
            exec("ctx.__enter__()", {"ctx": ctx})  # code without source: this module is not adopted
            self.active.append(ctx)

    def leave(self):
        if self.active:
            self.active.pop().__exit__(None, None, None)

    def call(self):
        program, number = self.world.program, next(self.world.numbers)
        function = self.random.choice([program.twice, program.outer, program.Thing().method])
        assert function(number) == number * 2
        self.world.expect(number, self.active)

    def call_in_a_context(self):
        if len(self.active) < DEPTH:
            ctx, number = self.new_context(), next(self.world.numbers)
            assert overdub(ctx, self.world.program.outer, number) == number * 2
            self.world.expect(number, [*self.active, ctx])

    def advance_elsewhere(self):
        """A generator of a new context is started here and continues in a job."""
        if not self.active:
            ctx, number = self.new_context(), next(self.world.numbers)
            iterator = overdub(ctx, self.world.program.numbers, number)
            assert next(iterator) == number * 2
            assert self.world.pool.submit(list, iterator).result() == [(number + 1) * 2]
            self.world.expect(number, [ctx])
            self.world.expect(number + 1, [ctx])

    def register(self):
        for ctx in self.active:
            function = self.world.registration(type(ctx))
            if function is not None:
                number = next(self.world.numbers)

                getattr(self.world.program, f"use_{function.__name__}")(number)
                self.world.expect(number, [other for other in self.active if isinstance(other, type(ctx))])

            break

    def reload(self):
        if self.random.random() < 0.2:
            self.world.reload()

    def check(self):
        assert ACTIVE.get().contexts == tuple(self.active)
        assert current() is (self.active[-1] if self.active else None)


SOURCE += "".join(
    f"\n    def use_{function.__name__}(number):\n        return number {sign} 3\n"
    for function, sign in zip(REGISTERED, ["-", "^", "|", "&", "<<", "//"], strict=True)
)


class ThreadActor(Actor):
    def start_thread(self):
        number = next(self.world.numbers)
        thread = threading.Thread(target=lambda: self.world.program.twice(number))
        thread.start()
        thread.join()
        self.world.expect(number, self.heirs())

    def submit(self):
        number = next(self.world.numbers)
        assert self.world.pool.submit(self.world.program.outer, number).result() == number * 2
        self.world.expect(number, self.heirs())

    def run(self, steps):
        try:
            actions = [
                *[self.call] * 6,
                *[self.enter] * 4,
                *[self.leave] * 3,
                self.call_in_a_context,
                self.advance_elsewhere,
                self.start_thread,
                self.submit,
                self.register,
                self.reload,
            ]
            for _ in range(steps):
                self.random.choice(actions)()
                self.check()
            while self.active:
                self.leave()
        except BaseException as error:
            self.world.failures.append(error)


class TaskActor(Actor):
    async def start_task(self):
        number = next(self.world.numbers)
        assert await asyncio.create_task(self.world.program.slowly(number)) == number * 2
        self.world.expect(number, self.heirs())

    async def to_thread(self):
        number = next(self.world.numbers)
        assert await asyncio.to_thread(self.world.program.twice, number) == number * 2
        self.world.expect(number, self.heirs())

    async def wait(self):
        number = next(self.world.numbers)
        assert await self.world.program.slowly(number) == number * 2
        self.world.expect(number, self.active)

    async def overdub_a_coroutine(self):
        if not self.active:
            ctx, number = self.new_context(), next(self.world.numbers)
            assert await overdub(ctx, self.world.program.slowly, number) == number * 2
            self.world.expect(number, [ctx])

    async def run(self, steps):
        waiting = [*[self.wait] * 3, self.start_task, self.to_thread, self.overdub_a_coroutine]
        actions = [*[self.call] * 4, *[self.enter] * 4, *[self.leave] * 3, self.call_in_a_context, self.register]
        for _ in range(steps):
            if self.random.random() < 0.5:
                await self.random.choice(waiting)()
            else:
                self.random.choice(actions)()
            self.check()
            await asyncio.sleep(0)
        while self.active:
            self.leave()


@pytest.fixture
def quick_switches():
    """Make threads switch more often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("seed", [1, 2])
def test_threads_and_tasks_see_their_own_events_once_each(make_program, quick_switches, seed):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        world = World(make_program(SOURCE), pool)
        # A reload that begins before the first context of all is entered makes plain functions until it ends.
        overdub(context_types()[0](), world.program.outer, 0)
        actors = [ThreadActor(world, 1000 * seed + number) for number in range(THREADS)]
        threads = [threading.Thread(target=actor.run, args=(STEPS_OF_THREAD,), daemon=True) for actor in actors]

        async def main():
            async with asyncio.TaskGroup() as group:
                for number in range(TASKS):
                    group.create_task(TaskActor(world, 1_000_000 * seed + number).run(STEPS_OF_TASK))

        for thread in threads:
            thread.start()
        asyncio.run(main())
        for thread in threads:
            thread.join(timeout=300)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    assert world.failures == []
    assert world.reloads > 0
    assert next(world.registered, None) is None
    assert [(ctx, ctx.seen) for ctx in world.expected] == list(world.expected.items())
    assert len(world.expected) > 300
    gc.collect()
    assert not IN_USE.entered
