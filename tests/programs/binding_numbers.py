"""Programs that bind a number to names by each kind of target, and compute with it.

Each is differentiable near 3. The derivative and the enclosure are right: no statement that binds names loses metadata.
"""

import contextlib

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__.replace("_", " ")] = function
    return function


def run(coroutine):
    """The value of a coroutine that never waits, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError


class Pair:
    def __init__(self, *values):
        self.values = values

    def __enter__(self):
        return self.values

    def __exit__(self, *exception): ...

    async def __aenter__(self):
        return self.values

    async def __aexit__(self, *exception): ...


# ---- nested targets beside and in a starred one


@program
def nested_after_a_star(x):
    *b, (c, d) = [1, x, (x, 2.0)]
    return b[1] * c * d


@program
def nested_in_a_star(x):
    *(c, (d, f)), e = [x, (x * 2, 1.0), 1.0]
    return c * d * e * f


@program
def nested_on_both_sides_of_a_star(x):
    (a, *b), *c, (*d, e) = ((x, x), 1, x, (x, x))
    return a * b[0] * c[1] * d[0] * e


@program
def stars_in_stars(x):
    a, *b, (c, *d), [*e, [*f]] = [1, 2, x, (x, x, x), [x, [x]]]
    return a * b[1] * c * d[1] * e[0] * f[0]


@program
def star_in_a_loop(x):
    for *b, (c, d) in [[1, (x, 2.0)]]:
        b.append(c * d)
    return b[1]


@program
def star_in_comprehensions(x):
    made = [c * d for *b, (c, d) in [[1, (x, 2.0)]]]
    named = {c: d * e for *b, (c, (d, *_, e)) in [[1, ("k", (x, x))]]}
    return made[0] + named["k"] + sum(c * d for *b, (c, (d, *e)) in [[1, (x, (2.0, x))]])


@program
def star_over_a_generator(x):
    def numbers():
        yield 1
        yield from [x, (x, [x])]

    *b, (c, [d]) = numbers()
    return b[1] * c * d


@program
def star_stored_in_objects(x):
    found = {}
    *found["b"], (found["c"], d) = [1, x, (x, 2.0)]
    return found["b"][1] * found["c"] * d


@program
def star_in_a_chain_of_assignments(x):
    *a, (b, c) = d, *e, (f, *g) = [x, 2.0, (x, x)]
    return a[0] * b * c * d * e[0] * f * g[0]


# ---- `with`


@program
def with_several_names(x):
    with contextlib.nullcontext([x, (x, 2.0)]) as (a, (b, *c)):
        return a * b * c[0]


@program
def with_several_managers(x):
    with Pair(x, (x, x)) as (a, (*b,)), Pair(x, x) as [c, d]:
        return a * b[0] * c * d


@program
def with_an_attribute_and_an_item(x):
    pair, found = Pair(), {}
    with contextlib.nullcontext(x) as pair.values, contextlib.nullcontext(x) as found["a"]:
        return pair.values * found["a"]


@program
def with_names_of_a_generator(x):
    @contextlib.contextmanager
    def manager(value):
        yield value, [value]

    def numbers():
        with manager(x) as (a, [b]):
            yield a * b

    return sum(numbers())


GLOBAL = None


@program
def with_a_name_of_the_module(x):
    global GLOBAL
    with contextlib.nullcontext(x) as GLOBAL:
        return GLOBAL * GLOBAL


@program
def async_with_several_names(x):
    async def compute():
        async with Pair(x, (x, 1)) as (a, (b, c)):
            return a * b * c

    return run(compute())


# ---- `async for`


async def pairs(x):
    yield x, (x, x)


@program
def async_loop_with_several_names(x):
    async def compute():
        async for a, (b, *c) in pairs(x):
            return a * b * c[0]

    return run(compute())


@program
def async_comprehensions(x):
    async def numbers():
        yield x

    async def compute():
        made = [a * b * c[0] async for a, (b, *c) in pairs(x)]
        return (
            made[0] + sum([a * x async for a in numbers()]) + sum({str(len([n])): n async for n in numbers()}.values())
        )

    return run(compute())


@program
def async_generator_resumed_by_hand(x):
    return run(pairs(x).__anext__())[1][0] * x


# ---- the names of a class


@program
def class_that_reads_its_names(x):
    class Made:
        a = x
        b = a * a
        if b > 1:
            c = a
        d = (a, [b])
        e = [i * x for i in (a, b)]
        f = lambda self, value=a: value

        class Inner:
            z = x

        g = Inner.z

    return Made.b * Made.c * Made.d[1][0] * Made.e[1] * Made().f() * Made.g


@program
def class_that_unpacks(x):
    class Made:
        (a, b) = (x, x)
        [c, *d] = [x, 1, x]
        *e, (f, g) = [1, (x, 2.0)]

    return Made.a * Made.b * Made.c * Made.d[1] * Made.f * Made.g


@program
def class_with_a_loop(x):
    class Made:
        for a in [x, x]:
            e = a
        for b, (c, d) in [(x, (x, x))]:
            f = b * c * d

    return Made.a * Made.b * Made.c * Made.d * Made.e * Made.f


@program
def class_with_a_manager(x):
    class Made:
        with contextlib.nullcontext(x) as a, contextlib.nullcontext((x, 2.0)) as (b, c):
            d = a * b

    return Made.a * Made.b * Made.c * Made.d


@program
def class_that_changes_its_names(x):
    class Made:
        a = x
        a *= x
        b: float = a
        c = (d := b) * b

        def method(self, value=a):
            return value * 2

    return Made.a * Made().method() * Made.c * Made.d


@program
def class_in_a_class(x):
    class Outer:
        a = x

        class Inner:
            a = x * x
            b = a

        c = a * Inner.b

    return Outer.c


@program
def class_whose_names_change_without_metadata(x):
    class Made:
        a = x
        a = 2.0  # noqa: PIE794
        b = a * x

    return Made.a * Made.b
