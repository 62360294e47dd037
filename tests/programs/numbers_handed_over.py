"""Programs that hand a function over to what keeps it and calls it later: a program for each row of a table.

The function carries a number: in a variable, as an argument of a partial object, or in an object. Each program returns
the square of its argument.
"""

import argparse
import asyncio
import atexit
import collections
import concurrent.futures
import contextlib
import copyreg
import dataclasses
import functools
import importlib
import io
import json
import logging
import pickle
import sched
import signal
import sqlite3
import threading
import weakref

from cassette_import.contexts.boundaries import CALLBACK_TAKERS


class Owner:
    """An object that may die."""


def in_class(made):
    return type("Owner", (), {"value": made})()


def in_dataclass(made):
    kind = type("Data", (), {"__annotations__": {"value": float}, "value": made})
    return dataclasses.dataclass(kind)().value


def cached_in_c(f):
    made = functools._lru_cache_wrapper(f, 8, False, functools._CacheInfo)
    made.__wrapped__, made.cache_parameters = f, lambda: {"maxsize": 8, "typed": False}  # as `lru_cache` makes it
    return made()


def dispatched(f):
    made = functools.singledispatch(lambda value: None)
    made.register(int, f)
    return made(1)


def dispatched_method(f):
    made = functools.singledispatchmethod(lambda self, one: None)
    made.register(int, lambda self, one: f())
    return in_class(made).value(1)


def on_death(take):
    owner = Owner()
    held = take(owner)
    del owner
    return held


def on_signal(f):
    before = signal.signal(signal.SIGUSR1, f)
    try:
        signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def scheduled(method, f):
    made = sched.scheduler(lambda: 0.0, lambda delay: None)
    getattr(made, method)(0.0, 0, f)
    made.run()


def timed(f):
    made = sched.scheduler(f, lambda delay: None)
    return made.timefunc()


def on_exit(method, f):
    with contextlib.ExitStack() as stack:
        getattr(stack, method)(f)


async def in_stack(method, f):
    async def awaited(*rest):
        f()

    async with contextlib.AsyncExitStack() as stack:
        getattr(stack, method)(awaited)


def on_awaited_exit(method, f):
    made = in_stack(method, f)
    try:
        asyncio.run(made)
    finally:
        made.close()


def parsed(f):
    parser = argparse.ArgumentParser()
    parser.add_argument("--value", type=f)
    return parser.parse_args(["--value", "1"]).value


def logged(f):
    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(lambda *arguments, **keywords: (f(), before(*arguments, **keywords))[1])
    try:
        logging.getLogger("handed over").makeRecord("", 0, "", 0, "", (), None)
    finally:
        logging.setLogRecordFactory(before)


def filtered(f):
    made = logging.Logger("handed over")
    made.addHandler(logging.NullHandler())
    made.addFilter(lambda record: (f(), True)[1])
    made.warning("")


def reduced(f):
    copyreg.pickle(Owner, lambda owner: (f(), (len, ("",)))[1])
    try:
        pickle.dumps(Owner())
    finally:
        del copyreg.dispatch_table[Owner]


def in_database(take, query, *values):
    with contextlib.closing(sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_COLNAMES)) as connection:
        take(connection)
        connection.execute(query, values).fetchall()


def aggregated(method, query, f):
    class Total:
        def __init__(self):
            f()

        def step(self, *values): ...

        inverse = step
        value = finalize = lambda self: 0

    in_database(lambda connection: getattr(connection, method)("total_of", 1, Total), query)


def adapted(f):
    sqlite3.register_adapter(Owner, lambda owner: (f(), 1)[1])
    in_database(lambda connection: None, "select ?", Owner())


def converted(f):
    sqlite3.register_converter("handed", lambda value: (f(), None)[1])
    in_database(lambda connection: None, 'select 1 as "one [handed]"')


_NUMBERS = "select value, total_of(value) over (order by value rows 1 preceding) from (select 1 as value)"


def done(f):
    made = concurrent.futures.Future()
    made.add_done_callback(f)
    made.set_result(1)


def in_attrs(name, f):
    import attr

    return attr.s(type("Data", (), {"value": getattr(attr, name)(factory=f)}))().value


def in_attrs_default(f):
    import attr

    return attr.s(type("Data", (), {"value": attr.ib(default=attr.Factory(f))}))().value


def in_define(f):
    import attr

    kind = type("Data", (), {"__annotations__": {"value": float}, "value": attr.field(factory=f)})
    return attr.define(kind)().value


def in_model(name, f):
    import pydantic

    names = {"Field": "value", "PrivateAttr": "_value"}
    body = {"__annotations__": {names[name]: float}, names[name]: getattr(pydantic, name)(default_factory=f)}
    return getattr(type("Model", (pydantic.BaseModel,), {"__module__": __name__, **body})(), names[name])


def in_table(column, f):
    import sqlalchemy

    module = importlib.import_module(column.rpartition(".")[0])
    made = getattr(module, column.rpartition(".")[2])("value", sqlalchemy.Float, default=f)
    return getattr(made, "column", made).default.arg(None)


