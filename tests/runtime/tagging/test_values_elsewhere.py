"""Metadata in threads, executors' jobs, tasks, futures and queues: carried, or its loss is an error."""

import asyncio
import concurrent.futures
import multiprocessing.pool
import queue
import sys
import threading

import pytest
from programs.concurrent_numbers import PROGRAMS, boxed, run

from cassette_import import Context, NotOverdubbable, escapes, install, metadata, overdub, tag
from cassette_import.contexts.autodiff import derivative, gradient

every_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)


@pytest.fixture(autouse=True)
def _installed():
    with install(["programs.concurrent_numbers"]):
        yield


@every_program
def test_derivatives_in_forward_mode(program):
    assert derivative(program, 1.3) == 2.0


@every_program
def test_derivatives_in_reverse_mode(program):
    assert gradient(program, 1.3) == (2.0,)


@every_program
def test_enclosures(program):
    pytest.importorskip("flint")
    from cassette_import.contexts.intervals import Interval, enclosure

    found = enclosure(program, Interval(1.0, 1.5))
    assert found.low <= 2.0 <= found.high
    assert 1.99 < found.low
    assert 3.0 <= found.high < 3.01


class Colours(Context, tagging=True):
    """Contexts that are not inherited report what threads and tasks lose."""


class InheritedColours(Context, tagging=True, inherit=True):
    """Metadata that is moved only."""


MOVERS = {
    "thread": lambda x: (lambda found: (run(lambda v: found.append(v), x), found[0])[1])([]),
    "attribute in a thread": lambda x: (lambda found, box: (run(lambda: found.append(box.value)), found[0])[1])(
        [], boxed(x)
    ),
    "job": lambda x: concurrent.futures.ThreadPoolExecutor(1).submit(lambda v: v, x).result(),
    "queue": lambda x: (lambda items: (items.put(x), items.get())[1])(queue.Queue()),
}


@pytest.mark.parametrize("mover", MOVERS.values(), ids=MOVERS)
def test_an_inherited_context_of_the_program_keeps_its_metadata(mover):
    ctx = InheritedColours()
    assert metadata(overdub(ctx, mover, tag(1.5, ctx, "blue")), ctx, default=None) == "blue"


@pytest.mark.parametrize("mover", MOVERS.values(), ids=MOVERS)
@pytest.mark.parametrize("value", [1000, 10**30, "text"])
def test_integers_and_texts_keep_their_metadata_too(mover, value):
    ctx = InheritedColours()
    value = value + type(value)()  # an object of its own
    assert metadata(overdub(ctx, mover, tag(value, ctx, "blue")), ctx, default=None) == "blue"


@pytest.mark.parametrize("mover", [MOVERS["job"], MOVERS["queue"]], ids=["job", "queue"])
@pytest.mark.parametrize("value", [1, "a"])
def test_the_loss_of_small_integers_and_single_characters_is_reported(mover, value):
    ctx = InheritedColours()
    found = overdub(ctx, mover, tag(value, ctx, "blue"))
    assert metadata(found, ctx, default=None) is None
    assert escapes(ctx)


def _reader(box):
    return box.value


def _starts_thread(x):
    box = boxed(x)
    run(lambda: _reader(box))


def _starts_task(x):
    async def read(box):
        return box.value

    async def main():
        await asyncio.create_task(read(boxed(x)))

    asyncio.run(main())


def _reads_a_global(x):
    global KEPT
    KEPT = x
    run(_reader_of_the_global)


def _reader_of_the_global():
    return KEPT


def _submits(x):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(_reader, boxed(x)).result()


@pytest.mark.parametrize(
    "program", [_starts_thread, _starts_task, _submits, _reads_a_global], ids=lambda program: program.__name__
)
def test_a_context_that_is_not_inherited_reports_what_is_lost(program):
    ctx = Colours()
    overdub(ctx, program, tag(1.5, ctx, "blue"))
    assert any("start" in str(one) or "create_task" in str(one) or "submit" in str(one) for one in escapes(ctx))


def test_results_of_other_pools_are_an_error():
    def program(x):
        with multiprocessing.pool.ThreadPool(1) as pool:
            return pool.map(lambda n: n * x, [1.0])[0]

    with pytest.raises(NotOverdubbable):
        derivative(program, 1.3)


def test_results_of_coroutines_of_other_code_are_an_error():
    code = compile("async def leaf(x): return x + 1.0", "<other code>", "exec")
    namespace = {}
    exec(code, namespace)
    leaf = namespace["leaf"]

    def program(x):
        async def main():
            return await leaf(x)

        return asyncio.run(main())

    with pytest.raises(NotOverdubbable):
        derivative(program, 1.3)


def test_a_number_that_a_queue_orders_has_its_derivative():
    def program(x):
        items = queue.PriorityQueue()
        items.put(3 * x)
        items.put(2 * x)
        return items.get()

    assert derivative(program, 1.3) == 2


def test_integers_that_tasks_return_are_an_error():
    async def identity(n):
        await asyncio.sleep(0)
        return n

    def program(x):
        async def main():
            return await asyncio.create_task(identity(x))

        return asyncio.run(main())

    with pytest.raises(NotOverdubbable):
        derivative(program, 3)


def test_an_equal_constant_that_a_task_returns_has_no_derivative():
    constant = 1.3

    def program(x):
        async def variable():
            return x

        async def fixed():
            return constant

        async def main():
            a, b = await asyncio.gather(variable(), fixed())
            return b + await asyncio.create_task(fixed()) + 0 * a

        return asyncio.run(main())

    assert derivative(program, constant) == 0.0


def test_many_threads_record_one_tape():
    def program(x):
        found = []

        def work():
            y = x
            for _ in range(300):
                y = y * 1.0 + x * 0.0
            found.append(y)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(found)

    assert gradient(program, 1.3) == (8.0,)


def test_threads_store_and_read_the_same_containers_at_the_same_time():
    shared = {}

    def work(x, number):
        total = 0.0
        for step in range(40):
            values = [x, x * 2, {"a": x}]
            box = boxed(values)
            products = {key: x * key for key in range(5)}
            products.update(last=x)
            shared[number, step % 10] = [x]
            values.sort(key=lambda value: 0)
            total = total + sum(products.values()) * 0.0 + box.value[1] * 0.5
            for kept in list(shared.values()):
                total = total + kept[0] * 0.0
        return total / 40

    def program(x):
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            return sum(pool.map(lambda number: work(x, number), range(6))) / 6

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        assert derivative(program, 1.3) == pytest.approx(1.0)
        assert gradient(program, 1.3) == (pytest.approx(1.0),)
    finally:
        sys.setswitchinterval(interval)


def test_derivatives_in_two_threads_are_not_confused():
    def program(x):
        found = []
        run(lambda: found.append(derivative(lambda y: x * y, 5.0)))
        return found[0]

    assert derivative(program, 1.3) == 1.0
