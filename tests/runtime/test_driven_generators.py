"""Generators and coroutines that `overdub` and `recurse` return: what the program sees of them."""

import asyncio
import inspect
import types

import pytest

from cassette_import import Context, overdub, recurse


class Recursing(Context):
    """The idiom of a context that goes on inside each call."""

    def overdub(self, f, *args, **kwargs):
        return recurse(self, f, *args, **kwargs)


@types.coroutine
def switched(value):
    return (yield value)


async def numbers():
    got = yield 1
    yield got


def generator_based_coroutine():
    async def wait():
        return await switched(1)

    coroutine = wait()
    coroutine.send(None)
    try:
        coroutine.send("sent")
    except StopIteration as stop:
        return stop.value


def sleeping():
    async def main():
        await asyncio.sleep(0)
        return 1

    return asyncio.run(main())


def step_of_an_asynchronous_generator():
    step = numbers().__anext__()
    try:
        step.send(None)
    except StopIteration as stop:
        return stop.value


def exception_in_an_asynchronous_generator():
    generator = numbers()
    step = generator.__anext__()
    with pytest.raises(StopIteration):
        step.send(None)
    step = generator.athrow(KeyError("thrown"))
    try:
        step.send(None)
    except KeyError as error:
        return error.args


def closed_step():
    step = numbers().__anext__()
    step.close()
    return "closed"


def iterated_step():
    generator = numbers()

    async def main():
        return [await generator.__anext__(), await generator.asend(5)]

    return asyncio.run(main())


def types_of_objects():
    def generator():
        yield 1

    async def coroutine():
        pass

    made, awaitable, step = generator(), coroutine(), numbers()
    found = [
        isinstance(made, types.GeneratorType),
        isinstance(awaitable, types.CoroutineType),
        isinstance(step, types.AsyncGeneratorType),
        inspect.isgenerator(made),
        inspect.iscoroutine(awaitable),
        inspect.isasyncgen(step),
        inspect.isawaitable(awaitable),
        inspect.isawaitable(switched(1)),
        inspect.getgeneratorstate(made),
        repr(made).partition(" at ")[0].split(".")[-1],
    ]
    awaitable.close()
    return found


def tasks():
    async def work(x):
        await asyncio.sleep(0)
        return x

    async def main():
        return await asyncio.gather(work(1), asyncio.wait_for(work(2), 5), asyncio.shield(work(3)))

    return asyncio.run(main())


PROGRAMS = (
    generator_based_coroutine, sleeping, step_of_an_asynchronous_generator, exception_in_an_asynchronous_generator,
    closed_step, iterated_step, types_of_objects, tasks,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of functions that are too deep to be specialised
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_an_overdub_method_that_recurses_changes_nothing(program):
    expected = program()
    assert overdub(Recursing(), program) == expected


def test_what_overdub_returns_for_a_generator_based_coroutine_can_be_awaited():
    async def main():
        return await overdub(Recursing(), switched_once)

    assert asyncio.run(main()) == "done"


@types.coroutine
def switched_once():
    yield
    return "done"
