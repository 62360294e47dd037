"""Programs whose untrusted text passes through threads, executors' jobs, tasks, futures and queues to a sink."""

import asyncio
import concurrent.futures
import contextlib
import queue
import threading


class Box:
    pass


KEEP = None


def ask():
    return "x' OR 1"


def query(q):
    return 1


PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def main_result():
    async def m():
        return ask()

    query(asyncio.run(m()))


@program
def run_before_tag():
    async def m():
        await asyncio.sleep(0)
        return ask()

    query(asyncio.run(m()))


@program
def task_first():
    async def g():
        await asyncio.sleep(0)
        return ask()

    async def m():
        query(await asyncio.create_task(g()))

    asyncio.run(m())


@program
def gather_first():
    async def g():
        await asyncio.sleep(0)
        return ask()

    async def m():
        query((await asyncio.gather(g(), g()))[1])

    asyncio.run(m())


@program
def job_first():
    with concurrent.futures.ThreadPoolExecutor(1) as p:
        query(p.submit(ask).result())


@program
def job_first2():
    with concurrent.futures.ThreadPoolExecutor(1) as p:
        query(p.submit(lambda: ask() + "!").result())


@program
def map_first():
    with concurrent.futures.ThreadPoolExecutor(2) as p:
        for r in p.map(lambda n: ask() + str(n), [1, 2]):
            query(r)


@program
def thread_first():
    b = Box()
    th = threading.Thread(target=lambda: setattr(b, "v", ask()))
    th.start()
    th.join()
    query(b.v)


@program
def queue_first():
    q = queue.Queue()
    th = threading.Thread(target=lambda: q.put(ask()))
    th.start()
    query(q.get())
    th.join()


@program
def queue_obj():
    q = queue.Queue()

    def w():
        b = Box()
        b.v = ask()
        q.put(b)

    th = threading.Thread(target=w)
    th.start()
    query(q.get().v)
    th.join()


@program
def queue_tuple():
    q = queue.Queue()
    th = threading.Thread(target=lambda: q.put((1, ask())))
    th.start()
    query(q.get()[1])
    th.join()


@program
def aqueue():
    async def m():
        q = asyncio.Queue()

        async def p():
            await q.put(ask())

        k = asyncio.create_task(p())
        query(await q.get())
        await k

    asyncio.run(m())


@program
def daemon_sink():
    q = queue.Queue()

    def w():
        while (s := q.get()) is not None:
            query(s)

    th = threading.Thread(target=w)
    th.start()
    q.put(ask())
    q.put(None)
    th.join()


@program
def daemon_obj_sink():
    q = queue.Queue()

    def w():
        while (s := q.get()) is not None:
            query(s["a"].v)

    th = threading.Thread(target=w)
    th.start()
    b = Box()
    b.v = ask()
    q.put({"a": b})
    q.put(None)
    th.join()


@program
def glob():
    global KEEP
    KEEP = ask()
    th = threading.Thread(target=lambda: query(KEEP))
    th.start()
    th.join()


@program
def clsattr():
    class W(threading.Thread):
        def run(self):
            query(self.s)

    w = W()
    w.s = ask()
    w.start()
    w.join()


@program
def start_in_method():
    class S:
        def __init__(self):
            self.s = ask()
            self.t = threading.Thread(target=self.run)

        def run(self):
            query(self.s)

    s = S()
    s.t.start()
    s.t.join()


@program
def timer():
    b = Box()
    b.v = ask()
    k = threading.Timer(0, lambda: query(b.v))
    k.start()
    k.join()


@program
def callsoon():
    async def m():
        s = ask()
        asyncio.get_running_loop().call_soon(query, s)
        await asyncio.sleep(0)

    asyncio.run(m())


@program
def donecb():
    async def g():
        return ask()

    async def m():
        k = asyncio.create_task(g())
        k.add_done_callback(lambda k: query(k.result()))
        await k
        await asyncio.sleep(0)

    asyncio.run(m())


@program
def waitfor():
    async def g():
        await asyncio.sleep(0)
        return ask()

    async def m():
        query(await asyncio.wait_for(g(), 1))

    asyncio.run(m())


@program
def ascompleted():
    async def g():
        await asyncio.sleep(0)
        return ask()

    async def m():
        for k in asyncio.as_completed([g()]):
            query(await k)

    asyncio.run(m())


@program
def future():
    async def m():
        f = asyncio.get_running_loop().create_future()
        f.set_result(ask())
        query(await f)

    asyncio.run(m())


@program
def agen():
    async def g():
        yield ask()

    async def m():
        async for s in g():
            query(s)
        found = [s async for s in g()]
        query(found[0])
        query(await anext(g()))

    asyncio.run(m())


@program
def await_obj():
    class A:
        def __await__(self):
            yield from asyncio.sleep(0).__await__()
            return ask()

    async def m():
        query(await A())

    asyncio.run(m())


@program
def actx():
    @contextlib.asynccontextmanager
    async def c():
        yield ask()

    async def m():
        async with c() as s:
            query(s)

    asyncio.run(m())


@program
def to_thread():
    async def m():
        query(await asyncio.to_thread(ask))

    asyncio.run(m())


@program
def to_thread2():
    b = Box()
    b.v = ask()

    async def m():
        await asyncio.to_thread(lambda: query(b.v))

    asyncio.run(m())


@program
def excthr():
    with concurrent.futures.ThreadPoolExecutor(1) as p:

        def w():
            raise ValueError(ask())

        try:
            p.submit(w).result()
        except ValueError as e:
            query(str(e))


@program
def exctask():
    async def g():
        raise ValueError(ask())

    async def m():
        try:
            await asyncio.create_task(g())
        except ValueError as e:
            query(e.args[0])

    asyncio.run(m())


@program
def safe_other():
    async def a():
        return ask()

    async def b():
        return "safe"

    async def m():
        _, y = await asyncio.gather(a(), b())
        assert y == "safe"
        query(y)

    asyncio.run(m())


@program
def safe_job():
    with concurrent.futures.ThreadPoolExecutor(1) as p:
        p.submit(ask).result()
        query(p.submit(lambda: "constant").result())
