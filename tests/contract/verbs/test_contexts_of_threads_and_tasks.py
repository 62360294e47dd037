"""A context is active in the thread and the task that have entered it."""

import asyncio
import concurrent.futures
import operator
import threading

from cassette_import import Context, current, overdub
from cassette_import.specialization import source_file


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
