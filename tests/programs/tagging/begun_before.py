"""An unmodified program that begins generators, iterators, managers, coroutines and threads, and continues them later.

Each case begins something and returns a function whose derivative with respect to its argument is two.
"""

import asyncio
import contextlib
import functools
import itertools
import operator
import queue
import threading


def g_send():
    v = yield
    while True:
        v = yield v * 2.0


def g_cell(box):
    while True:
        yield box[0] * 2.0


def g_arg_items(items):
    for v in items:
        yield v * 2.0


def make_closure():
    c = 0.0

    def set_(v):
        nonlocal c
        c = v

    def gen():
        while True:
            yield c * 2.0

    return set_, gen()


G = None


def g_global():
    while True:
        yield G * 2.0


class Owner:
    pass


def g_attr(o):
    while True:
        yield o.v * 2.0


def g_calls(f):
    v = yield
    while True:
        v = yield f(v)


def double(v):
    return v * 2.0


def g_from(inner):
    r = yield from inner
    return r


def moved():
    v = yield
    while True:
        v = yield v


@contextlib.contextmanager
def cm(box):
    yield
    box.append(box[0] * 2.0)


@contextlib.contextmanager
def cm_exc(box):
    try:
        yield
    except ValueError as e:
        box.append(e.args[0] * 2.0)


async def ag(box):
    while True:
        yield box[0] * 2.0


async def ag_send():
    v = yield
    while True:
        v = yield v * 2.0


async def co(box):
    await asyncio.sleep(0)
    return box[0] * 2.0


CASES = {}
CLEANING = []


def case(f):
    CASES[f.__name__.strip("_")] = f
    return f


@case
def send():
    g = g_send()
    next(g)
    return lambda x: g.send(x)


@case
def send_unstarted():
    g = g_send()

    def f(x):
        next(g)
        return g.send(x)

    return f


@case
def cell():
    box = [0.0]
    g = g_cell(box)
    next(g)

    def f(x):
        box[0] = x
        return next(g)

    return f


@case
def cell_unstarted():
    box = [0.0]
    g = g_cell(box)

    def f(x):
        box[0] = x
        return next(g)

    return f


@case
def items():
    items = [0.0, 0.0]
    g = g_arg_items(items)
    next(g)

    def f(x):
        items[1] = x
        return next(g)

    return f


@case
def closure():
    s, g = make_closure()
    next(g)

    def f(x):
        s(x)
        return next(g)

    return f


@case
def global_():
    global G
    G = 0.0
    g = g_global()
    next(g)

    def f(x):
        global G
        G = x
        return next(g)

    return f


@case
def attr():
    o = Owner()
    o.v = 0.0
    g = g_attr(o)
    next(g)

    def f(x):
        o.v = x
        return next(g)

    return f


@case
def calls():
    g = g_calls(double)
    next(g)
    return lambda x: g.send(x)


@case
def yield_from():
    g = g_from(g_send())
    next(g)
    return lambda x: g.send(x)


@case
def move():
    g = moved()
    next(g)
    return lambda x: g.send(x) * 2.0


@case
def genexp():
    items = [0.0, 0.0]
    g = (v * 2.0 for v in items)
    next(g)

    def f(x):
        items[1] = x
        return next(g)

    return f


@case
def genexp_unstarted():
    items = [0.0]
    g = (v * 2.0 for v in items)

    def f(x):
        items[0] = x
        return next(g)

    return f


@case
def map_lambda():
    items = [0.0]
    g = map(lambda v: v * 2.0, items)

    def f(x):
        items[0] = x
        return next(g)

    return f


@case
def map_def():
    items = [0.0]
    g = map(double, items)

    def f(x):
        items[0] = x
        return next(g)

    return f


@case
def map_c():
    items = [0.0]
    g = map(operator.mul, items, [2.0])

    def f(x):
        items[0] = x
        return next(g)

    return f


@case
def starmap_c():
    items = [(0.0, 2.0)]
    g = itertools.starmap(operator.mul, items)

    def f(x):
        items[0] = (x, 2.0)
        return next(g)

    return f


@case
def accumulate():
    items = [1.0, 0.0]
    g = itertools.accumulate(items)
    next(g)

    def f(x):
        items[1] = x
        return next(g) * 2

    return f


@case
def zip_():
    items = [0.0]
    g = zip(items, [2.0], strict=False)

    def f(x):
        items[0] = x
        a, b = next(g)
        return a * b

    return f


@case
def tee():
    items = [0.0]
    g, _ = itertools.tee(items)

    def f(x):
        items[0] = x
        return next(g) * 2.0

    return f


@case
def list_iter():
    items = [0.0]
    g = iter(items)

    def f(x):
        items[0] = x
        return next(g) * 2.0

    return f


@case
def values():
    d = {}
    g = d.values()

    def f(x):
        d["a"] = x
        return sum(g) * 2.0

    return f


@case
def filter_():
    items = [0.0]
    g = filter(lambda v: v > 0, items)

    def f(x):
        items[0] = x
        return next(g) * 2.0

    return f


@case
def cycle():
    items = [0.0]
    g = itertools.cycle(items)

    def f(x):
        items[0] = x
        return next(g) * 2.0

    return f


@case
def groupby():
    items = [0.0]
    g = itertools.groupby(items)

    def f(x):
        items[0] = x
        return sum(next(g)[1]) * 2.0

    return f


