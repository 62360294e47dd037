"""Programs whose numbers pass through threads, executors' jobs, tasks, futures and queues.

Each computes a number with derivative 2, from attributes, closures, globals, containers or arguments.
"""

import asyncio
import concurrent.futures
import functools
import queue
import threading
import types

PROGRAMS = {}
KEPT = None


def program(function):
    PROGRAMS[function.__name__] = function
    return function


class Box:
    pass


def boxed(value):
    box = Box()
    box.value = value
    return box


def run(function, *args, **kwargs):
    thread = threading.Thread(target=function, args=args, kwargs=kwargs)
    thread.start()
    thread.join()


def submitted(function, *args, **kwargs):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return pool.submit(function, *args, **kwargs).result()


async def twice(x):
    await asyncio.sleep(0)
    return x * 2


async def twice_boxed(box):
    await asyncio.sleep(0)
    return box.value * 2


# ---- threads


@program
def thread_argument(x):
    found = []
    run(lambda v: found.append(v * 2), x)
    return found[0]


@program
def thread_keyword(x):
    found = []
    run(lambda *, v: found.append(v * 2), v=x)
    return found[0]


@program
def thread_second_argument_is_the_same_constant(x):
    found = []
    run(lambda v, w: found.append(v + w), x, x)
    return found[0]


@program
def thread_closure(x):
    found = []
    run(lambda: found.append(x * 2))
    return found[0]


@program
def thread_attribute(x):
    box = boxed(x)

    def work():
        box.result = box.value * 2

    run(work)
    return box.result


@program
def thread_attribute_of_argument(x):
    box = boxed(x)

    def work(box):
        box.result = box.value * 2

    run(work, box)
    return box.result


@program
def thread_list(x):
    values = [x]
    run(lambda values: values.append(values[0] * 2), values)
    return values[1]


@program
def thread_global(x):
    global KEPT
    KEPT = x
    found = []
    run(lambda: found.append(KEPT * 2))
    return found[0]


@program
def thread_global_set_by_the_thread(x):
    def work():
        global KEPT
        KEPT = x * 2

    run(work)
    return KEPT


@program
def thread_class_attribute(x):
    class Kept:
        value = x

    found = []
    run(lambda: found.append(Kept.value * 2))
    return found[0]


@program
def thread_nonlocal(x):
    y = 0.0

    def work():
        nonlocal y
        y = x * 2

    run(work)
    return y


@program
def thread_subclass(x):
    class Worker(threading.Thread):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def run(self):
            self.result = self.value * 2

    worker = Worker(x)
    worker.start()
    worker.join()
    return worker.result


@program
def thread_subclass_with_target(x):
    found = []

    class Worker(threading.Thread):
        def __init__(self, value):
            super().__init__(target=self.work, args=(value,))

        def work(self, value):
            found.append(value * 2)

    worker = Worker(x)
    worker.start()
    worker.join()
    return found[0]


@program
def thread_before_the_value(x):
    box, ready = Box(), threading.Event()

    def work():
        ready.wait()
        box.result = box.value * 2

    thread = threading.Thread(target=work)
    thread.start()
    box.value = x
    ready.set()
    thread.join()
    return box.result


@program
def thread_and_queues(x):
    tasks, results = queue.Queue(), queue.SimpleQueue()

    def work():
        results.put(tasks.get() * 2)

    thread = threading.Thread(target=work)
    thread.start()
    tasks.put(x)
    thread.join()
    return results.get()


@program
def thread_and_queue_of_objects(x):
    tasks, results = queue.Queue(), queue.LifoQueue()

    def work():
        results.put([tasks.get().value * 2])

    thread = threading.Thread(target=work)
    thread.start()
    tasks.put(boxed(x))
    thread.join()
    return results.get()[0]


@program
def thread_of_a_thread(x):
    found = []

    def outer(v):
        run(lambda w: found.append(w * 2), v)

    run(outer, x)
    return found[0]


@program
def timer(x):
    found = []
    thread = threading.Timer(0, lambda v: found.append(v * 2), [x])
    thread.start()
    thread.join()
    return found[0]


@program
def thread_iterates_over_a_generator(x):
    def numbers():
        yield x
        yield x * 2

    generator, found = numbers(), []
    next(generator)
    run(lambda: found.append(next(generator)))
    return found[0]


