"""Programs in which code of the interpreter, or of the standard library, calls functions of the program with a number.

These are special methods, callbacks, and writers of text. Each program is differentiable near 3. The derivative and the
enclosure are right, or an error: never silently wrong.
"""

import asyncio
import bisect
import cmath
import collections
import contextlib
import contextvars
import csv
import functools
import json
import math
import operator
import pickle
import sched
import string
import threading
import time
import weakref
from collections import OrderedDict

PROGRAMS = {}


def program(function):
    PROGRAMS[f"called back: {function.__name__}"] = function
    return function


@program
def async_callback(x):
    out = []

    async def cb(v):
        out.append(v * v)

    async def main():
        async with contextlib.AsyncExitStack() as s:
            s.push_async_callback(cb, x)

    asyncio.run(main())
    return out[0]


@program
def async_callback_kw(x):
    out = []

    async def cb(v=0.0):
        out.append(v * v)

    async def main():
        async with contextlib.AsyncExitStack() as s:
            s.push_async_callback(cb, v=x)

    asyncio.run(main())
    return out[0]


@program
def async_push_exit(x):
    out = []

    class M:
        def __init__(self, v):
            self.v = v

        async def __aenter__(self):
            return self.v

        async def __aexit__(self, *a):
            out.append(self.v * self.v)

    async def main():
        async with contextlib.AsyncExitStack() as s:
            v = await s.enter_async_context(M(x))
            out.append(v)

    asyncio.run(main())
    return out[0] * out[1]


@program
def exit_push(x):
    out = []

    class M:
        def __init__(self, v):
            self.v = v

        def __enter__(self):
            return self.v

        def __exit__(self, *a):
            out.append(self.v * self.v)

    with contextlib.ExitStack() as s:
        s.push(M(x))
    return out[0]


@program
def exit_callback(x):
    out = []
    with contextlib.ExitStack() as s:
        s.callback(lambda v, k: out.append(v * k), x, k=x)
    return out[0]


@program
def formatter_format_field(x):
    out = []

    class F(string.Formatter):
        def format_field(self, v, spec):
            out.append(v * v)
            return "z"

    F().format("{}", x)
    return out[0]


@program
def formatter_get_value(x):
    out = []

    class F(string.Formatter):
        def get_value(self, key, args, kwargs):
            out.append(args[0] * args[0])
            return "z"

    F().format("{0}", x)
    return out[0]


@program
def formatter_get_value_kw(x):
    out = []

    class F(string.Formatter):
        def get_value(self, key, args, kwargs):
            out.append(kwargs[key] * 2)
            return "z"

    F().format("{a}", a=x)
    return out[0]


@program
def formatter_convert_field(x):
    out = []

    class F(string.Formatter):
        def convert_field(self, v, conversion):
            out.append(v * v)
            return "z"

    F().format("{0!r}", x)
    return out[0]


@program
def formatter_vformat(x):
    out = []

    class F(string.Formatter):
        def format_field(self, v, spec):
            out.append(v * v)
            return "z"

    F().vformat("{}", (x,), {})
    return out[0]


@program
def formatter_check_unused(x):
    out = []

    class F(string.Formatter):
        def check_unused_args(self, used, args, kwargs):
            out.append(args[0] * args[0])

    F().format("{}", x)
    return out[0]


@program
def own_format(x):
    class V:
        def __init__(self, v):
            self.v = v

        def __format__(self, spec):
            out.append(self.v * self.v)
            return "z"

    out = []
    "{}".format(V(x))
    f"{V(x)}"
    format(V(x), "")
    return out[0] + out[1] + out[2]


@program
def format_attr(x):
    class V:
        def __getattr__(self, n):
            out.append(x * x)
            return "z"

        def __getitem__(self, n):
            out.append(x)
            return "z"

    out = []
    "{0.v}{0[1]}".format(V())
    return out[0] * out[1]


