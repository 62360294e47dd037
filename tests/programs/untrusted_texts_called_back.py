"""Programs in which code of the interpreter, or of the standard library, passes an untrusted text on to a function.

It calls special methods, factories, callbacks and writers, and makes enumerations, formats and pickles. In each program
the text reaches `query`, `query_second` or `query_and_return`.
"""

import argparse
import asyncio
import atexit
import bisect
import collections
import contextlib
import contextvars
import copy
import csv
import dataclasses
import enum
import functools
import heapq
import inspect
import io
import itertools
import json
import operator
import pickle
import pprint
import re
import sched
import string
import sys
import threading
import time
import types
import weakref

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def ask():
    return "".join(["untrusted", " text"])


def ask_for_a_word():
    return "".join(["untrusted", "word"])


def query(text=None, *rest):
    return None


def query_second(first, text):
    return text


def query_and_return(text):
    return text


def run(program, source):
    return program(source())


class Plain:
    pass


@program
def assert_message(text):
    try:
        assert not text, text
    except AssertionError as e:
        query(str(e))


@program
def assert_args(text):
    try:
        assert not text, text
    except AssertionError as e:
        query(e.args[0])


@program
def sys_exit(text):
    try:
        sys.exit(text)
    except SystemExit as e:
        query(e.code)


@program
def raise_exit(text):
    try:
        raise SystemExit(text)
    except SystemExit as e:
        query(e.code)


@program
def format_attribute(text):
    class Own:
        pass

    o = Own()
    o.v = text
    query("{0.v}".format(o))


@program
def format_getattr(text):
    class Own:
        def __getattr__(self, n):
            return text

    query("{0.v}".format(Own()))


@program
def format_getitem(text):
    class Own:
        def __getitem__(self, n):
            return text

    query("{0[v]}".format(Own()))


@program
def own_format(text):
    class Own:
        def __format__(self, s):
            return text

    query(f"{Own()}")


@program
def own_format_sink2(text):
    class Own:
        def __format__(self, spec):
            query(spec)
            return "a"

    format(Own(), text)


@program
def own_format_sink3(text):
    class Own:
        def __format__(self, spec):
            query(spec)
            return "a"

    "{0:{1}}".format(Own(), text)


@program
def print_own(text):
    class W:
        def write(self, t):
            query(t)

    print(text, file=W())


@program
def print_redirected(text):
    class W:
        def write(self, t):
            query(t)

        def flush(self):
            pass

    with contextlib.redirect_stdout(W()):
        print(text)


@program
def csv_own(text):
    class W:
        def write(self, t):
            query(t)

    csv.writer(W()).writerow([text])


@program
def csv_own_rows(text):
    class W:
        def write(self, t):
            query(t)

    csv.writer(W()).writerows([[text]])


@program
def csv_dict(text):
    class W:
        def write(self, t):
            query(t)

    csv.DictWriter(W(), ["a"]).writerow({"a": text})


@program
def json_own(text):
    class W:
        def write(self, t):
            query(t)

    json.dump({"a": text}, W())


@program
def json_own_joined(text):
    class W:
        def __init__(self):
            self.l = []

        def write(self, t):
            self.l.append(t)

    w = W()
    json.dump({"a": text}, w)
    query("".join(w.l))


@program
def print_own_joined(text):
    class W:
        def __init__(self):
            self.l = []

        def write(self, t):
            self.l.append(t)

    w = W()
    print("a", text, file=w)
    query("".join(w.l))


@program
def pprint_own(text):
    class W:
        def write(self, t):
            query(t)

    pprint.pprint({"a": text}, stream=W())


@program
def enum_value(text):
    class E(enum.Enum):
        A = text

    query(E.A.value)


@program
def enum_functional(text):
    E = enum.Enum("E", {"A": text})
    query(E.A.value)


@program
def enum_init(text):
    class E(enum.Enum):
        A = (text, 1)

        def __init__(self, a, b):
            self.a = a

    query(E.A.a)