USES = {
    "builtins.property": lambda f: in_class(property(f)).value,
    "collections.defaultdict": lambda f: collections.defaultdict(f)["value"],
    "functools.cache": lambda f: functools.cache(f)(),
    "functools.cached_property": lambda f: in_class(functools.cached_property(f)).value,
    "functools.cmp_to_key": lambda f: [sorted([1, 2], key=functools.cmp_to_key(lambda *values: (f(), 1)[1])), None][1],
    "functools.lru_cache": lambda f: functools.lru_cache(maxsize=8)(f)(),
    "functools._lru_cache_wrapper": cached_in_c,
    "functools.partialmethod": lambda f: in_class(functools.partialmethod(lambda self: f())).value(),
    "functools.singledispatch": dispatched,
    "functools.singledispatchmethod": lambda f: in_class(functools.singledispatchmethod(lambda self, one: f())).value(
        1
    ),
    "functools.singledispatchmethod.register": dispatched_method,
    "threading.Barrier": lambda f: [threading.Barrier(1, f).wait(), None][1],
    "weakref.ref": lambda f: [on_death(lambda owner: weakref.ref(owner, f)), None][1],
    "weakref.proxy": lambda f: [on_death(lambda owner: weakref.proxy(owner, f)), None][1],
    "weakref.finalize": lambda f: [on_death(lambda owner: weakref.finalize(owner, f)), None][1],
    "atexit.register": lambda f: atexit.register(f)(),
    "signal.signal": on_signal,
    "sched.scheduler": timed,
    "sched.scheduler.enter": lambda f: scheduled("enter", f),
    "sched.scheduler.enterabs": lambda f: scheduled("enterabs", f),
    "contextlib._BaseExitStack.callback": lambda f: on_exit("callback", f),
    "contextlib._BaseExitStack.push": lambda f: on_exit("push", lambda *error: (f(), None)[1]),
    "contextlib.AsyncExitStack.push_async_callback": lambda f: on_awaited_exit("push_async_callback", f),
    "contextlib.AsyncExitStack.push_async_exit": lambda f: on_awaited_exit("push_async_exit", f),
    "dataclasses.field": lambda f: in_dataclass(dataclasses.field(default_factory=f)),
    "json.load": lambda f: json.load(io.StringIO("1.5"), parse_float=f),
    "json.loads": lambda f: json.loads("1.5", parse_float=f),
    "json.dump": lambda f: json.dump({}, io.StringIO(), default=f) or f(),
    "json.dumps": lambda f: [json.dumps([Owner()], default=lambda value: (f(), None)[1]), None][1],
    "json.JSONDecoder": lambda f: json.JSONDecoder(parse_float=f).decode("1.5"),
    "json.JSONEncoder": lambda f: [json.JSONEncoder(default=lambda value: (f(), None)[1]).encode(Owner()), None][1],
    "argparse._ActionsContainer.add_argument": parsed,
    "logging.setLogRecordFactory": logged,
    "logging.Filterer.addFilter": filtered,
    "copyreg.pickle": reduced,
    "sqlite3.Connection.create_function": lambda f: in_database(
        lambda connection: connection.create_function("handed", 0, lambda: (f(), 1)[1]), "select handed()"
    ),
    "sqlite3.Connection.create_aggregate": lambda f: aggregated("create_aggregate", "select total_of(1)", f),
    "sqlite3.Connection.create_window_function": lambda f: aggregated("create_window_function", _NUMBERS, f),
    "sqlite3.Connection.create_collation": lambda f: in_database(
        lambda connection: connection.create_collation("handed", lambda *texts: (f(), 0)[1]),
        "select 1 where 'a' = 'b' collate handed",
    ),
    "sqlite3.Connection.set_authorizer": lambda f: in_database(
        lambda connection: connection.set_authorizer(lambda *names: (f(), 0)[1]), "select 1"
    ),
    "sqlite3.Connection.set_progress_handler": lambda f: in_database(
        lambda connection: connection.set_progress_handler(lambda: (f(), 0)[1], 1), "select 1"
    ),
    "sqlite3.Connection.set_trace_callback": lambda f: in_database(
        lambda connection: connection.set_trace_callback(lambda text: (f(), None)[1]), "select 1"
    ),
    "sqlite3.register_adapter": adapted,
    "sqlite3.register_converter": converted,
    "concurrent.futures._base.Future.add_done_callback": done,
    "attr.ib": lambda f: in_attrs("ib", f),
    "attr.field": in_define,
    "attr.attrib": lambda f: in_attrs("attrib", f),
    "attr.Factory": in_attrs_default,
    "attr._make.attrib": lambda f: in_attrs("attrib", f),
    "attr._make.Factory": in_attrs_default,
    "attr._next_gen.field": in_define,
    "pydantic.fields.Field": lambda f: in_model("Field", f),
    "pydantic.fields.PrivateAttr": lambda f: in_model("PrivateAttr", f),
    "sqlalchemy.Column": lambda f: in_table("sqlalchemy.Column", f),
    "sqlalchemy.orm.mapped_column": lambda f: in_table("sqlalchemy.orm.mapped_column", f),
}
"""By name in the table: a function is handed over and called. The result is its result, or None."""


def handed_over(name, f):
    """Hand a function over, which is called then."""
    return USES[name](f)


class Square:
    def __init__(self, value, found):
        self.value, self.found = value, found

    def called(self, *rest):
        self.found.append(self.value * self.value)
        return self.found[-1]

    __call__ = called


def square(value, found, *rest):
    found.append(value * value)
    return found[-1]


CARRIERS = {
    "a closure": lambda x, found: lambda *rest: square(x, found),
    "a partial object": lambda x, found: functools.partial(square, x, found),
    "a method": lambda x, found: Square(x, found).called,
    "an object": lambda x, found: Square(x, found),
}
"""What carries a number, and appends its square to a list."""


def _program(name, carrier):
    use, carry = USES[name], CARRIERS[carrier]

    def program(x):
        found = []
        result = use(carry(x, found))
        return found[-1] if result is None else result

    return program


PROGRAMS = {(name, carrier): _program(name, carrier) for name in CALLBACK_TAKERS for carrier in CARRIERS}
