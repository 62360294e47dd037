def f(*a, **k):
    return a, sorted(k.items())


class M(dict):
    def keys(self):
        log.append("keys")
        return super().keys()

    def __getitem__(self, k):
        log.append(("gi", k))
        return super().__getitem__(k)


log = []


def it(n):
    for i in range(n):
        log.append(("it", n, i))
        yield i


def lg(x):
    log.append(x)
    return x


def main():
    r = [
        f(*it(2), lg(5), *it(1), k=lg(6), **M(z=1), **{"y": lg(2)}),
        [*it(2), *"ab", *[]],
        {*it(2), 7},
        (*it(1), *()),
        {**M(a=1), "b": 2, **{"c": 3}},
        [*range(3)][-1],
    ]
    a, *b, c = it(4)
    (*d,) = it(2)
    (e, *g), h = "xy", 1
    [i, [j, *k]] = 1, (2, 3, 4)
    for x, *y in [(1, 2, 3), (4,)]:
        r.append((x, y))
    r.append((a, b, c, d, e, g, h, i, j, k))

    def ret():
        return 1, *it(2)

    def yl():
        yield 1, *it(1)

    r.append((ret(), list(yl())))
    t = (1, 2)
    m = {(*t, 3): 4}
    r.append(m[*t, 3])
    m[*t, 4] = 5
    m[*t, 4] += 1
    del m[1, 2, 3]
    r.append(m)
    print(*it(2), sep=lg("-"), end="\n", **{})
    for z in *t, *it(1):
        r.append(z)
    try:
        f(**{"a": 1}, **{"a": 2})
    except TypeError as e:
        r.append(str(e))
    try:
        f(a=1, **M(a=2))
    except TypeError as e:
        r.append(str(e))

    class Q(*[int], **{}):
        pass

    r.append(Q.__mro__[1].__name__)
    r.append(max(*[1, 3], 2, **dict(key=lambda v: -v)))
    r.append((lambda *a, b=1, **k: (a, b, k))(*t, b=2, **{"c": 3}))

    class S:
        def m(self, *a, **k):
            return a, k

        def __call__(self, *a, **k):
            return a, k

    s = S()
    r.append((s.m(*t, **{"self_": 1}), s(*t, q=1), S.m(s, *t), S.m(*[s, 1])))
    return r, log
