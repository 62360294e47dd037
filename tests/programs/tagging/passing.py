"""An unmodified program whose functions move a value through calls, syntax and attributes, and return it.

The second argument is moved, too, where there is room for it.
"""

# ruff: noqa: RUF015

import asyncio
import collections
import contextlib
import copy
import functools
import operator
import sys


class Thing:
    def __init__(self, x=None):
        self.x = x

    def get(self, value, other=None):
        return value

    def load(self):
        return self.x

    cached = functools.cached_property(load)
    cached.__set_name__(None, "cached")

    @functools.singledispatchmethod
    def dispatched(self, value, other):
        return other

    @staticmethod
    def static(value):
        return value

    @classmethod
    def of_class(cls, value):
        return value


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Manager:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *_):
        return None

    async def __aenter__(self):
        return self.value

    async def __aexit__(self, *_):
        return None


@contextlib.contextmanager
def managed(value, other):
    yield value


@contextlib.asynccontextmanager
async def managed_later(value):
    yield value


@functools.singledispatch
def dispatched(value, other=None):
    return value


@dispatched.register
def _(value: str, other=None):
    return other


@functools.lru_cache
def cached(value):
    return value


@functools.cache
def cached_pair(value, other):
    return [value, other]


@functools.wraps(dispatched)
def wrapped(*arguments, **keywords):
    return dispatched(*arguments, **keywords)


def second(first, last):
    return last


def by_default_of_lambda(x, y):
    return (lambda a=y, v=x: v)()


def by_default(x, y):
    def inner(a, v=x):
        return v

    return inner(y)


def by_default_that_is_not_used(x, y):
    def inner(v=y):
        return v

    return inner(x)


def by_keyword_default(x, y):
    def inner(a, *, b=y, v=x):
        return v

    return inner(0)


def by_default_in_loop(x, y):
    made = [lambda v=v: v for v in (y, x)]
    return made[1]()


def by_default_in_comprehension(x, y):
    return [make() for make in [lambda v=v: v for v in (y, x)]][1]


def by_default_of_method(x, y):
    class Local:
        def method(self, v=x):
            return v

    return Local().method()


def by_default_of_init(x, y):
    class Local:
        def __init__(self, v=x):
            self.v = v

    return Local().v


def by_default_called_by_map(x, y):
    return list(map(lambda a, v=x: v, [1, 2]))[1]


def by_default_of_generator(x, y):
    def inner(v=x):
        yield v

    return next(inner())


def by_default_through_partial(x, y):
    def inner(a, v=x):
        return v

    return functools.partial(inner, 1)()


def by_partial_of_python_function(x, y):
    return functools.partial(second, y)(x)


def by_argument_of_partial(x, y):
    return functools.partial(second, y, x)()


def by_keyword_of_partial(x, y):
    return functools.partial(second, y, last=x)()


def by_partial_of_partial(x, y):
    return functools.partial(functools.partial(second, y), x)()


def by_argument_of_partial_of_builtin(x, y):
    return functools.partial(max, [x])()


def by_partial_of_getattr(x, y):
    return functools.partial(getattr, Thing(y), "absent")(x)


def by_partial_in_attribute(x, y):
    thing = Thing(functools.partial(second, y, x))
    return thing.x()


def by_partial_in_list(x, y):
    return [functools.partial(second, y, x)][0]()


def by_map_of_partial(x, y):
    return list(map(functools.partial(second, y), [x]))[0]


def by_map_of_partial_with_argument(x, y):
    return list(map(functools.partial(operator.getitem, {"a": x}), "a"))[0]


def by_args_of_partial(x, y):
    return functools.partial(second, y, x).args[1]


def by_keywords_of_partial(x, y):
    return functools.partial(second, last=x).keywords["last"]


def by_lru_cache(x, y):
    return cached(x)


def by_cache(x, y):
    return cached_pair(y, x)[1]


def by_cached_property(x, y):
    return Thing(x).cached


