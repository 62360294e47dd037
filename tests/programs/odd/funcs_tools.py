import functools, operator, itertools, contextlib

log = []


class A:
    @functools.cached_property
    def cp(self):
        log.append("cp")
        return len(log) + 10

    @functools.lru_cache(maxsize=2)
    def lc(self, x):
        log.append(("lc", x))
        return x * 2

    @functools.singledispatchmethod
    def sd(self, x):
        return "any", x

    @sd.register
    def _(self, x: int):
        return "int", x + 1

    @sd.register(list)
    def _(self, x):
        return "list", [self.sd(i) for i in x]

    def pm(self, a, b, *, c=0):
        return a, b, c

    pm1 = functools.partialmethod(pm, 1, c=5)
    pm2 = functools.partialmethod(pm, b=7)


@functools.singledispatch
def sd(x):
    return "base"


@sd.register
def _(x: int | float):
    return "num", x + 1


@sd.register(str)
def _(x):
    return "str", sd(len(x))


@functools.cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@contextlib.contextmanager
def cm(x):
    log.append("enter")
    try:
        yield x + 1
    except KeyError as e:
        log.append(repr(e))
    finally:
        log.append("exit")


@cm(4)
def decorated(a):
    return a + 1


def main():
    a = A()
    r = [
        a.cp,
        a.cp,
        a.lc(1),
        a.lc(1),
        a.lc(2),
        a.lc(3),
        a.lc(1),
        A.lc.cache_info(),
        a.sd(1),
        a.sd([1, "x"]),
        a.pm1(2),
        a.pm2(3),
        sd(1.5),
        sd("abc"),
        sd([]),
        fib(60),
        decorated(5),
    ]
    with cm(1) as c:
        r.append(c)
        raise KeyError(c + 1)
    r.append(functools.reduce(lambda x, y: x * 10 + y, [1, 2, 3]))
    p = functools.partial(a.pm, 1, c=3)
    r.append(p(2))
    r.append(functools.partial(p, 9)())
    r.append(functools.partial(p, c=10)(5))
    r.append(list(itertools.accumulate([1, 2, 3], lambda a, b: a - b)))
    r.append(sorted("bca", key=functools.cmp_to_key(lambda x, y: (x > y) - (x < y))))
    r.append(functools.partial(dict, a=1)(b=2, **{"c": 3}))
    r.append(functools.partial(int, base=2)("101"))
    r.append(operator.methodcaller("pm", 1, 2, c=3)(a))
    r.append(operator.attrgetter("cp", "__class__.__name__")(a))
    r.append(operator.itemgetter(1, 0)([5, 6]))
    with contextlib.ExitStack() as st:
        st.callback(lambda *a, **k: log.append((a, k)), 1, z=2)
        r.append(st.enter_context(cm(8)))
    with contextlib.suppress(ZeroDivisionError):
        1 / 0
    return r, log
