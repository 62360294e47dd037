"""An unmodified program whose functions move a value, each in another way, and return it."""

import collections
import copy
import dataclasses
import functools
import itertools
import operator
import random
import types

STATE = None


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: object


Pair = collections.namedtuple("Pair", "first second")


class Holder:
    kind = None

    def __init__(self, x, *rest, **named):
        self.x = x
        self.rest = rest
        self.named = named

    @property
    def shown(self):
        return self.x

    @shown.setter
    def shown(self, value):
        self.x = value

    def method(self):
        return self.x

    def __getitem__(self, key):
        return self.x

    def __setitem__(self, key, value):
        self.x = value

    def __add__(self, other):
        return other

    def __radd__(self, other):
        return other

    def __iter__(self):
        yield 0
        yield self.x

    def __call__(self, value):
        return value


class Slotted:
    __slots__ = ("x",)


def generator(x):
    yield 0
    yield x


def identity(x):
    return x


def by_variable(x):
    y = x
    return y


def by_closure(x):
    def inner():
        return x

    return inner()


def by_nonlocal(x):
    y = None

    def inner():
        nonlocal y
        y = x

    inner()
    return y


def by_lambda(x):
    return (lambda a, b=1: a)(x)


def by_keyword(x):
    return Holder(0, named=x).named["named"]


def by_varargs(x):
    def inner(*args):
        return args[1]

    return inner(0, x)


def by_lambda_varargs(x):
    return (lambda *args: args[-1])(0, x)


def by_keywords(x):
    def inner(**named):
        return named["a"]

    return inner(a=x)


def by_splat(x):
    def inner(a, b):
        return b

    items = [0, x]
    return inner(*items)


def by_mapping_splat(x):
    def inner(a, b):
        return b

    return inner(a=0, b=x)


def by_attribute(x):
    holder = Holder(0)
    holder.x = x
    return holder.x


def by_constructor(x):
    return Holder(x).x


def by_property(x):
    holder = Holder(0)
    holder.shown = x
    return holder.shown


def by_method(x):
    return Holder(x).method()


def by_bound_method(x):
    method = Holder(x).method
    return method()


def by_call(x):
    return Holder(0)(x)


def by_partial(x):
    return functools.partial(identity)(x)


def by_slot(x):
    holder = Slotted()
    holder.x = x
    return holder.x


def by_class_attribute(x):
    Holder.kind = x
    try:
        return Holder(0).kind
    finally:
        Holder.kind = None


def by_setattr(x):
    holder = Holder(0)
    setattr(holder, "x", x)  # noqa: B010
    return getattr(holder, "x", None)


def by_special_getitem(x):
    return Holder(x)["any"]


def by_special_setitem(x):
    holder = Holder(0)
    holder["any"] = x
    return holder.x


def by_special_add(x):
    return Holder(0) + x


def by_special_radd(x):
    return x + Holder(0)


def by_list(x):
    return [0, x][1]


def by_negative_index(x):
    return [0, x, 1][-2]


def by_tuple(x):
    return (0, x)[1]


def by_dict(x):
    return {"a": 0, "b": x}["b"]


def by_set(x):
    (only,) = {x}
    return only


def by_set_add(x):
    made = set()
    made.add(x)
    return made.pop()


def by_nested(x):
    return {"a": [(0, [x])]}["a"][0][1][0]


def by_slice(x):
    return [0, x, 1][1:][0]


def by_reversed_slice(x):
    return (0, x, 1, 2)[::-1][2]


def by_store(x):
    items = [0, 0, 0]
    items[1] = x
    return items[1]


def by_slice_store(x):
    items = [0, 0, 0]
    items[1:] = [x, x, x]
    return items[3]


def by_delete(x):
    items = [0, x, 1]
    del items[0]
    return items[0]


def by_unpacking(x):
    _a, (_b, *c) = 0, (1, 2, x)
    return c[1]


def by_swap(x):
    a, b = x, 0
    a, b = b, a
    return b


def by_comprehension(x):
    return [i for i in [0, x]][1]


def by_set_comprehension(x):
    return next(iter({i for i in [x]}))


def by_dict_comprehension(x):
    return {key: value for key, value in [("a", x)]}["a"]


def by_generator_expression(x):
    return list(i for i in [0, x])[1]


def by_generator(x):
    return [*generator(x)][1]


def by_generator_loop(x):
    for item in generator(x):
        last = item
    return last


def by_next(x):
    iterator = generator(x)
    next(iterator)
    return next(iterator)


def by_next_default(x):
    return next(iter(()), x)


def by_list_iterator(x):
    iterator = iter([0, x])
    next(iterator)
    return next(iterator)


def by_next_method_of_generator(x):
    step = generator(x).__next__
    step()
    return step()