# ---- executors


@program
def job_argument(x):
    return submitted(lambda v: v * 2, x)


@program
def job_keyword(x):
    return submitted(lambda v, w: v * w, x, w=2)


@program
def job_closure(x):
    return submitted(lambda: x * 2)


@program
def job_attribute(x):
    return submitted(lambda box: box.value * 2, boxed(x))


@program
def job_container(x):
    return submitted(lambda values: [values[0] * 2], [x])[0]


@program
def job_method(x):
    class Worker:
        def __init__(self, value):
            self.value = value

        def work(self):
            return self.value * 2

    return submitted(Worker(x).work)


@program
def jobs_by_map(x):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(lambda v, w: v * w, [x, x], [0.5, 1.5]))


@program
def jobs_by_map_of_a_closure(x):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda n: n * x, [1, 2]))[1]


@program
def jobs_as_completed(x):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(lambda n: n * x, n) for n in (0.5, 1.5)]
        return sum(job.result() for job in concurrent.futures.as_completed(jobs))


@program
def future_of_the_program(x):
    future = concurrent.futures.Future()
    run(lambda: future.set_result(x * 2))
    return future.result()


@program
def exception_of_a_job(x):
    def work():
        raise ValueError(x)

    try:
        submitted(work)
    except ValueError as error:
        return error.args[0] * 2


# ---- coroutines and tasks


@program
def coroutine(x):
    return asyncio.run(twice(x))


@program
def object_with_await(x):
    class Awaitable:
        def __await__(self):
            yield from asyncio.sleep(0).__await__()
            return x

    async def main():
        return await Awaitable() * 2

    return asyncio.run(main())


@program
def object_with_await_that_returns_a_coroutine(x):
    class Awaitable:
        def __await__(self):
            return twice(x).__await__()

    async def main():
        return await Awaitable()

    return asyncio.run(main())


@program
def object_with_await_that_delegates(x):
    class Awaitable:
        def __await__(self):
            return (yield from twice(x).__await__())

    async def main():
        return await Awaitable()

    return asyncio.run(main())


@types.coroutine
def switched(value):
    yield
    return value


@program
def generator_based_coroutine(x):
    async def main():
        return await switched(x) * 2

    return asyncio.run(main())


async def numbers(x):
    yield x
    yield x * 2


@program
def anext_of_a_generator(x):
    async def main():
        return await anext(numbers(x)) * 2

    return asyncio.run(main())


@program
def anext_with_a_default(x):
    async def main():
        return await anext(aiter(numbers(x)), None) * 2

    return asyncio.run(main())


@program
def method_anext(x):
    async def main():
        return await numbers(x).__anext__() * 2

    return asyncio.run(main())


@program
def asend(x):
    async def echo():
        got = yield 1
        yield got * 2

    async def main():
        generator = echo()
        await anext(generator)
        return await generator.asend(x)

    return asyncio.run(main())


@program
def task_argument(x):
    async def main():
        return await asyncio.create_task(twice(x))

    return asyncio.run(main())


@program
def task_attribute(x):
    async def main():
        return await asyncio.create_task(twice_boxed(boxed(x)))

    return asyncio.run(main())


@program
def task_result(x):
    async def main():
        task = asyncio.create_task(twice(x))
        await asyncio.wait([task])
        return task.result()

    return asyncio.run(main())


@program
def task_group(x):
    async def main():
        async def work():
            box.result = box.value * 2

        box = boxed(x)
        async with asyncio.TaskGroup() as group:
            group.create_task(work())
        return box.result

    return asyncio.run(main())


@program
def gathered(x):
    async def main():
        a, b = await asyncio.gather(twice(x), twice(x))
        return (a + b) / 2

    return asyncio.run(main())


@program
def gathered_attributes(x):
    async def main():
        box = boxed(x)
        return sum(await asyncio.gather(twice_boxed(box), twice_boxed(box))) / 2

    return asyncio.run(main())


@program
def gathered_by_the_caller(x):
    async def main():
        return await asyncio.gather(twice(x))

    return asyncio.run(main())[0]


@program
def waited_for(x):
    async def main():
        return await asyncio.wait_for(twice(x), 10)

    return asyncio.run(main())


@program
def shielded(x):
    async def main():
        return await asyncio.shield(twice(x))

    return asyncio.run(main())


