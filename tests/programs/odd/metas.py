import abc, enum, collections, dataclasses, typing

log = []


class NS(dict):
    def __setitem__(self, k, v):
        log.append(("set", k))
        super().__setitem__(k, v)

    def __getitem__(self, k):
        if not k.startswith("__"):
            log.append(("get", k))
        return super().__getitem__(k)


class Meta(type):
    @classmethod
    def __prepare__(m, name, bases, **kw):
        log.append(("prep", name, sorted(kw)))
        return NS()

    def __new__(m, name, bases, ns, **kw):
        log.append(("new", name, [k for k in ns if not k.startswith("__")]))
        return super().__new__(m, name, bases, dict(ns))

    def __init__(cls, name, bases, ns, **kw):
        super().__init__(name, bases, ns)
        log.append("init" + name)

    def __call__(cls, *a, **k):
        log.append(("call", a))
        return super().__call__(*a, **k)

    def __getitem__(cls, k):
        return cls.__name__, k

    def __contains__(cls, k):
        return k == 1

    def __iter__(cls):
        yield from "xy"

    def __len__(cls):
        return 2

    def __instancecheck__(cls, o):
        log.append("ic")
        return True


def build():
    class A(metaclass=Meta, opt=len("abc")):
        x = 1 + 1
        y = [x + i for i in range(2)] if False else x * 2
        x += 5

        def f(self):
            return super().__repr__()[:1], __class__.__name__

        (g, h), *k = (1, 2), 3
        for i in range(2):
            z = i + x
        del i
        with open(__file__) as fh:
            pass
        del fh
        if (w := x + 1) > 3:
            pass
        try:
            1 / 0
        except ZeroDivisionError as e:
            err = str(e)

        class Inner:
            v = abs(-2)

        lam = lambda self, q=x: q + self.x
        x: int = x + 1

        def x2(self): ...

        import math as mm

        global GLOB
        GLOB = x + 1
        match x:
            case 8:
                mt = "8" * 2

    class B(A, opt=2):
        def __init__(self, q):
            self.q = q

        def f(self):
            return super().f() + super(B, self).f()

        @classmethod
        def cm(cls):
            return super().__getattribute__(cls, "x") if 0 else cls.x

        def nested(self):
            def inn():
                return super(B, self).f(), __class__

            return [inn()[1].__name__, (lambda: __class__.__name__)(), [__class__.__name__ for _ in "a"]]

    return A, B


class Desc:
    def __set_name__(self, o, n):
        log.append(("sn", o.__name__, n))
        self.n = "_" + n

    def __get__(self, i, o):
        return self if i is None else getattr(i, self.n, 0) + 1

    def __set__(self, i, v):
        setattr(i, self.n, v * 2)

    def __delete__(self, i):
        delattr(i, self.n)


class Base:
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        log.append(("is", cls.__name__, tag))

    def __class_getitem__(cls, k):
        return f"{cls.__name__}[{k}]"


class D(Base, tag="a" + "b"):
    d = Desc()
    e = Desc()
    __slots__ = ("_d", "_e", "__priv")

    def __init__(self):
        self.__priv = 3
        self.d = 4
        self.d += 1

    def get(self):
        return self.__priv + self._D__priv, self.d


def main():
    A, B = build()
    b = B(3)
    d = D()
    r = d.get()
    del d.d
    return (
        b.f(),
        B.cm(),
        b.nested(),
        A[1:2],
        1 in A,
        list(B),
        len(B),
        isinstance(3, A),
        A.lam(b),
        GLOB,
        A.mt,
        A.Inner.v,
        A.__annotations__,
        r,
        d.d,
        D[3],
        D.tag,
    ), log
