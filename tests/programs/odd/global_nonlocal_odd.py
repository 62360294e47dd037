X = 0


def f(n):
    """doc first"""
    if n:
        global X
        X = n
    else:
        pass

    class K:
        global Y
        Y = X + 1
        nonl = 1

        def m(self):
            nonlocal n
            n += 1
            return n

    for _ in "ab":
        nested = lambda: (n, X)
    match n:
        case 1:
            global Z
            Z = 5
    try:
        pass
    finally:
        global W
        W = Z + 1
    return K().m(), nested(), Y, Z, W, n


def g():
    def h():
        global NEW

        def NEW():
            return NEW2

        global NEW2

        class NEW2:
            pass

        import os as NEW3

        for NEW4 in [1]:
            pass
        return NEW4

    r = h()
    return r, NEW().__qualname__, NEW.__qualname__


def c():
    n = 0

    def i():
        nonlocal n
        n += 1

        def j():
            nonlocal n
            n *= 10
            return [(n := n + k) for k in range(2)] if 0 else n

        return j() + n

    return i(), n, [i() for _ in "ab"], n


def main():
    return f(1), X, Y, g(), c(), f.__doc__