@program
def tasks_as_completed(x):
    async def main():
        return sum([await one for one in asyncio.as_completed([twice(x), twice(x)])]) / 2

    return asyncio.run(main())


@program
def future_of_a_loop(x):
    async def main():
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(lambda: future.set_result(x))
        return await future * 2

    return asyncio.run(main())


@program
def callback_of_a_loop(x):
    found = []

    async def main():
        asyncio.get_running_loop().call_later(0, lambda v: found.append(v * 2), x)
        await asyncio.sleep(0.01)

    asyncio.run(main())
    return found[0]


@program
def queue_of_tasks(x):
    async def main():
        items = asyncio.Queue()

        async def produce():
            await items.put(x)

        task = asyncio.create_task(produce())
        item = await items.get()
        await task
        return item * 2

    return asyncio.run(main())


@program
def queue_of_tasks_without_waiting(x):
    async def main():
        items = asyncio.Queue()
        items.put_nowait(boxed(x))
        items.put_nowait(x)
        return items.get_nowait().value + items.get_nowait()

    return asyncio.run(main())


@program
def job_of_a_loop(x):
    async def main():
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, lambda v: v * 2, x)

    return asyncio.run(main())


@program
def job_of_a_loop_with_a_closure(x):
    async def main():
        return await asyncio.get_running_loop().run_in_executor(None, lambda: x * 2)

    return asyncio.run(main())


@program
def to_thread(x):
    async def main():
        return await asyncio.to_thread(lambda v, w: v * w, x, w=2)

    return asyncio.run(main())


@program
def to_thread_with_an_attribute(x):
    async def main():
        return await asyncio.to_thread(lambda box: box.value * 2, boxed(x))

    return asyncio.run(main())


@program
def loop_of_the_program(x):
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(twice(x))
    finally:
        loop.close()


@program
def runner(x):
    with asyncio.Runner() as runner:
        return runner.run(twice(x))


@program
def coroutine_from_another_thread(x):
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        return asyncio.run_coroutine_threadsafe(twice(x), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@program
def exception_of_a_task(x):
    async def fail():
        raise ValueError(x)

    async def main():
        try:
            await asyncio.create_task(fail())
        except ValueError as error:
            return error.args[0] * 2

    return asyncio.run(main())


@program
def result_of_a_nested_task(x):
    async def outer():
        return await asyncio.create_task(twice(x))

    async def main():
        return await asyncio.create_task(outer())

    return asyncio.run(main())


# ---- callables that are no functions of the program


@program
def job_partial(x):
    return submitted(functools.partial(lambda v, w: v * w, x), 2)


@program
def job_method_of_the_number(x):
    return submitted(x.__mul__, 2)


@program
def job_builtin_over_a_container(x):
    return submitted(sum, [x, x])


@program
def job_callable_object(x):
    class Twice:
        def __init__(self, value):
            self.value = value

        def __call__(self, other):
            return self.value + other

    return submitted(Twice(x), x)


@program
def jobs_by_map_of_a_builtin(x):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return next(pool.map(sum, [[x, x]]))


@program
def thread_builtin(x):
    found = []
    run(found.append, x)
    run(found.extend, [x])
    return sum(found)


# ---- further iterators and awaitables


@program
def asynchronous_iterator_of_the_program(x):
    class Numbers:
        count = 0

        def __aiter__(self):
            return self

        async def __anext__(self):
            self.count += 1
            if self.count > 2:
                raise StopAsyncIteration
            return x

    async def main():
        return sum([number async for number in Numbers()])

    return asyncio.run(main())


@program
def gathered_twice(x):
    async def main():
        (first,), second = await asyncio.gather(asyncio.gather(twice(x)), twice(x))
        return (first + second) / 2

    return asyncio.run(main())


@program
def result_of_sleep(x):
    async def main():
        return await asyncio.sleep(0, x) + await asyncio.sleep(0, result=x)

    return asyncio.run(main())


@program
def value_of_an_iterator_that_stops(x):
    class Stops:
        def __iter__(self):
            return self

        def __next__(self):
            raise StopIteration(x)

    def delegating():
        return (yield from Stops())

    def outer():
        found.append((yield from delegating()) * 2)

    found = []
    list(outer())
    return found[0]
