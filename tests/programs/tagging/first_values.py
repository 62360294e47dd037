"""Functions during which the first value in the process is tagged: `source` tags it."""

# ruff: noqa: B009, B035, B905, PIE804, RUF015, RUF059

import contextlib
import functools
import itertools
import operator
import re
import weakref

from cassette_import import tag
from cassette_import.runtime.names import FLAGS


def source(ctx, value=1):
    return tag(value, ctx, "m")


def is_tagged():
    return FLAGS["@tagged"]


def items(ctx):
    yield 0
    yield source(ctx)
    yield 2


class Thing:
    def __init__(self, ctx):
        self.ctx = ctx

    def method(self):
        return source(self.ctx)

    @property
    def given(self):
        return source(self.ctx)

    def __call__(self):
        return source(self.ctx)

    def __getitem__(self, index):
        return source(self.ctx)

    def __add__(self, other):
        return source(self.ctx)

    __radd__ = __iadd__ = __lt__ = __or__ = __ior__ = __add__

    def __neg__(self):
        return source(self.ctx)

    __abs__ = __neg__

    def __str__(self):
        return source(self.ctx, "text")

    def __contains__(self, item):
        return source(self.ctx, True)

    def __setitem__(self, index, value):
        self.value = source(self.ctx)


class Meta(type):
    pass


class WithMetaclass(metaclass=Meta):
    def __init__(self, ctx):
        self.value = source(ctx)


class Made:
    def __new__(cls, ctx):
        return tag(object.__new__(cls), ctx, "m")


class Counted:
    def __init__(self, ctx):
        self.ctx = ctx
        self.left = 2

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return source(self.ctx)


def by_call(ctx):
    return source(ctx)


def by_assignment(ctx):
    x = source(ctx)
    return x


def by_method(ctx):
    return Thing(ctx).method()


def by_property(ctx):
    return Thing(ctx).given


def by_instance(ctx):
    return Thing(ctx)()


def by_class(ctx):
    return Made(ctx)


def by_partial(ctx):
    return functools.partial(source, ctx)()


def by_lambda(ctx):
    return (lambda: source(ctx))()


def by_subscript(ctx):
    return Thing(ctx)[0]


def by_operator(ctx):
    return Thing(ctx) + 1


def by_reflected_operator(ctx):
    return 1 + Thing(ctx)


def by_function_of_operator(ctx):
    return operator.add(Thing(ctx), 1)


def by_comparison(ctx):
    return Thing(ctx) < 1


def by_unary_operator(ctx):
    return -Thing(ctx)


def by_abs(ctx):
    return abs(Thing(ctx))


def by_str(ctx):
    return str(Thing(ctx))


def text_of(ctx):
    return f"{Thing(ctx)}"


def by_augmented_assignment(ctx):
    thing = Thing(ctx)
    thing += 1
    return thing


def by_augmented_or(ctx):
    thing = Thing(ctx)
    thing |= 1
    return thing


def by_attribute(ctx):
    thing = Thing(ctx)
    thing.own = source(ctx)
    return thing.own


def by_getattr(ctx):
    return getattr(Thing(ctx), "given")


def by_display(ctx):
    return [0, source(ctx)][1]


def by_dict_display(ctx):
    return {"a": source(ctx)}["a"]


def by_splat(ctx):
    return max(*[source(ctx)], -1)


def by_keywords(ctx):
    return source(**{"ctx": ctx})


def by_arguments(ctx):
    def second(*arguments):
        return arguments[1]

    return second(0, source(ctx))


def by_unpacking(ctx):
    first, *rest = items(ctx)
    return rest[0]


def by_loop(ctx):
    found = None
    for number, item in enumerate([ctx, ctx]):
        x = item if number == 0 else source(item)
        found = x
    return found


def by_append(ctx):
    found = []
    for number in range(3):
        found.append(number)
        if number == 1:
            found[number] = source(ctx)
    return found[1]


def by_generator(ctx):
    return [item for item in items(ctx)][1]


def by_loop_over_generator(ctx):
    for item in items(ctx):
        if item == 1:
            return item


def by_generator_expression(ctx):
    for item in (source(one) for one in [ctx]):
        return item


def by_yield_from(ctx):
    def outer():
        yield from items(ctx)

    for item in outer():
        if item == 1:
            return item


def by_next(ctx):
    generator = items(ctx)
    next(generator)
    return next(generator)


def by_sending(ctx):
    generator = items(ctx)
    generator.send(None)
    return generator.send("unused")


def by_next_method(ctx):
    step = items(ctx).__next__
    step()
    return step()


def by_next_method_of_map(ctx):
    return map(source, [ctx]).__next__()


def by_next_of_an_object(ctx):
    return next(Counted(ctx))


def by_loop_over_an_object(ctx):
    for item in Counted(ctx):
        return item


def by_map(ctx):
    for item in map(source, [ctx]):
        return item


def by_filter(ctx):
    for item in filter(None, items(ctx)):
        return item


def by_zip(ctx):
    for item, _ in zip(map(source, [ctx]), [2]):
        return item


def by_enumerate(ctx):
    for number, item in enumerate(items(ctx)):
        if number == 1:
            return item


def by_nested_iterators(ctx):
    for number, (item, _) in enumerate(zip(items(ctx), range(3))):
        if number == 1:
            return item


def by_list(ctx):
    return list(items(ctx))[1]


def by_tuple(ctx):
    return tuple(map(source, [ctx]))[0]


def by_sorted(ctx):
    return sorted(items(ctx))[1]


def by_dict(ctx):
    return dict(("key", source(one)) for one in [ctx])["key"]


def by_extend(ctx):
    found = []
    found.extend(items(ctx))
    return found[1]


def by_adding_to_a_list(ctx):
    found = []
    found += items(ctx)
    return found[1]


