log = []


class C:
    def __init__(self, n):
        self.n = n

    def __lt__(self, o):
        log.append(("lt", self.n, getattr(o, "n", o)))
        return self.n < getattr(o, "n", o)

    def __gt__(self, o):
        log.append(("gt", self.n, getattr(o, "n", o)))
        return R(self.n > getattr(o, "n", o))

    def __contains__(self, x):
        log.append(("in", x.n if isinstance(x, C) else x))
        return True


class R:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        log.append("bool")
        return bool(self.v)

    def __repr__(self):
        return f"R({self.v})"


def c(n):
    log.append(n)
    return C(n)


def main():
    a = c(1) < c(2) < c(3)
    b = c(1) < c(0) < c(3)
    d = c(5) > c(4) > c(1) > c(7)
    e = c(1) in c(2) in c(3)
    f = 1 < c(2) > 0 != None is not False
    g = c(1) not in c(2) == 3
    h = [c(1) < c(2) < x for x in (1, 5)]
    k = (lambda x: 0 < x < 5 < 6)(3), (lambda: c(1) > c(0) > c(0))()

    class K:
        z = 1 < 2 < 3 > 2

    i = (c(1) < c(2)) < True
    j = c(1) < (c(2) if c(0) > c(1) else c(3)) < (c(0) < c(1) < c(2))
    return a, b, d, e, f, g, h, k, K.z, i, j, log
