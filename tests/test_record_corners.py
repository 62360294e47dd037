"""Record and replay at the corners: awaitables that are more than that, threads under way at the end, secrets."""

import asyncio
import collections.abc

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.boundaries import boundary

OUTSIDE = {}
"""What is there while recording; empty in a replay."""


class Request(collections.abc.Coroutine):
    """What aiohttp's `get` gives: to be awaited, or entered with `async with`, or made a task."""

    def __init__(self, coroutine):
        self._coroutine = coroutine

    def send(self, value):
        return self._coroutine.send(value)

    def throw(self, *error):
        return self._coroutine.throw(*error)

    def close(self):
        return self._coroutine.close()

    def __await__(self):
        return self._coroutine.__await__()

    async def __aenter__(self):
        self._answer = await self._coroutine
        return self._answer

    async def __aexit__(self, *exception):
        OUTSIDE["left"] += 1


@boundary
def request(name):
    async def answer():
        await asyncio.sleep(0.001)
        return OUTSIDE[name]

    return Request(answer())


@pytest.fixture
def both(tmp_path):
    """Run a function recorded and replayed; return what it gave both times, and the text of the recording."""

    def run(function, *arguments, mask=(), **answers):
        file = tmp_path / "it.cassette"
        OUTSIDE.clear()
        OUTSIDE.update(answers)
        with Record(str(file), mask=mask) as record:
            before = overdub(record, function, *arguments)
        OUTSIDE.clear()
        replay = Replay(str(file))
        after = overdub(replay, function, *arguments)
        replay.check_end()
        return before, after, file.read_text()

    return run


# ---- awaitables


def waits(how):
    return asyncio.run(how())


async def enters():
    async with request("a") as answer:
        return answer


async def awaits():
    return await request("a")


async def makes_tasks():
    return await asyncio.gather(request("a"), asyncio.create_task(request("b")))


async def is_too_slow():
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(request("a"), 0)
    return "too slow"


async def closes():
    return request("a").close()


@pytest.mark.parametrize(
    ("how", "given"), [(enters, 1), (awaits, 1), (makes_tasks, [1, 2]), (is_too_slow, "too slow"), (closes, None)]
)
def test_what_is_awaited_or_entered_or_made_a_task_is_replayed(both, how, given):
    before, after, _ = both(waits, how, a=1, b=2, left=0)
    assert before == after == given


@boundary
async def soon(name):
    return OUTSIDE[name]


async def never_begins():
    task = asyncio.create_task(soon("a"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return "cancelled"


async def forgets():
    soon("a")
    return "forgotten"


def test_a_task_that_was_cancelled_before_it_began_gives_no_warning(both):
    before, after, _ = both(waits, never_begins, a=1)
    assert before == after == "cancelled"


def test_a_coroutine_that_nobody_awaits_gives_the_warning_that_it_would_give(both):
    with pytest.warns(RuntimeWarning) as warned:
        both(waits, forgets, a=1)
    assert [str(warning.message) for warning in warned] == ["coroutine 'soon' was never awaited"] * 2
