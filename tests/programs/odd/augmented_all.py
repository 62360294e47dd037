log = []


class P:
    def __init__(self):
        self._v = 1

    @property
    def v(self):
        log.append("get")
        return self._v

    @v.setter
    def v(self, x):
        log.append(("set", x))
        self._v = x


class L(list):
    def __iadd__(self, o):
        log.append("iadd")
        self.append(o)
        return self

    def __getitem__(self, i):
        log.append(("gi", i))
        return super().__getitem__(i)

    def __setitem__(self, i, v):
        log.append(("si", i, v))
        super().__setitem__(i, v)


class N:
    def __radd__(self, o):
        return ("radd", o)

    def __iadd__(self, o):
        return NotImplemented

    def __add__(self, o):
        return ("add", o)


def g(x):
    log.append(("g", x))
    return x


G = 1


def main():
    global G
    p = P()
    p.v += g(2)
    p.v **= 2
    p.v //= 2
    p.v -= 1
    p.v <<= 3
    p.v |= 1
    p.v &= 0xFF
    p.v ^= 3
    p.v >>= 1
    p.v %= 7
    l = L([1, 2, 3])
    l[g(0)] += g(5)
    l[-1] *= 3
    l += 4
    l[g(0) : g(2)] += [9]
    m = [[1], [2]]
    m[0] += (5,)
    t = ([1],)
    try:
        t[0] += [2]
    except TypeError as e:
        log.append(str(e))
    G += 1
    n = N()
    n += 5
    k = 3
    k @= M()
    try:
        zz += 1
    except UnboundLocalError as e:
        log.append(str(e))
    s = "x"
    s += "y"
    s *= 3

    def nl():
        nonlocal k, s
        s += "!"
        k += ("m",)

    nl()
    return p._v, l, m, t, G, n, k, s, log


class M:
    def __rmatmul__(self, o):
        return ("rmm", o)