def by_cached_property_again(x, y):
    thing = Thing(x)
    return [thing.cached, thing.cached][1]


def by_operator_call(x, y):
    return operator.call(second, y, x)


def by_keyword_of_operator_call(x, y):
    return operator.call(second, y, last=x)


def by_methodcaller(x, y):
    return operator.methodcaller("get", x)(Thing())


def by_keyword_of_methodcaller(x, y):
    return operator.methodcaller("get", y, other=y)(Thing()) if x is y else operator.methodcaller("get", x)(Thing())


def by_singledispatch(x, y):
    return dispatched(x)


def by_implementation_of_singledispatch(x, y):
    return dispatched("a", x)


def by_singledispatchmethod(x, y):
    return Thing().dispatched(y, x)


def by_wrapper(x, y):
    return wrapped("a", x)


def by_static_method(x, y):
    return Thing.static(x)


def by_class_method(x, y):
    return Thing.of_class(x)


def by_getattr_default(x, y):
    return getattr(Thing(y), "absent", x)


def by_attribute_with_getattr_default(x, y):
    return getattr(Thing(x), "x", y)


def by_update_of_dict_of_object(x, y):
    thing = Thing(y)
    thing.__dict__.update(x=x)
    return thing.x


def by_update_of_vars(x, y):
    thing = Thing(y)
    vars(thing).update({"other": x})
    return thing.other


def by_item_of_dict_of_object(x, y):
    thing = Thing(y)
    thing.__dict__["x"] = x
    return thing.x


def by_item_from_dict_of_object(x, y):
    return Thing(x).__dict__["x"]


def by_item_from_vars(x, y):
    return vars(Thing(x))["x"]


def by_values_of_vars(x, y):
    return list(vars(Thing(x)).values())[0]


def by_setdefault_of_dict_of_object(x, y):
    thing = Thing(y)
    thing.__dict__.setdefault("other", x)
    return thing.other


def by_assigned_dict_of_object(x, y):
    thing = Thing(y)
    thing.__dict__ = {"x": x}
    return thing.x


def by_pop_of_dict_of_object(x, y):
    thing = Thing(y)
    thing.__dict__["x"] = x
    return thing.__dict__.pop("x")


def by_class_body(x, y):
    class Local:
        a = y
        b = x

    return Local.b


def by_class_body_of_instance(x, y):
    class Local:
        b = x

    return Local().b


def by_annotated_name_of_class_body(x, y):
    class Local:
        a: int = x

    return Local.a


def by_type_call(x, y):
    if sys.version_info < (3, 12):
        return x  # there, `type` reads the frame, and its call is no event
    return type("Local", (), {"a": y, "b": x}).b


def by_yield_from_value(x, y):
    def inner():
        yield 0
        return x

    def outer():
        found = yield from inner()
        yield found

    return list(outer())[1]


def by_returned_yield_from(x, y):
    def inner():
        yield 0
        return x

    def outer():
        return (yield from inner())

    running = outer()
    next(running)
    try:
        next(running)
    except StopIteration as stop:
        return stop.value


def by_enter(x, y):
    with Manager(x) as found:
        return found


def by_context_manager(x, y):
    with managed(x, y) as found:
        return found


def by_keyword_of_context_manager(x, y):
    with managed(other=y, value=x) as found:
        return found


def by_null_context(x, y):
    with contextlib.nullcontext(x) as found:
        return found


def by_exit_stack(x, y):
    with contextlib.ExitStack() as stack:
        return stack.enter_context(managed(x, y))


def by_enter_method(x, y):
    return Manager(x).__enter__()


def by_await(x, y):
    async def inner():
        return x

    async def outer():
        found = await inner()
        return [found, y]

    return run(outer())[0]


def by_await_after_sleep(x, y):
    async def inner():
        await asyncio.sleep(0)
        return x

    async def outer():
        return [y, await inner()]

    return asyncio.run(outer())[1]


def by_async_with(x, y):
    async def inner():
        async with Manager(x) as found:
            return [found]

    return run(inner())[0]


