class A:
    x = 1
    y = property(lambda s: s.x + 1)
    z = lambda s, q=x: q + s.x


def f():
    return 1
    return 2


def g(x):
    return x if x else g(x + 1)


def h(x):
    yield x
    yield x + 1


if True:
    k = lambda: f() + 1
for i in range(2):
    exec("j%d = lambda: %d + f()" % (i, i))
while 1:
    break
try:
    t = f() + 1
except:
    pass
with open(__file__) as fh:
    n = len(fh.readline())


async def co():
    return f() + 1


l = [lambda: f() + 1, lambda: f() + 2]
l2 = lambda: (f() + 1, [lambda: f() + 3][0]())
d = {"a": lambda x: x + 1, "b": lambda x: x - 1, **{c: (lambda x, c=c: c * x) for c in "cd"}}


def m(a, b=lambda: f() + 4, *, c=(lambda: f() + 5)()):
    return b() + c


def nn():
    pass


def oo():
    "only doc"


def pp(): ...
def qq():
    """doc"""
    return f()


def rr():
    # comment

    return f() + 1


lam = lambda x: x + f()
ter = (lambda: f()) if f() else (lambda: f() + 9)
nest = lambda a: lambda b: lambda c: a + b + c
rec = lambda n: 1 if n < 2 else n * rec(n - 1)
cnd = lambda x: (lambda: x + 1)() if x else (lambda: x - 1)()


def main():
    try:
        co().send(None)
    except StopIteration as e:
        v = e.value
    return (
        A().y,
        A().z(),
        f(),
        g(0),
        list(h(1)),
        k(),
        j0(),
        j1(),
        t,
        n,
        v,
        [q() for q in l],
        l2(),
        d["a"](1),
        d["b"](1),
        d["c"](2),
        m(1),
        nn(),
        oo(),
        pp(),
        oo.__doc__,
        qq(),
        rr(),
        lam(1),
        ter(),
        nest(1)(2)(3),
        rec(5),
        cnd(0),
        cnd(1),
        (lambda *, k=f(): k)(),
        (lambda: (yield))().send(None),
    )
