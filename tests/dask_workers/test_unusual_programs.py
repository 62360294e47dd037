"""Unusual programs do the same in `parallel`: all ways to use results, to call targets, to raise and to write."""

import contextlib
import importlib
import io
import logging
import traceback
import warnings

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from cassette_import import overdub
from cassette_import.contexts import Parallel

WORK = """
import functools, logging, warnings

COUNT = 0


def deco(f):
    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k) + 1

    return inner


@deco
def decorated(n):
    return n * 2


def fact(n):
    return 1 if n < 2 else n * fact(n - 1)


def gen(n):
    yield n


async def co(n):
    return n


@functools.lru_cache
def cached(n):
    return n * 3


def ident(n):
    return n


def text(n):
    return f"t{n}"


def lst(n):
    return [n, n + 1]


def dct(n):
    return {"n": n}


def none(n):
    return None


def raising(n):
    if n == 2:
        raise KeyError(n)
    return n


def counting(n):
    global COUNT
    COUNT += 1
    return COUNT


def arr(n):
    import numpy

    return numpy.arange(n)


class Ctx:
    def __init__(self, n):
        self.n = n

    def __enter__(self):
        print("enter", self.n)
        return self

    def __exit__(self, *e):
        print("exit", self.n)

    def __eq__(self, o):
        return isinstance(o, Ctx) and o.n == self.n

    def __hash__(self):
        return hash(self.n)

    def __repr__(self):
        return f"Ctx({self.n})"


def ctx(n):
    return Ctx(n)


def big(n):
    return b"x" * (3 << 20)


def kw(*, a, b=2):
    return a + b


def exits(n):
    raise SystemExit(3)


def stop(n):
    raise StopIteration(n)


def warn(n):
    warnings.warn(f"w{n}")
    return n


def logs(n):
    logging.getLogger("odd").error("log %s", n)
    return n


class Meth:
    @staticmethod
    def st(n):
        return n + 100

    @classmethod
    def cl(cls, n):
        return n + 200

    def me(self, n):
        return n
"""
PROGRAM = """
import odd_work as w
import json


def f1():
    k = w.ident(3)
    d = {k: 1}
    d[w.ident(4)] = w.ident(5)
    return (
        d,
        k is w.ident(3),
        f"{k!r:>4} {w.text(1)}",
        isinstance(k, int),
        json.dumps([w.dct(1), k]),
        sorted([w.ident(3), w.ident(1)]),
    )


def f2():
    a, b = w.lst(1)
    *c, d = w.lst(5)
    (e, [f, g]) = w.ident(1), w.lst(3)
    x = y = w.ident(9)
    return a, b, c, d, e, f, g, x, y


def f3():
    with w.ctx(1) as c, w.ctx(2):
        print(c, w.ctx(3))
    s = {w.ident(n) for n in range(4)}
    return s, sum(w.ident(n) for n in range(4)), max(w.ident(n) for n in range(4)), list(map(w.ident, range(3)))


def f4():
    out = []
    for n in range(5):
        try:
            out.append(w.raising(n))
        except KeyError as e:
            out.append(repr(e))
        else:
            out.append("ok")
        finally:
            out.append("fin")
    return out


class A:
    x = w.ident(5)
    ys = [w.ident(n) for n in range(3)]

    def m(self):
        self.z = w.ident(3)
        self.z += w.ident(2)
        self.rows = []
        for n in range(3):
            self.rows.append({"n": n, "v": w.ident(n)})
        return self.z, self.rows, self

    def __repr__(self):
        return "A"


def f5():
    return A.x, A.ys, A().m()


def f6():
    import numpy as np

    arrs = [w.arr(n) for n in range(1, 4)]
    return [a.sum().item() for a in arrs], np.concatenate(arrs).tolist(), np.mean(w.arr(5)).item()


def f7():
    r = w.none(1)
    if r is None:
        print("none")
    t = w.lst(1)
    u = t
    u.append(9)
    v = w.lst(2)
    v += [w.ident(1)]
    del t[0]
    return (
        t,
        u,
        t is u,
        v,
        not r,
        r or w.ident(2),
        w.ident(0) and 5,
        [*w.lst(1), *w.lst(2)],
        {**w.dct(1), "z": w.ident(2)},
    )


def f8():
    g = (w.ident(n) for n in range(3))
    lam = lambda n: w.ident(n)

    def inner(n):
        return w.ident(n) + 1

    def gen():
        yield w.ident(1)
        yield from [w.ident(n) for n in (2, 3)]

    return list(g), lam(2), inner(3), list(gen())


def f9():
    return (
        w.decorated(2),
        w.fact(5),
        w.cached(2),
        w.kw(a=1),
        w.kw(a=w.ident(2), b=w.ident(3)),
        len(w.big(1)),
        w.big(2) == w.big(3),
    )


def f10():
    out = []
    for n in range(4):
        if (m := w.ident(n)) > 1:
            out.append(m)
        while w.ident(len(out)) < 2:
            out.append("pad")
    return out


def f11():
    w.exits(1)


def f12():
    return [w.stop(n) for n in range(2)]


def f13():
    for n in range(3):
        w.warn(n)
        w.logs(n)
    w.ident(1)
    w.logs(3)
    return "done"


def f14():
    table = {}
    for n in range(6):
        table.setdefault(n % 2, []).append(w.ident(n))
    rows = [None] * 3
    for n in range(3):
        rows[n] = (w.ident(n), w.text(n))
    rows[-1] = w.ident(7)
    matrix = [[w.ident(i * j) for j in range(3)] for i in range(3)]
    pairs = [(i, w.ident(i)) for i in range(3) if w.ident(i)]
    return table, rows, matrix, pairs, {n: w.ident(n) for n in range(2)}


def f15():
    x = w.ident(1)

    def use():
        return x

    x = w.ident(2)
    return use(), x


def f16():
    rows = []
    for n in range(4):
        r = (n, w.raising(n))
        rows.append(r)
    return rows


def f17():
    i = 0
    total = 0
    while i < 3:
        total += w.ident(i)
        i += 1
    total -= w.ident(1)
    return (
        total,
        [w.lst(n)[0] for n in range(3)],
        [w.text(n).upper() for n in range(3)],
        w.text(1) + w.text(2),
        "-".join([w.text(n) for n in range(3)]),
    )


def f18():
    a = [1]
    p = (a, w.ident(1))
    a.append(2)
    q = {"a": a, "r": w.ident(4)}
    a.append(3)
    q["extra"] = w.ident(8)
    q2 = q
    q2["r"] = p
    return p, q, q["r"] is p, p[0] is a


def f19():
    return w.Meth.st(1), w.Meth.cl(1), w.Meth().me(1)


def f20():
    p = (1, w.ident(1))
    for a in p:
        print(a)
    return (
        p == (1, 1),
        len(p),
        p + (2,),
        hash(p),
        {p: 1},
        p[1],
        p[::-1],
        str(p),
        [*p],
        print(p),
        w.ident(p),
        w.lst(p[0]),
    )
"""
TARGETS = "decorated fact ident text lst dct none raising arr ctx big kw exits stop warn logs".split()


