class A:
    def __init__(self, x=0):
        self.x = x

    def m(self):
        return ["A"]

    @classmethod
    def c(cls):
        return [cls.__name__]

    @property
    def p(self):
        return 1

    def __getitem__(self, k):
        return ("A", k)

    def __eq__(self, o):
        return "Aeq"

    def __len__(self):
        return 3


class B(A):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.y = super().p

    def m(self):
        def nested():
            return super(B, self).m()

        lam = lambda: super(B, self).m()
        gen = list(super(B, self).m() for _ in "a")

        def n2(self):
            return super().m()

        return nested() + lam() + gen[0] + n2(self) + super().m() + [__class__.__name__]

    @classmethod
    def c(cls):
        return super().c() + super(B, cls).c()

    @staticmethod
    def s():
        return __class__.__name__

    @property
    def p(self):
        return super().p + 1

    def __getitem__(self, k):
        return super().__getitem__(k), super()[k] if 0 else 0

    def __eq__(self, o):
        return super().__eq__(o) + "B"

    def __len__(self):
        return super().__len__() + 1

    async def co(self):
        return super().m()

    def g(self):
        yield super().m()
        yield from super().m()

    def comp(self):
        return [super(B, self).m() for _ in "a"]

    def cell(self):
        del self
        try:
            super()
        except RuntimeError as e:
            return str(e)

    def noargs():
        try:
            super()
        except RuntimeError as e:
            return str(e)

    def reb(self):
        self = 5
        try:
            super().m()
        except TypeError as e:
            return str(e)

    def inner_class(self):
        class In(A):
            def m(s):
                return super().m() + [__class__.__name__, self.x]

        return In().m()

    def attr(self):
        super().zz

    def sset(self):
        s = super
        return s(B, self).m(), super.__name__


class L(list):
    def append(self, x):
        super().append(x * 2)

    def __setitem__(self, k, v):
        super().__setitem__(k, v + 1)

    def __getitem__(self, k):
        return super().__getitem__(k) + 100

    def __init__(self, *a):
        super().__init__(*a)
        self.n = super().__len__()

    def __len__(self):
        return super().__len__() * 2

    def __contains__(self, x):
        return not super().__contains__(x)

    def __iter__(self):
        return super().__iter__()

    def __repr__(self):
        return "L" + super().__repr__()

    def __hash__(self):
        return 5

    def __eq__(self, o):
        return super().__eq__(o)

    def __add__(self, o):
        return super().__add__(o) + ["add"]

    def sort(self, **k):
        super().sort(**k)
        return "sorted"


class D(dict):
    def get(self, k, d=None):
        return super().get(k, d)

    def __missing__(self, k):
        return "missing" + k

    def update(self, *a, **k):
        super().update(*a, **k)
        return self

    @classmethod
    def fromkeys(cls, *a):
        return super().fromkeys(*a)


class S(str):
    def __new__(cls, x):
        return super().__new__(cls, x + "!")

    def upper(self):
        return super().upper() + "?"

    def __str__(self):
        return "S:" + super().__str__()

    def __format__(self, spec):
        return super().__format__(spec) + "~"


class I(int):
    def __add__(self, o):
        return I(super().__add__(o))

    def __lt__(self, o):
        return not super().__lt__(o)

    def __pow__(self, *a):
        return super().__pow__(*a)


class E(Exception):
    def __init__(self, *a):
        super().__init__(*a)
        self.q = 1

    def __str__(self):
        return "E" + super().__str__()


class T(type):
    def __call__(cls, *a):
        return super().__call__(*a)

    def __getattribute__(cls, n):
        return super().__getattribute__(n)

    def __setattr__(cls, n, v):
        super().__setattr__(n, v)


class U(metaclass=T):
    def __getattribute__(self, n):
        return super().__getattribute__(n)

    def __setattr__(self, n, v):
        return super().__setattr__(n, v)

    def __init_subclass__(cls, **k):
        super().__init_subclass__()
        cls.k = k

    def __reduce_ex__(self, p):
        return super().__reduce_ex__(p)

    def __dir__(self):
        return super().__dir__()


def main():
    b = B(4)
    r = [
        b.m(),
        B.c(),
        B.s(),
        b.p,
        b[3],
        b == 1,
        len(b),
        list(b.g()),
        b.comp(),
        b.cell(),
        B.noargs(),
        b.reb(),
        b.inner_class(),
        b.sset(),
    ]
    try:
        b.attr()
    except AttributeError as e:
        r.append(str(e))
    try:
        b.co().send(None)
    except StopIteration as e:
        r.append(e.value)
    l = L([3, 1])
    l.append(5)
    l[0] = 7
    r += [l[0], len(l), 3 in l, list(l), repr(l), l + [1], l == [8, 1, 10], l.sort(key=lambda x: -x), l.n]
    d = D(a=1)
    r += [d.get("a"), d["q"], d.update(z=2), D.fromkeys("ab")]
    r += [
        S("a"),
        S("b").upper(),
        f"{S('c')} {S('d'):>4}",
        str(S("e")),
        I(3) + 4 + 5,
        I(3) < 4,
        I(2) ** 3,
        str(E("m")),
        repr(E("m", 2)),
    ]
    u = U()
    u.v = 1
    U.w = 2

    class V(U, tag=1):
        pass

    import copy

    r += [u.v, U.w, V.k, "v" in dir(u), copy.copy(u).v]
    return r
