"""The same as `first_steps`, in bodies that can be suspended, comprehensions, lambdas and blocks of `with`."""

import asyncio
import contextlib
import itertools

from programs.tagging.first_steps import Thing, plain, source


def adds(ctx, values):
    for value in values:
        yield value + 1
        yield source(ctx) + value


def in_a_generator(ctx):
    return tuple(adds(ctx, [1, 2]))


def in_a_generator_that_is_advanced(ctx):
    running = adds(ctx, [1, 2])
    first = next(running)
    return first, next(running) * 2, next(running), next(running)


def in_a_loop_over_a_generator(ctx):
    total = 0
    for value in adds(ctx, [1, 2]):
        total += value
    return total


def after_a_suspension(ctx):
    yield 1
    found = source(ctx)
    other = found + 1
    yield other
    yield plain(other) * 2


def in_a_generator_after_a_suspension(ctx):
    running = after_a_suspension(ctx)
    return tuple([value + 0 for value in running])


def with_values_tagged_elsewhere(box):
    kept = box[0]
    yield kept
    yield box[0] + 1
    for number in range(2):
        yield box[0] * number


def in_the_code_that_resumes_a_generator(ctx):
    box = [1]
    running = with_values_tagged_elsewhere(box)
    first = next(running)
    box[0] = source(ctx)
    return first, *running


def delegating(ctx):
    found = yield from returning(ctx)
    yield found + 1


def returning(ctx):
    yield 1
    return source(ctx)


def in_a_delegation(ctx):
    return tuple(delegating(ctx))


class Tree:
    def __init__(self, ctx, left=None):
        self.ctx = ctx
        self.left = left

    def __iter__(self):
        if self.left:
            yield from self.left
        yield source(self.ctx) + 1


def in_a_delegation_to_an_object(ctx):
    return tuple(Tree(ctx, Tree(ctx, [1, 2])))


def catching(ctx):
    try:
        yield 1
    except ValueError as error:
        yield error.args[0] + 1
    finally:
        plain(ctx)


def in_a_generator_that_is_thrown_a_value(ctx):
    running = catching(ctx)
    first = next(running)
    return first, running.throw(ValueError(source(ctx)))


def receiving():
    got = yield 0
    got = yield got + 1
    yield got


def receiving_inside():
    found = tuple(value + 1 for value in (yield 0))
    yield found[0]
    made = (lambda value=(yield 1): value)()
    yield made + 0


def in_a_generator_that_is_sent_a_value_inside_of_an_expression(ctx):
    running = receiving_inside()
    next(running)
    first = running.send([source(ctx)])
    next(running)
    return first, running.send(source(ctx))


def in_a_generator_that_is_sent_a_value(ctx):
    running = receiving()
    next(running)
    first = running.send(source(ctx))
    return first, running.send(first)


async def computing(ctx, value):
    await asyncio.sleep(0)
    return source(ctx) + value


async def awaiting(ctx):
    total = 0
    for number in range(2):
        total += await computing(ctx, number)
    made = await computing(ctx, 3)
    await computing(ctx, 4)
    return total, made, await returned_by_coroutine(ctx)


async def returned_by_coroutine(ctx):
    return await computing(ctx, 5)


def in_a_coroutine(ctx):
    return asyncio.run(awaiting(ctx))


async def asynchronous(ctx):
    for number in range(2):
        yield number
        yield source(ctx) + number


async def looping(ctx):
    found = []
    async for value in asynchronous(ctx):
        found.append(value * 2)
    return tuple(found)


def in_an_asynchronous_generator(ctx):
    return asyncio.run(looping(ctx))


@contextlib.contextmanager
def managed(ctx):
    made = source(ctx)
    try:
        yield made
    finally:
        plain(1)


def in_a_block_of_with(ctx):
    with contextlib.nullcontext(2) as number:
        found = source(ctx) + number
        other = found * 2
    return found, other