@program
def enum_str(text):
    class E(str, enum.Enum):
        A = text

    query(E.A.value)


@program
def strenum(text):
    class E(enum.StrEnum):
        A = text

    query(E.A)


@program
def strenum_format(text):
    class E(enum.StrEnum):
        A = text

    query(f"a {E.A}")


@program
def enum_missing(text):
    class E(enum.Enum):
        A = 1

        @classmethod
        def _missing_(cls, v):
            query(v)
            return cls.A

    E(text)


@program
def factory_closure(text):

    @dataclasses.dataclass
    class D:
        a: str = dataclasses.field(default_factory=lambda: text)

    query(D().a)


@program
def factory_partial(text):

    @dataclasses.dataclass
    class D:
        a: str = dataclasses.field(default_factory=functools.partial(operator.add, "a", text))

    query(D().a)


@program
def factory_noinit(text):

    @dataclasses.dataclass
    class D:
        a: str = dataclasses.field(init=False, default_factory=lambda: text + "b")

    query(D().a)


@program
def dc_field_default(text):

    @dataclasses.dataclass
    class D:
        a: str = dataclasses.field(default=text)

    query(D().a)


@program
def dc_replace(text):

    @dataclasses.dataclass
    class D:
        a: str
        b: dataclasses.InitVar[str] = ""

        def __post_init__(self, b):
            self.c = self.a + b

    query(dataclasses.replace(D("a", "b"), b=text).c)


@program
def dd_factory(text):
    query(collections.defaultdict(lambda: text)["a"])


@program
def dd_partial(text):
    query(collections.defaultdict(functools.partial(operator.add, text, "b"))["a"])


@program
def signature_default(text):

    def f(a=text):
        pass

    query(inspect.signature(f).parameters["a"].default)


@program
def defaults_attr(text):

    def f(a=text):
        pass

    query(f.__defaults__[0])


@program
def bound_args(text):

    def f(a, b):
        query(a)

    ba = inspect.signature(f).bind(text, 1)
    f(*ba.args, **ba.kwargs)


@program
def bound_defaults(text):

    def f(a=text):
        query(a)

    ba = inspect.signature(f).bind()
    ba.apply_defaults()
    f(*ba.args)


class OwnReduce:
    def __init__(self, v):
        self.v = v

    def __reduce__(self):
        return (OwnReduce, (self.v,))


class OwnState:
    def __init__(self, v):
        self.v = v

    def __getstate__(self):
        return {"q": self.v}

    def __setstate__(self, s):
        self.v = s["q"]


class OwnSlots:
    __slots__ = ("v",)


@program
def pickled(text):
    o = Plain()
    o.v = text
    query(pickle.loads(pickle.dumps(o)).v)


@program
def pickled_reduce(text):
    query(pickle.loads(pickle.dumps(OwnReduce(text))).v)


@program
def pickled_state(text):
    query(pickle.loads(pickle.dumps(OwnState(text))).v)


@program
def pickled_slots(text):
    o = OwnSlots()
    o.v = text
    query(pickle.loads(pickle.dumps(o)).v)


@program
def pickled_file(text):
    o = Plain()
    o.v = text
    f = io.BytesIO()
    pickle.dump(o, f)
    f.seek(0)
    query(pickle.load(f).v)


@program
def copied(text):
    query(copy.deepcopy(OwnReduce(text)).v)


@program
def copied_state(text):
    query(copy.copy(OwnState(text)).v)


@program
def json_default(text):
    query(json.dumps([Plain()], default=lambda o: text))


@program
def json_default_sink(text):
    o = Plain()
    o.v = text
    json.dumps([o], default=lambda o: query(o.v) or 1)


@program
def json_encoder(text):
    class E(json.JSONEncoder):
        def default(self, o):
            return text

    query(json.dumps([1j], cls=E))


@program
def json_object_hook(text):
    json.loads('{"a": "%s"}' % text, object_hook=lambda d: query(d["a"]))


@program
def json_pairs_hook(text):
    json.loads('{"a": "%s"}' % text, object_pairs_hook=lambda d: query(d[0][1]))


