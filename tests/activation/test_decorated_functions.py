"""Functions that a context decorates: each call is run in the context, whatever the kind of the function."""

import asyncio
import contextlib
import inspect
import math

import pytest

from cassette_import import Context, Events
from cassette_import.contexts import (
    CallGraph,
    CallTypes,
    Faults,
    Memoize,
    Noop,
    Profile,
    Record,
    Substitute,
    Taint,
    Trace,
)


class SinToCos(Context, events=Events.CALLS): ...


@SinToCos.overdub.register(math.sin)
def _(ctx, f, x):
    return math.cos(x)


def a_function():
    @SinToCos()
    def decorated(x):
        return math.sin(x)

    return decorated, decorated(0.0)


def a_generator_function():
    @SinToCos()
    def decorated(x):
        yield math.sin(x)

    return decorated, *decorated(0.0)


def a_coroutine_function():
    @SinToCos()
    async def decorated(x):
        await asyncio.sleep(0)
        return math.sin(x)

    return decorated, asyncio.run(decorated(0.0))


def an_asynchronous_generator_function():
    @SinToCos()
    async def decorated(x):
        yield math.sin(x)

    async def first():
        async with contextlib.aclosing(decorated(0.0)) as values:
            return await anext(values)

    return decorated, asyncio.run(first())


KINDS = {
    a_function: inspect.isfunction,
    a_generator_function: inspect.isgeneratorfunction,
    a_coroutine_function: inspect.iscoroutinefunction,
    an_asynchronous_generator_function: inspect.isasyncgenfunction,
}


@pytest.mark.parametrize("make", KINDS)
def test_a_decorated_function_keeps_its_kind_and_runs_in_the_context(make):
    decorated, value = make()
    assert value == 1.0
    assert KINDS[make](decorated)
    assert decorated.__name__ == "decorated"
    assert [*inspect.signature(decorated).parameters] == ["x"]


def tens(value):
    return value * 10


CONTEXTS = [
    CallGraph, CallTypes, Noop, Profile, Taint, Trace, lambda: Substitute({math.sqrt: math.sqrt}),
    lambda: Faults(math.sqrt, delay=0), lambda: Memoize(math.sqrt), lambda: Record(None),
]  # fmt: skip


@pytest.mark.parametrize("make", CONTEXTS)
def test_each_ready_context_decorates_methods(make):
    class Shop:
        @make()
        def price(self, number):
            return tens(math.sqrt(number))

        @property
        @make()
        def size(self):
            return tens(math.sqrt(9))

        @classmethod
        @make()
        def made(cls):
            return cls, math.sqrt(9)

    assert (Shop().price(9), Shop().size, Shop.made()) == (30, 30, (Shop, 3))


def test_calls_share_the_context_that_decorates_them():
    @(memo := Memoize(tens))
    def twice():
        return tens(1) + tens(1)

    assert (twice(), twice()) == (20, 20)
    assert "4 calls, 3 hits" in memo.summary()


@pytest.mark.parametrize("target", [type("Client", (), {}), classmethod(tens)])
def test_what_is_no_function_cannot_be_decorated(target):
    with pytest.raises(TypeError, match="a Noop decorates functions"):
        Noop()(target)