def by_reduce(ctx):
    return functools.reduce(lambda total, item: source(item), [0, ctx])


def by_next_of_a_chain(ctx):
    iterator = itertools.chain([1], items(ctx))
    next(iterator), next(iterator)
    return next(iterator, None)


def by_next_of_a_chain_in_a_generator(ctx):
    def body(iterator):
        next(iterator), next(iterator, None)
        yield next(iterator, None)

    return next(body(itertools.chain.from_iterable([[1], items(ctx)])))


def by_loop_over_a_chain_in_a_generator(ctx):
    def body():
        for number, item in enumerate(itertools.chain(items(ctx), [5])):
            if number == 1:
                yield item

    return next(body())


def by_next_of_a_zip(ctx):
    pairs = zip(map(source, [ctx]), [2])
    return next(pairs)[0]


def by_next_of_a_zip_of_generators_in_a_generator(ctx):
    def body(pairs):
        yield next(pairs, None)[0]

    return next(body(zip((source(ctx) for _ in range(2)), range(2))))


def by_next_of_an_enumeration(ctx):
    numbered = enumerate(source(ctx) for _ in range(2))
    return next(numbered)[1]


def by_end_of_an_iterator(ctx):
    def body():
        yield from iter([])
        return source(ctx)

    def outer():
        yield (yield from body())

    return next(outer())


def by_zip_longest(ctx):
    for letter, item in itertools.zip_longest("abcd", items(ctx)):
        if letter == "b":
            return item


def by_zip_longest_that_the_interpreter_has_advanced(ctx):
    pairs = itertools.zip_longest(items(ctx), "abcd")
    list(itertools.islice(pairs, 1))
    return next(pairs)[0]


def by_item_of_zip_longest_after_the_first_value(ctx):
    pairs = itertools.zip_longest((source(ctx) for _ in "abcd"), "abcd")
    list(itertools.islice(pairs, 2))
    return next(pairs)[0]


def by_accumulate(ctx):
    for number, total in enumerate(itertools.accumulate(items(ctx), lambda total, item: item)):
        if number == 1:
            return total


def by_cached_function(ctx):
    @functools.lru_cache
    def cached(value):
        return source(ctx, value)

    return cached(3)


def by_second_call_of_a_cached_function(ctx):
    @functools.lru_cache
    def cached(value, *, other):
        return source(ctx, value + other)

    cached(3, other=4)
    return cached(3, other=4)


def by_parametrised_list(ctx):
    return list[int](items(ctx))[1]


def by_class_with_a_metaclass(ctx):
    return WithMetaclass(ctx).value


def by_class_with_a_metaclass_in_a_generator(ctx):
    def body():
        yield WithMetaclass(ctx).value

    return next(body())


def by_descriptor_of_a_type(ctx):
    thing = Thing(ctx)
    object.__setattr__(thing, "value", source(ctx))
    return thing.value


def by_replaced_text(ctx):
    found = []
    re.sub("a", lambda match: (found.append(source(ctx)), "b")[1], "a")
    return found[0]


def by_comprehension(ctx):
    return [source(one) for one in [ctx]][0]


def by_dict_comprehension(ctx):
    return {1: source(one) for one in [ctx]}[1]


def by_nested_functions(ctx):
    def outer():
        def inner():
            return source(ctx)

        return inner()

    return outer()


def by_recursion(ctx, depth=5):
    return source(ctx) if depth == 0 else by_recursion(ctx, depth - 1)


def by_exception(ctx):
    try:
        raise ValueError
    except ValueError:
        return source(ctx)
    finally:
        by_call(ctx)


def while_pairs_are_alive(found):
    pairs = itertools.zip_longest((n for n in range(3)), "ab")
    totals = itertools.accumulate(n for n in range(3))
    for pair, total in zip(pairs, totals):
        found.append((pair, total, is_tagged()))
    return found


class Summand:
    def __add__(self, other):
        return other


def dies_with_its_iterator(make):
    item = Summand()
    seen = weakref.ref(item)
    iterator = make(part for part in [item, item])
    for _ in iterator:
        break
    del iterator, item, _
    return seen() is None


WAYS = [value for name, value in list(globals().items()) if name.startswith("by_")]


# ---- values without metadata, although the wrapper of an equal value has just been left


def after_a_key(ctx):
    [ctx].sort(key=lambda one: source(one))
    return 1


def after_callbacks(ctx):
    return len(min([[1]], key=lambda one: source(ctx)))


def after_contains(ctx):
    if 5 in Thing(ctx):
        return True


def after_setitem(ctx):
    Thing(ctx)[0] = 1
    return 1


def after_a_call(ctx):
    source(ctx)
    return 1


def after_an_iterator(ctx):
    list(itertools.islice(items(ctx), 3))
    return 1


def failing(ctx):
    try:
        return source(ctx)
    finally:
        raise KeyError


def after_an_exception(ctx):
    try:
        failing(ctx)
    except KeyError:
        pass
    return 1


def after_an_exception_that_a_block_suppressed(ctx):
    with contextlib.suppress(KeyError):
        failing(ctx)
    one = 1
    return one


def after_an_exception_in_a_special_method(ctx):
    class Failing:
        def __neg__(self):
            try:
                failing(ctx)
            except KeyError:
                return 1

    return -Failing()


def after_an_exception_before_a_call(ctx):
    try:
        failing(ctx)
    except KeyError:
        return (lambda: 1)()


def after_an_exception_in_a_generator(ctx):
    def numbers():
        try:
            failing(ctx)
        except KeyError:
            yield 1

    return next(numbers())


def after_printing(ctx):
    "{}".format(Thing(ctx))
    return "text"


OTHERS = [value for name, value in list(globals().items()) if name.startswith("after_")]