@program
def od_setitem(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            OrderedDict.__setitem__(self, k, v * v)

    o = Own()
    o["a"] = x
    return o["a"]


@program
def od_setitem_init(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    return Own(a=x)["a"]


@program
def od_setitem_update(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    o = Own()
    o.update(a=x)
    return o["a"]


@program
def od_setitem_update_pairs(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    o = Own()
    o.update([("a", x)])
    return o["a"]


@program
def od_setitem_setdefault(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    o = Own()
    o.setdefault("a", x)
    return o["a"]


@program
def od_setitem_fromkeys(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    return Own.fromkeys(["a"], x)["a"]


@program
def od_setitem_copy(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    o = Own()
    o["a"] = x
    return o.copy()["a"]


@program
def od_setitem_ior(x):
    class Own(OrderedDict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    o = Own()
    o |= {"a": x}
    return o["a"]


@program
def dict_fromkeys_own(x):
    class D(dict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v * v)

    return D.fromkeys(["a"], x)["a"]


@program
def defaultdict_factory_partial(x):
    d = collections.defaultdict(functools.partial(operator.mul, x, x))
    return d["a"]


@program
def cmath_rect(x):
    class FL(float):
        def __float__(self):
            return 2.0

    return cmath.rect(x, FL(x)).real


@program
def math_float(x):
    class C:
        def __float__(self):
            return x * x

    return math.exp(C())


@program
def json_default(x):
    out = []

    class Q:
        pass

    q = Q()
    q.v = x

    def default(o):
        out.append(o.v * o.v)
        return 1

    json.dumps(q, default=default)
    return out[0]


@program
def json_object_hook(x):
    return json.loads('{"a": 1}', object_hook=lambda d: {"a": x * x})["a"]


@program
def json_encoder(x):
    out = []

    class E(json.JSONEncoder):
        def default(self, o):
            out.append(o.v * o.v)
            return 1

    class Q:
        pass

    q = Q()
    q.v = x
    json.dumps([q], cls=E)
    return out[0]


@program
def pickle_reduce(x):
    return pickle.loads(pickle.dumps(Reduced(x))).v


class Reduced:
    def __init__(self, v):
        self.v = v

    def __reduce__(self):
        return (Reduced, (self.v * self.v,))


@program
def finalize(x):
    out = []

    class Q:
        pass

    q = Q()
    f = weakref.finalize(q, lambda v: out.append(v * v), x)
    f()
    return out[0]


@program
def scheduler(x):
    out = []
    s = sched.scheduler(time.monotonic, lambda d: None)
    s.enter(0, 1, lambda v: out.append(v * v), (x,))
    s.run()
    return out[0]


@program
def scheduler_kw(x):
    out = []
    s = sched.scheduler(time.monotonic, lambda d: None)
    s.enterabs(0, 1, lambda v: out.append(v * v), kwargs={"v": x})
    s.run()
    return out[0]


@program
def timer_kw(x):
    out = []
    t = threading.Timer(0, lambda v: out.append(v * v), kwargs={"v": x})
    t.start()
    t.join()
    return out[0]


@program
def writer_print(x):
    out = []

    class W:
        def write(self, t):
            out.append(float(t) if t.strip() else 0)

    print(x, file=W())
    return out[0]


@program
def writer_csv(x):
    out = []

    class W:
        def write(self, t):
            out.append(float(t))

    csv.writer(W()).writerow([x])
    return out[0]


@program
def writer_json(x):
    out = []

    class W:
        def write(self, t):
            out.append(t)

    json.dump([x], W())
    return float("".join(out)[1:-1])


@program
def eq_by_c(x):
    out = []

    class Q:
        def __init__(self, v):
            self.v = v

        def __eq__(self, o):
            out.append(self.v * o.v)
            return True

        __hash__ = None

    [Q(x)].index(Q(2.0))
    return out[0]


@program
def eq_with_tagged(x):
    out = []

    class Q:
        def __eq__(self, o):
            out.append(o * 2)
            return True

        __hash__ = None

    [Q()].index(x)
    return out[0]


@program
def eq_in(x):
    out = []

    class Q:
        def __eq__(self, o):
            out.append(o * 2)
            return True

        __hash__ = None

    x in [Q()]
    return out[0]


@program
def eq_count(x):
    out = []

    class Q:
        def __eq__(self, o):
            out.append(o * 2)
            return True

        __hash__ = None

    [Q()].count(x)
    collections.deque([Q()]).count(x)
    (Q(),).count(x)
    return out[0] + out[1] + out[2]


@program
def contains_own(x):
    out = []

    class Q:
        def __contains__(self, o):
            out.append(o * 2)
            return True

    x in Q()
    operator.contains(Q(), x)
    return out[0] + out[1]


@program
def list_eq(x):
    out = []

    class Q:
        def __eq__(self, o):
            out.append(o * 2)
            return True

        __hash__ = None

    [x] == [Q()]
    return out[0]


@program
def bisect_own(x):
    out = []

    class Q:
        def __init__(self, v):
            self.v = v

        def __lt__(self, o):
            out.append(self.v * self.v)
            return True

    bisect.bisect_left([Q(x)], Q(2.0))
    return out[0]


@program
def bisect_raw(x):
    out = []

    class Q:
        def __lt__(self, o):
            out.append(o * 2)
            return True

    bisect.bisect_left([Q()], x)
    return out[0]


@program
def contextvar_run(x):
    return contextvars.copy_context().run(lambda v: v * v, x)


@program
def instancecheck(x):
    out = []

    class M(type):
        def __instancecheck__(cls, o):
            out.append(o * o)
            return True

    class K(metaclass=M):
        pass

    isinstance(x, K)
    return out[0]


@program
def percent_map(x):
    out = []

    class M(dict):
        def __getitem__(self, k):
            out.append(x * x)
            return "a"

    "%(k)s" % M()
    return out[0]


@program
def template_sub(x):
    out = []

    class M(dict):
        def __missing__(self, k):
            out.append(x * x)
            return "a"

    string.Template("$k").substitute(M())
    return out[0]


@program
def str_translate(x):
    out = []

    class M(dict):
        def __getitem__(self, k):
            out.append(x * x)
            return k

    "a".translate(M())
    return out[0]