@case
def zip_longest():
    items = [0.0]
    g = itertools.zip_longest(items, [1])

    def f(x):
        items[0] = x
        return next(g)[0] * 2.0

    return f


@case
def repeat_box():
    items = [0.0]
    g = itertools.repeat(items)

    def f(x):
        items[0] = x
        return next(g)[0] * 2.0

    return f


@case
def ctxmanager():
    box = [0.0]
    c = cm(box)
    c.__enter__()

    def f(x):
        box[0] = x
        c.__exit__(None, None, None)
        return box[1]

    return f


@case
def ctxmanager_exc():
    box = []
    c = cm_exc(box)
    c.__enter__()

    def f(x):
        e = ValueError(x)
        c.__exit__(ValueError, e, None)
        return box[0]

    return f


@case
def exitstack():
    box = [0.0]
    st = contextlib.ExitStack()
    st.enter_context(cm(box))

    def f(x):
        box[0] = x
        st.close()
        return box[1]

    return f


@case
def asyncgen():
    box = [0.0]
    g = ag(box)

    def step(c):
        try:
            c.send(None)
        except StopIteration as e:
            return e.value

    step(g.__anext__())

    def f(x):
        box[0] = x
        return step(g.__anext__())

    return f


@case
def asyncgen_send():
    g = ag_send()

    def step(c):
        try:
            c.send(None)
        except StopIteration as e:
            return e.value

    step(g.__anext__())

    def f(x):
        return step(g.asend(x))

    return f


@case
def coroutine():
    box = [0.0]
    c = co(box)
    c.send(None)

    def f(x):
        box[0] = x
        try:
            c.send(None)
        except StopIteration as e:
            return e.value

    return f


@case
def thread_queue():
    q, r = queue.Queue(), queue.Queue()

    def work():
        while (v := q.get()) is not None:
            r.put(v * 2.0)

    thread = threading.Thread(target=work)
    thread.start()

    def f(x):
        q.put(x)
        return r.get()

    def stop():
        q.put(None)
        thread.join()

    CLEANING.append(stop)
    return f


@case
def thread_simplequeue():
    q, r = queue.SimpleQueue(), queue.SimpleQueue()

    def work():
        while (v := q.get()) is not None:
            r.put(v * 2.0)

    thread = threading.Thread(target=work)
    thread.start()

    def f(x):
        q.put(x)
        return r.get()

    def stop():
        q.put(None)
        thread.join()

    CLEANING.append(stop)
    return f


@case
def thread_event():
    box, e, d = [0.0], threading.Event(), threading.Event()

    def work():
        e.wait()
        box.append(box[0] * 2.0)
        d.set()

    thread = threading.Thread(target=work)
    thread.start()

    def f(x):
        box[0] = x
        e.set()
        d.wait()
        return box.pop()

    def stop():
        e.set()
        thread.join()

    CLEANING.append(stop)
    return f


@case
def task_in_old_loop():
    loop = asyncio.new_event_loop()
    box = [0.0]
    ev = asyncio.Event()
    CLEANING.append(loop.close)

    async def work():
        await ev.wait()
        return box[0] * 2.0

    t = loop.create_task(work())
    loop.run_until_complete(asyncio.sleep(0))

    def f(x):
        box[0] = x
        ev.set()
        return loop.run_until_complete(t)

    return f


@case
def callback_registered():
    cbs = []

    def reg(f):
        cbs.append(f)

    reg(lambda v: v * 2.0)

    def f(x):
        return cbs[0](x)

    return f


@case
def partial_made():
    p = functools.partial(operator.mul, 2.0)
    return lambda x: p(x)


@case
def reversed_():
    items = [0.0]
    g = reversed(items)

    def f(x):
        items[0] = x
        return next(g) * 2.0

    return f


@case
def throw():
    def g_():
        while True:
            try:
                yield
            except ValueError as e:
                yield e.args[0] * 2.0

    g = g_()
    next(g)
    return lambda x: g.throw(ValueError(x))


@case
def gen_return():
    def g_():
        v = yield
        return v * 2.0

    g = g_()
    next(g)

    def f(x):
        try:
            g.send(x)
        except StopIteration as e:
            return e.value

    return f


@case
def gen_in_map():
    box = [0.0, 0.0]
    g = map(double, g_arg_items(box))
    next(g)

    def f(x):
        box[1] = x
        return next(g) / 2.0

    return f


@case
def with_made_before():
    box = [0.0]
    c = cm(box)

    def f(x):
        box[0] = x
        with c:
            pass
        return box[1]

    return f


@contextlib.contextmanager
def cmv(box):
    yield box[0] * 2.0


@case
def with_as_made_before():
    box = [0.0]
    c = cmv(box)

    def f(x):
        box[0] = x
        with c as v:
            pass
        return v

    return f


@case
def enter_made_before():
    box = [0.0]
    c = cmv(box)

    def f(x):
        box[0] = x
        return c.__enter__()

    return f


@case
def stack_enter_made_before():
    box = [0.0]
    c = cmv(box)

    def f(x):
        box[0] = x
        with contextlib.ExitStack() as s:
            return s.enter_context(c)

    return f


@case
def decorator_cm():
    box = [0.0]

    @cm(box)
    def g(x):
        box[0] = x

    def f(x):
        g(x)
        return box[1]

    return f


@case
def closing_gen():
    items = [0.0]
    g = g_arg_items(items)

    def f(x):
        items[0] = x
        with contextlib.closing(g) as h:
            return next(h)

    return f
