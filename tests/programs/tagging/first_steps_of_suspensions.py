"""The same as `first_steps`, in expressions that suspend their body, and in tests and assignments in expressions."""

import asyncio
import inspect

from programs.tagging.first_steps import Thing, plain, source


async def computing(ctx, number, is_tagged=True):
    await asyncio.sleep(0)
    return source(ctx) + number if is_tagged else number


async def adding(ctx):
    first = await computing(ctx, 1, False) + await computing(ctx, 2)
    second = (await computing(ctx, 1)) * 2 if await computing(ctx, 0) else await computing(ctx, 3)
    third = await computing(ctx, 0, False) or await computing(ctx, 4)
    return first, second, third, await computing(ctx, 1, False) < await computing(ctx, 5)


async def handing_over(ctx):
    thing = Thing(ctx)
    thing.value = await computing(ctx, 1, False)
    thing.value += await computing(ctx, 1)
    values = [0, await computing(ctx, 1, False), await computing(ctx, 1)]
    values[await computing(ctx, 0, False)] = await computing(ctx, 2)
    text = f"{await computing(ctx, 1, False)} {await computing(ctx, 1)}"
    return thing.value, *values, plain(await computing(ctx, 3)), text, max(await computing(ctx, 1), 1)


async def testing(ctx):
    found, left = [], [1, 2, 3]

    async def taking():
        return left.pop() if left else None

    while (item := await taking()) is not None:
        found.append(item + await computing(ctx, 0))
    for item in await returning(ctx):
        found.append(item)
    if await computing(ctx, 0) > 1 and await computing(ctx, 1):
        found.append(await computing(ctx, 0))
    assert await computing(ctx, 0), await computing(ctx, 0)
    return tuple(found)


async def returning(ctx):
    return [await computing(ctx, number) for number in range(2)]


async def in_the_same_loop(ctx):
    return (*await adding(ctx), *await handing_over(ctx), *await testing(ctx))


def in_sums_of_awaits(ctx):
    return asyncio.run(adding(ctx))


def in_arguments_that_are_awaited(ctx):
    return asyncio.run(handing_over(ctx))


def in_tests_that_are_awaited(ctx):
    return asyncio.run(testing(ctx))


def in_awaits_of_coroutines(ctx):
    return asyncio.run(in_the_same_loop(ctx))


def averaging(ctx):
    total, average = 0, None
    while True:
        value = yield average
        total += value
        average = total / 2 + (yield total)


def in_what_is_sent(ctx):
    running = averaging(ctx)
    next(running)
    return (
        running.send(1),
        running.send(source(ctx)),
        running.send(3),
        running.send(plain(4)),
        running.send(source(ctx)),
    )


def delegating(ctx):
    found = (yield from summing(ctx)) + (yield from summing(ctx))
    yield found, (yield), [(yield 1), source(ctx)]


def summing(ctx):
    return (yield 1) + (yield 2)


def in_sums_of_yield_from(ctx):
    running = delegating(ctx)
    found = [next(running)]
    found += [running.send(number) for number in (1, source(ctx), 3)]
    found += [running.send(4), running.send(source(ctx))]
    found.extend(running.send(5))
    return tuple(value for value in found if value is not None and type(value) is not list)


def in_an_assignment_in_an_expression(ctx):
    thing = Thing(ctx)
    found = (first := thing.missing) + first + (first := 1) + first
    other = plain(first := thing.given) * first
    number = [first, (first := 3), first, (second := source(ctx)) + second]
    return found, other, *number


def in_an_assignment_in_a_comprehension(ctx):
    thing = Thing(ctx)
    found = [other + number for number in range(2) if (other := thing.missing)]
    return (*found, other)


class Reader:
    def __init__(self, ctx):
        self.ctx, self.at, self.items = ctx, 0, [1, 2, 3, 4, 0]

    @property
    def limit(self):
        return source(self.ctx, 4)


def while_assigning(ctx):
    reader, found = Reader(ctx), []
    while (item := reader.items[reader.at]) != 0:
        found.append(item)
        reader.at += 1
        if reader.at == 2:
            continue
        found.append(source(ctx) * item)
    return (*found, item)


def while_two_hold(ctx):
    reader, found = Reader(ctx), []
    while reader.at + 1 < len(reader.items) and reader.items[reader.at] + 1 < reader.limit:
        found.append(reader.items[reader.at])
        reader.at += 1
    else:
        found.append(reader.limit)
    while reader.at > 0 and reader.items[reader.at - 1] in (1, 2, 3):
        reader.at -= 1
        if reader.at == 1:
            break
        found.append(reader.limit + reader.at)
    return tuple(found)


def while_nested(ctx):
    thing, total, rows = Thing(ctx), 0, [[1, 2], [3]]
    while len(rows) + 0 > 0:
        row = rows.pop()
        while len(row) + 0 > 0:
            total += row.pop() * thing.value
            if total + 0 > 4:
                total = total + source(ctx)
                break
    return total


PROGRAMS = [
    function
    for name, function in sorted(globals().items())
    if name.startswith(("in_", "while_")) and callable(function) and not inspect.iscoroutinefunction(function)
]