@pytest.fixture(scope="module")
def modules(folder):
    """The module of the targets, and the program."""
    (folder / "odd_work.py").write_text(WORK)
    (folder / "parallel_odd.py").write_text(PROGRAM)
    importlib.invalidate_caches()
    return importlib.import_module("odd_work"), importlib.import_module("parallel_odd")


def done(call):
    """The result or exception of a call, with its lines, its output and its warnings."""
    output = io.StringIO()
    logger = logging.getLogger("odd")
    logger.handlers, logger.propagate = [logging.StreamHandler(output)], False
    with contextlib.redirect_stdout(output), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            result = repr(call())
        except BaseException as error:
            lines = traceback.extract_tb(error.__traceback__)
            places = [(one.name, one.lineno) for one in lines if "odd" in one.filename and "test_" not in one.filename]
            result = type(error), str(error), places
    return result, output.getvalue(), [(str(one.message), one.lineno) for one in found]


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("number", range(1, 21))
def test_an_unusual_program_does_the_same(modules, client, number, check):
    work, program = modules
    if number == 6:
        pytest.importorskip("numpy", reason="NumPy is not installed")
    context = Parallel([getattr(work, name) for name in TARGETS], client=client, check=check)
    function = getattr(program, f"f{number}")
    assert done(lambda: overdub(context, function)) == done(function)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gen", "generator or coroutine function"),
        ("co", "generator or coroutine function"),
        ("cached", "no function of a module"),
        ("Meth", "no function of a module"),
    ],
)
def test_what_cannot_be_a_target_is_refused(modules, name, message):
    with pytest.raises(ValueError, match=message):
        Parallel([getattr(modules[0], name)])
