"""The same as `first_steps`, in splats, in functions with `*args`, and in loops of `async for`."""

import asyncio
import collections
import itertools

from programs.tagging.first_steps import Thing, plain, source


def given(*values, **named):
    return (*values, *named.values())


def handing_on(function):
    def inner(*values, **named):
        return function(*values, **named)

    return inner


def in_a_splatted_list(ctx):
    values = [1, 2]
    values[0] = source(ctx)
    return given(0, *values)


def in_an_argument_behind_a_splatted_list(ctx):
    values = [1, 2]

    def changing():
        values[1] = source(ctx)
        return 5

    return (*given(*values, other=changing()), *given(*values, changing()), *given(*values))


def in_a_splatted_tuple_and_mapping(ctx):
    named = {"first": 1}
    named["second"] = source(ctx)
    return given(*(3, plain(4)), **named)


def in_what_a_decorated_function_hands_on(ctx):
    return handing_on(handing_on(given))(1, source(ctx), other=source(ctx, 7))


def in_a_callee_that_is_decorated(ctx):
    return handing_on(lambda value: source(ctx) + value)(3)


def in_a_splatted_generator(ctx):
    return given(*(source(ctx) + number for number in range(2)))


class Hashed:
    def __init__(self, value, then):
        self.value, self.then = value, then

    def __hash__(self):
        self.then()
        return hash(self.value)

    def __eq__(self, other):
        return self.value == other.value


def in_the_hash_of_an_item_of_a_splatted_list(ctx):
    values = [0, 1]

    def then():
        values[1] = source(ctx)

    values[0] = Hashed(10, then)
    found = {*values}
    (other,) = (value for value in found if type(value) is int)
    return other


def in_a_list_of_a_splatted_dict(ctx):
    found = {}
    found[source(ctx)] = 1
    return tuple([0, *found, *found.values()])


def in_getattr_with_a_default(ctx):
    thing = Thing(ctx)
    return getattr(thing, "missing", 0) + 1, getattr(thing, "absent", 5), getattr(thing, "given", 5)


def in_a_function_that_names_dir(ctx):
    thing = Thing(ctx)
    found = thing.missing + 1 if "value" in dir(thing) else 0
    other = vars(thing)["value"] + thing.missing
    return found, other, "found" in locals()


def in_a_set_of_what_is_tagged(ctx):
    values = set([1, 2])
    values.add(source(ctx, 3))
    return tuple(sorted(set(values)))


class Counting:
    """An asynchronous iterator that is no generator."""

    def __init__(self, ctx):
        self.ctx, self.number = ctx, 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.number += 1
        if self.number > 3:
            raise StopAsyncIteration
        return source(self.ctx) + self.number if self.number > 1 else 1


class Tree:
    def __init__(self, left, value, right):
        self.left, self.value, self.right = left, value, right

    async def __aiter__(self):
        if self.left:
            async for value in self.left:
                yield value
        yield self.value()
        if self.right:
            async for value in self.right:
                yield value


async def numbers(ctx):
    for number in (5, 6):
        yield number
        yield source(ctx, number)


async def of_numbers(ctx):
    found = []
    async for value in numbers(ctx):
        found.append(value)
        if len(found) == 3:
            break
    else:
        found.append(0)
    async for value in numbers(ctx):
        found.append(value + 1)
    else:
        found.append(source(ctx) + 1)
    return tuple(found)


async def of_an_iterator(ctx):
    found = []
    async for value in Counting(ctx):
        found.append(value * 2)
    return tuple(found)


async def of_a_tree(ctx):
    tree = Tree(Tree(None, lambda: 1.5, None), lambda: source(ctx, 2.5), Tree(None, lambda: 3.5, None))
    found = []
    async for value in tree:
        found.append(value + 1)
    return tuple(found)


async def of_a_comprehension(ctx):
    return tuple([value * 2 async for value in numbers(ctx)] + [value async for value in Counting(ctx)])


async def nested(ctx):
    found = []
    async for one in numbers(ctx):
        async for other in numbers(ctx):
            found.append(one + other)
    return tuple(found)


