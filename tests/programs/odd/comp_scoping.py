x = "global"


class A:
    x = "class"
    a = [x for _ in "a"]
    b = [y for y in x]
    c = [(lambda: x)() for _ in "a"]
    d = [[x for _ in y] for y in x[:1]]
    e = {x: z for z in [x]}
    f = list(x for _ in "a")
    g = [i for i in range(len(x)) if i < len(x)]

    def h(self):
        return [x, [x for _ in "a"]]


def f(n):
    fs = [lambda: i for i in range(n)]
    gs = [lambda i=i: i + n for i in range(n)]
    m = [[j + i for j in range(i)] for i in range(n)]
    s = {i % 2 for i in range(n)}
    d = {i: [i * k for k in range(i)] for i in range(n) if i % 2 if i > 0}
    x = [x for x in range(n)]
    y = [(x, y) for x in x for y in [x + 1]]
    z = (q for q in x if q)
    n += 10
    t = [a for a, *b in [(1, 2), (3, 4)]]
    u = [o.r for o.r in range(2)] if (o := type("O", (), {})()) else 0
    v = [dd[0] for dd[0] in range(2)] if (dd := {}) is not None else 0
    try:
        [1 / k for k in (1, 0)]
    except ZeroDivisionError as e:
        err = e.__traceback__.tb_lineno
    return [f() for f in fs], [g() for g in gs], m, s, d, x, y, list(z), t, u, v, err, o.r, dd


def g():
    try:
        return [i for i in range(2)], i
    except NameError as e:
        return str(e)


def h():
    yield from [i + 1 for i in range(2)]
    yield [w := 3, *[w + k for k in range(2)]]


def c():
    cell = 1

    def inner():
        return cell

    r = [cell := cell + i for i in range(3)]
    return r, inner(), [cell for cell in "ab"], inner()


def main():
    return A.a, A.b, A.c, A.d, A.e, A.f, A.g, A().h(), f(4), g(), list(h()), c()