def in_a_manager_of_a_generator(ctx):
    with managed(ctx) as found:
        return found


def behind_a_block_of_with(ctx):
    with contextlib.suppress(ValueError):
        found = source(ctx)
        raise ValueError
    return found + 1


def in_behind_a_block_of_with(ctx):
    return behind_a_block_of_with(ctx)


def in_a_list_comprehension(ctx):
    return tuple([source(ctx) + number for number in range(2)])


def in_a_condition_of_a_comprehension(ctx):
    return tuple([number + 1 for number in range(3) if source(ctx) > number and number])


def in_a_set_comprehension(ctx):
    (found,) = {source(ctx) + 0 for _ in range(2)}
    return found


def in_a_dict_comprehension(ctx):
    found = {number: source(ctx) + number for number in range(2)}
    return found[0], found[1]


def in_a_nested_comprehension(ctx):
    ((first, second), _) = [[source(ctx) + x * y for x in range(2)] for y in range(2)]
    return first, second


def in_a_comprehension_over_pairs(ctx):
    return tuple([a + b for a, b in [(1, 2), (source(ctx), 3)]])


def in_a_comprehension_of_attributes(ctx):
    things = [Thing(ctx), Thing(ctx, 3)]
    return tuple([thing.missing for thing in things])


def in_a_comprehension_of_variables(ctx):
    values = [1, 2]
    return tuple([value for value in adds(ctx, values)])


def in_a_generator_expression(ctx):
    return tuple(thing.missing for thing in [Thing(ctx), Thing(ctx)])


def in_a_condition_of_a_generator_expression(ctx):
    return tuple(number + 1 for number in range(3) if source(ctx) + number > 2 and number + 0)


def in_a_sum_of_a_generator_expression(ctx):
    return sum(thing.missing for thing in [Thing(ctx), Thing(ctx)])


def in_a_nested_generator_expression(ctx):
    return tuple(x + y.missing for x in range(2) for y in [Thing(ctx)] if x >= 0)


def in_an_operation_of_a_generator_expression(ctx):
    return tuple(thing + 1 for thing in [Thing(ctx)])


def in_a_lambda(ctx):
    return (lambda thing: thing.missing + 1)(Thing(ctx))


def in_a_lambda_that_decides(ctx):
    return (lambda thing: thing.missing if thing.missing > 1 else 0)(Thing(ctx))


def in_a_lambda_that_returns_its_argument(ctx):
    return (lambda value, *rest: value)(source(ctx), 1)


def in_a_key_function(ctx):
    values = sorted([3, 1, 2], key=lambda number: source(ctx) * number)
    return values[0], values[-1]


def in_a_callback_of_map(ctx):
    return tuple(map(lambda number: source(ctx) + number, [1, 2]))


def in_a_list_of_map(ctx):
    return tuple(list(map(lambda number: source(ctx) + number, [1, 2])))


def in_a_callback_of_filter(ctx):
    return tuple(filter(lambda value: value > 1, (source(ctx) + number for number in range(2))))


def in_a_list_of_a_generator(ctx):
    return tuple(list(adds(ctx, [1, 2])))


def in_a_sorted_generator(ctx):
    return tuple(sorted(adds(ctx, [1, 2])))


def in_a_zip_of_generators(ctx):
    return tuple([a + b for a, b in zip(adds(ctx, [1, 2]), itertools.count())])


def in_the_bounds_of_a_slice_that_is_stored(ctx):
    values = [1, 2, 3, 4]
    values[: source(ctx)] = [source(ctx) + 5]
    values[1:] = adds(ctx, [1])
    values[::2] = [plain(value) for value in values[::2]]
    return tuple(values)


def in_a_set_of_a_generator(ctx):
    (found,) = set(thing.missing for thing in [Thing(ctx), Thing(ctx)])
    return found


PROGRAMS = [function for name, function in sorted(globals().items()) if name.startswith("in_") and callable(function)]
