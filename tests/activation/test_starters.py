"""Every function of the standard library that starts, wraps or delays code: in which contexts the code runs."""

import asyncio
import sys

import pytest

from cassette_import import Context

PROGRAM = """
import asyncio, atexit, concurrent.futures, contextlib, contextvars, functools, multiprocessing.pool, queue, sched
import selectors, signal, socketserver, sys, threading, time, unittest, weakref

ran = []

def inner():
    ran.append(1)

def note(*_):
    inner()

async def task(*_):
    inner()

def in_thread():
    thread = threading.Thread(target=note); thread.start(); thread.join()

def in_timer():
    timer = threading.Timer(0, note); timer.start(); timer.join()

def submitted():
    with concurrent.futures.ThreadPoolExecutor(1) as pool: pool.submit(note).result()

def mapped():
    with concurrent.futures.ThreadPoolExecutor(1) as pool: list(pool.map(note, [1]))

def done_callback():
    with concurrent.futures.ThreadPoolExecutor(1) as pool: pool.submit(int).add_done_callback(note)

def callback_in_the_thread_of_the_job():
    go_on = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(go_on.wait).add_done_callback(note); go_on.set()

def callback_by_keyword():
    go_on = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(go_on.wait).add_done_callback(fn=note); go_on.set()

def callback_of_a_cancelled_job():
    go_on = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(go_on.wait); job = pool.submit(int); job.add_done_callback(note); job.cancel(); go_on.set()

def thread_pool():
    with multiprocessing.pool.ThreadPool(1) as pool: pool.map(note, [1])

def thread_pool_apply():
    with multiprocessing.pool.ThreadPool(1) as pool: pool.apply(note)

def scheduled():
    scheduler = sched.scheduler(); scheduler.enter(0, 1, note); scheduler.run()

def finalized():
    class Kept: pass
    kept = Kept(); weakref.finalize(kept, note); del kept

def copied_variables():
    contextvars.copy_context().run(note)

def exit_stack():
    with contextlib.ExitStack() as stack: stack.callback(note)

def signalled():
    before = signal.signal(signal.SIGUSR1, note)
    signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)

def dispatched():
    functools.singledispatch(note)(1)

def isolated_test_case():
    class Case(unittest.IsolatedAsyncioTestCase):
        async def test(self): inner()
    Case("test").run(unittest.TestResult())

def loop(do):
    async def main():
        await do(asyncio.get_running_loop())
        await asyncio.sleep(0.002)
    asyncio.run(main())

async def nothing(): pass
def later(call):
    async def do(loop): call(loop)
    return do

def created(): loop(later(lambda loop: asyncio.create_task(task())))
def ensured(): loop(later(lambda loop: asyncio.ensure_future(task())))
def gathered(): loop(lambda loop: asyncio.gather(task()))
def waited_for(): loop(lambda loop: asyncio.wait_for(task(), 1))
def shielded(): loop(lambda loop: asyncio.shield(task()))
def to_thread(): loop(lambda loop: asyncio.to_thread(note))
def in_executor(): loop(lambda loop: loop.run_in_executor(None, note))
def soon(): loop(later(lambda loop: loop.call_soon(note)))
def soon_threadsafe(): loop(later(lambda loop: loop.call_soon_threadsafe(note)))
def call_later(): loop(later(lambda loop: loop.call_later(0, note)))
def call_at(): loop(later(lambda loop: loop.call_at(loop.time(), note)))
def future_callback():
    async def do(loop):
        future = loop.create_future(); future.add_done_callback(note); future.set_result(1)
    loop(do)
def completed():
    async def do(loop):
        for one in asyncio.as_completed([task()]): await one
    loop(do)
def threadsafe_coroutine():
    async def do(loop):
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(task(), loop))
    loop(do)
def grouped():
    async def do(loop):
        async with asyncio.TaskGroup() as group: group.create_task(task())
    loop(do)
def run_by_runner():
    with asyncio.Runner() as runner: runner.run(task())
def eager():
    async def do(loop):
        loop.set_task_factory(asyncio.eager_task_factory); await asyncio.create_task(task())
    loop(do)
"""

STARTERS = [
    *("in_thread", "in_timer", "submitted", "mapped", "done_callback", "thread_pool", "thread_pool_apply"),
    *("callback_in_the_thread_of_the_job", "callback_by_keyword", "callback_of_a_cancelled_job"),
    *("scheduled", "finalized", "copied_variables", "exit_stack", "signalled", "dispatched", "isolated_test_case"),
    *("created", "ensured", "gathered", "waited_for", "shielded", "to_thread", "in_executor", "soon"),
    *("soon_threadsafe", "call_later", "call_at", "future_callback", "completed", "threadsafe_coroutine", "grouped"),
    "run_by_runner",
    *(["eager"] if hasattr(asyncio, "eager_task_factory") else []),
]


class Inherited(Context, inherit=True):
    def __init__(self):
        self.names = []

    def prehook(self, f, *args, **kwargs):
        self.names.append(getattr(f, "__name__", None))


@pytest.mark.skipif(sys.platform == "win32", reason="SIGUSR1 is a signal of Unix")
@pytest.mark.parametrize("starter", STARTERS)
def test_delayed_code_runs_once_and_in_the_context(starter, make_program):
    program = make_program(PROGRAM)
    with Inherited() as context:
        getattr(program, starter)()
    assert program.ran == [1]
    assert context.names.count("inner") == 1