@program
def getattr_by_c(text):
    class Own:
        def __getattr__(self, n):
            return text

    query(operator.attrgetter("a")(Own()))


@program
def getattr_name_sink(text):
    class Own:
        def __getattr__(self, n):
            query(n)

    getattr(Own(), text)


@program
def setattr_name_sink(text):
    class Own:
        def __setattr__(self, n, v):
            query(n)

    setattr(Own(), text, 1)


@program
def missing_by_c(text):
    class D(dict):
        def __missing__(self, k):
            return text

    query("{a}".format_map(D()))


@program
def missing_sink(text):
    class D(dict):
        def __missing__(self, k):
            query(k)

    D()[text]


@program
def missing_percent(text):
    class D(dict):
        def __missing__(self, k):
            return text

    query("%(a)s" % D())


@program
def eq_by_c(text):
    class Own:
        def __eq__(self, o):
            query(o)
            return True

        __hash__ = None

    [Own()].index(text)


@program
def eq_by_in(text):
    class Own:
        def __eq__(self, o):
            query(o)
            return True

        __hash__ = None

    text in [Own()]


@program
def eq_by_tuple(text):
    class Own:
        def __eq__(self, o):
            query(o)
            return True

        __hash__ = None

    (text,) == (Own(),)


@program
def eq_by_remove(text):
    class Own:
        def __eq__(self, o):
            query(o)
            return True

        __hash__ = None

    [Own()].remove(text)


@program
def lt_by_bisect(text):
    class Own:
        def __lt__(self, o):
            query(o)
            return True

    bisect.bisect_left([Own()], text)


@program
def radd(text):
    class Own:
        def __radd__(self, o):
            query(o)
            return "a"

    text + Own()


@program
def exit_callback(text):
    with contextlib.ExitStack() as s:
        s.callback(query, text)


@program
def exit_callback_own(text):
    with contextlib.ExitStack() as s:
        s.callback(lambda v: query(v), text)


@program
def exit_push_async(text):

    async def cb(v):
        query(v)

    async def main():
        async with contextlib.AsyncExitStack() as s:
            s.push_async_callback(cb, text)

    asyncio.run(main())


@program
def timer(text):
    t = threading.Timer(0, query, [text])
    t.start()
    t.join()


@program
def timer_own(text):
    t = threading.Timer(0, lambda v: query(v), [text])
    t.start()
    t.join()


@program
def timer_kw(text):
    t = threading.Timer(0, query, kwargs={"text": text})
    t.start()
    t.join()


@program
def scheduler(text):
    s = sched.scheduler(time.monotonic, lambda d: None)
    s.enter(0, 1, query, (text,))
    s.run()


@program
def scheduler_own(text):
    s = sched.scheduler(time.monotonic, lambda d: None)
    s.enterabs(0, 1, lambda v: query(v), (text,))
    s.run()


@program
def scheduler_kw(text):
    s = sched.scheduler(time.monotonic, lambda d: None)
    s.enter(0, 1, query, kwargs={"text": text})
    s.run()


@program
def finalize(text):
    o = Plain()
    f = weakref.finalize(o, query, text)
    f()


@program
def finalize_own(text):
    o = Plain()
    weakref.finalize(o, lambda v: query(v), text)
    del o


@program
def finalize_del(text):
    o = Plain()
    weakref.finalize(o, query, text)
    del o


@program
def finalize_detach(text):
    o = Plain()
    f = weakref.finalize(o, query, text)
    _, fn, args, _ = f.detach()
    fn(*args)


@program
def atexit_run(text):
    atexit.register(query, text)
    atexit._run_exitfuncs()


@program
def atexit_own(text):
    atexit.register(lambda v: query(v), text)
    atexit._run_exitfuncs()


@program
def reduce_own(text):
    functools.reduce(lambda a, b: query(b), [1, text])


@program
def reduce_sink(text):
    functools.reduce(query_second, [1, text])


@program
def sorted_key(text):
    sorted([text, "a"], key=query_and_return)