async def pairs(ctx):
    yield 1, 2
    yield source(ctx), 3


async def of_pairs(ctx):
    found = []
    async for one, other in pairs(ctx):
        found += [one * 2, other]
    return tuple(found)


def in_an_async_for(ctx):
    return asyncio.run(of_numbers(ctx))


def in_an_async_for_of_an_iterator(ctx):
    return asyncio.run(of_an_iterator(ctx))


def in_an_async_for_of_a_tree(ctx):
    return asyncio.run(of_a_tree(ctx))


def in_an_async_comprehension(ctx):
    return asyncio.run(of_a_comprehension(ctx))


def in_nested_async_for(ctx):
    return asyncio.run(nested(ctx))


def in_an_async_for_of_pairs(ctx):
    return asyncio.run(of_pairs(ctx))


def in_the_key_of_groupby(ctx):
    thing, found = Thing(ctx), []
    for key, group in itertools.groupby([1, 2, 12, 13, 24], key=lambda number: number // 10 + thing.missing):
        found += [key, *group]
    return tuple(found)


def in_the_groups_of_groupby(ctx):
    found = []
    for key, group in itertools.groupby(source(ctx, number) if number > 1 else number for number in (1, 1, 2, 2, 3)):
        found += [key, *[value + 1 for value in group]]
    return tuple(found)


def in_the_middle_of_a_group(ctx):
    found = []
    for _, group in itertools.groupby(source(ctx, 1) if number > 1 else 1 for number in range(4)):
        found += [value + 1 for value in group]
    groups = itertools.groupby([7, 7, 8], key=lambda number: source(ctx, number // 2) if len(found) > 4 else 3)
    for key, group in groups:
        for value in group:
            found.append(value + key)
    return tuple(found)


def in_a_group_that_is_taken_later(ctx):
    items = [5, 5, 6]
    groups = itertools.groupby(items)
    _, group = next(groups)
    first = next(group)
    items[1] = source(ctx, 5)
    return first, next(group) + 1, next(groups)[0]


def in_copies_of_an_iterator(ctx):
    first, second = itertools.tee(source(ctx, number) if number > 1 else number for number in range(4))
    return (*first, *[value * 2 for value in second])


def in_running_totals(ctx):
    thing = Thing(ctx)
    totals = itertools.accumulate(
        [1, 2, 3], lambda total, number: total + number * (thing.missing if number > 2 else 1)
    )
    return tuple(totals)


def in_a_cycle(ctx):
    turns = itertools.cycle(source(ctx, number) if number > 1 else number for number in range(3))
    return tuple(next(turns) + 1 for _ in range(7))


Pair = collections.namedtuple("Pair", "first second")


class Listed(list):
    pass


class Counted(tuple):
    def __iter__(self):
        return iter([self[0], self.made()])


def in_an_unpacked_named_tuple(ctx):
    first, second = pair = Pair(1, 2)
    third, fourth = Pair(first, source(ctx))
    (fifth, sixth), seventh = Listed([pair, 5])
    found = [one + other for one, other in [Pair(1, 2), Pair(third, fourth)]]
    return second + fourth, fifth, sixth, seventh, *found


def in_the_iterator_of_an_unpacked_tuple(ctx):
    made = Counted((1, 2))
    made.made = lambda: source(ctx)
    first, second = made
    for third, fourth in [made]:
        second = second + fourth + third
    return first, second


def in_a_dict_of_pairs(ctx):
    plain_keys = dict([("a", 1), ("b", 2)])
    values = [("a", 1), ("b", source(ctx))]
    return plain_keys["a"], *dict(values).values(), *dict([*values, (1, 2)], c=source(ctx)).values()


def behind_groups(ctx):
    groups = itertools.groupby([1, 1, 2])
    first = next(groups)[0]
    found = source(ctx)
    return first, found + 1, next(key for key, _ in groups)


PROGRAMS = [
    function
    for name, function in sorted(globals().items())
    if name.startswith(("in_", "behind_")) and callable(function)
]