def by_async_context_manager(x, y):
    async def inner():
        async with managed_later(x) as found:
            return [found]

    return run(inner())[0]


def by_async_for(x, y):
    async def items():
        yield y
        yield x

    async def outer():
        found = []
        async for item in items():
            found.append(item)
        return found

    return run(outer())[1]


def run(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def by_throw(x, y):
    def inner():
        try:
            yield 0
        except KeyError as error:
            yield error.args[0]

    running = inner()
    next(running)
    return running.throw(KeyError(x))


def by_thrown_value(x, y):
    def inner():
        while True:
            try:
                yield y
            except KeyError:
                yield x

    running = inner()
    next(running)
    return running.throw(KeyError())


def by_returned_value_of_generator(x, y):
    def inner():
        yield 0
        return x

    running = inner()
    next(running)
    try:
        running.send(None)
    except StopIteration as stop:
        return stop.value


def by_match_capture(x, y):
    match x:
        case found:
            return found


def by_match_sequence(x, y):
    match [y, x]:
        case [_, found]:
            return found


def by_match_rest(x, y):
    match (y, y, x):
        case [_, *rest]:
            return rest[1]


def by_match_mapping(x, y):
    match {"a": y, "b": x}:
        case {"b": found}:
            return found


def by_match_mapping_rest(x, y):
    match {"a": y, "b": x}:
        case {"a": _, **rest}:
            return rest["b"]


def by_match_class(x, y):
    match Point(y, x):
        case Point(_, found):
            return found


def by_match_class_keyword(x, y):
    match Point(y, x):
        case Point(y=found):
            return found


def by_match_nested(x, y):
    match {"p": [Point(y, (y, x))]}:
        case {"p": [Point(y=(_, found))]}:
            return found


def by_match_as(x, y):
    match [y, x]:
        case [_, int() | float() as found]:
            return found


def by_match_builtin_class(x, y):
    match x:
        case int(found) | float(found):
            return found


def by_match_guard(x, y):
    match [y, x]:
        case [_, found] if found is not None:
            return found


def by_from_keys(x, y):
    return dict.fromkeys("ab", x)["b"]


def by_from_keys_of_subclass(x, y):
    return collections.OrderedDict.fromkeys("ab", x)["b"]


def by_ordered_dict_store(x, y):
    made = collections.OrderedDict(a=y)
    made["b"] = x
    return made["b"]


def by_ordered_dict_pop(x, y):
    return collections.OrderedDict(a=x).pop("a")


def by_ordered_dict_popitem(x, y):
    return collections.OrderedDict(a=x).popitem()[1]


def by_ordered_dict_setdefault(x, y):
    return collections.OrderedDict(a=y).setdefault("b", x)


def by_ordered_dict_values(x, y):
    return list(collections.OrderedDict(a=y, b=x).values())[1]


def by_ordered_dict_items(x, y):
    return [value for _, value in collections.OrderedDict(a=y, b=x).items()][1]


def by_ordered_dict_update(x, y):
    made = collections.OrderedDict()
    made.update(b=x)
    return made["b"]


def by_ordered_dict_copy(x, y):
    return collections.OrderedDict(b=x).copy()["b"]


def by_move_to_end(x, y):
    made = collections.OrderedDict(b=x, a=y)
    made.move_to_end("b")
    return made["b"]


def by_default_dict_store(x, y):
    made = collections.defaultdict(int)
    made["b"] = x
    return made["b"]


def by_default_dict_missing(x, y):
    return collections.defaultdict(lambda: x)["b"]


def by_default_dict_copy(x, y):
    return copy.copy(collections.defaultdict(int, b=x))["b"]


def by_dict_ior(x, y):
    made = {"a": y}
    made |= {"b": x}
    return made["b"]


def by_dict_unpacking(x, y):
    return {"a": y, "b": x}["b"]


MOVERS = [found for name, found in list(globals().items()) if name.startswith("by_")]
