"""Tasks, timers, queues and jobs of asyncio: a replay goes on in the recorded order, and timeouts expire in it."""

import asyncio
import gc
import random
import threading
import time

import pytest
from helpers.late_loop import LateLoop

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.boundaries import boundary
from cassette_import.contexts.recording import replayed_loops


@boundary
async def answer(number):
    """An external call that takes some time."""
    await asyncio.sleep(random.random() / 100)
    return number


@boundary
async def stuck():
    """An external call that needs a while to end when it is cancelled."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.002)


async def in_order(log, number):
    log.append(await answer(number))
    return number


async def waits_for_the_first(log):
    pending = {asyncio.create_task(answer(number)) for number in range(6)}
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        log.append(sorted(task.result() for task in done))


async def waits_with_a_timeout(log):
    pending = {asyncio.create_task(in_order(log, number)) for number in range(6)}
    while pending:
        done, pending = await asyncio.wait(pending, timeout=0.001)
        log.append((len(done), len(pending)))


async def waits_for_completed_tasks(log):
    for next_one in asyncio.as_completed([answer(number) for number in range(6)]):
        log.append(await next_one)


async def shields(log):
    task = asyncio.create_task(in_order(log, 1))
    for attempt in range(100):
        try:
            log.append(await asyncio.wait_for(asyncio.shield(task), 0.001))
        except asyncio.TimeoutError:
            log.append(("timeout", attempt))
        else:
            break


async def has_workers(log):
    async def work(name):
        while True:
            item = await queue.get()
            log.append((name, await answer(item)))
            queue.task_done()

    queue = asyncio.Queue()
    for number in range(12):
        queue.put_nowait(number)
    workers = [asyncio.create_task(work(name)) for name in "abc"]
    await queue.join()
    for worker in workers:
        worker.cancel()
    log.append([type(error).__name__ for error in await asyncio.gather(*workers, return_exceptions=True)])


async def polls_a_queue(log):
    async def produce():
        for number in range(5):
            await queue.put(await answer(number))

    queue = asyncio.Queue(2)
    producer = asyncio.create_task(produce())
    found = 0
    while found < 5:
        try:
            log.append(await asyncio.wait_for(queue.get(), 0.002))
            found += 1
        except asyncio.TimeoutError:
            log.append("idle")
    await producer


async def has_timers_alone(log):
    async def tick(name, period):
        for number in range(4):
            try:
                await asyncio.wait_for(asyncio.Event().wait(), period)
            except asyncio.TimeoutError:
                log.append((name, number))

    await asyncio.gather(tick("a", 0.0021), tick("b", 0.0017), tick("c", 0.0029))


async def cancels_a_timer(log):
    loop = asyncio.get_running_loop()
    timers = [loop.call_later(number / 500, log.append, number) for number in range(4)]
    timers[2].cancel()
    log.append(await answer("answer"))
    await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=0.01)


async def times_out_in_an_external_call(log):
    try:
        await asyncio.wait_for(stuck(), 0.002)
    except asyncio.TimeoutError:
        log.append("timeout")
    task = asyncio.create_task(stuck())
    await asyncio.sleep(0)
    task.cancel()
    log.append([type(error).__name__ for error in await asyncio.gather(task, return_exceptions=True)])


async def takes_turns(log):
    async def work(number):
        async with semaphore:
            await in_order(log, number)

    semaphore = asyncio.Semaphore(2)
    log.append(await asyncio.gather(*map(work, range(6))))


async def has_jobs(log):
    def job(number):
        time.sleep(random.random() / 100)
        return number, random.random()

    jobs = [asyncio.get_running_loop().run_in_executor(None, job, number) for number in range(5)]
    for done in asyncio.as_completed(jobs):
        log.append(await done)
    pending = {asyncio.create_task(asyncio.to_thread(job, number)) for number in range(5)}
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        log.append(sorted(task.result() for task in done))


async def is_called_from_a_thread(log):
    def work():
        for number in range(4):
            time.sleep(random.random() / 200)
            loop.call_soon_threadsafe(log.append, ("thread", number))

    loop = asyncio.get_running_loop()
    thread = threading.Thread(target=work)
    thread.start()
    for number in range(4):
        await in_order(log, number)
    await asyncio.to_thread(thread.join)


PROGRAMS = [
    waits_for_the_first,
    waits_with_a_timeout,
    waits_for_completed_tasks,
    shields,
    has_workers,
    polls_a_queue,
    has_timers_alone,
    cancels_a_timer,
    times_out_in_an_external_call,
    takes_turns,
    has_jobs,
    is_called_from_a_thread,
]


def runs(program):
    log = []
    asyncio.run(program(log))
    return log


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_tasks_go_on_in_the_recorded_order(tmp_path, monkeypatch, program):
    monkeypatch.setattr(replayed_loops, "_PATIENCE", 20.0)  # on a busy machine, a process may get no time for a while
    file = str(tmp_path / "it.cassette")
    with Record(file) as record:
        before = overdub(record, runs, program)
    for _ in range(3):
        with Replay(file) as replay:
            assert overdub(replay, runs, program) == before
            assert not replay.has_lost_order
    assert before


def runs_twice(program):
    log = []
    loop = asyncio.new_event_loop()
    for _ in range(2):
        loop.run_until_complete(program(log))
    loop.close()
    return log


def test_a_loop_that_runs_twice_goes_on_in_the_recorded_order(tmp_path):
    file = str(tmp_path / "it.cassette")
    with Record(file) as record:
        before = overdub(record, runs_twice, waits_with_a_timeout)
    with Replay(file) as replay:
        assert overdub(replay, runs_twice, waits_with_a_timeout) == before


async def waits_for_two_events(log):
    async def wait(name, seconds):
        try:
            async with asyncio.timeout(seconds):
                await asyncio.Event().wait()
        except asyncio.TimeoutError:
            log.append(name)

    await asyncio.gather(wait("long", 0.02), wait("short", 0.01))


def runs_in_a_late_loop(program):
    log = []
    with asyncio.Runner(loop_factory=LateLoop) as runner:
        runner.run(program(log))
    return log


@pytest.mark.parametrize("is_late", [True, False], ids=["in the recorded run", "in the replay"])
def test_a_timeout_that_is_over_when_it_begins_keeps_the_recorded_order(tmp_path, monkeypatch, is_late):
    file = str(tmp_path / "it.cassette")
    monkeypatch.setattr(LateLoop, "is_late", is_late)
    with Record(file) as record:
        before = overdub(record, runs_in_a_late_loop, waits_for_two_events)
    monkeypatch.setattr(LateLoop, "is_late", not is_late)
    with Replay(file) as replay:
        assert overdub(replay, runs_in_a_late_loop, waits_for_two_events) == before
    assert before == (["long", "short"] if is_late else ["short", "long"])


def test_a_loop_has_its_own_queue_again_when_nothing_is_recorded(tmp_path):
    loop = asyncio.new_event_loop()
    with Record(str(tmp_path / "it.cassette")) as record:
        overdub(record, loop.run_until_complete, answer(1))
    loop.run_until_complete(answer(2))
    assert type(loop._ready).__name__ == "deque"
    assert "call_at" not in vars(loop)
    loop.close()


async def waits_for_a_timer_or_not(log):
    event = asyncio.Event()
    if OPTIONS["sets"]:
        event.set()
    try:
        log.append(await asyncio.wait_for(event.wait(), 0.01))
    except asyncio.TimeoutError:
        log.append("timeout")
    log.append(await asyncio.gather(answer(1), answer(2)))


OPTIONS = {"sets": False}


class Later:
    """An awaitable that is no coroutine, as libraries return it that let callers wait or not."""

    def __await__(self):
        return asyncio.sleep(0, random.random()).__await__()


@boundary
def later():
    return Later()


def test_an_awaitable_that_is_no_coroutine_need_not_be_awaited(tmp_path, recwarn):
    async def wait():
        later()
        return await later(), asyncio.iscoroutine(later()), await asyncio.wait_for(later(), 1)

    with Record(tmp_path / "later.cassette") as record:
        before = overdub(record, lambda: asyncio.run(wait()))
    assert overdub(Replay(tmp_path / "later.cassette"), lambda: asyncio.run(wait())) == before
    assert before[1] is False
    gc.collect()
    assert not recwarn.list


def test_a_program_that_changes_the_order_gets_a_message(tmp_path):
    file = str(tmp_path / "it.cassette")
    OPTIONS["sets"] = False
    with Record(file) as record:
        overdub(record, runs, waits_for_a_timer_or_not)
    OPTIONS["sets"] = True
    with Replay(file) as replay:
        assert overdub(replay, runs, waits_for_a_timer_or_not) == [True, [1, 2]]
    assert replay.has_lost_order
    assert "in another order than recorded" in replay.lost_order
