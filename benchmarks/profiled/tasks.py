"""Coroutines that hand values on through queues."""

import asyncio


async def producer(queue, count):
    for number in range(count):
        await queue.put(number)
    await queue.put(None)


async def worker(source, target, function):
    while (value := await source.get()) is not None:
        await target.put(function(value))
    await target.put(None)


def square(value):
    return value * value % 1009


def digits(value):
    total = 0
    while value:
        total += value % 10
        value //= 10
    return total


async def consumer(queue):
    found = []
    while (value := await queue.get()) is not None:
        found.append(value)
        if len(found) % 50 == 0:
            await asyncio.sleep(0)
    return found


async def pipeline(count):
    first, second, third = asyncio.Queue(8), asyncio.Queue(8), asyncio.Queue(8)
    jobs = [producer(first, count), worker(first, second, square), worker(second, third, digits), consumer(third)]
    results = await asyncio.gather(*jobs)
    return sum(results[-1])


def main():
    return asyncio.run(pipeline(500))
