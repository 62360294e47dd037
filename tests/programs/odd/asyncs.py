import asyncio, contextlib

log = []


class CM:
    def __init__(self, n, swallow=False):
        self.n, self.s = n, swallow

    async def __aenter__(self):
        log.append(("in", self.n))
        await asyncio.sleep(0)
        return self.n

    async def __aexit__(self, *e):
        log.append(("out", self.n, e[0] and e[0].__name__))
        await asyncio.sleep(0)
        return self.s


async def agen(n):
    try:
        for i in range(n):
            try:
                got = yield i * 2
                if got:
                    log.append(("got", got))
            except KeyError as e:
                log.append(("caught", str(e)))
                yield "recovered"
    finally:
        log.append("agen closed")


@contextlib.asynccontextmanager
async def acm(x):
    log.append("acm in")
    try:
        yield x + 1
    except ValueError as e:
        log.append(("acm", repr(e)))
    finally:
        log.append("acm out")


async def work(n):
    await asyncio.sleep(0.001 * n)
    if n == 2:
        raise ValueError(n)
    return n * n


async def amain():
    r = []
    g = agen(5)
    r.append(await g.__anext__())
    r.append(await g.asend("hello"))
    r.append(await g.athrow(KeyError("kk")))
    r.append(await anext(g))
    await g.aclose()
    try:
        await anext(g)
    except StopAsyncIteration as e:
        r.append(repr(e))
    r.append([x async for x in agen(4) if x + 1 > 2 if await asyncio.sleep(0, True)])
    r.append({x: await work(x) for x in (0, 1)})
    r.append([await work(y) + z async for y in agen(1) for z in [1 + y, 2]])
    async with CM(1) as a, CM(2, True) as b:
        r.append(a + b)
        raise RuntimeError("x")
    async with acm(3) as c:
        r.append(c)
        raise ValueError(c + 1)
    try:
        async with asyncio.TaskGroup() as tg:
            ts = [tg.create_task(work(i)) for i in range(4)]
    except* ValueError as eg:
        r.append((eg.message, [str(e) for e in eg.exceptions]))
    r.append(await asyncio.gather(work(0), work(1), work(2), return_exceptions=True))

    async def inner():
        nonlocal r
        r += [await asyncio.wait_for(work(1), 1)]
        try:
            await asyncio.wait_for(asyncio.sleep(5), 0.001)
        except asyncio.TimeoutError:
            r.append("timeout")
        return lambda: r[-1] == "timeout"

    r.append((await inner())())
    async for i in agen(10):
        if i > 3:
            break
    else:
        r.append("never")
    t = asyncio.create_task(work(100))
    await asyncio.sleep(0)
    t.cancel("msg")
    try:
        await t
    except asyncio.CancelledError as e:
        r.append(("cancelled", e.args))
    q = asyncio.Queue(2)

    async def prod():
        for i in range(4):
            await q.put(i)
        await q.put(None)

    async def cons():
        return [x async for x in aiter_(q)]

    async def aiter_(q):
        while (x := await q.get()) is not None:
            yield x

    r.append((await asyncio.gather(prod(), cons()))[1])
    r.append(await asyncio.to_thread(lambda: sum(range(4)) + 1))
    genexp = (await work(v) for v in (0, 1))
    r.append([x async for x in genexp])
    return r


def main():
    return asyncio.run(amain()), log