@program
def sorted_key_own(text):
    sorted([text, "a"], key=lambda v: query_and_return(v))


@program
def max_key(text):
    max([text, "a"], key=query_and_return)


@program
def max_key_args(text):
    max(text, "a", key=lambda v: query_and_return(v))


@program
def min_key_result(text):
    query(min(["zz zz", text], key=lambda v: -len(v)))


@program
def map_sink(text):
    list(map(query, [text]))


@program
def filter_sink(text):
    list(filter(query, [text]))


@program
def groupby_key(text):
    for k, _ in itertools.groupby([text], key=lambda v: v + "a"):
        query(k)


@program
def accumulate_(text):
    list(itertools.accumulate(["a", text], query_second))


@program
def starmap_(text):
    list(itertools.starmap(query_second, [(1, text)]))


@program
def takewhile_(text):
    list(itertools.takewhile(query, [text]))


@program
def cmp_to_key_(text):
    sorted([text, "a"], key=functools.cmp_to_key(lambda a, b: query(a if a != "a" else b) or 0))


@program
def nlargest_key(text):
    heapq.nlargest(1, [text, "a"], key=query_and_return)


@program
def partial_(text):
    functools.partial(query, text)()


@program
def partialmethod_(text):
    class K:
        def f(self, a):
            query(a)

        g = functools.partialmethod(f, text)

    K().g()


@program
def methodcaller_(text):
    class K:
        def f(self, a):
            query(a)

    operator.methodcaller("f", text)(K())


@program
def lru(text):
    functools.lru_cache(query)(text)


@program
def lru_own(text):

    @functools.lru_cache
    def f(v):
        return query(v)

    f(text)


@program
def singledispatch_(text):

    @functools.singledispatch
    def f(v):
        pass

    f.register(str)(query)
    f(text)


@program
def formatter(text):
    class F(string.Formatter):
        def format_field(self, v, spec):
            query(v)
            return "a"

    F().format("{}", text)


@program
def formatter_get(text):
    class F(string.Formatter):
        def get_value(self, k, a, kw):
            query(a[0])
            return "a"

    F().format("{0}", text)


@program
def formatter_result(text):
    class F(string.Formatter):
        pass

    query(F().format("{} a", text))


@program
def template_sub(text):
    class M(dict):
        def __missing__(self, k):
            return text

    query(string.Template("$k").substitute(M()))


@program
def translate(text):
    class M(dict):
        def __missing__(self, k):
            return text

    query("a".translate(M()))


@program
def re_sub_fn(text):
    query(re.sub("a", lambda m: text, "a"))


@program
def scanner(text):
    re.Scanner([(".+", lambda s, t: query(t))]).scan(text)


@program
def class_kwargs(text):
    class B:
        def __init_subclass__(cls, k=0):
            query(k)

    class K(B, k=text):
        pass


@program
def type_kwargs(text):
    class B:
        def __init_subclass__(cls, k=0):
            query(k)

    type("K", (B,), {}, k=text)


@program
def new_class_kwargs(text):
    class B:
        def __init_subclass__(cls, k=0):
            query(k)

    types.new_class("K", (B,), {"k": text})


@program
def prepare_read(text):
    class M(type):
        @classmethod
        def __prepare__(m, n, b):
            return {"a": text}

    class K(metaclass=M):
        b = a + "b"  # noqa: F821

    query(K.b)


@program
def local_init(text):
    class L(threading.local):
        def __init__(self, a):
            query(a)

    L(text)


@program
def od_own(text):
    class Own(collections.OrderedDict):
        def __setitem__(self, k, v):
            query(v)

    Own(a=text)


@program
def contextvar_run(text):
    contextvars.copy_context().run(query, text)


@program
def argparse_type(text):
    a = argparse.ArgumentParser()
    a.add_argument("v", type=lambda s: query(s))
    a.parse_args([text])


@program
def join_iter(text):
    class Own:
        def __iter__(self):
            yield text

    query(",".join(Own()))