def by_next_method_of_iterator(x):
    return iter([x]).__next__()


def by_next_method_of_map(x):
    return map(identity, [x]).__next__()


def by_generator_that_is_sent_something(x):
    running = generator(x)
    running.send(None)
    return running.send("unused")


def by_function_of_generators(x):
    running = generator(x)
    types.GeneratorType.send(running, None)
    return types.GeneratorType.__next__(running)


def by_inner_generator_that_is_sent_something(x):
    def outer():
        found = yield from generator(x)
        yield found

    running = outer()
    next(running)
    return running.send("unused")


def patient(x):
    try:
        yield 0
    except KeyError:
        yield x


def by_generator_that_is_thrown_something(x):
    running = patient(x)
    next(running)
    return running.throw(KeyError())


def echoing():
    got = None
    while True:
        got = yield [got]


def by_sending(x):
    running = echoing()
    next(running)
    return running.send(x)[0]


def by_sending_with_a_bound_method(x):
    send = echoing().send
    send(None)
    return send(x)[0]


def by_sending_through_another_generator(x):
    def outer():
        yield from echoing()

    running = outer()
    next(running)
    return running.send(x)[0]


def by_sending_among_others(x):
    def outer(inner):
        next(inner)
        got = yield
        while True:
            got = yield inner.send(-1)[0], got, inner.send(got)[0]

    running = outer(echoing())
    next(running)
    return [part for part in running.send(x) if part != -1][-1]


def sent(running, x):
    return running.send(x)


def sent_in_turn(x):
    running = echoing()
    running.send(None)
    return [running.send(item)[0] for item in (x, 1, 2)]


def closed(x):
    def final():
        try:
            yield
        except GeneratorExit:
            return x

    running = final()
    next(running)
    return running.close()


def by_yield_from(x):
    def outer():
        yield from generator(x)

    return list(outer())[1]


def by_own_iterator(x):
    return list(Holder(x))[1]


def by_loop(x):
    for last in (0, x):  # noqa: B007
        pass
    return last


def by_global(x):
    global STATE
    STATE = x
    try:
        return STATE
    finally:
        STATE = None


def by_append(x):
    items = [0]
    items.append(x)
    return items[-1]


def by_bound_append(x):
    items = []
    add = items.append
    add(0)
    add(x)
    return items[1]


def by_insert(x):
    items = [0, 1]
    items.insert(0, x)
    return items[0]


def by_insert_before(x):
    items = [0, x]
    items.insert(0, 1)
    return items[2]


def by_pop(x):
    return [0, x].pop()


def by_pop_first(x):
    return [x, 0].pop(0)


def by_extend(x):
    items = [0]
    items.extend([1, x])
    return items[2]


def by_extend_with_generator(x):
    items = []
    items.extend(generator(x))
    return items[1]


def by_augmented(x):
    items = [0]
    items += (1, x)
    return items[2]


def by_concatenation(x):
    return ([0] + [x])[1]


def by_tuple_concatenation(x):
    return ((0,) + (x,))[1]


def by_repetition(x):
    return ([0, x] * 2)[3]


def by_remove(x):
    items = [0, 5, x]
    items.remove(5)
    return items[1]


def by_reverse(x):
    items = [0, x]
    items.reverse()
    return items[0]


def by_sort(x):
    items = [x, -1]
    items.sort()
    return items[1]


def by_sort_with_key(x):
    items = [-1, x]
    items.sort(key=lambda item: -item)
    return items[0]


def by_list_copy(x):
    return [0, x].copy()[1]


def by_list_of_list(x):
    return list([0, x])[1]


def by_tuple_of_list(x):
    return tuple([0, x])[1]


def by_sorted(x):
    return sorted([x, -1, 0])[2]


def by_sorted_generator(x):
    return sorted(generator(x), reverse=True)[0]


def by_dict_store(x):
    made = {}
    made["a"] = x
    return made["a"]


def by_get(x):
    return {"a": x}.get("a")


def by_get_default(x):
    return {}.get("a", x)


def by_dict_pop(x):
    return {"a": x}.pop("a")


def by_popitem(x):
    _, value = {"a": x}.popitem()
    return value


def by_setdefault(x):
    made = {}
    made.setdefault("a", x)
    return made["a"]


def by_setdefault_result(x):
    return {}.setdefault("a", x)


def by_update(x):
    made = {}
    made.update({"a": x})
    return made["a"]


def by_update_keyword(x):
    made = {}
    made.update(a=x)
    return made["a"]


def by_dict_constructor(x):
    return dict(a=x)["a"]


def by_dict_of_pairs(x):
    return dict([("a", x)])["a"]


def by_dict_of_zip(x):
    return dict(zip("ab", [0, x], strict=True))["b"]


def by_dict_copy(x):
    return {"a": x}.copy()["a"]


