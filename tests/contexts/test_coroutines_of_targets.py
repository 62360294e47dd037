"""Coroutines of targets of `memoize` and `faults` look as in plain Python, and leave no coroutine behind."""

import warnings

import pytest

from cassette_import import overdub
from cassette_import.contexts import Faults, Memoize

PROGRAM = """
    import asyncio, gc, inspect

    async def fetch(x):
        await asyncio.sleep(0)
        return [x]

    async def cancelled():
        task = asyncio.create_task(fetch(1))
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"

    async def closed():
        made = fetch(1)
        made.close()
        return inspect.iscoroutine(made), made.__name__, made.__qualname__

    async def forgotten():
        fetch(1)
        gc.collect()

    async def again():
        made = fetch(1)
        first = await made
        try:
            await made
        except RuntimeError as error:
            return first, str(error)

    async def twice(what):
        return await what(), await what()

    def main(what):
        return asyncio.run(twice(what))
"""


def outcome(call):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        return call(), [str(warning.message) for warning in shown]


@pytest.mark.parametrize("make", [Memoize, lambda f: Faults(f, corrupt=lambda result: result)])
@pytest.mark.parametrize("what", ["cancelled", "closed", "forgotten", "again"])
@pytest.mark.parametrize("is_cached", [False, True])
def test_a_program_sees_the_same_coroutines(make_program, make, what, is_cached):
    plain, other = make_program(PROGRAM), make_program(PROGRAM)
    context = make(other.fetch)
    if is_cached:
        overdub(context, other.main, lambda: other.fetch(1))
    found = outcome(lambda: overdub(context, other.main, getattr(other, what)))
    assert found == outcome(lambda: plain.main(getattr(plain, what)))
