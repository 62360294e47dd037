def f():
    return 1


first = f


def f():
    return first() + 1


if f() > 1:

    def g(x):
        return "then" + str(x)
else:

    def g(x):
        return "else" + str(x)


for i in range(3):

    def h(x=i, i=i):
        return x + i


def h2():
    return [k() for k in hs]


hs = []
for i in range(3):

    def k(i=i):
        return i * 10

    hs.append(k)
a = lambda x: x + 1
b = lambda x: x + 2
c, d = (lambda x: x * 3), (lambda x: x * 4)
e = lambda: lambda: lambda x: x - 1


class C:
    x = 1
    f = lambda self: self.x + 1
    g = property(lambda self: self.f() + 1)


class D:
    def m(self):
        return 1

    o = m

    def m(self):
        return self.o() + 1

    @property
    def p(self):
        return getattr(self, "_p", 0) + 1

    @p.setter
    def p(self, v):
        self._p = v * 2

    @p.deleter
    def p(self):
        del self._p


def outer():
    fs = []
    for i in range(3):
        fs.append(lambda: i + 1)
    for i in range(3):
        fs.append(lambda i=i: i + 1)

    def x():
        return 1

    y = x

    def x():
        return y() + 1

    class __P:
        __q = 5

        def __r(self):
            return self.__q + 1

        def s(self):
            return self.__r(), self._P__r()

    class Q:
        def t(self):
            __v = len("abc")

            def __u():
                return __v + 1

            return __u(), sorted(locals())

        def kwm(self, __z=3, *, __w=4):
            return __z + __w

    return [f() for f in fs], x(), __P().s(), Q().t(), Q().kwm(), Q().kwm(_Q__z=1, _Q__w=2)


def p1():
    return (lambda: 1)() + (lambda: 2)()


def p2(x):
    return (lambda y: y + x)(1), (lambda y: y - x)(1), [(lambda y: y * x + j)(2) for j in (1, 2)]


def main():
    dd = D()
    dd.p = 4
    v = dd.p
    del dd.p
    return (
        f(),
        first(),
        g(1),
        h(),
        h2(),
        a(1),
        b(1),
        c(1),
        d(1),
        e()()(1),
        C().f(),
        C().g,
        dd.m(),
        v,
        dd.p,
        outer(),
        p1(),
        p2(5),
    )