def by_dict_or(x):
    return ({"a": 0} | {"a": x})["a"]


def by_values(x):
    return list({"a": 0, "b": x}.values())[1]


def by_items(x):
    for _, value in {"a": 0, "b": x}.items():
        last = value
    return last


def by_deque(x):
    queue = collections.deque([0])
    queue.append(x)
    queue.rotate()
    return queue.popleft()


def by_deque_left(x):
    queue = collections.deque()
    queue.appendleft(0)
    queue.appendleft(x)
    return queue[0]


def by_zip(x):
    for _, b in zip([1, 2], [0, x], strict=True):
        last = b
    return last


def by_list_of_zip(x):
    return list(zip([1, 2], [0, x], strict=True))[1][1]


def by_enumerate(x):
    return [item for _, item in enumerate([0, x])][1]


def by_map(x):
    return list(map(identity, [0, x]))[1]


def by_map_of_lambda(x):
    return list(map(lambda a, b: b, [0, 1], [0, x]))[1]


def by_map_over_generator(x):
    return [*map(identity, generator(x))][1]


def by_map_with_closure(x):
    return list(map(lambda _: x, [0]))[0]  # noqa: RUF015


def by_nested_maps(x):
    return list(map(identity, map(identity, [0, x])))[1]


def by_filter(x):
    return list(filter(None, [0, x]))[0]  # noqa: RUF015


def by_filter_function(x):
    return list(filter(lambda item: item > 0, [0, x]))[0]  # noqa: RUF015


def by_reversed(x):
    return list(reversed([0, x]))[0]  # noqa: RUF015


def by_chain(x):
    return list(itertools.chain([0], [x]))[1]


def by_chain_from_iterable(x):
    return list(itertools.chain.from_iterable([[0], [x]]))[1]


def by_islice(x):
    return list(itertools.islice([0, x, 1], 1, 2))[0]  # noqa: RUF015


def by_starmap(x):
    return list(itertools.starmap(lambda a, b: b, [(0, x)]))[0]  # noqa: RUF015


def by_takewhile(x):
    return list(itertools.takewhile(lambda item: item >= 0, [0, x]))[1]


def by_pairwise(x):
    return list(itertools.pairwise([0, x]))[0][1]  # noqa: RUF015


def by_reduce(x):
    return functools.reduce(lambda a, b: b, [0, 1, x])


def by_max(x):
    return max(0, x)


def by_min_of_list(x):
    return min([x + 100, x], key=lambda item: item) if False else min([x, 1000])


def by_itemgetter(x):
    return operator.itemgetter(1)([0, x])


def by_itemgetters(x):
    return operator.itemgetter(0, 1)([0, x])[1]


def by_attrgetter(x):
    return operator.attrgetter("x")(Holder(x))


def by_copy(x):
    return copy.copy([0, x])[1]


def by_copied_object(x):
    return copy.copy(Holder(x)).x


def by_deepcopy(x):
    return copy.deepcopy({"a": [Holder([x])]})["a"][0].x[0]


def by_dataclass(x):
    return Point(0, x).y


def by_dataclass_keyword(x):
    return Point(x=x).x


def by_frozen_dataclass(x):
    return Frozen(x).x


def by_replace(x):
    return dataclasses.replace(Point(x, 1), y=2).x


def by_namedtuple(x):
    return Pair(0, x).second


def by_namedtuple_unpacking(x):
    _, second = Pair(0, x)
    return second


def by_namespace(x):
    return types.SimpleNamespace(a=x).a


def by_conditional(x):
    return x if x else 0


def by_or(x):
    return 0 or x


def by_and(x):
    return 1 and x


def by_walrus(x):
    if (y := x) > 0:
        return y
    return None


def by_try(x):
    try:
        raise ValueError
    except ValueError:
        return x
    finally:
        len([1])


def by_with(x):
    with Block():
        return x


class Block:
    def __enter__(self):
        return self

    def __exit__(self, *exception):
        identity(5)


def by_match(x):
    match x:
        case 0:
            return None
        case float() | int():
            return x


def by_int_to_float(x):
    return float(x)


def by_default_factory(x):
    made = collections.defaultdict(list)
    made["a"].append(x)
    return made["a"][0]


def by_object_in_list(x):
    return [Holder(x)][0].x


def by_mutable_aliases(x):
    items = [0]
    alias = items
    alias.append(x)
    return items[1]


def by_recursion(x, depth=3):
    return x if depth == 0 else by_recursion(x, depth - 1)


def by_shuffled_unseen(x):
    items = [x, -1, -2, -3]
    random.Random(1).shuffle(items)  # not overdubbed: a change by a leaf
    return items


MOVERS = [
    function for name, function in list(globals().items()) if name.startswith("by_") and name != "by_shuffled_unseen"
]
